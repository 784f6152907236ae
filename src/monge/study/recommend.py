"""Which metric? What agreed with people on a kind of text, and what it costs, from results kept in the package.

A metric is recommended where its mean agreement over the data sets of a task is highest; a cheaper one where no data
set tells it from the best. What is kept: `study.kept_results`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.render.cells import dashed, decimals, span
from monge.spec.languages import LANGUAGES, check_language
from monge.spec.lexical import LEXICAL
from monge.study.kept_results import Cost, Judgements, Measured, cost_of, judgements, workloads
from monge.study.shown import Shown
from monge.types.table import Cell, Sheet

TASKS = {
    "translation": "translations, against references",
    "summaries": "summaries, against references",
    "captions": "captions of pictures, against references",
    "data-to-text": "sentences made from data, against references",
    "similarity": "how much two sentences say the same",
    "quality-estimation": "translations, against the source alone",
}
"""Task -> what is judged."""
WEAK = 0.4
"""Below this agreement the advice says that single scores tell little."""
MUCH, QUICK = 3.0, 2.0
"""So many times cheaper is worth a sentence, unless the best takes no more than so many seconds."""
_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|ms|mb|gb)?\s*", re.IGNORECASE)
_UNITS = {"s": ("seconds", 1.0), "ms": ("seconds", 0.001), "mb": ("megabytes", 1.0), "gb": ("megabytes", 1024.0)}


@dataclass(frozen=True)
class Budget:
    """The most that may be spent: seconds a 1,000 pairs on one thread, megabytes of memory."""

    seconds: float | None = None
    megabytes: float | None = None

    @classmethod
    def read(cls, given: str | None) -> Budget:
        """From `5s`, `800MB`, or `5s,800MB`; a number alone is seconds."""
        limits: dict[str, float] = {}
        for part in (given or "").split(","):
            if not part.strip():
                continue
            found = _BUDGET.fullmatch(part)
            if found is None or float(found[1]) <= 0:
                raise InvalidSetting(
                    f"budget {part.strip()!r}: expected seconds a 1,000 pairs or memory, such as 5s, 800MB or 5s,800MB"
                )
            name, factor = _UNITS[(found[2] or "s").lower()]
            limits[name] = float(found[1]) * factor
        return cls(**limits)

    def holds(self, cost: Cost | None) -> bool:
        """Whether a cost stays within it; an unknown one does only where there is no limit."""
        if cost is None:
            return self == Budget()
        return all(limit is None or getattr(cost, name) <= limit for name, limit in vars(self).items())

    def __str__(self) -> str:
        said = [] if self.seconds is None else [f"{self.seconds:g} s a 1,000 pairs"]
        return " and ".join([*said, *([] if self.megabytes is None else [f"{self.megabytes:g} MB"])])


@dataclass(frozen=True)
class Candidate:
    """A metric: its agreement on every data set of a task, their mean, and what it costs."""

    metric: str
    figures: Mapping[str, Measured]
    mean: float
    cost: Cost | None
    affordable: bool
    front: bool = False

    @property
    def told_apart(self) -> int:
        """On how many data sets it is significantly worse than the best."""
        return sum(not one.mark for one in self.figures.values())


@dataclass(frozen=True)
class Recommendation(Shown):
    """What is known of a task in a language: its data sets, and the metrics, best first."""

    task: str
    lang: str
    data: tuple[Judgements, ...]
    candidates: tuple[Candidate, ...]
    budget: Budget = field(default_factory=Budget)

    @property
    def best(self) -> Candidate | None:
        """The metric with the highest mean agreement of those within the budget."""
        return next((one for one in self.candidates if one.affordable), None)

    @property
    def cheapest(self) -> Candidate | None:
        """The cheapest metric that no data set tells from the best of all."""
        equal = [one for one in self.candidates if one.affordable and not one.told_apart and one.cost is not None]
        return min(equal, key=lambda one: one.cost.seconds if one.cost else 0.0, default=None)

    @property
    def choice(self) -> Candidate | None:
        """What to take: the cheapest that cannot be told from the best where it is much cheaper, else the best."""
        best, cheap = self.best, self.cheapest
        if best is None or cheap is None or best.cost is None or cheap.cost is None:
            return best
        return cheap if cheap.cost.seconds * MUCH <= best.cost.seconds else best

    def advice(self) -> list[str]:
        """The recommendation in sentences."""
        best, chosen = self.best, self.choice
        if best is None or chosen is None:
            cheap = min((one for one in self.candidates if one.cost), key=_seconds, default=None)
            least = "" if cheap is None else f"; the cheapest is {cheap.metric} with {_spent(cheap)}"
            return [f"No metric stays within {self.budget}{least}."]
        lacking = [f"Not evaluated on all of these data, so not compared: {', '.join(self.missing)}."] * bool(
            self.missing
        )
        return [*_said(self, best, chosen), *_warned(best, self.data), *lacking]

    def sheets(self) -> list[Sheet]:
        """One table: a row a metric, a column a data set."""
        several = len(self.data) > 1
        head = ("metric", *(one.key for one in self.data), *(("mean",) if several else ()), "s / 1,000", "MB", "front")
        rows = tuple(
            (
                Cell(one.metric, mark=""),
                *(_cell(one.figures[data.key]) for data in self.data),
                *((Cell(decimals(one.mean), mark="best" if one is self.candidates[0] else ""),) if several else ()),
                *_cost_cells(one.cost),
                Cell("●" if one.front else ""),
            )
            for one in self.candidates
            if one.affordable
        )
        chosen = self.choice
        signed = () if chosen is None else tuple(one.signature for one in chosen.figures.values())
        return [
            Sheet(
                f"{self.task} ({LANGUAGES[self.lang]}; {TASKS[self.task]}): "
                + (f"use {chosen.metric}" if chosen else "nothing fits"),
                head,
                rows,
                notes=(*self.advice(), *(one.extent for one in self.data), *self._notes()),
                signatures=signed,
                words_behind=1,
                tied="not significantly below the best of its column",
            )
        ]

    @property
    def missing(self) -> list[str]:
        """Metrics that were evaluated with this model, but not on all of these data: they are not compared."""
        known = {one.metric for one in self.candidates}
        alike = [
            one for one in judgements() if one.model == self.data[0].model and _sourced(one) == _sourced(self.data[0])
        ]
        return sorted({name for one in alike for name in one.metrics} - known)

    def _notes(self) -> Iterator[str]:
        model = self.data[0].model
        yield f"model {model}; intervals: 95% bootstrap, in JSON; front: no metric agrees better for less time"
        for one in workloads():
            if (one["texts"], one["model"]) == (self.data[0].texts, model):
                yield f"cost: {one['pairs']:,} pairs of {one['dataset']}, {one['machine']}, model loaded before"

    def records(self) -> Iterator[dict[str, Any]]:
        """A row a metric and data set."""
        for one in self.candidates:
            for data in self.data:
                figure = one.figures[data.key]
                cost = vars(one.cost) if one.cost else {"seconds": None, "megabytes": None}
                about = {"task": self.task, "lang": self.lang, "data": data.key, "metric": one.metric}
                yield {**about, **vars(figure), "mean": one.mean, **cost, "front": one.front}

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "task": self.task,
            "lang": self.lang,
            "choice": self.choice.metric if self.choice else None,
            "advice": self.advice(),
            "data": [{name: value for name, value in vars(one).items() if name != "metrics"} for one in self.data],
            "metrics": [
                {
                    "metric": one.metric,
                    "mean": one.mean,
                    **(vars(one.cost) if one.cost else {"seconds": None, "megabytes": None}),
                    "affordable": one.affordable,
                    "front": one.front,
                    "agreement": {key: vars(figure) for key, figure in one.figures.items()},
                }
                for one in self.candidates
            ],
        }


@dataclass(frozen=True)
class Overview(Shown):
    """The choice for every task that was judged in a language."""

    every: tuple[Recommendation, ...]

    def sheets(self) -> list[Sheet]:
        """One table: a row a task."""
        rows = []
        for one in self.every:
            chosen, best = one.choice, one.best
            if chosen is None or best is None:
                rows.append((Cell(one.task), Cell("none within the budget"), *(Cell("") for _ in range(5))))
                continue
            said = "" if chosen is best else f"{best.metric} ({decimals(best.mean)})"
            data = ", ".join(each.title for each in one.data)
            rows.append(
                (
                    Cell(one.task),
                    Cell(chosen.metric),
                    Cell(decimals(chosen.mean)),
                    *_cost_cells(chosen.cost),
                    Cell(said),
                    Cell(data),
                )
            )
        head = ("task", "use", "agreement", "s / 1,000", "MB", "best, no better by any test", "judged data")
        lang = self.every[0].lang
        title = f"which metric, for {LANGUAGES[lang]} texts with {self.every[0].data[0].model}"
        note = "monge recommend --task NAME shows every metric, how far to trust it, and what it was measured on"
        return [Sheet(title, head, tuple(rows), notes=(note,), words=2, words_behind=2)]

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of every task."""
        for one in self.every:
            yield from one.records()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"tasks": [one.to_dict() for one in self.every]}


