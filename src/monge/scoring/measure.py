"""The interpreter: the texts of a window and a spec -> the parts of their scores.

texts -> clouds -> problems -> plans -> parts of pairs -> surface -> parts of segments (over
references) -> fluency -> scale
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from monge.errors import BadSegment
from monge.metrics import axes
from monge.metrics.metric import MetricSpec
from monge.scoring.clouds import (
    STEP,
    CentredText,
    Pair,
    Text,
    WindowTexts,
    batch_pairs,
    make_origin,
    pad_texts,
)
from monge.scoring.fluency import add_fluency
from monge.scoring.surface import take_surface
from monge.transport.grounds import exchange_sides
from monge.transport.phrases import phrases
from monge.types import Array, Cloud, PairBatch, Segment
from monge.types.transport import PRECISION, RECALL, Parts

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.scorer import StatsBySystem
    from monge.scoring.windows import Window


@dataclass(frozen=True)
class WindowParts:
    """The raw parts [n] of a window's segments, the winning references [n], and the texts."""

    parts: Parts
    winners: Tensor
    texts: WindowTexts


def measure(window: Window, metric: BoundMetric, stats: StatsBySystem) -> WindowParts:
    """Return the parts of segments before fluency and scale; gradients flow to the vectors."""
    texts = WindowTexts(window, metric, stats)
    pairs: list[Pair] = []
    places: list[int] = []
    counts: list[int] = []
    for k, row in enumerate(window.rows):
        worded = row.worded_references
        pairs += [(texts.hypotheses[k], texts.references[k][place]) for place in worded]
        places += worded
        counts.append(len(worded))
    pair_parts = score_pairs(pairs, metric)
    if metric.spec.surface.name != "none":
        pair_parts = take_surface(pair_parts, metric.spec, list_pairs_of_texts(window.rows))
    parts, winners = combine_references(
        pair_parts, counts, metric.spec, metric.raw.higher_is_better
    )
    starts = torch.tensor(counts).cumsum(0) - torch.tensor(counts)
    winners = torch.where(winners < 0, winners, torch.tensor(places)[starts + winners.clamp_min(0)])
    return WindowParts(parts, winners, texts)


def list_pairs_of_texts(rows: Sequence[Segment]) -> list[tuple[str, str]]:
    """Return each hypothesis with each of the references that are used, in order."""
    return [
        (row.hypothesis, row.references[place]) for row in rows for place in row.worded_references
    ]


def finish_parts(
    parts: Parts, rows: Sequence[Segment], metric: BoundMetric, stats: StatsBySystem
) -> dict[str, Array]:
    """Add fluency, and scale the scores; raise where a part [n] is not finite."""
    numbers = {name: values.detach().double().numpy() for name, values in parts.items()}
    if metric.language_model is not None:
        numbers = add_fluency(numbers, metric, [row.hypothesis for row in rows])
    if metric.spec.scale.name != "raw":
        numbers = metric.scaling.apply(numbers, next(iter(stats.values())))
    for name, values in numbers.items():
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise _describe_bad_number(f"{name} is {values[wrong[0]]}", rows[wrong[0]], metric)
    return numbers


def _describe_bad_number(value: str, row: Segment, metric: BoundMetric) -> BadSegment:
    any_length = not metric.spec.normalise.units and not metric.spec.ground.distance
    return BadSegment(
        row.id,
        row.system,
        f"{metric.name}: its {value}, which is not a score: these settings give no number for "
        f"its texts{' (vectors of any length: try normalise=units)' if any_length else ''}",
    )


