"""Kept spreads: the standard deviation of a metric's scores over pairs that people judged."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from monge.types import Signature

_CHANGING = frozenset(
    {"stats", "monge", "nrefs", "corpus", "version", "items", "idf-digest", "tok-version"}
)
"""Fields of a signature that differ from data set to data set, or from version to version."""


def spread_key(signature: Signature) -> str:
    """Return what names a metric with its settings and model, without fitted statistics."""
    return "|".join(f"{key}:{value}" for key, value in signature.fields if key not in _CHANGING)


@cache
def _kept() -> dict[str, Any]:
    text = (files("monge.probing") / "spreads.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def kept_spread(signature: Signature) -> tuple[float, str] | None:
    """Return the kept spread of a metric and the data it is from; None where there is none."""
    value = _kept()["spreads"].get(spread_key(signature))
    return None if value is None else (value, _kept()["data"])
