"""What `monge show` and `monge.show` print: the settings of a metric, or the card of a model."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from monge.errors import UnknownName, UsageError
from monge.metrics.catalogue import described
from monge.types.table import Listing


def describe(name: str, settings: Sequence[str] = (), lang: str | None = None) -> Listing:
    """Return the settings of a metric and the range of its scores, or the card of a model."""
    try:
        return described(name, tuple(settings), lang)
    except UnknownName as error:
        listing = _describe_model(name, error)
    if settings or lang:
        raise UsageError(f"{name} is a model: --set and --lang belong to metrics")
    return listing


def _describe_model(name: str, error: UnknownName) -> Listing:
    """Return the card of a model; raise the error where the name is not that of a model either."""
    from monge.encoders.model_cards import describe_model, has_card, model_names

    if has_card(name):
        return describe_model(name)
    near = get_close_matches(name, model_names(), n=1, cutoff=0.6)
    if near:
        raise UsageError(f"{error}; did you mean the model {near[0]}?") from None
    raise error
