"""What the page shows before anybody has typed, and what is known of metrics: bundled, nothing is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from monge.study.kept_results import STATISTICS, cost_of, judgements, workloads

PAIRS = (
    ("Paraphrase", "The cat slept on the warm mat.", "A cat was sleeping on the mat."),
    ("Same words, other meaning", "The dog bit the man.", "The man bit the dog."),
    ("No shared word", "Physicians treat patients.", "Doctors cure the sick."),
    ("Half of it missing", "The council met.", "The council met on Monday and put the vote off."),
    ("Unrelated", "It rained all night.", "Profits rose by twelve percent."),
)
"""Name, hypothesis and reference of each example."""


@dataclass(frozen=True)
class Systems:
    """Outputs of systems for the same items, by name, and their references."""

    systems: Mapping[str, list[str]]
    references: list[str]


def _lines(name: str) -> list[str]:
    return (files("monge") / "example" / f"{name}.txt").read_text("utf-8").splitlines()


SYSTEMS = Systems({name: _lines(name)[:12] for name in ("system-a", "system-b")}, _lines("reference")[:12])
"""The first lines of the bundled example."""


SHOWN = "wmt17"
"""The kept evaluation whose figures stand beside the metrics; one that is not in it has those of the first that has."""


@cache
def agreement() -> dict[str, Any]:
    """Agreement with people by metric, from what `monge recommend` answers from; `mean` is that over groups."""
    found: dict[str, Any] = {}
    for kept in sorted(judgements(), key=lambda one: one.key != SHOWN):
        about = {"data": kept.title, "statistic": STATISTICS[kept.statistic], "model": kept.model, "n": kept.n}
        for name, one in kept.metrics.items():
            figures = {"mean": one.value, "low": one.low, "high": one.high, "signature": one.signature}
            found.setdefault(name, {**about, **figures})
    return found


HERE, SENTENCES = "here", "sentences"


def is_measured(model: str) -> bool:
    """Whether costs with a model are kept."""
    return any(one["texts"] == SENTENCES and one["model"] == model for one in workloads())


def measured_here(milliseconds: float | None) -> dict[str, Any]:
    """The cost of a pair as this service measured it when it started, if it did."""
    return {"milliseconds_a_pair": milliseconds, "measured_on": None if milliseconds is None else HERE}


def cost(name: str, model: str) -> dict[str, Any]:
    """The cost of a pair of sentences as it is kept, and the machine it was measured on; None where it was not."""
    found = cost_of(name, SENTENCES, model)
    if found is None:
        return {"milliseconds_a_pair": None, "measured_on": None}
    return {"milliseconds_a_pair": found.seconds, "measured_on": machine()}  # seconds a thousand pairs


def machine() -> str:
    """What the kept costs were measured on."""
    return next(str(one["machine"]) for one in workloads() if one["texts"] == SENTENCES)
