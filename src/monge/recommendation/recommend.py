"""Recommend a metric by agreement with people and cost, from results kept in the package.

A metric is recommended where its mean agreement over the data sets of a task is highest; a cheaper
one where no data set tells it from the best; a tuned model where it is surely above all of them on
the judgements that they share; and nothing where even the best hardly agrees with people. What is
kept: `kept_results`, the sentences: `sentences`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.evaluation.notebook import StudyResult
from monge.metrics.languages import LANGUAGES, check_language
from monge.recommendation.budget import Budget
from monge.recommendation.kept_results import (
    Cost,
    KeptAgreements,
    Measured,
    Tuned,
    cost_of,
    judgements,
    tuned,
)
from monge.types.table import Sheet

TASKS = {
    "translation": "translations, against references",
    "summaries": "summaries, against references",
    "captions": "captions of pictures, against references",
    "data-to-text": "sentences made from data, against references",
    "similarity": "how much two sentences say the same",
    "quality-estimation": "translations, against the source alone",
}
"""Task -> what is judged."""
USELESS = 0.2
"""Below this agreement nothing is recommended."""
CLOSE = 0.02
"""A cheaper metric replaces the best only if it agrees at most this much less on each data set."""
MUCH = 3.0
"""A metric that cannot be told apart from the best is taken where it is so many times cheaper."""
DEVELOPMENT: Mapping[str, str] = dict.fromkeys(
    ("wmt15", "wmt16"), "the temperature and the layer of twmd and bertscore were chosen on it"
)
"""Data sets that settings were chosen on, and which: they are shown, and count for nothing."""
SURE = 0.05
"""A difference with a smaller p is more than chance."""
SAME = 1e-3
"""Two figures of one metric that differ by less were measured on the same judgements."""


@dataclass(frozen=True)
class Candidate:
    """A metric: its agreement per data set, its mean rank on those that count, its cost.

    Data sets have different statistics, so ranks are averaged, not values: 1 is the best metric of
    a data set.
    """

    metric: str
    figures: Mapping[str, Measured]
    rank: float
    cost: Cost | None
    affordable: bool
    front: bool = False

    @property
    def seconds(self) -> float:
        """Seconds per 1,000 pairs; infinite if they were not measured."""
        return self.cost.seconds if self.cost else float("inf")

    @property
    def cost_record(self) -> dict[str, float | None]:
        """The JSON form of its cost."""
        return vars(self.cost) if self.cost else {"seconds": None, "megabytes": None}

    @property
    def told_apart(self) -> int:
        """On how many data sets it is significantly worse than the best."""
        return sum(not figure.mark for figure in self.tested.values())

    @property
    def tested(self) -> dict[str, Measured]:
        """Its agreement on the data sets that count."""
        return {key: figure for key, figure in self.figures.items() if key not in DEVELOPMENT}

    @property
    def least(self) -> float:
        """Its agreement on the data set on which that is lowest."""
        return min(figure.value for figure in self.tested.values())


@dataclass(frozen=True, repr=False)
class Recommendation(StudyResult):
    """The results for a task in a language: its data sets, and the metrics, best first.

    `data` are those that count; `development` those that settings were chosen on.
    """

    task: str
    lang: str
    data: tuple[KeptAgreements, ...]
    candidates: tuple[Candidate, ...]
    budget: Budget = field(default_factory=Budget)
    development: tuple[KeptAgreements, ...] = ()

    @property
    def best(self) -> Candidate | None:
        """The metric within the budget that is significantly worse on the fewest data sets.

        Of several such metrics, the one with the best mean rank.
        """
        return next((candidate for candidate in self.candidates if candidate.affordable), None)

    @property
    def cheapest(self) -> Candidate | None:
        """The cheapest metric that is nowhere significantly worse and close to the best.

        A test that does not tell two metrics apart does not say that they are equal.
        """
        equal = [
            candidate for candidate in self.candidates
            if candidate.affordable and not candidate.told_apart
            and candidate.cost is not None and self._is_close(candidate)
        ]  # fmt: skip
        return min(equal, key=lambda candidate: candidate.seconds, default=None)

    def _is_close(self, candidate: Candidate) -> bool:
        """Return whether a metric is within CLOSE of the best metric of each data set."""
        return all(
            candidate.figures[data.key].value
            >= max(figure.value for figure in data.metrics.values()) - CLOSE
            for data in self.data
        )

    @property
    def choice(self) -> Candidate | None:
        """The cheapest that ties with the best if much cheaper, else the best."""
        best, cheap = self.best, self.cheapest
        if best is None or cheap is None or best.cost is None or cheap.cost is None:
            return best
        return cheap if cheap.cost.seconds * MUCH <= best.cost.seconds else best

    @property
    def usable(self) -> bool:
        """Whether the best agrees with people well enough on some data set."""
        return (
            self.best is not None
            and max(figure.value for figure in self.best.tested.values()) >= USELESS
        )

    @property
    def tuned(self) -> tuple[Tuned, ...]:
        """Tuned models that were measured on data of this task and stay within the budget."""
        keys = {dataset.key for dataset in self.data}
        models = [
            model
            for model in tuned()
            if model.base == self.data[0].model and keys & set(model.figures)
        ]
        return tuple(model for model in models if self.budget.holds(self.cost_of(model)))

    def cost_of(self, model: Tuned) -> Cost | None:
        """Return a tuned model's cost: the plain model's time times the ratio."""
        plain = cost_of(model.metric, self.data[0].texts, model.base)
        return None if plain is None else Cost(plain.seconds * model.time, plain.megabytes)

    def shared(self, model: Tuned) -> dict[str, Measured]:
        """Return a tuned model's agreement on data sets with the same judgements."""
        figures = {}
        for dataset in self.data:
            plain, change = dataset.metrics.get(model.metric), model.figures.get(dataset.key)
            if (
                plain is not None
                and change is not None
                and abs(plain.value - change.before.value) < SAME
            ):
                figures[dataset.key] = change.after
        return figures

    @property
    def ahead(self) -> Tuned | None:
        """The tuned model surely above every plain metric on each shared data set, if any.

        By paired tests: it is above its own plain metric (p below SURE), which no metric is
        significantly above.
        """
        data = {dataset.key: dataset for dataset in self.data}
        for model in self.tuned:
            shared = self.shared(model)
            above = [
                change.p <= SURE
                and change.after.value > max(figure.value for figure in data[key].metrics.values())
                and data[key].metrics[model.metric].mark in ("best", "tied")
                for key, change in model.figures.items()
                if key in shared
            ]
            if above and all(above):
                return model
        return None

    @property
    def use(self) -> str:
        """What to take, as it is typed; nothing where nothing is good enough or cheap enough."""
        if self.ahead is not None:
            return self.ahead.label
        return self.choice.metric if self.choice is not None and self.usable else ""

    def advice(self) -> list[str]:
        """Return the recommendation in sentences."""
        from monge.recommendation.sentences import sentences

        return sentences(self)

    def sheets(self) -> list[Sheet]:
        """Return one table: a row per metric, a column per data set."""
        from monge.recommendation.sheets import recommendation_sheet

        return [recommendation_sheet(self)]

    @property
    def missing(self) -> list[str]:
        """Metrics not compared, as they lack results on some of these data."""
        compared = {candidate.metric for candidate in self.candidates}
        alike = [
            dataset
            for dataset in judgements()
            if dataset.model == self.data[0].model
            and _uses_source(dataset) == _uses_source(self.data[0])
        ]
        return sorted({name for dataset in alike for name in dataset.metrics} - compared)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one row per metric and data set."""
        for candidate in self.candidates:
            for data in (*self.data, *self.development):
                figure = candidate.figures[data.key]
                about = {
                    "task": self.task,
                    "lang": self.lang,
                    "data": data.key,
                    "metric": candidate.metric,
                }
                used = {"development": data in self.development, "statistic": data.statistic}
                yield {
                    **about,
                    **used,
                    **vars(figure),
                    "rank": candidate.rank,
                    **candidate.cost_record,
                    "front": candidate.front,
                }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "task": self.task,
            "lang": self.lang,
            "choice": self.choice.metric if self.choice and self.usable else None,
            "use": self.use or None,
            "advice": self.advice(),
            "data": [
                {
                    **{name: value for name, value in vars(dataset).items() if name != "metrics"},
                    "development": dataset in self.development,
                }
                for dataset in (*self.data, *self.development)
            ],
            "metrics": [
                {
                    "metric": candidate.metric,
                    "rank": candidate.rank,
                    **candidate.cost_record,
                    "affordable": candidate.affordable,
                    "front": candidate.front,
                    "agreement": {key: vars(figure) for key, figure in candidate.figures.items()},
                }
                for candidate in self.candidates
            ],
            "tuned": [asdict(model) for model in self.tuned],
        }


@dataclass(frozen=True, repr=False)
class Overview(StudyResult):
    """The choice for every task that was judged in a language."""

    every: tuple[Recommendation, ...]

    def sheets(self) -> list[Sheet]:
        """Return one table with a row per task."""
        from monge.recommendation.sheets import overview_sheet

        return [overview_sheet(self)]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of every task."""
        for recommendation in self.every:
            yield from recommendation.records()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"tasks": [recommendation.to_dict() for recommendation in self.every]}


