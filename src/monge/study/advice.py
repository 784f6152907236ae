"""A recommendation in sentences that a stranger understands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from monge.render.cells import decimals, listed, span
from monge.spec.lexical import LEXICAL
from monge.study.kept_results import Change, Measured, Tuned
from monge.study.recommend import MUCH, SURE, short

if TYPE_CHECKING:
    from monge.study.kept_results import Cost
    from monge.study.recommend import Candidate, Recommendation

WEAK = 0.4
"""Below this agreement the advice says that single scores tell little."""
QUICK = 2.0
"""What takes no more seconds needs no word about cheaper metrics."""


def sentences(found: Recommendation) -> list[str]:
    """What to take, what it costs, what else there is, and how far to trust it."""
    best, chosen = found.best, found.choice
    if best is None or chosen is None:
        cheap = min((one for one in found.candidates if one.cost), key=lambda one: one.seconds, default=None)
        least = "" if cheap is None else f"; the cheapest is {cheap.metric} ({_spent(cheap.cost)})"
        return [f"No metric stays within {found.budget}{least}."]
    lines: list[str] = []
    if found.ahead is not None:
        lines += _ahead(found, found.ahead)
    lines += [*_untuned(found, best, chosen)] if found.usable else [*_nothing(found, best)]
    lines += [line for one in found.tuned if one is not found.ahead for line in _tuned(found, one)]
    if found.usable and best.least < WEAK and found.ahead is None:
        lines.append(
            f"Even the best reaches {decimals(best.least)} only{_where(found, best)} (1 is perfect agreement, 0 is "
            "chance): trust means over many texts, not the score of one."
        )
    if found.development:
        names = listed([one.title for one in found.development])
        lines.append(f"{names} are not counted: settings of the metrics were chosen on them.")
    if any(one.sample for one in found.data):
        lines.append("Some of the data were sampled (below), so small differences between metrics are uncertain.")
    if found.missing:
        lines.append(f"Not compared, because not tried on all of these data: {', '.join(found.missing)}.")
    return lines


def _ahead(found: Recommendation, model: Tuned) -> Iterator[str]:
    """A tuned model that is above every plain metric."""
    for key, figure in found.shared(model).items():
        data = next(one for one in found.data if one.key == key)
        name, top = max(data.metrics.items(), key=lambda item: item[1].value)
        yield (
            f"Use {model.metric} with --model {model.name}, which was tuned on human judgements: it agrees with people "
            f"by {_interval(figure)} on {data.title}, where the best plain metric, {name}, has {decimals(top.value)}; "
            f"it takes {_spent(found.cost_of(model))}."
        )
    yield from [model.caution] * bool(model.caution)


def _nothing(found: Recommendation, best: Candidate) -> Iterator[str]:
    """Nothing agrees with people well enough."""
    yield (
        f"Nothing here is good enough: even the best, {best.metric}, agrees with people by {_agreement(found, best)} "
        "only (1 is perfect agreement, 0 is chance). Do not decide by any of these scores; let people judge, or "
        + ("get references." if found.task == "quality-estimation" else "try a model tuned for such texts.")
    )


def _untuned(found: Recommendation, best: Candidate, chosen: Candidate) -> Iterator[str]:
    """What to take of the metrics with plain models."""
    sets = len(found.data)
    use = "Use" if found.ahead is None else "Without a tuned model use"
    within = f" within {found.budget}" if str(found.budget) else ""
    words = ", and it needs no model: it counts words and characters" if chosen.metric in LEXICAL else ""
    if chosen is not best:
        on = "It" if sets == 1 else f"On each of the {sets} data sets it"
        yield (
            f"{use} {chosen.metric}. {on} is not significantly worse than the best, and it is "
            f"{best.seconds / chosen.seconds:.0f} times as fast. It agrees with people by {_agreement(found, chosen)} "
            f"and takes {_spent(chosen.cost)}{words}."
        )
        yield f"The best is {best.metric}: {_agreement(found, best)}, {_spent(best.cost)}."
        return
    rank = "" if sets == 1 else f"; its mean rank is {best.rank:.1f} of {len(found.candidates)}"
    yield (
        f"{use} {best.metric}: it agrees best with people{within} ({_agreement(found, best)}{rank}) and takes "
        f"{_spent(best.cost)}{words}."
    )
    cheaper = [
        one for one in found.candidates
        if one.front and one.affordable and one is not best and one.seconds * MUCH <= best.seconds
    ]  # fmt: skip
    if cheaper and best.seconds > QUICK:
        one = cheaper[0]
        on = f"on {one.told_apart} of {sets} data sets" if sets > 1 else "here"
        surely = f"significantly worse {on}" if one.told_apart else "not significantly worse"
        faster = f"{best.seconds / one.seconds:.0f} times as fast"
        yield f"{one.metric} is {faster} ({_agreement(found, one)}); it is {surely}."


def _agreement(found: Recommendation, one: Candidate) -> str:
    """The agreement of a metric on each data set that counts; with its interval where there is only one set."""
    figures = one.tested
    if len(figures) == 1:
        return _interval(next(iter(figures.values())))
    titles = {data.key: data.title for data in found.data}
    return listed([f"{decimals(figure.value)} on {titles[key]}" for key, figure in figures.items()])


def _where(found: Recommendation, one: Candidate) -> str:
    """The data set on which a metric agrees least, where there are several."""
    if len(found.data) == 1:
        return ""
    key = min(one.tested, key=lambda name: one.tested[name].value)
    return f" on {next(data.title for data in found.data if data.key == key)}"


def _tuned(found: Recommendation, model: Tuned) -> Iterator[str]:
    """What a tuned model does for its metric on the data of a task."""
    titles = {one.key: one.title for one in found.data}
    mine = {titles[key]: change for key, change in model.figures.items() if key in titles}
    if model.time < 1 / QUICK:
        data, change = next(iter(mine.items()))
        yield (
            f"Where time is short: {model.label} is {1 / model.time:.1f} times as fast as {model.metric} with the "
            f"plain model, and agrees by {decimals(change.after.value)} on {data} "
            f"(plain: {decimals(change.before.value)})."
        )
        return
    better = {title: one for title, one in mine.items() if one.p <= SURE and one.after.value > one.before.value}
    if better:
        moved = listed([f"{_change(one)} on {title}" for title, one in better.items()])
        yield (
            f"If you take {model.metric}, take it with --model {model.name}, which was tuned on human judgements: its "
            f"agreement rises {moved}, for the same time."
        )
        yield from [model.caution] * bool(model.caution)
    else:
        moved = listed([f"{_change(one)} on {title}" for title, one in mine.items()])
        yield f"The tuned --model {model.name} makes no sure difference here: {model.metric} goes {moved}."


def _change(one: Change) -> str:
    return f"from {decimals(one.before.value)} to {decimals(one.after.value)}"


def _interval(one: Measured) -> str:
    return decimals(one.value) + (f" {span(one.low, one.high)}" if one.low is not None else "")


def _spent(cost: Cost | None) -> str:
    return "an unknown time" if cost is None else f"{short(cost.seconds)} s and {cost.megabytes:.0f} MB for 1,000 pairs"
