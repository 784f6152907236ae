"""Why a pair got its score: the plan of one pair, and each unit's share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from monge.errors import DataError
from monge.scoring import clouds
from monge.scoring.clouds import VANISHED, Placed, Text
from monge.scoring.fluency import fluencies, spoken
from monge.scoring.measure import (
    PLAN,
    PRECISION,
    RECALL,
    excess_cost,
    measure,
    phrase_plans,
    phrase_problems,
    problem_between,
    solve,
)
from monge.scoring.pipeline import Windows, texts_of
from monge.scoring.prepared import Prepared
from monge.scoring.run import signature as signed
from monge.spec.axes import Centre, Idf, Uniform
from monge.types import Array, CorpusStats, Explanation, Move, Plan, Problem, Segment, Side, Signature

LEAST = 1e-6  # moves of less mass are not listed


def explain_pair(metric: Prepared, segment: Segment, texts: tuple[Placed, Placed], signature: Signature) -> Explanation:
    """The explanation of a pair from its centred clouds.

    What is shared out is the plan's similarity, or its cost under a distance or a cost readout: a
    move's share is mass times that; a unit's share is the sum of its moves', so that each side adds
    up to the whole. Where there is a plan a direction, the hypothesis shares precision's and the
    reference recall's.
    """
    hypothesis, reference = (placed.text for placed in texts)
    if hypothesis.empty or reference.empty:
        side = "hypothesis" if hypothesis.empty else "reference"
        raise DataError(f"there is nothing to explain: the {side} has no words")
    (one, gone), (other, gone_too) = (clouds.padded([placed], metric.spec) for placed in texts)
    vanished = (VANISHED,) if gone or gone_too else ()
    problem = problem_between(one, other, metric.spec)
    if metric.spec.units.phrases:
        problems = phrase_problems(problem, metric.spec)
        plans = phrase_plans(problems, metric.spec)
    else:
        plans = solve(problem, metric.spec, excess_cost(one, other, metric.spec))
        problems = dict.fromkeys(plans, problem)
    parts = {name: float(value[0]) for name, value in measure(one, other, metric.spec).items()}
    by_cost = metric.spec.ground.distance or metric.spec.readout.by_cost
    forward, backward = (PLAN, PLAN) if PLAN in plans else (PRECISION, RECALL)
    mine, theirs = problems[forward], problems[backward]
    labels = _labels(hypothesis, mine.present[0].any(1)), _labels(reference, mine.present[0].any(0))
    shape = len(labels[0]), len(labels[1])
    tables = {name: _Table.of(plans[name], problems[name], shape, by_cost=by_cost) for name in plans}
    return Explanation(
        metric=metric.name,
        score=parts["score"],
        parts={name: value for name, value in parts.items() if name != "score"},
        higher_is_better=metric.bounds.higher_is_better,
        signature=signature,
        hypothesis=Side(
            segment.hypothesis, labels[0], mine.hypothesis[0, : shape[0]].numpy(), tables[forward].shares.sum(1)
        ),
        reference=Side(
            segment.references[0], labels[1], theirs.reference[0, : shape[1]].numpy(), tables[backward].shares.sum(0)
        ),
        cost=tables[forward].cost,
        similarity=tables[forward].similarity,
        plans={name: table.plan for name, table in tables.items()},
        moves=tuple(move for name, table in tables.items() for move in _moves(name, table)),
        share_of="cost" if by_cost else "similarity",
        flags=tuple(dict.fromkeys([*hypothesis.flags, *reference.flags, *vanished])),
    )


@dataclass(frozen=True)
class _Table:
    """A plan of one pair with what its moves cost, all [n, m]; `shares` is mass times what is shared out."""

    plan: Array
    cost: Array
    similarity: Array
    shares: Array

    @classmethod
    def of(cls, plan: Plan, problem: Problem, shape: tuple[int, int], *, by_cost: bool) -> _Table:
        tensors = (plan.coupling, problem.cost, problem.similarity)
        coupling, cost, similarity = (one[0, : shape[0], : shape[1]].numpy() for one in tensors)
        return cls(coupling, cost, similarity, coupling * (cost if by_cost else similarity))


def _labels(text: Text, present: Tensor) -> tuple[str, ...]:
    """What a person reads for each point, or for each n-gram of them where there are fewer places than points."""
    places = int(present.sum())
    width = len(text.labels) - places + 1
    return tuple(" ".join(text.labels[start : start + width]) for start in range(places))


def _moves(name: str, table: _Table) -> list[Move]:
    """The moves of a plan, largest mass first."""
    plan, cost, similarity = table.plan, table.cost, table.similarity
    rows, columns = np.nonzero(plan > LEAST)
    order = np.argsort(-plan[rows, columns], kind="stable")
    return [
        Move(
            plan=name,
            hypothesis=int(i),
            reference=int(j),
            mass=float(plan[i, j]),
            cost=float(cost[i, j]),
            similarity=float(similarity[i, j]),
            share=float(table.shares[i, j]),
        )
        for i, j in zip(rows[order], columns[order], strict=True)
    ]


def explained(metric: Prepared, segment: Segment, stats: CorpusStats | None) -> Explanation:
    """The explanation of a segment's first reference.

    Without statistics, a metric that needs them is explained with uniform weights and no corpus mean:
    one pair is no corpus. The signature and the flag `no-statistics` say so.
    """
    flags: tuple[str, ...] = ()
    if stats is None and (metric.counted_sides or metric.summed_sides):
        metric, flags = without_statistics(metric), ("no-statistics",)
    stats = stats or CorpusStats(metric.reader.key)
    metric.check_stats(stats)
    pair = texts_of(metric, segment, stats, Windows([metric]))
    found = explain_pair(metric, segment, pair, signed(metric, stats))
    likely = fluencies(metric, [segment.hypothesis])
    parts = spoken(metric, {"score": found.score, **found.parts}, likely, segment.hypothesis)
    scaled = metric.scaled(parts, stats)
    return replace(found, score=scaled.pop("score"), parts=scaled, flags=(*flags, *found.flags))


def without_statistics(metric: Prepared) -> Prepared:
    """The metric with uniform weights for idf and no centring for a corpus mean."""
    spec = metric.spec
    if isinstance(spec.weights, Idf):  # specials, which weigh 0 by idf, must not come to weigh 1
        drop = replace(spec.units, specials="drop" if spec.units.specials == "keep" else spec.units.specials)
        spec = replace(spec, weights=Uniform("uniform"), units=drop)
    if metric.summed_sides:
        spec = replace(spec, centre=Centre("none"))
    return replace(metric, spec=spec)
