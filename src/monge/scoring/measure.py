"""The interpreter: the texts of a window and a spec -> the final parts of their scores, each [n].

texts -> clouds -> problems -> plans -> parts of a pair -> parts of a segment (its references) -> fluency -> scale
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from monge.errors import BadSegment
from monge.kernels import exact, ground, order, phrases, readout
from monge.kernels.independent import independent
from monge.kernels.onesided import onesided
from monge.kernels.tempered import cooled, tempered
from monge.scoring.clouds import CentredText, Owned, Pair, WindowTexts, batched_by_run, origin, padded, steps
from monge.scoring.fluency import with_fluency
from monge.scoring.points import Text
from monge.scoring.scorer import Scores
from monge.spec import axes
from monge.spec.fields import number
from monge.spec.metric import MetricSpec
from monge.types import Array, Cloud, Plan, Problem, Segment

if TYPE_CHECKING:
    from monge.scoring.scorer import StatsBySystem
    from monge.scoring.transport import TransportMetric
    from monge.scoring.windows import Window

Parts = dict[str, Tensor]
PRECISION, RECALL, PLAN = "precision", "recall", "plan"


def measure(window: Window, metric: TransportMetric, stats: StatsBySystem) -> Scores:
    """The scores of the segments of a window, as they are given out."""
    texts = WindowTexts(window, metric, stats)
    places = range(len(window.rows))
    pairs, kept = _pairs(window, texts)
    counts = np.array([len(mine) for mine in kept])
    parts = pair_parts(pairs, metric, np.repeat(window.runs, counts).tolist())
    rule, higher = metric.spec.references.name, metric.raw.higher_is_better
    found, winners = over_references(parts, counts, rule, higher_is_better=higher)
    if rule == "max-sides":
        found = _of_sides(found, metric.spec)
    winners = np.array([mine[k] if k >= 0 else k for mine, k in zip(kept, winners.tolist(), strict=True)])
    found = with_fluency(found, metric, [row.hypothesis for row in window.rows])
    found = metric.scaled(found, next(iter(stats.values())))
    check_numbers(found, window.rows, metric)
    return Scores(found, winners, [texts.flags(i) for i in places])


def _pairs(window: Window, texts: WindowTexts) -> tuple[list[Pair], list[tuple[int, ...]]]:
    """The pairs of all segments side by side, and of each segment the places of the references that count."""
    kept = [row.worded_references for row in window.rows]
    pairs = []
    for i, places in enumerate(kept):
        references = texts.references(i)
        pairs += [(texts.hypothesis(i), references[place]) for place in places]
    return pairs, kept


def check_numbers(parts: Mapping[str, Array], rows: Sequence[Segment], metric: TransportMetric) -> None:
    """Raise where a part [n] of a score is NaN or infinite, with the segment and its value: every door passes here."""
    for name, values in parts.items():
        wrong = np.flatnonzero(~np.isfinite(values))
        if not len(wrong):
            continue
        row, free = rows[wrong[0]], not metric.spec.normalise.units and not metric.spec.ground.distance
        raise BadSegment(
            row.id,
            row.system,
            f"{metric.name}: its {name} is {values[wrong[0]]}, which is not a score: these settings give no number for "
            f"its texts{' (vectors of any length: try normalise=units)' if free else ''}",
        )


def raw_scores(window: Window, metric: TransportMetric, stats: StatsBySystem) -> Tensor:
    """The scores [n] of the segments of a window before fluency and scale, with gradients where vectors have them."""
    pairs, kept = _pairs(window, WindowTexts(window, metric, stats))
    counts = np.array([len(mine) for mine in kept])
    parts = pair_tensors(pairs, metric)
    scores = parts["score"]
    rule, higher = metric.spec.references.name, metric.raw.higher_is_better
    if rule == "mean":
        owners = torch.from_numpy(np.repeat(np.arange(len(counts)), counts))
        return torch.zeros(len(counts), dtype=scores.dtype).index_add(0, owners, scores) / torch.from_numpy(counts)
    if rule == "max-sides":
        sides = {name: _best(parts[name], counts, higher=higher) for name in (PRECISION, RECALL)}
        return _of_values(sides, metric.spec)["score"]
    return _best(scores, counts, rule, higher=higher)


def _best(values: Tensor, counts: npt.NDArray[np.int64], rule: str = "max", *, higher: bool) -> Tensor:
    """Of each segment's values [pairs] the one that a rule chooses [n], with its gradient."""
    _, winners = over_references({"score": values.detach().numpy()}, counts, rule, higher_is_better=higher)
    return values[torch.from_numpy(np.cumsum(counts) - counts + winners)]


