"""Readouts: plans and grounds -> the parts of a score. Each readout is one object: its formula,
checks and bounds.

Torch is imported when a formula runs, so that a metric can be described without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import e, exp, inf, isfinite, log, log1p
from typing import TYPE_CHECKING, Any, ClassVar

from monge.errors import InvalidSetting
from monge.transport.grounds import Cosine, Ground
from monge.transport.transports import Tempered, Transport
from monge.types.settings import SMALL, TEMPERATURES, UNIT, Choice, number, one_of, setting
from monge.types.transport import PLAN, PRECISION, RECALL, Parts

if TYPE_CHECKING:
    from torch import Tensor

    from monge.types import Cloud, PairBatch, Problem, TransportPlan

LONGEST = 512
"""Units of a text up to which a range is stated that grows with the texts."""
_UP_TO = f"for texts of up to {LONGEST} units"
_NOT_PROVEN = (
    "not proven: a plan that is not optimal can give two texts more than the mean of each with "
    "itself (1.002 was found for one sweep at temperature .02)"
)
_ENTROPY_GROWS = "the entropy of a plan grows with the number of units"
HEADLINE = one_of("f1", "precision", "recall")
ENTROPY = one_of("joint", "conditional")


@dataclass(frozen=True)
class Bounds:
    """The range of a score, the value of a perfect pair, and the value of a pair that shares
    nothing.

    `worst` is None where vectors have no fixed length; then an empty text is a point at the origin.
    `low` and `high` hold for every pair of texts. Where one of them is infinite, `usual` may be the
    range that holds for texts of up to `LONGEST` units, or that texts have in practice; `note` says
    which, or why an end is infinite.
    """

    low: float
    high: float
    best: float
    worst: float | None
    higher_is_better: bool
    note: str = ""
    usual: tuple[float, float] | None = None

    @property
    def shown(self) -> tuple[float, float]:
        """The range to show: the usual range where there is one, otherwise that of every pair."""
        return self.usual or (self.low, self.high)


@dataclass(frozen=True)
class Readout(Choice):
    """A function of plans and problems that gives the parts of a score."""

    by_cost: ClassVar[bool] = False
    compares_with_self: ClassVar[bool] = False
    replaces_plans: ClassVar[bool] = False

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better."""
        return True

    def check(self, ground: Ground, transport: Transport) -> None:
        """Raise InvalidSetting where the readout does not go with a ground or a transport."""

    def replace_plans(
        self,
        plans: dict[str, TransportPlan],
        problem: Problem,
        hypotheses: Cloud,
        references: Cloud,
        transport: Transport,
    ) -> dict[str, TransportPlan]:
        """Return the plans that are read instead of those of the transport, where
        `replaces_plans`.
        """
        return plans

    def value(
        self, plan: TransportPlan, problem: Problem, transport: Transport, side: str = PLAN
    ) -> Tensor:
        """Return what a plan is worth [b]: its cost, its similarity or its objective."""
        return (plan.coupling * (problem.cost if self.by_cost else problem.similarity)).sum((1, 2))

    def compare_with_self(
        self, cloud: Cloud, ground: Ground, transport: Transport, epsilon: float = 0.0
    ) -> Parts:
        """Return the values [b] of texts compared with themselves.

        Both directions are solved, though they are equal by symmetry: a text then has exactly the
        numbers that it has as hypothesis and reference of one pair, and scores exactly 1.
        """
        problem = ground.problem(cloud, cloud, epsilon)
        plans = transport.solve(problem)
        values = {side: self.value(plan, problem, transport, side) for side, plan in plans.items()}
        return values if PLAN in values else with_f(values)

    def values(self, batch: PairBatch, transport: Transport) -> Parts:
        """Return the value of each plan of a batch."""
        return {
            side: self.value(plan, batch.problems[side], transport, side)
            + (batch.unmatched if self.by_cost else 0.0)
            for side, plan in batch.plans.items()
        }

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Return the parts of the scores [b], the headline under `score`.

        `own` has the values of both sides compared with themselves (`own_values`), where
        `compares_with_self`.
        """
        raise NotImplementedError

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Return the range of scores between vectors, of unit length or of any length."""
        raise NotImplementedError