def recommend(
    task: str | None = None, *, lang: str = "en", budget: str | None = None
) -> Recommendation | Overview:
    """Recommend a metric for texts of a kind and language, by kept agreement and cost.

    Args:
        task: One of `TASKS`; None gives the choice for each of them.
        lang: The language of the judged texts (ISO 639-1).
        budget: The most that may be spent, such as `5s` (a 1,000 pairs on one thread), `800MB`, or
            both with a comma.

    Examples:
        >>> monge.recommend("translation", lang="en").best.metric
        'moverscore-2'
    """
    check_language(lang)
    limit = Budget.read(budget)
    if task is not None and task not in TASKS:
        raise UnknownName("task", task, TASKS)
    datasets = [dataset for dataset in judgements() if task in (None, dataset.task)]
    language_datasets = [dataset for dataset in datasets if dataset.lang == lang]
    if not language_datasets:
        languages = ", ".join(sorted({dataset.lang for dataset in datasets}))
        description = f"judged {task} data" if task else "judged data"
        raise InvalidSetting(
            f"no {description} in {LANGUAGES[lang]} ({lang}) were evaluated; there are results for "
            f"{languages}"
        )
    if task is not None:
        return _rank_candidates(task, lang, language_datasets, limit)
    by_task = {
        name: [dataset for dataset in language_datasets if dataset.task == name] for name in TASKS
    }
    return Overview(
        tuple(
            _rank_candidates(name, lang, task_datasets, limit)
            for name, task_datasets in by_task.items()
            if task_datasets
        )
    )