def _of_values(found: Parts, spec: MetricSpec) -> Parts:
    """Precision, recall, their F and the headline, from precision and recall."""
    assert isinstance(spec.readout, axes.Prf)
    return _headed(with_f(found, spec.readout.alpha), spec.readout.headline)


def _of_sides(found: Mapping[str, Array], spec: MetricSpec) -> dict[str, Array]:
    """The parts of segments anew from their precision and recall, which may come from different references."""
    sides = {name: torch.from_numpy(found[name]) for name in (PRECISION, RECALL)}
    return {name: values.numpy() for name, values in _of_values(sides, spec).items()}


def over_references(
    parts: Mapping[str, Array], counts: npt.NDArray[np.int64], rule: str, *, higher_is_better: bool
) -> tuple[dict[str, Array], npt.NDArray[np.int64]]:
    """The parts of every segment from its parts against each reference, and the reference that won.

    parts: name -> [pairs], the pairs of a segment side by side; counts [n]: how many each segment has. max: the
    reference with the best score, taken whole; max-each and max-sides: the best of each part by itself (the winner is
    the best by score); mean: the mean of each part (winner -1); first: the first.
    """
    starts = np.cumsum(counts) - counts
    if rule == "mean":
        means = {name: np.add.reduceat(values, starts) / counts for name, values in parts.items()}
        return means, np.full(len(counts), -1)
    if rule == "first" or bool((counts == 1).all()):
        return {name: values[starts] for name, values in parts.items()}, np.zeros(len(counts), dtype=np.int64)
    better = parts["score"] if higher_is_better else -parts["score"]
    winners = np.array([better[at : at + many].argmax() for at, many in zip(starts, counts, strict=True)])
    if rule in ("max-each", "max-sides"):
        best = np.maximum if higher_is_better else np.minimum
        return {name: best.reduceat(values, starts) for name, values in parts.items()}, winners
    return {name: values[starts + winners] for name, values in parts.items()}, winners


def pair_parts(pairs: Sequence[Pair], metric: TransportMetric, runs: Sequence[int] = ()) -> dict[str, Array]:
    """The parts of every pair of texts as numbers, name -> [pairs]; see `pair_tensors`."""
    return {name: values.numpy() for name, values in pair_tensors(pairs, metric, runs).items()}


def pair_tensors(pairs: Sequence[Pair], metric: TransportMetric, runs: Sequence[int] = ()) -> Parts:
    """The parts of every pair of texts, name -> [pairs]; equal pairs are measured once, so that they are equal.

    A pair with one empty text has the declared worst, one of two empty texts the best; where no worst is declared,
    one unit at the origin stands for the empty text. Gradients flow to vectors that have them. `runs` has the number
    of each pair's run where several share a window: each is measured as in a run of its own, to the bit.
    """
    index: dict[Owned, int] = {}
    owned = zip(runs or [0] * len(pairs), pairs, strict=True)
    order_of = torch.tensor([index.setdefault(one, len(index)) for one in owned])
    whole: dict[Owned, int] = {}
    blank: dict[int, bool] = {}
    for (run, (hypothesis, reference)), place in index.items():
        missing = hypothesis.text.empty + reference.text.empty
        if missing == 1 and metric.raw.worst is None:
            nothing = origin(reference if hypothesis.text.empty else hypothesis)
            whole[run, (nothing, reference) if hypothesis.text.empty else (hypothesis, nothing)] = place
        elif missing:
            blank[place] = missing == 2
        else:
            whole[run, (hypothesis, reference)] = place
    found: Parts = {}
    for batch, parts in _measured(list(whole), metric.spec):
        into = torch.tensor([whole[one] for one in batch])
        for name, tensor in parts.items():
            found.setdefault(name, torch.zeros(len(index), dtype=torch.float64))[into] = tensor.double()
    for name in found or dict.fromkeys(part_names(metric.spec)):
        values = found.setdefault(name, torch.zeros(len(index), dtype=torch.float64))
        for place, both in blank.items():
            values[place] = _of_empty(name, metric, both=both)
    return {name: values[order_of] for name, values in found.items()}