@dataclass(frozen=True)
class CostReadout(Readout):
    """A function of the cost of a plan: cost, -cost, 1-cost, 1/(1+cost), exp(-cost)."""

    by_cost: ClassVar[bool] = True

    @property
    def higher_is_better(self) -> bool:
        """Whether the function falls with the cost."""
        return self.name in _TRANSFORMS

    def transform(self, cost: Any, exponential: Callable[[Any], Any]) -> Any:
        """Return the score of a cost, float or tensor; `exponential` is the function of its
        kind.
        """
        return _TRANSFORMS[self.name](cost, exponential) if self.name in _TRANSFORMS else cost

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Transform the cost; with slack also give the moved mass and the objective."""
        import torch

        cost = larger_cost(self.values(batch, transport))
        return {"score": self.transform(cost, torch.exp), **self._with_slack(batch, transport)}

    def _with_slack(self, batch: PairBatch, transport: Transport) -> Parts:
        from monge.transport.plan_values import mass, unbalanced_objective

        if (
            not isinstance(transport, Tempered)
            or PLAN not in batch.plans
            or transport.slack == (inf, inf)
        ):
            return {}
        plan, settings = (
            batch.plans[PLAN],
            {"temperature": transport.temperature, "slack": transport.slack},
        )
        objective = unbalanced_objective(plan, batch.problems[PLAN], **settings)  # type: ignore[arg-type]
        return {"mass": mass(plan), "objective": objective}

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Carry the range of costs through the function."""
        near, far = _total_range(transport, *ground.costs(unit=unit))
        orthogonal = ground.orthogonal_cost if unit else None
        has_pole = near <= -1 and self.name == "1/(1+cost)"
        ends = (-inf, inf) if has_pole else (self.transform(near, exp), self.transform(far, exp))
        added = self.largest_addition
        worst = None if orthogonal is None else self.transform(orthogonal, exp) + added
        best = self.transform(0.0, exp) + 0.0
        limits = Bounds(min(ends) + 0.0, max(ends) + added, best, worst, self.higher_is_better)
        return self._with_usual_range(limits, ground, transport)

    @property
    def largest_addition(self) -> float:
        """The most that is added to the cost."""
        return 0.0

    def _with_usual_range(self, limits: Bounds, ground: Ground, transport: Transport) -> Bounds:
        if self.name != "cost" or not isinstance(transport, Tempered) or ground.name != "cosine":
            return limits
        slack = sum(transport.slack)
        if isfinite(limits.high) or transport.sweeps or not isfinite(slack):
            return limits
        mass = LONGEST ** (2 * transport.temperature / (slack + transport.temperature))
        return replace(
            limits,
            usual=(0.0, ground.costs(unit=True)[1] * mass),
            note=f"{_UP_TO}: mass can be made",
        )


_TRANSFORMS: Mapping[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "-cost": lambda cost, exponential: -cost,
    "1-cost": lambda cost, exponential: 1 - cost,
    "1/(1+cost)": lambda cost, exponential: 1 / (1 + cost),
    "exp(-cost)": lambda cost, exponential: exponential(-cost),
}
"""Scores that fall with the cost; the other readouts of a cost give the cost itself."""


