"""A recommendation in sentences that a stranger understands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from monge.metrics.lexical import LEXICAL
from monge.recommendation.kept_results import Change, Measured, Tuned
from monge.recommendation.recommend import MUCH, SURE, short
from monge.render.cells import decimals, listed, span

if TYPE_CHECKING:
    from monge.recommendation.kept_results import Cost
    from monge.recommendation.recommend import Candidate, Recommendation

WEAK = 0.4
"""Below this agreement the advice says that single scores tell little."""
QUICK = 2.0
"""What takes no more seconds needs no word about cheaper metrics."""


def sentences(recommendation: Recommendation) -> list[str]:
    """Return sentences on the metric to use, its cost, alternatives and reliability."""
    best, chosen, ahead = recommendation.best, recommendation.choice, recommendation.ahead
    if best is None or chosen is None:
        return [_describe_none(recommendation)]
    lines = [] if ahead is None else [*_describe_ahead(recommendation, ahead)]
    if recommendation.usable:
        lines += _describe_plain(recommendation, best, chosen)
    else:
        lines += _describe_nothing(recommendation, best)
    for model in recommendation.tuned:
        if model is not ahead:
            lines += _describe_tuned(recommendation, model)
    if recommendation.usable and best.least < WEAK and ahead is None:
        lines.append(
            f"Even the best reaches {decimals(best.least)} "
            f"only{_name_weakest(recommendation, best)} (1 is perfect agreement, 0 is chance): "
            "trust means over many texts, not the score of one."
        )
    if recommendation.development:
        names = listed([dataset.title for dataset in recommendation.development])
        lines.append(f"{names} are not counted: settings of the metrics were chosen on them.")
    if any(dataset.is_sampled for dataset in recommendation.data):
        lines.append(
            "Some of the data were sampled (below), so small differences between metrics are "
            "uncertain."
        )
    if recommendation.missing:
        missing = ", ".join(recommendation.missing)
        lines.append(f"Not compared, because not tried on all of these data: {missing}.")
    return lines


def _describe_none(recommendation: Recommendation) -> str:
    """Return the sentence that no metric is within the budget, with the cheapest."""
    priced = [candidate for candidate in recommendation.candidates if candidate.cost]
    least = ""
    if priced:
        cheap = min(priced, key=lambda candidate: candidate.seconds)
        least = f"; the cheapest is {cheap.metric} ({_format_cost(cheap.cost)})"
    return f"No metric stays within {recommendation.budget}{least}."


def _describe_ahead(recommendation: Recommendation, model: Tuned) -> Iterator[str]:
    """Yield sentences on a tuned model that is above every plain metric."""
    for key, figure in recommendation.shared(model).items():
        data = next(dataset for dataset in recommendation.data if dataset.key == key)
        name, top = max(data.metrics.items(), key=lambda item: item[1].value)
        yield (
            f"Use {model.metric} with --model {model.name}, which was tuned on human judgements: "
            f"it agrees with people by {_format_interval(figure)} on {data.title}, where the best "
            f"plain metric, {name}, has {decimals(top.value)}; it takes "
            f"{_format_cost(recommendation.cost_of(model))}."
        )
    yield from [model.caution] * bool(model.caution)


def _describe_nothing(recommendation: Recommendation, best: Candidate) -> Iterator[str]:
    """Yield the sentence that no metric agrees with people well enough."""
    yield (
        f"Nothing here is good enough: even the best, {best.metric}, agrees with people by "
        f"{_format_agreement(recommendation, best)} only (1 is perfect agreement, 0 is chance). Do "
        "not decide by any of these scores; let people judge, or "
        + (
            "get references."
            if recommendation.task == "quality-estimation"
            else "try a model tuned for such texts."
        )
    )


def _describe_plain(
    recommendation: Recommendation, best: Candidate, chosen: Candidate
) -> Iterator[str]:
    """Yield sentences on which metric to use with a plain model."""
    sets = len(recommendation.data)
    use = "Use" if recommendation.ahead is None else "Without a tuned model use"
    words = ""
    if chosen.metric in LEXICAL:
        words = ", and it needs no model: it counts words and characters"
    if chosen is not best:
        on = "It" if sets == 1 else f"On each of the {sets} data sets it"
        yield (
            f"{use} {chosen.metric}. {on} is not significantly worse than the best, and it is "
            f"{best.seconds / chosen.seconds:.0f} times as fast. It agrees with people by "
            f"{_format_agreement(recommendation, chosen)} "
            f"and takes {_format_cost(chosen.cost)}{words}."
        )
        yield (
            f"The best is {best.metric}: {_format_agreement(recommendation, best)}, "
            f"{_format_cost(best.cost)}."
        )
        return
    within = f" within {recommendation.budget}" if str(recommendation.budget) else ""
    of = len(recommendation.candidates)
    rank = "" if sets == 1 else f"; its mean rank is {best.rank:.1f} of {of}"
    yield (
        f"{use} {best.metric}: it agrees best with people{within} "
        f"({_format_agreement(recommendation, best)}{rank}) and takes "
        f"{_format_cost(best.cost)}{words}."
    )
    yield from _describe_cheaper(recommendation, best)


def _describe_cheaper(recommendation: Recommendation, best: Candidate) -> Iterator[str]:
    """Yield a sentence on the first metric of the front that is much cheaper than the best."""
    sets = len(recommendation.data)
    cheaper = [
        candidate for candidate in recommendation.candidates
        if candidate.front and candidate.affordable and candidate is not best
        and candidate.seconds * MUCH <= best.seconds
    ]  # fmt: skip
    if cheaper and best.seconds > QUICK:
        alternative = cheaper[0]
        on = f"on {alternative.told_apart} of {sets} data sets" if sets > 1 else "here"
        surely = (
            f"significantly worse {on}" if alternative.told_apart else "not significantly worse"
        )
        faster = f"{best.seconds / alternative.seconds:.0f} times as fast"
        yield (
            f"{alternative.metric} is {faster} "
            f"({_format_agreement(recommendation, alternative)}); it is {surely}."
        )


def _format_agreement(recommendation: Recommendation, candidate: Candidate) -> str:
    """Return a metric's agreement on each data set that counts; a single one with interval."""
    figures = candidate.tested
    if len(figures) == 1:
        return _format_interval(next(iter(figures.values())))
    titles = {data.key: data.title for data in recommendation.data}
    return listed([f"{decimals(figure.value)} on {titles[key]}" for key, figure in figures.items()])