def combine_references(
    parts: Mapping[str, Tensor], counts: Sequence[int], spec: MetricSpec, higher_is_better: bool
) -> tuple[Parts, Tensor]:
    """Return the parts of every segment from those of its references, and the one that won.

    parts: name -> [pairs], the pairs of a segment side by side; counts [n]: how many pairs each
    segment has. max: the reference with the best score, taken whole; max-each: the best of each
    part by itself (the least surface); max-sides: F of the best precision and the best recall (for
    both the winner is the best by score); mean: the mean of each part (winner -1); first: the
    first.
    """
    rule, sizes = spec.references.name, torch.tensor(counts)
    starts = sizes.cumsum(0) - sizes
    if rule == "mean":
        means = {name: _means(values, sizes) for name, values in parts.items()}
        return means, torch.full_like(sizes, -1)
    if rule == "first" or max(counts) == 1:
        return {name: values[starts] for name, values in parts.items()}, torch.zeros_like(sizes)
    winners = _best_places(parts["score"], counts, higher_is_better)
    if rule == "max":
        return {name: values[starts + winners] for name, values in parts.items()}, winners
    assert rule in ("max-each", "max-sides"), f"no branch for the rule {rule}"
    best = {
        name: values[starts + _best_places(values, counts, higher_is_better and name != "surface")]
        for name, values in parts.items()
    }
    if rule == "max-sides":
        assert isinstance(spec.readout, axes.Prf)
        best = spec.readout.combine({name: best[name] for name in (PRECISION, RECALL)})
    return best, winners


def _means(values: Tensor, sizes: Tensor) -> Tensor:
    """Return the mean [n] of each run of values [pairs]."""
    owners = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    return values.new_zeros(len(sizes)).index_add(0, owners, values) / sizes


def _best_places(values: Tensor, counts: Sequence[int], higher_is_better: bool) -> Tensor:
    """Return the place [n] of the best of each run of values [pairs]; of equal ones the first."""
    runs = (values if higher_is_better else -values).detach().numpy()
    ends = np.cumsum(counts)
    return torch.tensor(
        [int(runs[end - count : end].argmax()) for count, end in zip(counts, ends, strict=True)]
    )


def score_pairs(pairs: Sequence[Pair], metric: BoundMetric) -> Parts:
    """Return the parts of every pair of texts, name -> [pairs].

    Equal pairs are measured once, so that they are equal. A pair with one empty text has the
    declared worst value, a pair of two empty texts the best; where no worst value is declared, one
    unit at the origin stands for the empty text. Gradients flow to vectors that have them.
    """
    index = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    solvable: dict[Pair, int] = {}
    without_words: dict[int, int] = {}
    for pair, place in index.items():
        hypothesis, reference = pair
        empty = hypothesis.text.empty + reference.text.empty
        if empty == 1 and metric.raw.worst is None:
            hypothesis = make_origin(reference) if hypothesis.text.empty else hypothesis
            reference = make_origin(hypothesis) if reference.text.empty else reference
            solvable[hypothesis, reference] = place
        elif empty:
            without_words[place] = empty
        else:
            solvable[pair] = place
    spec = metric.spec
    own = compare_with_self(solvable, spec) if spec.readout.compares_with_self else None
    parts: Parts = {}
    for batch in batch_pairs(solvable):
        places = torch.tensor([solvable[pair] for pair in batch])
        own_of_sides = None if own is None else own.of_sides(batch)
        batch_parts = spec.readout.parts(solve_batch(batch, spec), spec.transport, own_of_sides)
        for name, values in batch_parts.items():
            column = parts.setdefault(name, torch.zeros(len(index), dtype=torch.float64))
            column[places] = values.double()
    if without_words:
        for name in parts or dict.fromkeys(part_names(metric.spec)):
            values = parts.setdefault(name, torch.zeros(len(index), dtype=torch.float64))
            for place, empty in without_words.items():
                values[place] = _value_without_words(name, metric, both=empty == 2)
    order = torch.tensor([index[pair] for pair in pairs])
    return {name: values[order] for name, values in parts.items()}


def _value_without_words(name: str, metric: BoundMetric, *, both: bool) -> float:
    """Return a part of a pair with an empty text: no mass moves, or all where both are empty."""
    if name == "mass":
        return 1.0 if both else 0.0
    value = metric.raw.best if both else metric.raw.worst
    assert value is not None
    return value


def solve_batch(batch: Sequence[Pair], spec: MetricSpec) -> PairBatch:
    """Return the plans of pairs of one padded shape."""
    hypotheses, references = (
        pad_texts([pair[side] for pair in batch], spec, STEP) for side in (0, 1)
    )
    return solve_pairs(hypotheses, references, spec)


