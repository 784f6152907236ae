"""Scoring that goes on without plugins that cannot score; a warning names each of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from monge.api.metric import BrokenMetrics, Metric, score_segments
from monge.errors import LeftOut, PluginError
from monge.types import Result, Segment


def score_usable(
    metrics: Sequence[Metric], segments: Iterable[Segment], **options: Any
) -> tuple[list[Result], list[int]]:
    """Return the results of the metrics that can score, and their places among all metrics.

    `options` are those of `score_segments`. Plugins that cannot score are left out with a warning;
    where no metric is left, the error is raised.
    """
    try:
        return score_segments(metrics, segments, **options), list(range(len(metrics)))
    except BrokenMetrics as error:
        warn_left_out(error.errors)
        return error.results, list(error.scored)


def warn_left_out(errors: Sequence[PluginError]) -> None:
    """Warn of every plugin that is left out."""
    for error in errors:
        warnings.warn(f"{error}; it is left out", LeftOut, stacklevel=4)
