"""Facts of known test sets: standard references, outlier systems, primary metrics (a TOML file)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class EvalSetFacts:
    """Facts of a test set in a language pair.

    Attributes:
        reference: The name of the standard reference; empty where it is not known.
        outliers: Systems that official tables leave out.
        primary: The base names of the metrics in the main table, baselines among them.
    """

    reference: str = ""
    outliers: frozenset[str] = frozenset()
    primary: frozenset[str] = frozenset()


def describe_test_set(test_set: str, pair: str) -> EvalSetFacts:
    """Return the facts of a test set in a language pair; empty ones where nothing is known."""
    of_all = _read_facts().get(test_set, {})
    of_pair = of_all.get(pair, {})
    return EvalSetFacts(
        of_pair.get("reference", of_all.get("reference", "")),
        frozenset(of_pair.get("outliers", ())),
        frozenset((*of_all.get("primary", ()), *of_pair.get("also_primary", ()))),
    )


@cache
def _read_facts() -> dict[str, Any]:
    return tomllib.loads((files("monge.datasets") / "test_sets.toml").read_text(encoding="utf-8"))
