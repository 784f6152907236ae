"""Which choices do not go together, and what values a spec can give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import e, exp, inf, isfinite, log, log1p

from monge.errors import InvalidSetting
from monge.spec.axes import (
    Baseline,
    Cosine,
    LanguageModel,
    Objective,
    Ordered,
    Prf,
    SelfNormalised,
    Tempered,
    Transport,
)
from monge.spec.metric import MetricSpec

LONGEST = 512
"""Units of a text up to which a range is stated that grows with the texts."""
_UP_TO = f"for texts of up to {LONGEST} units"
_OWN = (
    "not proven: a plan that is not optimal can give two texts more than the mean of each with itself "
    "(1.002 was found for one sweep at temperature .02)"
)
_ENTROPY = "the entropy of a plan grows with the number of units"


def check(spec: MetricSpec) -> None:
    """Raise where two choices cannot work together, with the reason."""
    readout, transport = spec.readout, spec.transport
    if isinstance(readout, SelfNormalised) and spec.ground.distance:
        raise InvalidSetting(
            f"readout=self-normalised does not go with ground={spec.ground.name}: the distance of a text to itself is "
            "0; use cosine, dot or dot2"
        )
    if isinstance(spec.scale, Baseline) and (raw_bounds(spec).best != 1.0 or not raw_bounds(spec).higher_is_better):
        raise InvalidSetting(
            "scale=baseline maps random pairs to 0 and equal texts to 1: it needs a similarity that is 1 for equal "
            f"texts, not readout={spec.readout.name}"
        )
    if spec.units.bag != "words" and (spec.units.ngram != 1 or spec.weights.name == "counts"):
        raise InvalidSetting(
            f"units.bag={spec.units.bag} makes sentences of single words: it goes with units.ngram=1 and "
            "weights other than counts"
        )
    if spec.references.name == "max-sides" and not isinstance(readout, Prf):
        raise InvalidSetting(
            "references=max-sides makes F of the best precision and the best recall: it needs readout=prf, "
            f"not {readout.name}"
        )
    if spec.units.phrases:
        _check_phrases(spec)
    if isinstance(spec.fluency, LanguageModel):
        _check_fluency(spec, spec.fluency)
    wants_entropy = isinstance(readout, Objective) or (
        isinstance(readout, SelfNormalised) and readout.of == "objective"
    )
    if wants_entropy and not isinstance(transport, Tempered):
        raise InvalidSetting(
            f"the objective with entropy needs transport=tempered, got transport={transport.name}: "
            "other plans have no temperature"
        )
    if isinstance(transport, Tempered) and transport.sweeps == 0 and transport.slack in ((0.0, inf), (inf, 0.0)):
        raise InvalidSetting("transport.slack with one side free converges in one sweep: set transport.sweeps=1")


def _check_fluency(spec: MetricSpec, fluency: LanguageModel) -> None:
    """A language model must be named, and likely texts must score higher."""
    if fluency.model == "none":
        raise InvalidSetting("fluency=lm needs a causal language model: fluency.model=DIRECTORY|NAME")
    if not raw_bounds(spec).higher_is_better or isinstance(spec.scale, Baseline):
        raise InvalidSetting(
            f"fluency=lm adds a likelihood to a similarity: it does not go with readout={spec.readout.name} "
            f"and scale={spec.scale.name}; take a readout that is higher for better, and scale=raw or unit"
        )


def _check_phrases(spec: MetricSpec) -> None:
    """N-grams compared place by place have a problem a direction, and need the order and the own weight of units."""
    wanted = {
        "transport": (spec.transport.name, "onesided", spec.transport.name == "onesided"),
        "readout": (spec.readout.name, "prf", spec.readout.name == "prf"),
        "weights": (spec.weights.name, "uniform, idf or idf-yisi", spec.weights.name != "counts"),
        "weights.epsilon": (getattr(spec.weights, "epsilon", 0), "0", not getattr(spec.weights, "epsilon", 0)),
        "units.specials": (spec.units.specials, "drop, keep or first", spec.units.specials != "targets"),
    }
    for name, (found, accepted, good) in wanted.items():
        if not good:
            raise InvalidSetting(
                f"units.join=positions compares n-grams place by place: for {spec.units.ngram or 'sentence'}-grams "
                f"it needs {name}={accepted}, not {found}"
            )


@dataclass(frozen=True)
class Bounds:
    """What scores a spec gives: the range, the value of a perfect pair, and of a pair that shares nothing.

    `worst` is None where vectors have no fixed length; then an empty text is a point at the origin. `low` and `high`
    hold for every pair of texts. Where one of them is infinite, `usual` may be the range that holds for texts of up to
    `LONGEST` units, or that texts have in practice; `note` says which, or why an end is infinite.
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
        """The range to be shown: the usual one where there is one, that of every pair otherwise."""
        return self.usual or (self.low, self.high)


