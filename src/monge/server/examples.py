"""Bundled examples for the page, and recorded agreement and cost of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from monge.recommendation.kept_results import STATISTICS, cost_of, judgements, workloads

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


SYSTEMS = Systems(
    {name: _lines(name)[:12] for name in ("system-a", "system-b")}, _lines("reference")[:12]
)
"""The first lines of the bundled example."""


SHOWN = "wmt17"
"""The evaluation whose figures are shown beside the metrics; a metric that it lacks has those of
the first with it.
"""


@cache
def agreement() -> dict[str, Any]:
    """Return the agreement with people by metric, from the results behind `monge recommend`."""
    figures_by_metric: dict[str, Any] = {}
    for evaluation in sorted(judgements(), key=lambda evaluation: evaluation.key != SHOWN):
        about = {
            "data": evaluation.title,
            "statistic": STATISTICS[evaluation.statistic],
            "model": evaluation.model,
            "n": evaluation.n,
        }
        for name, agreement in evaluation.metrics.items():
            figures = {
                "mean": agreement.value,
                "low": agreement.low,
                "high": agreement.high,
                "signature": agreement.signature,
            }
            figures_by_metric.setdefault(name, {**about, **figures})
    return figures_by_metric


HERE, SENTENCES = "here", "sentences"


def is_measured(model: str) -> bool:
    """Return whether costs with a model are recorded."""
    return any(
        workload["texts"] == SENTENCES and workload["model"] == model for workload in workloads()
    )


def measured_here(milliseconds: float | None) -> dict[str, Any]:
    """Return the cost per pair as this service measured it when it started, None if it did not."""
    return {
        "milliseconds_a_pair": milliseconds,
        "measured_on": None if milliseconds is None else HERE,
    }


def kept_cost(name: str, model: str) -> dict[str, Any]:
    """Return the recorded cost per pair and the machine it was measured on; None without one."""
    measured_cost = cost_of(name, SENTENCES, model)
    if measured_cost is None:
        return {"milliseconds_a_pair": None, "measured_on": None}
    # seconds per thousand pairs are milliseconds per pair
    return {"milliseconds_a_pair": measured_cost.seconds, "measured_on": machine()}


def machine() -> str:
    """Return the machine that the recorded costs were measured on."""
    return next(
        str(workload["machine"]) for workload in workloads() if workload["texts"] == SENTENCES
    )