def _rank_candidates(
    task: str, lang: str, data: Sequence[KeptAgreements], budget: Budget
) -> Recommendation:
    tested = [dataset for dataset in data if dataset.key not in DEVELOPMENT] or list(data)
    development = tuple(dataset for dataset in data if dataset not in tested)
    common = [name for name in data[0].metrics if all(name in dataset.metrics for dataset in data)]
    ranks = _mean_ranks([[dataset.metrics[name].value for name in common] for dataset in tested])
    candidates = []
    for name, rank in zip(common, ranks, strict=True):
        figures = {dataset.key: dataset.metrics[name] for dataset in data}
        cost = cost_of(name, data[0].texts, data[0].model)
        candidates.append(Candidate(name, figures, rank, cost, budget.holds(cost)))
    candidates.sort(key=lambda candidate: (candidate.told_apart, candidate.rank, candidate.metric))
    on_front = front(
        [
            (candidate.cost.seconds if candidate.cost else None, float(-place))
            for place, candidate in enumerate(candidates)
        ]
    )
    marked = tuple(
        replace(candidate, front=place in on_front) for place, candidate in enumerate(candidates)
    )
    return Recommendation(task, lang, tuple(tested), marked, budget, development)


def _mean_ranks(values: Sequence[Sequence[float]]) -> list[float]:
    """Return each metric's mean rank over data sets [d][m]; 1 is best, ties share ranks."""
    ranks = [
        [
            1 + sum(other_value > value for other_value in row) + (row.count(value) - 1) / 2
            for value in row
        ]
        for row in (list(dataset_values) for dataset_values in values)
    ]
    return [sum(column) / len(column) for column in zip(*ranks, strict=True)]


def front(points: Sequence[tuple[float | None, float]]) -> set[int]:
    """Return the places of (cost, value) points on the Pareto front: no cheaper is as good."""
    best, on_front = float("-inf"), set()
    priced = [
        (cost, -value, place) for place, (cost, value) in enumerate(points) if cost is not None
    ]
    for _, negative, place in sorted(priced):
        if -negative > best:
            best = -negative
            on_front.add(place)
    return on_front


def _uses_source(dataset: KeptAgreements) -> bool:
    """Return whether texts were compared with their sources."""
    return dataset.task == "quality-estimation"


def short(seconds: float) -> str:
    """Return seconds with two significant digits, or none after the point from 10 on."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