@dataclass(frozen=True)
class Ordered(CostReadout):
    """The cost, plus `order` times how broken the word order is, plus `unknown` times the share of
    zero vectors.

    Reference units in order go to the hypothesis unit that sends them most; runs of consecutive
    positions are chunks. `chunks` counts only the breaks between them, so that an equal text costs
    nothing, or all of them as the authors' code does (all): a first match away from the first
    position opens a chunk too, of units that send equally much the unit nearest to the previous
    match is taken, and an exact plan matches equal words before it moves what is left.
    """

    replaces_plans: ClassVar[bool] = True
    order: float = setting(0.18, SMALL)
    unknown: float = setting(0.10, SMALL)
    chunks: str = setting("breaks", one_of("breaks", "all"))

    @property
    def largest_addition(self) -> float:
        """Broken order and unknown words each add at most their weight."""
        return self.order + self.unknown

    def replace_plans(
        self,
        plans: dict[str, TransportPlan],
        problem: Problem,
        hypotheses: Cloud,
        references: Cloud,
        transport: Transport,
    ) -> dict[str, TransportPlan]:
        """Match equal words first where the authors' code does."""
        if self.chunks != "all" or transport.name != "exact":
            return plans
        from monge.transport.exact import match_equal_first
        from monge.transport.order import same_units

        return {PLAN: match_equal_first(problem, same_units(hypotheses, references))}

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Add what broken word order and words without a vector cost."""
        from monge.transport.order import blank_share, disorder

        plan = batch.plans[PLAN] if PLAN in batch.plans else batch.plans[RECALL]
        cost = larger_cost(self.values(batch, transport))
        order = disorder(plan, batch.hypotheses, batch.references, breaks=self.chunks == "breaks")
        unknown = blank_share(batch.hypotheses)
        score = cost + self.order * order + self.unknown * unknown
        return {"score": score, "cost": cost, "order": order, "unknown": unknown}


@dataclass(frozen=True)
class Spectrum(CostReadout):
    """The cost, and as further parts the cost of settled tempered plans at each of some
    temperatures.
    """

    temperatures: tuple[float, ...] = setting((10.0, 5.0, 1.0, 0.5, 0.1, 0.01, 0.001), TEMPERATURES)

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Add the cost at each temperature."""
        from monge.transport.plan_values import transported_cost
        from monge.transport.tempered import cool_plans

        cost = larger_cost(self.values(batch, transport))
        problem = next(iter(batch.problems.values()))
        plans = cool_plans(problem, self.temperatures)
        costs = {f"sd_{number(at)}": transported_cost(plan, problem) for at, plan in plans.items()}
        return {"score": cost, "w": cost, **costs}


@dataclass(frozen=True)
class SimilarityReadout(Readout):
    """The similarity of the plan; of one plan per direction, the smaller."""

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Return the smaller similarity."""
        import torch

        return {"score": torch.stack(list(self.values(batch, transport).values())).amin(0)}

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Return the range of similarities: -cost under a distance, 1 - cost under an inner
        product.
        """
        low, high, best = _similarity_range(ground, transport, unit=unit)
        orthogonal = ground.orthogonal_cost if unit else None
        return Bounds(low, high, best, None if orthogonal is None else best - orthogonal, True)