def _measured(pairs: Sequence[Owned], spec: MetricSpec) -> list[tuple[list[Owned], Parts]]:
    """Pairs in batches of similar size, with their parts [b]."""
    own = _own(pairs, spec) if isinstance(spec.readout, axes.SelfNormalised) else None
    done = []
    for batch in batched_by_run(pairs, alike=_alike(spec)):
        hypotheses, references = (_batch([pair[side] for _, pair in batch], spec) for side in (0, 1))
        mine = None if own is None else (_gather(own, batch, 0), _gather(own, batch, 1))
        done.append((batch, solved(hypotheses, references, spec, mine).parts))
    return done


def _alike(spec: MetricSpec) -> bool:
    """Whether a problem is solved to the same bits whatever stands beside it in a batch of its padded shape.

    Costs are bounded by their ground, and the number of sweeps is given: nothing is decided by looking at all of them.
    """
    settles = isinstance(spec.transport, axes.Tempered) and not spec.transport.sweeps
    usual = isinstance(spec.readout, axes.Prf | axes.SelfNormalised) or spec.readout.name in ("similarity", "cost")
    return spec.ground.name == "cosine" and usual and not settles and not spec.units.phrases


def _batch(texts: Sequence[CentredText], spec: MetricSpec) -> Cloud:
    return padded(texts, spec, steps(max(map(len, texts))))


Own = tuple[dict[tuple[int, CentredText], int], Parts]
"""The place of every distinct text of a run, and the values of each compared with itself, by place."""


def _own(pairs: Sequence[Owned], spec: MetricSpec) -> Own:
    """The values of every distinct text among the pairs of each run, compared with itself."""
    texts = dict.fromkeys((run, text) for run, pair in pairs for text in pair)
    twice = [(run, (text, text)) for run, text in texts]
    batches = [[(run, pair[0]) for run, pair in one] for one in batched_by_run(twice, alike=_alike(spec))]
    each = [own_values(_batch([text for _, text in members], spec), spec) for members in batches]
    places = {member: place for place, member in enumerate(member for members in batches for member in members)}
    return places, {name: torch.cat([one[name] for one in each]) for name in each[0]} if each else {}


def _gather(own: Own, batch: Sequence[Owned], side: int) -> Parts:
    places = torch.tensor([own[0][run, pair[side]] for run, pair in batch])
    return {name: values[places] for name, values in own[1].items()}


def part_names(spec: MetricSpec) -> list[str]:
    """The parts that a spec gives, found by measuring a unit vector against itself."""
    plain = replace(spec, centre=axes.Centre("none"))
    one = padded([CentredText(Text(torch.ones(1, 1), (1.0,)))], plain)
    return list(solved(one, one, plain).parts)


def _of_empty(name: str, metric: TransportMetric, *, both: bool) -> float:
    """A part of a pair with an empty text; none of the mass is moved where one is empty, all where both are."""
    if name == "mass":
        return 1.0 if both else 0.0
    value = metric.raw.best if both else metric.raw.worst
    assert value is not None
    return value


def problem_between(hypothesis: Cloud, reference: Cloud, spec: MetricSpec) -> Problem:
    """The transport problems of a batch under a spec's ground and masses.

    A word that has no vector is at distance 0 from itself.
    """
    clip = isinstance(spec.ground, axes.Cosine) and spec.ground.clip
    found = ground.between(hypothesis, reference, ground=spec.ground.name, clip=clip, epsilon=_epsilon(spec))
    if hypothesis.names is None or reference.names is None:
        return found
    mine, theirs = hypothesis.names.unsqueeze(2), reference.names.unsqueeze(1)
    same = (mine == theirs) & (mine != 0) & found.present
    return replace(found, cost=found.cost.masked_fill(same, 0.0), similarity=found.similarity.masked_fill(same, 1.0))


