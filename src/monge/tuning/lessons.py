"""Parse the training data that a user names, and open its examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.tuning.errors import read_error_examples
from monge.tuning.examples import Examples, Labelled, judged_examples, read_labelled
from monge.tuning.objectives import OBJECTIVES

_WRITTEN = re.compile(
    r"(?:(?P<objective>[a-z]+):)?(?P<data>[^*:()]+)(?:\((?P<options>[^()]*)\))?(?:\*(?P<weight>[0-9.]+))?"
)
_FORM = "[OBJECTIVE:]DATASET|FILE[(OPTION=VALUE,…)][*WEIGHT]"
_OF_LESSONS = "sample", "batch", "teacher", "neighbours", "kinds"
"""Options of lessons, not of data sets."""
GRADES: Mapping[str, Mapping[float, float]] = {
    "germeval": {1: 0.05, 1.5: 0.10, 2: 0.20, 2.5: 0.30, 3: 0.50, 3.5: 0.70, 4: 0.85}
}
"""Tables by name: grade -> its cosine; `germeval` is for Opusparcus, as in GermEval 2020."""


@dataclass(frozen=True)
class Lesson:
    """An objective, its training data, and its weight.

    Attributes:
        data: The names of data sets joined by +, or a file of labelled pairs of sentences.
        objective: One of `objectives.OBJECTIVES`; `auto` is `score` for scores, `rank` for
            rankings.
        weight: The factor of its loss.
        options: `pairs`, `human`, `text`, `sample` (the number of judgements, drawn at random),
            `batch` (judgements per step), `teacher` (the group whose texts the teacher reads
            instead, such as en), `neighbours` (the number of nearest texts, by the teacher's
            vectors, that each text is paired with), `kinds` (kinds of errors or severities, joined
            by /), or a switch of the data set.
    """

    data: str
    objective: str = "auto"
    weight: float = 1.0
    options: tuple[tuple[str, str], ...] = ()

    @property
    def batch(self) -> int | None:
        """The number of judgements per step, None for that of the schedule."""
        return self._count("batch", 2)

    @property
    def sample(self) -> int | None:
        """The number of judgements to draw, None for all."""
        return self._count("sample", 2)

    @property
    def neighbours(self) -> int:
        """The number of nearest texts, by the teacher's vectors, that each text is paired with."""
        return self._count("neighbours", 1) or 0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds or severities of errors that are made; none for those of lessons."""
        text = dict(self.options).get("kinds", "")
        return tuple(text.split("/")) if text else ()

    @property
    def for_teacher(self) -> Lesson | None:
        """The lesson that the teacher reads if the option `teacher` names another group for it."""
        options = dict(self.options)
        if "teacher" not in options:
            return None
        replaced = "pairs", "languages", *_OF_LESSONS
        other_options = tuple(option for option in self.options if option[0] not in replaced)
        return replace(self, options=(*other_options, ("pairs", options["teacher"])))

    def _count(self, name: str, least: int) -> int | None:
        text = dict(self.options).get(name)
        if text is not None and (not text.isdigit() or int(text) < least):
            raise InvalidSetting(
                f"{self.data}: {name} takes a number, {least} or more, got {text!r}"
            )
        return None if text is None else int(text)

    @classmethod
    def parse(cls, text: str) -> Lesson:
        """Parse a lesson such as ``rank:wmt18(pairs=*-en)*0.5``."""
        match = _WRITTEN.fullmatch(text.strip())
        try:
            weight = float(match["weight"] or 1) if match else 0.0
        except ValueError:
            weight = 0.0
        if match is None or weight <= 0:
            raise InvalidSetting(f"--train takes {_FORM}, got {text!r}")
        parts = [
            part.partition("=") for part in (match["options"] or "").split(",") if part.strip()
        ]
        wrong = next(("".join(part) for part in parts if not part[1]), None)
        if wrong is not None:
            raise InvalidSetting(f"{text}: an option is NAME=VALUE, got {wrong!r}")
        options = tuple((name.strip(), value.strip()) for name, _, value in parts)
        return cls(match["data"], match["objective"] or "auto", weight, options)


@dataclass(frozen=True)
class DataLocation:
    """The location of judgements, and the options of reading them that a lesson does not set."""

    data: str | Path
    pairs: Sequence[str] | None = None
    human: str | None = None
    text: str = "raw"
    grades: Mapping[float, float] = field(default_factory=dict)
    seed: int = 0


def open_lesson(lesson: Lesson, location: DataLocation) -> Examples | Labelled:
    """Read the examples of a lesson: rankings, scores, or labelled pairs from a file."""
    kind = lesson.objective
    _check_objective(lesson)
    if kind != "errors" and Path(lesson.data).is_file():
        return _from_file(lesson, location)
    if kind == "nli":
        raise InvalidSetting(
            f"nli learns from a file of labelled pairs (two sentences, label), got {lesson.data!r}"
        )
    options = {name: value for name, value in lesson.options if name not in _OF_LESSONS}
    pairs = options.pop("pairs").split("/") if "pairs" in options else location.pairs
    switches = {
        name: value if name in ("human", "text") else _switch(value)
        for name, value in options.items()
    }
    dataset_options = {"human": location.human, "text": location.text, **switches}
    stated: dict[str, Any] = {
        name: value for name, value in dataset_options.items() if value is not None
    }
    if kind == "errors":
        rankings = read_error_examples(
            lesson.data, location.data, pairs, kinds=lesson.kinds, seed=location.seed, **stated
        )
        return _draw_sample(rankings, lesson, location)
    examples = judged_examples(
        lesson.data,
        location.data,
        pairs,
        cosines=_cosines_to_learn(kind, options, location.grades),
        raw=kind == "mse",
        **stated,
    )
    examples = _draw_sample(examples, lesson, location)
    if kind == "paraphrase" and examples.unit is None:
        raise InvalidSetting(
            f"{lesson.data} has rankings: the objective paraphrase learns from grades"
        )
    return examples


def _draw_sample(examples: Examples, lesson: Lesson, location: DataLocation) -> Examples:
    """Return as many judgements, drawn at random, as the lesson asks for."""
    if lesson.sample is None:
        return examples
    order = np.random.default_rng([location.seed, len(examples)]).permutation(len(examples))
    return examples.select(sorted(order[: lesson.sample].tolist()))


def _cosines_to_learn(
    kind: str, options: Mapping[str, str], grades: Mapping[float, float]
) -> Mapping[float, float] | None:
    """Return the table of grades to bring to 0..1; empty for a declared range, None for none."""
    if kind == "paraphrase":
        return grades
    return {} if kind == "mse" and "human_range" in options else None


def _check_objective(lesson: Lesson) -> None:
    """Raise for an unknown objective, or for an option that another objective takes."""
    kind = lesson.objective
    if kind != "auto" and kind not in OBJECTIVES:
        raise InvalidSetting(f"objective takes {', '.join(OBJECTIVES)}, got {kind!r}")
    for name, _ in lesson.options:
        if name == "kinds" and kind != "errors":
            raise InvalidSetting(
                f"{lesson.data}: the option kinds says which errors are made: only errors has it"
            )
        if name in ("teacher", "neighbours") and kind != "distil":
            raise InvalidSetting(
                f"{lesson.data}: the option {name} says what a teacher reads: only distil has one"
            )


def _switch(value: str) -> str | int | bool:
    """Parse a switch of a data set like `--switch`: true, false, a whole number, or text."""
    return (
        value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
    )


def _from_file(lesson: Lesson, location: DataLocation) -> Labelled:
    if lesson.objective not in ("nli", "paraphrase"):
        raise InvalidSetting(
            f"{lesson.data} is a file of pairs: say what its last column is, nli:{lesson.data} "
            f"(labels) or paraphrase:{lesson.data} (grades); judgements of texts go by --train "
            f"table --data {lesson.data}"
        )
    if lesson.objective == "nli":
        return read_labelled(lesson.data)
    return read_labelled(lesson.data, location.grades or GRADES["germeval"])


def read_grades(table: str | None) -> Mapping[float, float]:
    """Return a table of grades by name, or parse GRADE=COSINE,…; empty for None."""
    if table is None:
        return {}
    if table in GRADES:
        return GRADES[table]
    try:
        cosines = {
            float(grade): float(cosine)
            for grade, _, cosine in (part.partition("=") for part in table.split(","))
        }
    except ValueError:
        raise InvalidSetting(
            f"--grades takes {', '.join(GRADES)} or GRADE=COSINE,…, got {table!r}"
        ) from None
    wrong = next((value for value in cosines.values() if not -1 <= value <= 1), None)
    if wrong is not None:
        raise DataError(f"--grades: a cosine lies between -1 and 1, got {wrong:g}")
    return cosines