@dataclass(frozen=True)
class Prf(SimilarityReadout):
    """Precision (over the hypothesis), recall (over the reference) and F = PR / (alpha P +
    (1-alpha) R).
    """

    alpha: float = setting(0.5, UNIT)
    headline: str = setting("f1", HEADLINE)

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Return precision, recall, F and the headline."""
        return self.combine(self.values(batch, transport))

    def combine(self, values: Parts) -> Parts:
        """Return precision, recall, F and the headline from the values of plans, or from precision
        and recall.
        """
        return with_headline(with_f(values, self.alpha), self.headline)


@dataclass(frozen=True)
class ObjectiveReadout(Readout):
    """Similarity plus temperature times the plan's entropy (joint, or conditional on the side
    fitted last).
    """

    entropy: str = setting("joint", ENTROPY)
    headline: str = setting("f1", HEADLINE)

    def check(self, ground: Ground, transport: Transport) -> None:
        """Raise where the transport has no temperature."""
        _check_entropy(transport)

    def value(
        self, plan: TransportPlan, problem: Problem, transport: Transport, side: str = PLAN
    ) -> Tensor:
        """Return the objective of a plan."""
        return objective_value(plan, problem, transport, side, self.entropy)

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Return the objective, or precision, recall and F of the objectives of both directions."""
        values = self.values(batch, transport)
        return with_headline(values if PLAN in values else with_f(values), self.headline)

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Return the range of objectives; the entropy of a plan is at least 0 and grows with the
        texts.
        """
        return Bounds(
            _similarity_range(ground, transport, unit=unit)[0], inf, 1.0, 0.0, True, _ENTROPY_GROWS
        )


@dataclass(frozen=True)
class SelfNormalised(Readout):
    """value(h, r) / sqrt(value(h, h) value(r, r)), of the similarity or of the objective."""

    compares_with_self: ClassVar[bool] = True
    of: str = setting("similarity", one_of("similarity", "objective"))
    entropy: str = setting("joint", ENTROPY)
    headline: str = setting("f1", HEADLINE)

    def check(self, ground: Ground, transport: Transport) -> None:
        """Raise for a distance, which is 0 between a text and itself, and for an objective without
        a temperature.
        """
        if ground.distance:
            raise InvalidSetting(
                f"readout=self-normalised does not go with ground={ground.name}: the distance of a "
                "text to itself is 0; use cosine, dot or dot2"
            )
        if self.of == "objective":
            _check_entropy(transport)

    def value(
        self, plan: TransportPlan, problem: Problem, transport: Transport, side: str = PLAN
    ) -> Tensor:
        """Return the similarity or the objective of a plan."""
        if self.of == "objective":
            return objective_value(plan, problem, transport, side, self.entropy)
        return super().value(plan, problem, transport, side)

    def parts(
        self, batch: PairBatch, transport: Transport, own: tuple[Parts, Parts] | None = None
    ) -> Parts:
        """Divide each value by those of both texts compared with themselves."""
        assert own is not None
        values = self.values(batch, transport)
        values = values if PLAN in values else with_f(values)
        normalised = {
            name: self_normalised(value, own[0][name], own[1][name])
            for name, value in values.items()
        }
        return with_headline(normalised, self.headline)

    def bounds(self, ground: Ground, transport: Transport, *, unit: bool) -> Bounds:
        """Return the range of self-normalised scores.

        They are at most 1 by the inequality of Cauchy and Schwarz where a plan is the product of
        the masses, and where it is exact, since then a text with itself reaches at least the mean
        of its squared lengths.
        """
        if self.of == "objective":
            limits = Bounds(-inf, inf, 1.0, 0.0, True, _ENTROPY_GROWS)
            return self._with_usual_range(limits, ground, transport)
        low, _, _ = _similarity_range(ground, transport, unit=unit)
        clipped = isinstance(ground, Cosine) and ground.clip
        if transport.name == "exact" or (transport.name == "independent" and not clipped):
            return Bounds(max(low, -1.0), 1.0, 1.0, 0.0, True)
        limits = Bounds(0.0 if low >= 0 else -inf, inf, 1.0, 0.0, True, _NOT_PROVEN)
        return self._with_usual_range(limits, ground, transport)

    def _with_usual_range(self, limits: Bounds, ground: Ground, transport: Transport) -> Bounds:
        """Add the usual range of tempered plans between units of length 1.

        The numerator is between -1 and 1 where a plan has mass 1, so a score is at most 1 over the
        similarity of a text with itself. At temperature T between n units that is at least 1 - T
        W((n-1)/e) for rows that are a softmax (the worst case has all other units at one distance;
        W e^W = x), and 1 - T ln n for a settled plan, whose objective no other plan beats. For one
        sweep of both sides nothing as good is known, and nothing far beyond 1 was found. Equation 7
        of TRWMD, T ln sum exp(s/T), is between max s and max s + T ln n.
        """
        if not isinstance(transport, Tempered) or ground.name != "cosine":
            return limits
        temperature, softmax = transport.temperature, 0.0 in transport.slack
        low = max(limits.low, -1.0)
        if self.of == "objective":
            if softmax and self.entropy == "conditional":
                note = f"{_UP_TO}: {_ENTROPY_GROWS}"
                return replace(limits, usual=(low, 1.0 + temperature * log(LONGEST)), note=note)
            return limits
        if transport.is_lossy:
            return limits
        if transport.sweeps and not softmax:
            return replace(limits, usual=(low, 1.0), note=f"in practice; {_NOT_PROVEN}")
        own = 1.0 - temperature * (lambert((LONGEST - 1) / e) if transport.sweeps else log(LONGEST))
        return replace(limits, usual=(low / own, 1.0 / own), note=_UP_TO) if own > 0 else limits


def objective_value(
    plan: TransportPlan, problem: Problem, transport: Transport, side: str, entropy: str
) -> Tensor:
    """Return similarity + temperature * entropy of a plan [b]."""
    from monge.transport.plan_values import objective

    assert isinstance(transport, Tempered)
    fitted_last = problem.reference if side == RECALL else problem.hypothesis
    conditioned_on = fitted_last if entropy == "conditional" else None
    return objective(
        plan, problem, temperature=transport.temperature, conditioned_on=conditioned_on
    )


def larger_cost(values: Parts) -> Tensor:
    """Return the cost [b]; of two one-sided costs the larger (RWMD)."""
    import torch

    return torch.stack(list(values.values())).amax(0)


def with_f(values: Parts, alpha: float = 0.5) -> Parts:
    """Return precision, recall and their F; a single plan is worth the same in both directions."""
    value_of_plan = values.get(PLAN)
    precision, recall = (
        (values[PRECISION], values[RECALL])
        if value_of_plan is None
        else (value_of_plan, value_of_plan)
    )
    return {
        PRECISION: precision,
        RECALL: recall,
        "f1" if alpha == 0.5 else "f": f_alpha(precision, recall, alpha),
    }


def f_alpha(precision: Tensor, recall: Tensor, alpha: float = 0.5) -> Tensor:
    """Return PR / (alpha P + (1 - alpha) R) where both are positive, otherwise the smaller.

    alpha = .5 is the harmonic mean, alpha -> 1 is recall.
    """
    import torch

    both = (precision > 0) & (recall > 0)
    divisor = torch.where(
        both, alpha * precision + (1 - alpha) * recall, torch.ones_like(precision)
    )
    return torch.where(both, precision * recall / divisor, torch.minimum(precision, recall))


def self_normalised(value: Tensor, own_hypothesis: Tensor, own_reference: Tensor) -> Tensor:
    """Return value / sqrt(own_hypothesis * own_reference); 0 where a text is not like itself."""
    import torch

    product = own_hypothesis * own_reference
    good = (own_hypothesis > 0) & (own_reference > 0)
    return torch.where(
        good,
        value / torch.where(good, product, torch.ones_like(product)).sqrt(),
        torch.zeros_like(value),
    )


def with_headline(parts: Parts, headline: str) -> Parts:
    """Return the parts with the headline first, under `score`."""
    if PLAN in parts:
        return {"score": parts[PLAN]}
    name = headline if headline in parts else ("f" if "f" in parts else "f1")
    return {"score": parts[name], **parts}


def _check_entropy(transport: Transport) -> None:
    if not isinstance(transport, Tempered):
        raise InvalidSetting(
            f"the objective with entropy needs transport=tempered, got transport={transport.name}: "
            "other plans have no temperature"
        )


def _similarity_range(
    ground: Ground, transport: Transport, *, unit: bool
) -> tuple[float, float, float]:
    """Return the least and greatest similarity of a plan, and that of a unit with itself."""
    best = 0.0 if ground.distance else 1.0
    near, far = ground.costs(unit=unit)
    return *_total_range(transport, best - far, best - near), best


def _total_range(transport: Transport, low: float, high: float) -> tuple[float, float]:
    """Return the range of a sum over a plan whose terms are in a range; it may be infinite where
    mass is not 1.
    """
    if not transport.is_lossy:
        return low, high
    return (0.0 if low >= 0 else -inf), (0.0 if high <= 0 else inf)


def lambert(x: float) -> float:
    """Return W(x) for x >= 0, the w for which w e^w = x, by Newton's method."""
    w = log1p(x)
    for _ in range(50):
        w -= (w - x * exp(-w)) / (1.0 + w)
    return w