def _name_weakest(recommendation: Recommendation, candidate: Candidate) -> str:
    """Return " on" and the data set on which a metric agrees least, if there are several."""
    if len(recommendation.data) == 1:
        return ""
    key = min(candidate.tested, key=lambda name: candidate.tested[name].value)
    return f" on {next(data.title for data in recommendation.data if data.key == key)}"


def _describe_tuned(recommendation: Recommendation, model: Tuned) -> Iterator[str]:
    """Yield sentences on how a tuned model changes the agreement of its metric."""
    titles = {dataset.key: dataset.title for dataset in recommendation.data}
    changes = {titles[key]: change for key, change in model.figures.items() if key in titles}
    if model.time < 1 / QUICK:
        data, change = next(iter(changes.items()))
        yield (
            f"Where time is short: {model.label} is {1 / model.time:.1f} times as fast as "
            f"{model.metric} with the plain model, and agrees by {decimals(change.after.value)} on "
            f"{data} (plain: {decimals(change.before.value)})."
        )
        return
    better = {
        title: change
        for title, change in changes.items()
        if change.p <= SURE and change.after.value > change.before.value
    }
    if better:
        moved = listed([f"{_format_change(change)} on {title}" for title, change in better.items()])
        yield (
            f"If you take {model.metric}, take it with --model {model.name}, which was tuned on "
            f"human judgements: its agreement rises {moved}, for the same time."
        )
        yield from [model.caution] * bool(model.caution)
    else:
        moved = listed(
            [f"{_format_change(change)} on {title}" for title, change in changes.items()]
        )
        yield (
            f"The tuned --model {model.name} makes no sure difference here: {model.metric} goes "
            f"{moved}."
        )


def _format_change(change: Change) -> str:
    return f"from {decimals(change.before.value)} to {decimals(change.after.value)}"


def _format_interval(figure: Measured) -> str:
    return decimals(figure.value) + (
        f" {span(figure.low, figure.high)}" if figure.low is not None else ""
    )


def _format_cost(cost: Cost | None) -> str:
    if cost is None:
        return "an unknown time"
    return f"{short(cost.seconds)} s and {cost.megabytes:.0f} MB for 1,000 pairs"