def _epsilon(spec: MetricSpec) -> float:
    return spec.weights.epsilon if isinstance(spec.weights, axes.Idf) else 0.0


def excess_cost(hypothesis: Cloud, reference: Cloud, spec: MetricSpec) -> Tensor | None:
    """What a unit of unmatched mass costs where masses carry an epsilon: the largest cost among all units [b]."""
    if not _epsilon(spec):
        return None
    pairs = (hypothesis, reference), (hypothesis, hypothesis), (reference, reference)
    return torch.stack([problem_between(one, other, spec).cost.amax((1, 2)) for one, other in pairs]).amax(0)


def solve(problem: Problem, spec: MetricSpec, excess: Tensor | None = None) -> dict[str, Plan]:
    """The plan, or one plan a direction, oriented hypothesis x reference."""
    transport = spec.transport
    if isinstance(transport, axes.Tempered):
        return _tempered(problem, transport)
    if isinstance(transport, axes.Pruned):
        return {PLAN: exact.pruned(exact.exact(problem, excess=excess), transport.share)}
    if transport.name == "onesided":
        back = onesided(ground.flipped(problem))
        return {PRECISION: onesided(problem), RECALL: Plan(back.coupling.transpose(1, 2))}
    return {PLAN: exact.exact(problem, excess=excess) if transport.name == "exact" else independent(problem)}


def _tempered(problem: Problem, transport: axes.Tempered) -> dict[str, Plan]:
    def plan(slack: tuple[float, float], *, reference_last: bool) -> Plan:
        return tempered(
            problem,
            temperature=transport.temperature,
            sweeps=transport.sweeps,
            slack=slack,
            reference_last=reference_last,
            mask=transport.mask,
        )

    if transport.order != "both":
        return {PLAN: plan(transport.slack, reference_last=transport.order == "reference-last")}
    mirrored = (transport.slack[1], transport.slack[0])
    return {PRECISION: plan(transport.slack, reference_last=False), RECALL: plan(mirrored, reference_last=True)}


def values(problem: Problem, plans: Mapping[str, Plan], spec: MetricSpec, excess: Tensor | None = None) -> Parts:
    """What each plan is worth under the readout: its cost, its similarity, or its objective."""
    if spec.readout.by_cost:
        left = exact.left_over(problem, excess) if excess is not None else 0.0
        return {name: readout.transported_cost(plan, problem) + left for name, plan in plans.items()}
    entropy = _entropy(spec.readout)
    if entropy is None:
        return {name: readout.transported_similarity(plan, problem) for name, plan in plans.items()}
    assert isinstance(spec.transport, axes.Tempered)
    temperature = spec.transport.temperature
    found = {}
    for name, plan in plans.items():
        last = problem.reference if name == RECALL else problem.hypothesis
        given = last if entropy == "conditional" else None
        found[name] = readout.objective(plan, problem, temperature=temperature, given=given)
    return found


def _entropy(part: axes.Readout) -> str | None:
    if isinstance(part, axes.Objective):
        return part.entropy
    return part.entropy if isinstance(part, axes.SelfNormalised) and part.of == "objective" else None


def with_f(found: Parts, alpha: float = 0.5) -> Parts:
    """Precision, recall and their F; a single plan is worth the same in both directions."""
    precision, recall = found.get(PRECISION, found.get(PLAN)), found.get(RECALL, found.get(PLAN))
    assert precision is not None and recall is not None
    name = "f1" if alpha == 0.5 else "f"
    return {PRECISION: precision, RECALL: recall, name: readout.f_alpha(precision, recall, alpha)}


def own_values(cloud: Cloud, spec: MetricSpec) -> Parts:
    """The values of each text compared with itself, for self-normalised readouts."""
    problem = problem_between(cloud, cloud, spec)
    found = values(problem, solve(problem, spec), spec)
    return found if PLAN in found else with_f(found)


@dataclass(frozen=True)
class Solved:
    """A batch of pairs: the plan of each direction (or one for both), the problem it answers, and the parts [b]."""

    problems: Mapping[str, Problem]
    plans: Mapping[str, Plan]
    parts: Parts


