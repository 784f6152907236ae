"""Describe the findings of a sensitivity study in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from monge.evaluation.sensitivity.effects import EQUAL, Contrast, Crossing, Effect, mean_of
from monge.evaluation.sensitivity.factors import AGGREGATION, shown


def verdict(effects: Sequence[Effect], crossings: Sequence[Crossing], statistic: str) -> list[str]:
    """Return the order of the factors, then a paragraph per factor, and one per crossing."""
    names = list(dict.fromkeys(effect.factor for effect in effects))
    lines = [_describe_order(names, effects)] if len(names) > 1 else []
    lines += [
        _describe_factor(name, [effect for effect in effects if effect.factor == name], statistic)
        for name in names
    ]
    return [*lines, *(_describe_crossing(crossing, statistic) for crossing in crossings)]


def percent(value: float | None, digits: int = 2) -> str:
    """Return a percentage as sentences print it."""
    return "undefined" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"


def contrasts(effect: Effect) -> list[Contrast]:
    """Return every other setting against the default, in every group."""
    contrasts_by_group = [level.versus for level in effect.levels if not level.default]
    return [
        contrast
        for versus in contrasts_by_group
        for name, contrast in versus.items()
        if name in effect.spreads
    ]


def _describe_factor(name: str, effects: Sequence[Effect], statistic: str) -> str:
    mean = mean_of([effect.cv for effect in effects])
    by_metric = ", ".join(f"{effect.metric} {percent(effect.cv)}" for effect in effects)
    cases = [
        (spread.cv, group, effect.metric)
        for effect in effects
        for group, spread in effect.spreads.items()
    ]
    defined = [(cv, group, metric) for cv, group, metric in cases if cv is not None]
    text = f"{name}: its settings move {statistic} by {percent(mean)} on average"
    text += f" ({by_metric})" if len(effects) > 1 else ""
    if len({group for _, group, _ in cases}) > 1 and defined:
        most, group, metric = max(defined)
        with_metric = f" with {metric}" if len(effects) > 1 else ""
        text += f", most on {group}{with_metric} ({percent(most)})"
    if len(defined) < len(cases):
        text += f", CV undefined in {len(cases) - len(defined)} of {len(cases)} cases"
    return f"{text}. {_describe_directions(effects)}. {_describe_bests(effects)}."


def _describe_directions(effects: Sequence[Effect]) -> str:
    all_contrasts = [contrast for effect in effects for contrast in contrasts(effect)]
    worse = [contrast for contrast in all_contrasts if contrast.difference < -EQUAL]
    better = [contrast for contrast in all_contrasts if contrast.difference > EQUAL]
    sure = (
        sum(contrast.sign < 0 for contrast in worse),
        sum(contrast.sign > 0 for contrast in better),
    )
    if not worse and not better:
        return "No setting differs from the default"
    if sum(sure) == 0:
        return (
            "No other setting differs from the default by more than noise "
            f"({len(all_contrasts)} comparisons)"
        )
    return (
        f"Of {len(all_contrasts)} comparisons of another setting with the default, {len(worse)} "
        f"are for the worse ({sure[0]} beyond noise) and {len(better)} for the better ({sure[1]} "
        "beyond noise)"
    )


def _describe_bests(effects: Sequence[Effect]) -> str:
    cases = [
        (spread, effect.default.setting) for effect in effects for spread in effect.spreads.values()
    ]
    own = sum(spread.best == default for spread, default in cases)
    sure = sum(spread.lead.sign > 0 for spread, _ in cases)
    if len(cases) == 1:
        best = "the default" if own else f"“{shown(cases[0][0].best)}”"
        return (
            f"Best is {best}, {'ahead of the next by' if sure else 'but ahead of the next by no'} "
            "more than noise"
        )
    return (
        f"The default comes out best in {own} of {len(cases)} cases (a metric and a group each); "
        f"the best is ahead of the next by more than noise in {sure}"
    )


def _describe_order(names: Sequence[str], effects: Sequence[Effect]) -> str:
    moved = {
        name: mean_of([effect.cv for effect in effects if effect.factor == name]) for name in names
    }
    ranked = sorted(((cv, name) for name, cv in moved.items() if cv is not None), reverse=True)
    order_text = ", then ".join(f"{name} ({percent(cv)})" for cv, name in ranked)
    return f"What moves it most: {order_text}." if ranked else "No factor has a defined CV."


def _describe_crossing(crossing: Crossing, statistic: str) -> str:
    if not crossing.shares:
        return f"Full crossing, {crossing.metric}: nothing varies."
    size = prod(len(settings) for settings in crossing.settings.values())
    ranked = sorted(crossing.shares.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {percent(100 * share, 1)}" for name, share in ranked)
    text = (
        f"Full crossing, {crossing.metric}: of the variance of {statistic} over {size} settings "
        f"the main effects explain {shares}; interactions {percent(100 * crossing.residual, 1)}"
    )
    if AGGREGATION in crossing.shares:
        more, cases = crossing.heavier()
        rest = sum(crossing.shares.values()) - crossing.shares[AGGREGATION]
        text += (
            f"; preprocessing ({percent(100 * rest, 1)}) outweighs the aggregation "
            f"({percent(100 * crossing.shares[AGGREGATION], 1)}) in {more} of {cases} groups"
        )
    return text + "."
