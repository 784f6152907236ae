"""The interpreter: two batches of clouds and a spec -> the parts of a score, each [b]."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import torch
from torch import Tensor

from monge.kernels import exact, ground, order, phrases, readout
from monge.kernels.independent import independent
from monge.kernels.onesided import onesided
from monge.kernels.tempered import cooled, tempered
from monge.spec import axes
from monge.spec.fields import number
from monge.spec.metric import MetricSpec
from monge.types import Cloud, Plan, Problem

Parts = dict[str, Tensor]
PRECISION, RECALL, PLAN = "precision", "recall", "plan"


def problem_between(hypothesis: Cloud, reference: Cloud, spec: MetricSpec) -> Problem:
    """The transport problems of a batch under a spec's ground and masses."""
    clip = isinstance(spec.ground, axes.Cosine) and spec.ground.clip
    return ground.between(hypothesis, reference, ground=spec.ground.name, clip=clip, epsilon=_epsilon(spec))


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


def phrase_problems(problem: Problem, spec: MetricSpec) -> dict[str, Problem]:
    """One problem a direction between n-grams compared place by place: the weights of either side average."""
    back = phrases.phrases(ground.flipped(problem), spec.units.ngram)
    return {PRECISION: phrases.phrases(problem, spec.units.ngram), RECALL: ground.flipped(back)}


def phrase_plans(problems: Mapping[str, Problem], spec: MetricSpec) -> dict[str, Plan]:
    """The plan of each direction, from its own problem."""
    return {name: solve(one, spec)[name] for name, one in problems.items()}


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


def measure(hypothesis: Cloud, reference: Cloud, spec: MetricSpec, own: tuple[Parts, Parts] | None = None) -> Parts:
    """The parts of the score of each pair; the headline stands first, under `score`.

    `own` holds `own_values` of both sides where the readout is self-normalised (computed here if not given).
    """
    problem = problem_between(hypothesis, reference, spec)
    if spec.units.phrases:
        return _phrases(phrase_problems(problem, spec), spec)
    excess = excess_cost(hypothesis, reference, spec)
    plans = solve(problem, spec, excess)
    found = values(problem, plans, spec, excess)
    if isinstance(spec.readout, axes.SelfNormalised):
        own = own or (own_values(hypothesis, spec), own_values(reference, spec))
        found = found if PLAN in found else with_f(found)
        found = {name: readout.self_normalised(value, own[0][name], own[1][name]) for name, value in found.items()}
        return _headed(found, spec.readout.headline)
    if isinstance(spec.readout, axes.Prf):
        return _headed(with_f(found, spec.readout.alpha), spec.readout.headline)
    if isinstance(spec.readout, axes.Objective):
        return _headed(found if PLAN in found else with_f(found), spec.readout.headline)
    if spec.readout.name == "similarity":
        return {"score": torch.stack(list(found.values())).amin(0)}
    cost = torch.stack(list(found.values())).amax(0)  # of two one-sided costs the larger: RWMD
    if isinstance(spec.readout, axes.Ordered):
        return _ordered(cost, plans, hypothesis, reference, spec.readout)
    if isinstance(spec.readout, axes.Spectrum):
        warm = cooled(problem, spec.readout.temperatures)
        costs = {f"sd_{number(t)}": readout.transported_cost(plan, problem) for t, plan in warm.items()}
        return {"score": cost, "w": cost, **costs}
    return {"score": spec.readout.transform(cost, torch.exp), **_unbalanced(problem, plans, spec)}


def _phrases(problems: Mapping[str, Problem], spec: MetricSpec) -> Parts:
    """The parts of a score between n-grams; the rules leave one-sided plans and precision, recall and F."""
    assert isinstance(spec.readout, axes.Prf)
    plans = phrase_plans(problems, spec)
    found = {name: readout.transported_similarity(plans[name], one) for name, one in problems.items()}
    return _headed(with_f(found, spec.readout.alpha), spec.readout.headline)


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
