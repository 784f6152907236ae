"""What a sensitivity study found, in plain words with numbers."""

from __future__ import annotations

from collections.abc import Sequence

from monge.study.sensitivity.effects import Crossing, Effect
from monge.study.sensitivity.factors import AGGREGATION
from monge.study.sensitivity.spread import EQUAL, Contrast, mean_of


def verdict(effects: Sequence[Effect], crossings: Sequence[Crossing], statistic: str) -> list[str]:
    """A sentence a factor, one that orders the factors, and one a crossing."""
    names = list(dict.fromkeys(one.factor for one in effects))
    lines = [_factor(name, [one for one in effects if one.factor == name], statistic) for name in names]
    if len(names) > 1:
        lines.append(_order(names, effects))
    return [*lines, *(_crossed(one, statistic) for one in crossings)]


def percent(value: float | None, digits: int = 2) -> str:
    """A percentage as sentences print it."""
    return "undefined" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"


def contrasts(effect: Effect) -> list[Contrast]:
    """Every other setting against the default, in every group."""
    return [
        one
        for level in effect.levels
        if not level.default
        for name, one in level.versus.items()
        if name in effect.spreads
    ]


def _factor(name: str, effects: Sequence[Effect], statistic: str) -> str:
    mean = mean_of([one.cv for one in effects])
    by_metric = ", ".join(f"{one.metric} {percent(one.cv)}" for one in effects)
    each = [(spread.cv, group, one.metric) for one in effects for group, spread in one.spreads.items()]
    known = [(cv, group, metric) for cv, group, metric in each if cv is not None]
    text = f"{name} moves {statistic} by a CV of {percent(mean)} on average"
    text += f" ({by_metric})" if len(effects) > 1 else ""
    if len({group for _, group, _ in each}) > 1 and known:
        most, group, metric = max(known)
        where = f" with {metric}" if len(effects) > 1 else ""
        text += f", most on {group}{where} ({percent(most)})"
    if len(known) < len(each):
        text += f", CV undefined in {len(each) - len(known)} of {len(each)} cases"
    return f"{text}; {_directions(effects)}; {_bests(effects)}."


def _directions(effects: Sequence[Effect]) -> str:
    found = [one for effect in effects for one in contrasts(effect)]
    worse = [one for one in found if one.difference < -EQUAL]
    better = [one for one in found if one.difference > EQUAL]
    sure = sum(one.sign < 0 for one in worse), sum(one.sign > 0 for one in better)
    if not worse and not better:
        return "no setting differs from the default"
    return (
        f"leaving the default is for the worse in {len(worse)} of {len(found)} comparisons ({sure[0]} beyond noise), "
        f"for the better in {len(better)} ({sure[1]} beyond noise)"
    )


def _bests(effects: Sequence[Effect]) -> str:
    cases = [(spread, effect.default.setting) for effect in effects for spread in effect.spreads.values()]
    own = sum(spread.best == default for spread, default in cases)
    sure = sum(spread.lead.sign > 0 for spread, _ in cases)
    return (
        f"the default is the best setting in {own} of {len(cases)} cases, and the best leads the runner-up by more "
        f"than noise in {sure}"
    )


def _order(names: Sequence[str], effects: Sequence[Effect]) -> str:
    moved = {name: mean_of([one.cv for one in effects if one.factor == name]) for name in names}
    known = sorted(((cv, name) for name, cv in moved.items() if cv is not None), reverse=True)
    listed = " > ".join(f"{name} ({percent(cv)})" for cv, name in known)
    return f"By mean CV: {listed}." if known else "No factor has a defined CV."


def _crossed(one: Crossing, statistic: str) -> str:
    if not one.shares:
        return f"Full crossing, {one.metric}: nothing varies."
    size = 1
    for settings in one.settings.values():
        size *= len(settings)
    ranked = sorted(one.shares.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {percent(100 * share, 1)}" for name, share in ranked)
    text = (
        f"Full crossing, {one.metric}: of the variance of {statistic} over {size} settings the main effects explain "
        f"{shares}; interactions {percent(100 * one.residual, 1)}"
    )
    if AGGREGATION in one.shares:
        more, cases = one.heavier()
        rest = sum(one.shares.values()) - one.shares[AGGREGATION]
        text += (
            f"; preprocessing ({percent(100 * rest, 1)}) outweighs the aggregation "
            f"({percent(100 * one.shares[AGGREGATION], 1)}) in {more} of {cases} groups"
        )
    return text + "."