def bounds(spec: MetricSpec) -> Bounds:
    """The documented range of a spec's scores, as they are given out."""
    raw = raw_bounds(spec)
    if spec.scale.name == "unit":
        worst = None if raw.worst is None else in_unit(raw.worst, raw)
        return Bounds(0.0, 1.0, in_unit(raw.best, raw), worst, True)
    if spec.scale.name == "human":
        return Bounds(-inf, inf, inf, None, True, note="human z scores: 0 is average, 1 a standard deviation above")
    if isinstance(spec.scale, Baseline):
        return Bounds(-inf, raw.high, raw.best, None, True)
    return raw


def in_unit(value: float, raw: Bounds) -> float:
    """A score mapped to 0..1, 1 for the best: monotone and the same for every corpus.

    A range of finite ends is mapped linearly. Where there is a best value, the better end of the range or else what a
    text has with itself, but no worst one, a score becomes 1 / (1 + its distance from the best). Scores beyond the best
    are cut off. Where no value is the best (inner products of vectors of any length), a score s, counted so that higher
    is better, becomes (1 + s / (1 + |s|)) / 2.
    """
    sign = 1.0 if raw.higher_is_better else -1.0
    worse, better = sorted((sign * raw.low, sign * raw.high))
    if isfinite(worse) and isfinite(better):
        return min(max((sign * value - worse) / (better - worse), 0.0), 1.0)
    if not isfinite(better) and raw.worst is None:
        return (1.0 + sign * value / (1.0 + abs(value))) / 2.0
    best = better if isfinite(better) else sign * raw.best
    return 1.0 / (1.0 + max(best - sign * value, 0.0))


def raw_bounds(spec: MetricSpec) -> Bounds:
    """The range of a spec's scores before they are scaled; `best` and `worst` are those of its transport.

    A language model adds up to 0 to a score (nll), or up to its weight (probability).
    """
    found, fluency = _transport_bounds(spec), spec.fluency
    if not isinstance(fluency, LanguageModel):
        return found if isfinite(found.low) and isfinite(found.high) else _with_usual(found, spec)
    likely = fluency.form == "probability"
    return replace(found, low=found.low if likely else -inf, high=found.high + (fluency.weight if likely else 0.0))


def _transport_bounds(spec: MetricSpec) -> Bounds:
    """The bounds before a language model: those of the ground, carried through the readout."""
    unit = spec.normalise.units or spec.ground.rule.unit == spec.ground.rule.free
    near, far = spec.ground.costs(unit=unit)
    apart = spec.ground.rule.orthogonal if unit else None
    if not spec.readout.by_cost:
        return _similarity_bounds(spec, (near, far), apart)
    near, far = _total(spec.transport, near, far)
    score = partial(spec.readout.transform, exp=exp)
    more = spec.readout.order + spec.readout.unknown if isinstance(spec.readout, Ordered) else 0.0
    ends = (-inf, inf) if near <= -1 and spec.readout.name == "1/(1+cost)" else (score(near), score(far))
    worst = None if apart is None else score(apart) + more
    return Bounds(min(ends) + 0.0, max(ends) + more, score(0.0) + 0.0, worst, spec.readout.rule.higher_is_better)


