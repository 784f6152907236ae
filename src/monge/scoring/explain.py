"""Why a pair got its score: the plan of one pair, and each unit's share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from monge.errors import DataError
from monge.scoring.clouds import Pair, WindowTexts, pad_texts
from monge.scoring.encoding import Encoding
from monge.scoring.measure import finish_parts, score_clouds, solve_batches
from monge.scoring.points import Text
from monge.scoring.suitable import advice, foreign_texts
from monge.scoring.windows import Window
from monge.spec.axes import Centre, Idf, Uniform
from monge.text.scripts import likely_language, main_script
from monge.text.unknown import NOTED, count_unknown
from monge.types import (
    Array,
    CorpusStats,
    Explanation,
    Move,
    PairBatch,
    Problem,
    Segment,
    Side,
    Transported,
    TransportPlan,
)
from monge.types.transport import PLAN, PRECISION, RECALL

if TYPE_CHECKING:
    from monge.scoring.scorer import StatsBySystem
    from monge.scoring.transport import TransportMetric

LEAST = 1e-6  # moves of less mass are not listed


def explained(metric: TransportMetric, segment: Segment, stats: CorpusStats | None) -> Explanation:
    """The explanation of a segment's first reference, from the plans that its score is made of.

    Without statistics, a metric that needs them is explained with uniform weights and no corpus mean: one pair is no
    corpus. Its name, its signature and a note say so.

    What is shared out is the plan's similarity, or its cost under a distance or a cost readout: a move's share is mass
    times that; a unit's share is the sum of its moves', so that each side adds up to the whole. Where there is a plan
    a direction, the hypothesis shares precision's and the reference recall's.
    """
    name = metric.name
    notes: tuple[str, ...] = ()
    if stats is None and metric.fits:
        metric, name, notes = without_statistics(metric)
    stats = stats or CorpusStats(metric.reader.key)
    metric.check_stats(stats)
    segment = replace(segment, references=segment.references[:1])
    notes += _unknown(metric, {"hypothesis": segment.hypothesis, "reference": segment.references[0]})
    texts = WindowTexts(Window([segment], Encoding([metric])), metric, {segment.system: stats})
    pair = texts.hypothesis(0), texts.references(0)[0]
    for side, one in zip(("hypothesis", "reference"), pair, strict=True):
        if one.text.empty:
            raise DataError(f"there is nothing to explain: the {side} has no words")
    clouds = [pad_texts([text], metric.spec) for text in pair]
    batch, raw = score_clouds(clouds[0], clouds[1], metric.spec)
    parts = finish_parts(raw, [segment], metric, {segment.system: stats})
    scores = {part: float(values[0]) for part, values in parts.items()}
    tables = _tables(batch, 0, metric)
    plans = _transported(segment, pair, batch, 0, metric)
    return Explanation(
        metric=name,
        score=scores.pop("score"),
        parts=scores,
        higher_is_better=metric.bounds.higher_is_better,
        signature=metric.signed(stats),
        moves=tuple(move for key, table in tables.items() for move in _moves(key, table)),
        flags=texts.flags(0),
        notes=notes,
        **{field.name: getattr(plans, field.name) for field in fields(plans)},
    )


def transported(metric: TransportMetric, window: Window, stats: StatsBySystem) -> Iterator[tuple[int, Transported]]:
    """The plans of the segments of a window against their first references, by place; pairs without words have none."""
    texts = WindowTexts(window, metric, stats)
    pairs: dict[Pair, list[int]] = {}
    for place in range(len(window.rows)):
        pair = texts.hypothesis(place), texts.references(place)[0]
        if not pair[0].text.empty and not pair[1].text.empty:
            pairs.setdefault(pair, []).append(place)
    for members, batch, _ in solve_batches(list(pairs), metric.spec):
        for k, pair in enumerate(members):
            for place in pairs[pair]:
                yield place, _transported(window.rows[place], pair, batch, k, metric)


def _by_cost(metric: TransportMetric) -> bool:
    return metric.spec.ground.distance or metric.spec.readout.by_cost


def _tables(batch: PairBatch, k: int, metric: TransportMetric) -> dict[str, _Table]:
    """Return the plans of pair k of a batch, without its padding."""
    present = next(iter(batch.problems.values())).present[k]
    shape = int(present.any(1).sum()), int(present.any(0).sum())
    by_cost = _by_cost(metric)
    return {
        side: _Table.of(plan, batch.problems[side], k, shape, by_cost=by_cost) for side, plan in batch.plans.items()
    }


def _transported(segment: Segment, pair: Pair, batch: PairBatch, k: int, metric: TransportMetric) -> Transported:
    """Return the words, masses and plans of pair k of a batch."""
    forward, backward = (PLAN, PLAN) if PLAN in batch.plans else (PRECISION, RECALL)
    tables = _tables(batch, k, metric)
    shape = tables[forward].plan.shape
    labels = _labels(pair[0].text, shape[0]), _labels(pair[1].text, shape[1])
    hypothesis_masses = batch.problems[forward].hypothesis[k, : shape[0]].numpy()
    reference_masses = batch.problems[backward].reference[k, : shape[1]].numpy()
    return Transported(
        hypothesis=Side(segment.hypothesis, labels[0], hypothesis_masses, tables[forward].shares.sum(1)),
        reference=Side(segment.references[0], labels[1], reference_masses, tables[backward].shares.sum(0)),
        cost=tables[forward].cost,
        similarity=tables[forward].similarity,
        plans={key: table.plan for key, table in tables.items()},
        share_of="cost" if _by_cost(metric) else "similarity",
        distance=metric.spec.ground.distance,
    )


def _unknown(metric: TransportMetric, texts: Mapping[str, str]) -> tuple[str, ...]:
    """What to know of texts whose pieces or script the model does not know."""
    model, notes = metric.reader.encoder, []
    read = metric.reader.read(list(texts.values()))
    rule = "match nothing but themselves" if metric.unknown is not None else "all match each other"
    for (side, text), tokens in zip(texts.items(), read, strict=True):
        pieces, lacking = count_unknown(tokens, model.unknown)
        if lacking > NOTED * pieces:
            notes.append(
                f"{lacking} of the {pieces} pieces of the {side} are unknown to {model.name} and {rule}; "
                f"{advice(likely_language(main_script([text])), model.name)}."
            )
    scripts = foreign_texts(model.name, {side: [text] for side, text in texts.items()}) if not notes else []
    return (*notes, *(f"{one[:1].upper()}{one[1:]}." for one in scripts))


@dataclass(frozen=True)
class _Table:
    """A plan of one pair with what its moves cost, all [n, m]; `shares` is mass times what is shared out."""

    plan: Array
    cost: Array
    similarity: Array
    shares: Array

    @classmethod
    def of(cls, plan: TransportPlan, problem: Problem, k: int, shape: tuple[int, int], *, by_cost: bool) -> _Table:
        tensors = (plan.coupling, problem.cost, problem.similarity)
        coupling, cost, similarity = (one[k, : shape[0], : shape[1]].numpy() for one in tensors)
        return cls(coupling, cost, similarity, coupling * (cost if by_cost else similarity))


def _labels(text: Text, places: int) -> tuple[str, ...]:
    """What a person reads for each point, or for each n-gram of them where there are fewer places than points."""
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


def without_statistics(metric: TransportMetric) -> tuple[TransportMetric, str, tuple[str, ...]]:
    """The metric with uniform weights for idf and no centring for a corpus mean, what it is called, and why.

    Special pieces weigh 0 by idf and must not come to weigh 1, so they are dropped with it.
    """
    spec, changes, told = metric.spec, [], []
    if isinstance(spec.weights, Idf):
        changes.append("weights=uniform")
        told.append("every word weighs the same instead of by its idf")
        spec = replace(spec, weights=Uniform("uniform"))
        if spec.units.specials == "keep":
            changes.append("units.specials=drop")
            told.append("special pieces such as [CLS] are left out")
            spec = replace(spec, units=replace(spec.units, specials="drop"))
    if metric.needs.summed_sides:
        changes.append("centre=none")
        told.append("no corpus mean is subtracted")
        spec = replace(spec, centre=Centre("none"))
    name = f"{metric.name}[{','.join(changes)}]"
    note = (
        f"This is {name}, not {metric.name}: no corpus statistics were given, so {' and '.join(told)}. "
        f"Fit them with monge fit -m {metric.name} -r CORPUS -o STATS and give --stats STATS."
    )
    return replace(metric, spec=spec), name, (note,)