def recommend(task: str | None = None, *, lang: str = "en", budget: str | None = None) -> Recommendation | Overview:
    """Which metric to take for texts of a kind and language, from kept agreement with people and kept cost.

    Args:
        task: One of `TASKS`; None gives the choice for each of them.
        lang: The language of the judged texts (ISO 639-1).
        budget: The most that may be spent, such as `5s` (a 1,000 pairs on one thread), `800MB`, or both with a comma.
    """
    check_language(lang)
    limit = Budget.read(budget)
    if task is not None and task not in TASKS:
        raise UnknownName("task", task, TASKS)
    known = [one for one in judgements() if task in (None, one.task)]
    mine = [one for one in known if one.lang == lang]
    if not mine:
        there = ", ".join(sorted({one.lang for one in known}))
        what = f"judged {task} data" if task else "judged data"
        raise InvalidSetting(f"no {what} in {LANGUAGES[lang]} ({lang}) were evaluated; there are results for {there}")
    if task is not None:
        return _recommended(task, lang, mine, limit)
    tasks = dict.fromkeys(one.task for one in mine)
    ordered = [name for name in TASKS if name in tasks]
    return Overview(
        tuple(_recommended(name, lang, [one for one in mine if one.task == name], limit) for name in ordered)
    )


def _recommended(task: str, lang: str, data: Sequence[Judgements], budget: Budget) -> Recommendation:
    common = [name for name in data[0].metrics if all(name in one.metrics for one in data)]
    found = []
    for name in common:
        figures = {one.key: one.metrics[name] for one in data}
        cost = cost_of(name, data[0].texts, data[0].model)
        mean = sum(one.value for one in figures.values()) / len(figures)
        found.append(Candidate(name, figures, mean, cost, budget.holds(cost)))
    found.sort(key=lambda one: (-one.mean, one.metric))
    on_front = front([(one.cost.seconds if one.cost else None, one.mean) for one in found])
    marked = tuple(
        Candidate(one.metric, one.figures, one.mean, one.cost, one.affordable, place in on_front)
        for place, one in enumerate(found)
    )
    return Recommendation(task, lang, tuple(data), marked, budget)


