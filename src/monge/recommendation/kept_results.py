"""Kept results of evaluations: each metric's agreement on each data set, and its cost.

`kept/agreement.json` and `kept/cost.json` are made by tools/make_recommend.py, `kept/adapters.json`
(figures of the shipped tuned models) by tools/make_adapter_figures.py. `monge recommend` answers
from them, and the catalogue of the service shows them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from monge.metrics.lexical import LEXICAL

STATISTICS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau",
    "tau10": "Kendall's tau of rankings",
}


@dataclass(frozen=True)
class Measured:
    """A metric's agreement on a data set: mean over groups, interval, standing to the best.

    `mark` is `best`, `tied` (cannot be told apart from the best) or nothing.
    """

    value: float
    low: float | None
    high: float | None
    mark: str
    signature: str


@dataclass(frozen=True)
class KeptAgreements:
    """Data that people judged, and every metric's agreement with them.

    `sample` source segments of each group were drawn with `seed` (None: all were taken), `n`
    judgements of `segments` outputs; `texts` is `sentences` or `documents`.
    """

    key: str
    title: str
    task: str
    lang: str
    texts: str
    dataset: str
    pairs: Sequence[str] | None
    switches: Mapping[str, Any]
    sample: int | None
    model: str
    human: str
    statistic: str
    groups: int
    n: int
    segments: int
    seed: int
    resamples: int
    metrics: Mapping[str, Measured]

    @property
    def chosen_documents(self) -> Sequence[str]:
        """The groups of documents that alone were scored, to save time; none if all were."""
        return (self.pairs or ()) if self.texts == "documents" else ()

    @property
    def is_sampled(self) -> bool:
        """Whether a part of the judgements was taken."""
        return bool(self.sample or self.chosen_documents)

    @property
    def extent(self) -> str:
        """What was judged, in words."""
        sample_text = ""
        if self.sample:
            sample_text = f", {self.sample} source segments a group drawn with seed {self.seed}"
        group_text = f" in {self.groups} groups" if self.groups > 1 else ""
        if self.chosen_documents:
            group_text += f" ({', '.join(self.chosen_documents)} alone, as documents take long)"
        about = f"{STATISTICS[self.statistic]} with {self.human}"
        return f"{self.key} ({self.title}): {about}, {self.n:,} judgements{group_text}{sample_text}"


@dataclass(frozen=True)
class Cost:
    """Processor seconds per 1,000 pairs with one thread, and peak memory in megabytes."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Change:
    """What tuning did to the agreement on a data set, and the p of the difference."""

    statistic: str
    before: Measured
    after: Measured
    p: float


@dataclass(frozen=True)
class Tuned:
    """A model tuned on human judgements, for `--model NAME`: its effect on `metric` by data set.

    `time` is that of scoring with it, where that of the plain model `base` is 1; `caution` says
    what to mind.
    """

    name: str
    base: str
    metric: str
    caution: str
    time: float
    figures: Mapping[str, Change]

    @property
    def sibling(self) -> bool:
        """Whether figures come from a sibling that did not learn from these data."""
        return "sibling" in self.caution

    @property
    def label(self) -> str:
        """What to type."""
        return f"{self.metric} --model {self.name}"


def _read_kept(name: str) -> Any:
    """Return the contents of a JSON file of kept results."""
    return json.loads((files("monge.recommendation") / "kept" / name).read_text("utf-8"))


@cache
def tuned() -> tuple[Tuned, ...]:
    """Return the tuned models that are shipped."""
    models = []
    for record in _read_kept("adapters.json"):
        figures = {key: _read_change(figure) for key, figure in record["figures"].items()}
        models.append(Tuned(**{**record, "figures": figures}))
    return tuple(models)


def _read_change(record: Mapping[str, Any]) -> Change:
    return Change(
        record["statistic"], Measured(**record["before"]), Measured(**record["after"]), record["p"]
    )


@cache
def judgements() -> tuple[KeptAgreements, ...]:
    """Return the stored agreements of all data sets."""
    datasets = []
    for key, record in _read_kept("agreement.json").items():
        metrics = {name: Measured(**figure) for name, figure in record["metrics"].items()}
        datasets.append(KeptAgreements(key, **{**record, "metrics": metrics}))
    return tuple(datasets)


@cache
def workloads() -> tuple[Mapping[str, Any], ...]:
    """Return the measured workloads: texts, model, dataset, pairs, machine, metrics."""
    return tuple(_read_kept("cost.json"))


def cost_of(metric: str, texts: str, model: str) -> Cost | None:
    """Return the cost of a metric on a kind of text with a model; None if it was not measured."""
    for workload in workloads():
        if (
            workload["texts"] == texts
            and metric in workload["metrics"]
            and (workload["model"] == model or metric in LEXICAL)
        ):
            return Cost(**workload["metrics"][metric])
    return None