def _similarity_bounds(spec: MetricSpec, costs: tuple[float, float], apart: float | None) -> Bounds:
    """Similarity is -cost under a distance, 1 - cost under an inner product.

    Self-normalised scores are at most 1 by the inequality of Cauchy and Schwarz where a plan is the product of the
    masses, and where it is exact, since then a text with itself reaches at least the mean of its squared lengths.
    """
    most = 0.0 if spec.ground.distance else 1.0
    low, high = _total(spec.transport, most - costs[1], most - costs[0])
    if isinstance(spec.readout, Objective):
        return Bounds(low, inf, 1.0, 0.0, True, _ENTROPY)
    if not isinstance(spec.readout, SelfNormalised):
        return Bounds(low, high, most, None if apart is None else most - apart, True)
    if spec.readout.of == "objective":
        return Bounds(-inf, inf, 1.0, 0.0, True, _ENTROPY)
    clipped = isinstance(spec.ground, Cosine) and spec.ground.clip
    if spec.transport.name == "exact" or (spec.transport.name == "independent" and not clipped):
        return Bounds(max(low, -1.0), 1.0, 1.0, 0.0, True)
    return Bounds(0.0 if low >= 0 else -inf, inf, 1.0, 0.0, True, _OWN)


def _with_usual(found: Bounds, spec: MetricSpec) -> Bounds:
    """The bounds with the range that holds for texts of up to `LONGEST` units, or in practice, where one is known."""
    transport, readout = spec.transport, spec.readout
    if spec.layers.pool == "barycentre" and spec.normalise.layers and readout.by_cost and spec.ground.distance:
        far = readout.transform(spec.ground.rule.unit[1], exp)
        return replace(found, usual=(min(far, found.best), max(far, found.best)), note="barycentres of unit vectors")
    if not isinstance(transport, Tempered) or spec.ground.name != "cosine":
        return found
    if isinstance(readout, SelfNormalised):
        return _self_normalised(found, transport, readout)
    slack = sum(transport.slack)
    if readout.name == "cost" and transport.sweeps == 0 and isfinite(slack):
        mass = LONGEST ** (2 * transport.temperature / (slack + transport.temperature))
        return replace(found, usual=(0.0, spec.ground.costs(unit=True)[1] * mass), note=f"{_UP_TO}: mass can be made")
    return found


def _self_normalised(found: Bounds, transport: Tempered, readout: SelfNormalised) -> Bounds:
    """The usual range of self-normalised values of tempered plans between units of length 1.

    The numerator is between -1 and 1 where a plan has mass 1, so a score is at most 1 over the similarity of a text
    with itself. At temperature T between n units that is at least 1 - T W((n-1)/e) for rows that are a softmax (the
    worst case has all other units at one distance; W e^W = x), and 1 - T ln n for a settled plan, whose objective no
    other plan beats. For one sweep of both sides nothing as good is known, and nothing far beyond 1 was found.
    Equation 7 of TRWMD, T ln sum exp(s/T), is between max s and max s + T ln n.
    """
    temperature, softmax = transport.temperature, 0.0 in transport.slack
    low = max(found.low, -1.0)
    if readout.of == "objective":
        if softmax and readout.entropy == "conditional":
            return replace(found, usual=(low, 1.0 + temperature * log(LONGEST)), note=f"{_UP_TO}: {_ENTROPY}")
        return found
    if _lossy(transport):
        return found
    if transport.sweeps and not softmax:
        return replace(found, usual=(low, 1.0), note=f"in practice; {_OWN}")
    own = 1.0 - temperature * (lambert((LONGEST - 1) / e) if transport.sweeps else log(LONGEST))
    return replace(found, usual=(low / own, 1.0 / own), note=_UP_TO) if own > 0 else found


def lambert(x: float) -> float:
    """W(x) for x >= 0: the w for which w e^w = x, by Newton's method."""
    w = log1p(x)
    for _ in range(50):
        w -= (w - x * exp(-w)) / (1.0 + w)
    return w


def _total(transport: Transport, low: float, high: float) -> tuple[float, float]:
    """The range of a sum over a plan whose terms are in a range: the same for mass 1, up to infinity for any mass."""
    if not _lossy(transport):
        return low, high
    return (0.0 if low >= 0 else -inf), (0.0 if high <= 0 else inf)


def _lossy(transport: Transport) -> bool:
    """Whether the total mass of a plan is not 1: no rigid side is fitted last, or settled.

    Then no bound holds for every pair: at the optimum of slack s, t and temperature T between n and m units the mass
    is at most (n m)^(T / (s + t + T)), which grows with the texts.
    """
    if not isinstance(transport, Tempered):
        return False
    rigid = [value == inf for value in transport.slack]
    return not (rigid[transport.order == "reference-last"] or (transport.sweeps == 0 and any(rigid)))
