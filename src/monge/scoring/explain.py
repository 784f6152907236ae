"""Explanations of scores: the plan of a pair, and each unit's share of the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from monge.errors import DataError
from monge.metrics.axes import Centre, Idf, Uniform
from monge.scoring.clouds import Pair, Text, WindowTexts, batch_pairs, pad_texts
from monge.scoring.encoding import Encoding
from monge.scoring.measure import (
    finish_parts,
    list_pairs_of_texts,
    score_clouds,
    solve_batch,
)
from monge.scoring.surface import take_surface
from monge.scoring.text_checks import advise_model, describe_foreign_texts
from monge.scoring.windows import Window
from monge.text.language import likely_language, main_script
from monge.text.select import NOTED, count_unknown
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
    from monge.scoring.bound import BoundMetric
    from monge.scoring.scorer import StatsBySystem

LEAST = 1e-6  # moves of less mass are not listed


def explain_segment(
    metric: BoundMetric, segment: Segment, stats: CorpusStats | None
) -> Explanation:
    """Explain the score of a segment against its first reference, from the plans of the pair.

    Without statistics, a metric that needs them is explained with uniform weights and no corpus
    mean; name, signature and a note say so. Shares are of the plan's similarity, or of its cost
    under a distance or a cost readout; they add up to the total on each side. With one plan per
    direction, those of the hypothesis come from precision, those of the reference from recall.
    """
    name, notes = metric.name, tuple[str, ...]()
    if stats is None and metric.fits:
        metric, name, notes = drop_statistics(metric)
    stats = stats or CorpusStats(metric.reader.key)
    metric.check_stats(stats)
    segment = replace(segment, references=segment.references[:1])
    texts_by_side = {"hypothesis": segment.hypothesis, "reference": segment.references[0]}
    notes += _note_unknown(metric, texts_by_side)
    texts = WindowTexts(Window([segment], Encoding([metric])), metric, {segment.system: stats})
    pair = texts.hypotheses[0], texts.references[0][0]
    for side, centred in zip(texts_by_side, pair, strict=True):
        if centred.text.empty:
            raise DataError(f"there is nothing to explain: the {side} has no words")
    hypotheses, references = (pad_texts([text], metric.spec) for text in pair)
    batch, raw = score_clouds(hypotheses, references, metric.spec)
    if metric.spec.surface.name != "none":
        raw = take_surface(raw, metric.spec, list_pairs_of_texts([segment]))
    parts = finish_parts(raw, [segment], metric, {segment.system: stats}).items()
    scores = {part: float(values[0]) for part, values in parts}
    tables = _tables(batch, 0, metric).items()
    plans = _collect_plans(segment, pair, batch, 0, metric)
    return Explanation(
        metric=name,
        score=scores.pop("score"),
        parts=scores,
        higher_is_better=metric.bounds.higher_is_better,
        signature=metric.signed(stats),
        moves=tuple(move for key, table in tables for move in _moves(key, table)),
        flags=texts.flags(0),
        notes=notes,
        **{field.name: getattr(plans, field.name) for field in fields(plans)},
    )


def iter_plans(
    metric: BoundMetric, window: Window, stats: StatsBySystem
) -> Iterator[tuple[int, Transported]]:
    """Yield the plans of the segments of a window against their first references, with their
    places.

    Pairs with an empty text have no plan.
    """
    texts = WindowTexts(window, metric, stats)
    pairs: dict[Pair, list[int]] = {}
    for place in range(len(window.rows)):
        pair = texts.hypotheses[place], texts.references[place][0]
        if not pair[0].text.empty and not pair[1].text.empty:
            pairs.setdefault(pair, []).append(place)
    for members in batch_pairs(pairs):
        batch = solve_batch(members, metric.spec)
        for k, pair in enumerate(members):
            for place in pairs[pair]:
                yield place, _collect_plans(window.rows[place], pair, batch, k, metric)


def _by_cost(metric: BoundMetric) -> bool:
    return metric.spec.ground.distance or metric.spec.readout.by_cost


def _tables(batch: PairBatch, k: int, metric: BoundMetric) -> dict[str, _Table]:
    """Return the plans of pair k of a batch, without its padding."""
    present = next(iter(batch.problems.values())).present[k]
    shape = int(present.any(1).sum()), int(present.any(0).sum())
    by_cost = _by_cost(metric)
    return {
        side: _Table.of(plan, batch.problems[side], k, shape, by_cost=by_cost)
        for side, plan in batch.plans.items()
    }


def _collect_plans(
    segment: Segment, pair: Pair, batch: PairBatch, k: int, metric: BoundMetric
) -> Transported:
    """Return the words, masses and plans of pair k of a batch."""
    forward, backward = (PLAN, PLAN) if PLAN in batch.plans else (PRECISION, RECALL)
    tables = _tables(batch, k, metric)
    shape = tables[forward].plan.shape
    labels = _labels(pair[0].text, shape[0]), _labels(pair[1].text, shape[1])
    hypothesis_masses = batch.problems[forward].hypothesis[k, : shape[0]].numpy()
    reference_masses = batch.problems[backward].reference[k, : shape[1]].numpy()
    return Transported(
        hypothesis=Side(
            segment.hypothesis, labels[0], hypothesis_masses, tables[forward].shares.sum(1)
        ),
        reference=Side(
            segment.references[0], labels[1], reference_masses, tables[backward].shares.sum(0)
        ),
        cost=tables[forward].cost,
        similarity=tables[forward].similarity,
        plans={key: table.plan for key, table in tables.items()},
        share_of="cost" if _by_cost(metric) else "similarity",
        distance=metric.spec.ground.distance,
    )


def _note_unknown(metric: BoundMetric, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes on texts whose pieces or script the model does not know."""
    model, notes = metric.reader.encoder, []
    read = metric.reader.read(list(texts.values()))
    rule = "match nothing but themselves" if metric.unknown is not None else "all match each other"
    for (side, text), tokens in zip(texts.items(), read, strict=True):
        ((pieces, lacking),) = count_unknown([tokens], model.unknown)
        if lacking > NOTED * pieces:
            notes.append(
                f"{lacking} of the {pieces} pieces of the {side} are unknown to {model.name} and "
                f"{rule}; {advise_model(likely_language(main_script([text])), model.name)}."
            )
    scripts = []
    if not notes and metric.languages is not None:
        scripts = describe_foreign_texts(
            model.name, metric.languages, {side: [text] for side, text in texts.items()}
        )
    return (*notes, *(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in scripts))


