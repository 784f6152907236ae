"""Checks of combinations of choices, and the range of a spec's scores."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, isfinite

from monge.errors import InvalidSetting
from monge.metrics.axes import Baseline, CorpusCentre, Form, Idf, LanguageModel, Prf
from monge.metrics.metric import MetricSpec
from monge.transport.readouts import Bounds, CostReadout

__all__ = ["Bounds", "bounds", "check", "in_unit", "raw_bounds"]


def check(spec: MetricSpec) -> None:
    """Raise InvalidSetting, with the reason, where two choices cannot be combined."""
    readout, transport = spec.readout, spec.transport
    readout.check(spec.ground, transport)
    if isinstance(spec.scale, Baseline) and (
        raw_bounds(spec).best != 1.0 or not raw_bounds(spec).higher_is_better
    ):
        raise InvalidSetting(
            "scale=baseline maps random pairs to 0 and equal texts to 1: it needs a similarity "
            f"that is 1 for equal texts, not readout={spec.readout.name}"
        )
    if spec.units.bag != "words" and (spec.units.ngram != 1 or spec.weights.name == "counts"):
        raise InvalidSetting(
            f"units.bag={spec.units.bag} makes sentences of single words: it goes with "
            "units.ngram=1 and weights other than counts"
        )
    if spec.references.name == "max-sides" and not isinstance(readout, Prf):
        raise InvalidSetting(
            "references=max-sides makes F of the best precision and the best recall: it needs "
            f"readout=prf, not {readout.name}"
        )
    _check_idf_of_both_sides(spec)
    if spec.units.phrases:
        _check_phrases(spec)
    if isinstance(spec.fluency, LanguageModel):
        _check_fluency(spec, spec.fluency)
    if isinstance(spec.surface, Form):
        _check_form(spec)


def _check_form(spec: MetricSpec) -> None:
    """Raise where a cost of form would be taken from numbers that are no score of a pair."""
    if isinstance(spec.scale, Baseline):
        raise InvalidSetting(
            "surface=form takes from the score what scale=baseline maps to random pairs: it goes "
            "with scale=raw, unit or human"
        )
    if spec.references.name == "max-sides":
        raise InvalidSetting(
            "surface=form makes a score of each reference, and references=max-sides makes one of "
            "precision and recall of several: it goes with max, max-each, mean or first"
        )


def _check_idf_of_both_sides(spec: MetricSpec) -> None:
    """Raise if a fitted mean of joined units would depend on the system."""
    if (
        isinstance(spec.weights, Idf)
        and spec.weights.corpus == "both-sides"
        and isinstance(spec.centre, CorpusCentre)
        and (spec.units.ngram != 1 or spec.units.join == "sum")
    ):
        raise InvalidSetting(
            "weights.corpus=both-sides weighs references by the hypotheses of a system: with "
            "centre=corpus it goes with units.ngram=1 and units.join other than sum"
        )


def _check_fluency(spec: MetricSpec, fluency: LanguageModel) -> None:
    """Raise if no language model is named, or a higher likelihood is not a better score."""
    if fluency.model == "none":
        raise InvalidSetting(
            "fluency=lm needs a causal language model: fluency.model=DIRECTORY|NAME"
        )
    if not raw_bounds(spec).higher_is_better or isinstance(spec.scale, Baseline):
        raise InvalidSetting(
            "fluency=lm adds a likelihood to a similarity: it does not go with "
            f"readout={spec.readout.name} and scale={spec.scale.name}; take a readout that is "
            "higher for better, and scale=raw or unit"
        )


def _check_phrases(spec: MetricSpec) -> None:
    """Raise if n-grams are compared by position but units lose their order or weights."""
    conditions = {
        "transport": (spec.transport.name, "onesided", spec.transport.name == "onesided"),
        "readout": (spec.readout.name, "prf", spec.readout.name == "prf"),
        "weights": (spec.weights.name, "uniform, idf or idf-yisi", spec.weights.name != "counts"),
        "weights.epsilon": (
            getattr(spec.weights, "epsilon", 0),
            "0",
            not getattr(spec.weights, "epsilon", 0),
        ),
        "units.specials": (
            spec.units.specials,
            "drop, keep or first",
            spec.units.specials != "targets",
        ),
    }
    for name, (value, accepted, is_met) in conditions.items():
        if not is_met:
            raise InvalidSetting(
                "units.join=positions compares n-grams place by place: for "
                f"{spec.units.ngram or 'sentence'}-grams it needs {name}={accepted}, not {value}"
            )


def bounds(spec: MetricSpec) -> Bounds:
    """Return the documented range of a spec's scores, after scaling."""
    raw = raw_bounds(spec)
    if spec.scale.name == "unit":
        worst = None if raw.worst is None else in_unit(raw.worst, raw)
        return Bounds(0.0, 1.0, in_unit(raw.best, raw), worst, True)
    if spec.scale.name == "human":
        return Bounds(
            -inf,
            inf,
            inf,
            None,
            True,
            note="human z scores: 0 is average, 1 a standard deviation above",
        )
    if isinstance(spec.scale, Baseline):
        return Bounds(-inf, raw.high, raw.best, None, True)
    return raw


def in_unit(value: float, raw: Bounds) -> float:
    """Map a score to 0..1, 1 best: a monotone function that is the same for every corpus.

    A range with finite ends is mapped linearly. Where only a best value exists (the better end of
    the range, or the score of a text with itself), a score becomes 1 / (1 + its distance from the
    best); scores beyond the best become 1. Where there is no best value (inner products of vectors
    of any length), a score s, with its sign chosen so that higher is better, becomes (1 + s / (1 +
    |s|)) / 2.
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
    """Return the range of a spec's raw scores; `best` and `worst` are those of its transport.

    A language model adds up to 0 to a score (nll), or up to its weight (probability); differences
    in form make it worse by up to the sum of their weights.
    """
    limits = _bounds_of_vectors(spec)
    if not isinstance(spec.surface, Form):
        return limits
    form = spec.surface
    most = form.case + form.digits + form.order + form.negation
    if limits.higher_is_better:
        return replace(limits, low=limits.low - most, usual=None)
    return replace(limits, high=limits.high + most, usual=None)


def _bounds_of_vectors(spec: MetricSpec) -> Bounds:
    """Return the range of scores without what differences in form cost."""
    ground, readout, fluency = spec.ground, spec.readout, spec.fluency
    unit = spec.normalise.units or ground.unit_costs == ground.free_costs
    limits = readout.bounds(ground, spec.transport, unit=unit)
    if isinstance(fluency, LanguageModel):
        added = fluency.weight if fluency.form == "probability" else 0.0
        low = limits.low if fluency.form == "probability" else -inf
        return replace(limits, low=low, high=limits.high + added, usual=None)
    unbounded = not (isfinite(limits.low) and isfinite(limits.high))
    if (
        unbounded
        and isinstance(readout, CostReadout)
        and ground.distance
        and _makes_barycentres_of_unit_vectors(spec)
    ):
        far = readout.transform(ground.unit_costs[1], exp)
        usual = min(far, limits.best), max(far, limits.best)
        return replace(limits, usual=usual, note="barycentres of unit vectors")
    return limits


def _makes_barycentres_of_unit_vectors(spec: MetricSpec) -> bool:
    return spec.layers.pool == "barycentre" and spec.normalise.layers