@dataclass(frozen=True)
class OwnValues:
    """The values [texts] of texts compared with themselves, by part, and the place of each text."""

    values: Parts
    places: Mapping[CentredText, int]

    def of_sides(self, pairs: Sequence[Pair]) -> tuple[Parts, Parts]:
        """Return the values [b] of the hypotheses and of the references of some pairs."""
        hypotheses = torch.tensor([self.places[hypothesis] for hypothesis, _ in pairs])
        references = torch.tensor([self.places[reference] for _, reference in pairs])
        return (
            {name: values[hypotheses] for name, values in self.values.items()},
            {name: values[references] for name, values in self.values.items()},
        )


def compare_with_self(pairs: Iterable[Pair], spec: MetricSpec) -> OwnValues:
    """Compare every distinct text of some pairs with itself."""
    texts = dict.fromkeys(text for pair in pairs for text in pair)
    batches = [
        [text for text, _ in batch] for batch in batch_pairs([(text, text) for text in texts])
    ]
    settings = spec.ground, spec.transport, spec.epsilon
    values = [
        spec.readout.compare_with_self(pad_texts(batch, spec, STEP), *settings) for batch in batches
    ]
    places = {text: place for place, text in enumerate(text for batch in batches for text in batch)}
    names = values[0] if values else ()
    return OwnValues({name: torch.cat([part[name] for part in values]) for name in names}, places)


def score_clouds(hypotheses: Cloud, references: Cloud, spec: MetricSpec) -> tuple[PairBatch, Parts]:
    """Return the plans of a batch of pairs and the parts [b] of their scores."""
    own = None
    if spec.readout.compares_with_self:
        settings = spec.ground, spec.transport, spec.epsilon
        compare = spec.readout.compare_with_self
        own = compare(hypotheses, *settings), compare(references, *settings)
    batch = solve_pairs(hypotheses, references, spec)
    return batch, spec.readout.parts(batch, spec.transport, own)


def solve_pairs(hypotheses: Cloud, references: Cloud, spec: MetricSpec) -> PairBatch:
    """Return the plans of a batch of pairs under a spec."""
    epsilon = spec.epsilon
    problem = spec.ground.problem(hypotheses, references, epsilon)
    if spec.units.ngram != 1 and spec.units.phrases:
        # the weights of its own side average in each direction; the plans are one-sided
        backward = exchange_sides(phrases(exchange_sides(problem), spec.units.ngram))
        problems = {PRECISION: phrases(problem, spec.units.ngram), RECALL: backward}
        plans = {
            side: spec.transport.solve(side_problem)[side]
            for side, side_problem in problems.items()
        }
        return PairBatch(hypotheses, references, problems, plans)
    if not epsilon:
        plans = spec.transport.solve(problem)
        if spec.readout.replaces_plans:
            plans = spec.readout.replace_plans(
                plans, problem, hypotheses, references, spec.transport
            )
        return PairBatch(hypotheses, references, dict.fromkeys(plans, problem), plans)
    sides = (hypotheses, references), (hypotheses, hypotheses), (references, references)
    costs = [spec.ground.problem(*pair, epsilon).cost.amax((1, 2)) for pair in sides]
    # pyemd: a unit of unmatched mass costs as much as the largest cost [b]
    excess = torch.stack(costs).amax(0)
    plans = spec.transport.solve(problem, excess)
    unmatched = (problem.hypothesis.sum(1) - problem.reference.sum(1)).abs() * excess
    return PairBatch(hypotheses, references, dict.fromkeys(plans, problem), plans, unmatched)


def part_names(spec: MetricSpec) -> list[str]:
    """Return the names of a spec's parts, by measuring a unit vector against itself."""
    plain = replace(spec, centre=axes.Centre("none"))
    cloud = pad_texts([CentredText(Text(torch.ones(1, 1), (1.0,)))], plain)
    return list(score_clouds(cloud, cloud, plain)[1])