@dataclass(frozen=True)
class _Table:
    """The plan, costs and similarities of one pair, all [n, m]; `shares` is mass times cost or
    similarity.
    """

    plan: Array
    cost: Array
    similarity: Array
    shares: Array

    @classmethod
    def of(
        cls, plan: TransportPlan, problem: Problem, k: int, shape: tuple[int, int], *, by_cost: bool
    ) -> _Table:
        tensors = (plan.coupling, problem.cost, problem.similarity)
        coupling, cost, similarity = (
            tensor[k, : shape[0], : shape[1]].numpy() for tensor in tensors
        )
        return cls(coupling, cost, similarity, coupling * (cost if by_cost else similarity))


def _labels(text: Text, places: int) -> tuple[str, ...]:
    """Return the words of each point, or of each n-gram of points where there are fewer places than
    points.
    """
    width = len(text.labels) - places + 1
    return tuple(" ".join(text.labels[start : start + width]) for start in range(places))


def _moves(name: str, table: _Table) -> list[Move]:
    """Return the moves of a plan, largest mass first."""
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


def drop_statistics(metric: BoundMetric) -> tuple[BoundMetric, str, tuple[str, ...]]:
    """Replace idf by uniform weights and remove a corpus mean; return the metric, its new name, and
    a note.

    Special pieces have weight 0 under idf and would get weight 1, so they are dropped too.
    """
    spec, changes, reasons = metric.spec, [], []
    if isinstance(spec.weights, Idf):
        changes.append("weights=uniform")
        reasons.append("every word weighs the same instead of by its idf")
        spec = replace(spec, weights=Uniform("uniform"))
        if spec.units.specials == "keep":
            changes.append("units.specials=drop")
            reasons.append("special pieces such as [CLS] are left out")
            spec = replace(spec, units=replace(spec.units, specials="drop"))
    if metric.needs.summed_sides:
        changes.append("centre=none")
        reasons.append("no corpus mean is subtracted")
        spec = replace(spec, centre=Centre("none"))
    name = f"{metric.name}[{','.join(changes)}]"
    note = (
        f"This is {name}, not {metric.name}: no corpus statistics were given, so "
        f"{' and '.join(reasons)}. "
        f"Fit them with monge fit -m {metric.name} -r CORPUS -o STATS and give --stats STATS."
    )
    return replace(metric, spec=spec), name, (note,)
