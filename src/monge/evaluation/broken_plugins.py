"""Studies go on without plugins that cannot score; a warning names each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from monge.api import BrokenMetrics, warn_left_out
from monge.errors import PluginError
from monge.evaluation.variants import Variant

T = TypeVar("T")


def score_usable_variants(
    variants: Sequence[Variant], score: Callable[[list[Variant]], T]
) -> tuple[list[Variant], T]:
    """Return the variants that can score, with what `score` returns for them.

    Where plugins among the variants are broken, they are left out with a warning each, and `score`
    is called again for the others; where no variant is left, the error is raised.
    """
    usable = list(variants)
    while True:
        try:
            return usable, score(usable)
        except PluginError as error:
            errors = error.errors if isinstance(error, BrokenMetrics) else [error]
            names = {failure.plugin for failure in errors}
            remaining = [variant for variant in usable if variant.name not in names]
            if not remaining or len(remaining) == len(usable):
                raise
            warn_left_out(errors)
            usable = remaining
