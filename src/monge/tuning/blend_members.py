"""The members of a blend while its weights are fitted: they are loaded, checked and scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from monge import api
from monge.datasets.segment_scores import GivenScores, given_scores
from monge.errors import UnknownName, UsageError
from monge.metrics.blend_file import name_members
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import Spec, check_fitting, fitting, resolve
from monge.scoring.bound import BoundMetric
from monge.scoring.scorer import vector_members
from monge.scoring.windows import REFERENCES
from monge.tuning.blend_plan import BlendPlan
from monge.tuning.examples import Examples
from monge.types import Array, Segment


@dataclass(frozen=True)
class BlendMember:
    """A member before its weight is known: its name in the blend, its metric, ready to score."""

    name: str
    metric: api.Metric
    model: str

    @cached_property
    def bound(self) -> BoundMetric | None:
        """The metric where it compares vectors, else None."""
        return next(iter(vector_members([self.metric.scorer])), None)

    def record(self, weight: float, mean: float, deviation: float) -> dict[str, Any]:
        """Return the entry of the member in the file of the blend."""
        constants = {"weight": weight, "mean": mean, "deviation": deviation}
        spec = self.metric.spec
        model = None
        if isinstance(spec, MetricSpec) and self.bound is not None:
            identity = self.bound.identity.model
            model = {
                "name": identity.name,
                "weights": identity.weights,
                "tokenizer": identity.tokenizer,
                "config": identity.config,
            }
            spec = replace(spec, encoder=replace(spec.encoder, model=self.model))
        settings = spec.written()
        return {"metric": self.metric.name, **constants, "settings": settings, "model": model}


def open_members(plan: BlendPlan) -> list[BlendMember]:
    """Load the members; raise for metrics that cannot be members."""
    check_fitting(plan.metrics, plan.settings)
    resolved: list[tuple[str, Spec]] = []
    for text in plan.metrics:
        name, spec = resolve(text, fitting(text, plan.settings))
        if not isinstance(spec, MetricSpec | LexicalSpec):
            raise UsageError(
                f"{text} cannot be a member of a blend: members are transport metrics and lexical "
                "metrics (monge metrics lists them)"
            )
        if (name, spec) in resolved:
            raise UsageError(f"{text} is given twice: a member counts once, by its weight")
        resolved.append((name, spec))
    members = []
    for member, (name, spec) in zip(
        name_members([name for name, _ in resolved]), resolved, strict=True
    ):
        own = spec.encoder.model if isinstance(spec, MetricSpec) else "auto"
        metric = api.bind(name, spec, model=plan.model)
        if metric.scorer.against != REFERENCES:
            raise UsageError(
                f"{name} compares with the source: the members of a blend compare with references"
            )
        members.append(BlendMember(member, metric, plan.model if own == "auto" else own))
    return members


def find_score_files(plan: BlendPlan, members: Sequence[BlendMember]) -> dict[str, GivenScores]:
    """Return the files of out-of-fold scores by member."""
    score_files = {scores.name: scores for scores in given_scores(plan.scores)}
    names = [member.name for member in members]
    unknown = next((name for name in score_files if name not in names), None)
    if unknown is not None:
        raise UnknownName("member", unknown, names)
    return score_files


def read_score_files(files: Mapping[str, GivenScores], examples: Examples) -> dict[str, Array]:
    """Return the scores [n] of the judgements in each file, by member."""
    by_group: dict[str, list[int]] = {}
    for place, group in enumerate(examples.groups):
        by_group.setdefault(group, []).append(place)
    rows_by_group: dict[str, Sequence[Segment]] = {
        group: [examples.rows[k] for k in places] for group, places in by_group.items()
    }
    columns = {}
    for name, file in files.items():
        columns[name] = np.zeros(len(examples.rows))
        for group, values in file.of(rows_by_group)[0].items():
            columns[name][by_group[group]] = values
    return columns


def score_members(
    members: Sequence[BlendMember],
    examples: Examples,
    known_scores: Mapping[str, Array],
    watch: Callable[[int], None] | None,
) -> Array:
    """Return the scores [n, k] of the members as they are; `known_scores` [n] stand for a member's
    own.
    """
    columns = dict(known_scores)
    own = [member for member in members if member.name not in known_scores]
    if own:
        rows = [replace(row, id=str(k), system="") for k, row in enumerate(examples.rows)]
        labels = [member.name for member in own]
        metrics = [member.metric for member in own]
        results = api.score_segments(metrics, rows, watch=api.Watch(watch), names=labels)
        columns |= {name: result.segments for name, result in zip(labels, results, strict=True)}
    return np.stack([columns[member.name] for member in members], axis=1)


def sign_members(members: Sequence[BlendMember]) -> Array:
    """Return 1 for a member [k] whose higher scores are better, -1 for a distance."""
    return np.array(
        [1.0 if member.metric.scorer.bounds.higher_is_better else -1.0 for member in members]
    )