def solved(hypothesis: Cloud, reference: Cloud, spec: MetricSpec, own: tuple[Parts, Parts] | None = None) -> Solved:
    """The plans of a batch of pairs and what they are worth; the headline stands first, under `score`.

    `own` holds `own_values` of both sides where the readout is self-normalised (computed here if not given).
    """
    problem = problem_between(hypothesis, reference, spec)
    if spec.units.phrases:
        return _phrases(problem, spec)
    excess = excess_cost(hypothesis, reference, spec)
    plans = solve(problem, spec, excess)
    if isinstance(spec.readout, axes.Ordered) and spec.readout.chunks == "all" and spec.transport.name == "exact":
        plans = {PLAN: exact.cancelled(problem, order.same_units(hypothesis, reference))}
    found = values(problem, plans, spec, excess)
    if isinstance(spec.readout, axes.SelfNormalised):
        own = own or (own_values(hypothesis, spec), own_values(reference, spec))
        found = found if PLAN in found else with_f(found)
        found = {name: readout.self_normalised(value, own[0][name], own[1][name]) for name, value in found.items()}
        parts = _headed(found, spec.readout.headline)
    elif isinstance(spec.readout, axes.Prf):
        parts = _of_values(found, spec)
    elif isinstance(spec.readout, axes.Objective):
        parts = _headed(found if PLAN in found else with_f(found), spec.readout.headline)
    elif spec.readout.name == "similarity":
        parts = {"score": torch.stack(list(found.values())).amin(0)}
    else:
        cost = torch.stack(list(found.values())).amax(0)  # of two one-sided costs the larger: RWMD
        if isinstance(spec.readout, axes.Ordered):
            parts = _ordered(cost, plans, hypothesis, reference, spec.readout)
        elif isinstance(spec.readout, axes.Spectrum):
            warm = cooled(problem, spec.readout.temperatures)
            costs = {f"sd_{number(t)}": readout.transported_cost(plan, problem) for t, plan in warm.items()}
            parts = {"score": cost, "w": cost, **costs}
        else:
            parts = {"score": spec.readout.transform(cost, torch.exp), **_unbalanced(problem, plans, spec)}
    return Solved(dict.fromkeys(plans, problem), plans, parts)


def _phrases(problem: Problem, spec: MetricSpec) -> Solved:
    """N-grams compared place by place: a problem a direction, in which the weights of its own side average.

    The rules leave one-sided plans and precision, recall and F.
    """
    assert isinstance(spec.readout, axes.Prf)
    back = ground.flipped(phrases.phrases(ground.flipped(problem), spec.units.ngram))
    problems = {PRECISION: phrases.phrases(problem, spec.units.ngram), RECALL: back}
    plans = {name: solve(one, spec)[name] for name, one in problems.items()}
    found = {name: readout.transported_similarity(plans[name], one) for name, one in problems.items()}
    return Solved(problems, plans, _of_values(found, spec))


def _ordered(cost: Tensor, plans: Mapping[str, Plan], hypothesis: Cloud, reference: Cloud, part: axes.Ordered) -> Parts:
    """The cost with what broken word order and words without a vector add to it."""
    plan = plans.get(PLAN, plans.get(RECALL))
    assert plan is not None
    broken = order.disorder(plan, hypothesis, reference, breaks=part.chunks == "breaks")
    unknown = order.blank(hypothesis)
    return {"score": cost + part.order * broken + part.unknown * unknown, "cost": cost, "order": broken,
            "unknown": unknown}  # fmt: skip


def _unbalanced(problem: Problem, plans: Mapping[str, Plan], spec: MetricSpec) -> Parts:
    """What a plan with slack adds to its cost: how much mass it moved, and the full objective."""
    transport = spec.transport
    if not isinstance(transport, axes.Tempered) or PLAN not in plans or transport.slack == (inf, inf):
        return {}
    whole = readout.unbalanced_objective(plans[PLAN], problem, temperature=transport.temperature, slack=transport.slack)
    return {"mass": readout.mass(plans[PLAN]), "objective": whole}


def _headed(found: Parts, headline: str) -> Parts:
    if PLAN in found:
        return {"score": found[PLAN]}
    key = headline if headline in found else ("f" if "f" in found else "f1")
    return {"score": found[key], **found}