def front(points: Sequence[tuple[float | None, float]]) -> set[int]:
    """The places of the (cost, value) points that no other point beats: none costs less and is as good or better."""
    best, found = float("-inf"), set()
    known = [(cost, -value, place) for place, (cost, value) in enumerate(points) if cost is not None]
    for _, negative, place in sorted(known):
        if -negative > best:
            best = -negative
            found.add(place)
    return found


def _sourced(one: Judgements) -> bool:
    """Whether texts were compared with their sources."""
    return one.task == "quality-estimation"


def _seconds(one: Candidate) -> float:
    return one.cost.seconds if one.cost else float("inf")


def _spent(one: Candidate) -> str:
    return (
        "unknown cost"
        if one.cost is None
        else f"{_short(one.cost.seconds)} s a 1,000 pairs, {one.cost.megabytes:.0f} MB"
    )


def _short(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def _cell(figure: Measured) -> Cell:
    return Cell(decimals(figure.value), mark=figure.mark)


def _cost_cells(cost: Cost | None) -> tuple[Cell, Cell]:
    return (
        (Cell(_short(cost.seconds)), Cell(f"{cost.megabytes:.0f}"))
        if cost
        else (Cell(dashed(None)), Cell(dashed(None)))
    )


def _said(found: Recommendation, best: Candidate, chosen: Candidate) -> Iterator[str]:
    sets = len(found.data)
    on = "nothing" if sets == 1 else f"none of the {sets} data sets"
    mean = "agreement" if sets == 1 else "mean agreement"
    if chosen is not best:
        words = " (it counts words and characters: no model at all)" if chosen.metric in LEXICAL else ""
        agreement = f"{mean} {decimals(chosen.mean)}"
        yield f"Use {chosen.metric} here: {on} tells it from the best; {agreement}, {_spent(chosen)}{words}."
        yield f"{best.metric} has the highest {mean}, {decimals(best.mean)}, for {_spent(best)}."
        return
    within = f" within {found.budget}" if str(found.budget) else ""
    interval = f" {span(*_bounds(best))}" if sets == 1 else ""
    yield f"Use {best.metric}: the highest {mean}{within}, {decimals(best.mean)}{interval}, for {_spent(best)}."
    cheaper = [
        one for one in found.candidates
        if one.front and one.affordable and one is not best and _seconds(one) * MUCH <= _seconds(best)
    ]  # fmt: skip
    if cheaper and _seconds(best) > QUICK:
        one = cheaper[0]
        times = _seconds(best) / _seconds(one)
        yield (
            f"{one.metric} is {times:.0f} times as fast and {decimals(best.mean - one.mean)} lower, "
            f"significantly worse on {one.told_apart} of {sets} data set{'s' * (sets > 1)}."
        )


def _bounds(one: Candidate) -> tuple[float | None, float | None]:
    figure = next(iter(one.figures.values()))
    return figure.low, figure.high


def _warned(best: Candidate, data: Sequence[Judgements]) -> Iterator[str]:
    if best.mean < WEAK:
        yield (
            f"Even the best agrees with people by {decimals(best.mean)} only: compare systems over many texts, "
            "do not trust the score of one."
        )
    if any(one.sample for one in data):
        yield "Some data sets were sampled (below): their intervals are wider than the whole would give."
