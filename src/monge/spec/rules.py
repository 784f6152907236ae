"""Which parts may not meet, and what values a spec can give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, sqrt

from monge.errors import InvalidSetting
from monge.spec.axes import Baseline, Cosine, LanguageModel, Objective, Ordered, SelfNormalised, Tempered
from monge.spec.metric import MetricSpec

DISTANCES = ("euclidean", "sqeuclidean", "manhattan")


def check(spec: MetricSpec) -> None:
    """Raise where two parts cannot work together, with the reason."""
    ground, readout, transport = spec.ground.name, spec.readout, spec.transport
    if isinstance(readout, SelfNormalised) and ground in DISTANCES:
        raise InvalidSetting(
            f"readout=self-normalised does not go with ground={ground}: the distance of a text to itself is 0; "
            "use cosine, dot or dot2"
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


def _check_fluency(spec: MetricSpec, part: LanguageModel) -> None:
    """A language model must be named, and likely texts must score higher."""
    if part.model == "none":
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

    `worst` is None where vectors have no fixed length; then an empty text is a point at the origin.
    """

    low: float
    high: float
    best: float
    worst: float | None
    higher_is_better: bool


def _similarity(spec: MetricSpec) -> tuple[float, float]:
    if isinstance(spec.ground, Cosine):
        return (0.0 if spec.ground.clip else -1.0), 1.0
    if spec.ground.name == "dot" and spec.normalise.units:
        return -1.0, 1.0
    if spec.ground.name == "dot2":
        return 0.0, 1.0 if spec.normalise.units else inf
    return -inf, inf


def _distance(spec: MetricSpec) -> tuple[float, float | None]:
    """Largest cost, and the cost between orthogonal unit vectors."""
    if spec.ground.name in ("cosine", "dot", "dot2"):
        bounded = spec.ground.name == "cosine" or spec.normalise.units
        return (1.0 - _similarity(spec)[0] if bounded else inf), (1.0 if bounded else None)
    if spec.normalise.units and spec.ground.name != "manhattan":
        return (2.0, sqrt(2.0)) if spec.ground.name == "euclidean" else (4.0, 2.0)
    return inf, None


_TRANSFORMS: Mapping[str, Callable[[float], float]] = {
    "1-cost": lambda cost: 1.0 - cost,
    "1/(1+cost)": lambda cost: 1.0 / (1.0 + cost),
    "exp(-cost)": lambda cost: exp(-cost),
}


def bounds(spec: MetricSpec) -> Bounds:
    """The documented range of a spec's scores, as they are given out."""
    raw = raw_bounds(spec)
    if spec.scale.name == "unit":
        worst = None if raw.worst is None else in_unit(raw.worst, raw)
        return Bounds(0.0, 1.0, in_unit(raw.best, raw), worst, True)
    if isinstance(spec.scale, Baseline):
        return Bounds(-inf, raw.high, raw.best, None, True)
    return raw


def in_unit(value: float, raw: Bounds) -> float:
    """A score mapped to 0..1, 1 best: monotone and the same for every corpus.

    A range of finite ends is mapped linearly; a distance without a largest value as 1 / (1 + distance); anything else
    as (1 + s / (1 + |s|)) / 2, s counted so that higher is better. Rounding beyond an end is cut off.
    """
    if isfinite(raw.low) and isfinite(raw.high):
        share = min(max((value - raw.low) / (raw.high - raw.low), 0.0), 1.0)
        return share if raw.higher_is_better else 1.0 - share
    if raw.low >= 0 and not raw.higher_is_better:
        return 1.0 / (1.0 + max(value, 0.0))
    signed = value if raw.higher_is_better else -value
    return (1.0 + signed / (1.0 + abs(signed))) / 2.0


def raw_bounds(spec: MetricSpec) -> Bounds:
    """The range of a spec's scores before they are scaled; `best` and `worst` are those of its transport.

    A language model adds up to 0 to a score (nll), or up to its weight (probability).
    """
    found, part = _transport_bounds(spec), spec.fluency
    if not isinstance(part, LanguageModel):
        return found
    likely = part.form == "probability"
    return replace(found, low=found.low if likely else -inf, high=found.high + (part.weight if likely else 0.0))


def _transport_bounds(spec: MetricSpec) -> Bounds:
    low, high = _similarity(spec)
    far, apart = _distance(spec)
    near = min(0.0, 1.0 - high) if spec.ground.name not in DISTANCES else 0.0
    lossy = isinstance(spec.transport, Tempered) and spec.transport.slack != (inf, inf)
    name = spec.readout.name
    if name == "self-normalised":
        exact = spec.transport.name == "independent"
        reach = 1.0 if exact else inf
        return Bounds(0.0 if low == 0 else -reach, reach, 1.0, 0.0, True)
    if name == "objective":
        return Bounds(-inf, inf, 1.0, 0.0, True)
    if name in ("prf", "similarity"):
        if spec.ground.name in DISTANCES:
            return Bounds(-far, 0.0, 0.0, None if apart is None else -apart, True)
        return Bounds(-inf if lossy else low, inf if lossy else high, 1.0, 0.0 if apart is not None else None, True)
    if lossy:
        far = inf
    if isinstance(spec.readout, Ordered):
        more = spec.readout.order + spec.readout.unknown
        return Bounds(near, far + more, 0.0, None if apart is None else apart + more, False)
    if name in ("cost", "cost+tempered"):
        return Bounds(near, far, 0.0, apart, False)
    if name == "-cost":
        return Bounds(-far, -near, 0.0, None if apart is None else -apart, True)
    transform = _TRANSFORMS[name]
    return Bounds(transform(far), transform(near), 1.0, None if apart is None else transform(apart), True)
