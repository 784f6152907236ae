"""Parse the training data that a user names, and open its examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.scoring.windows import REFERENCES
from monge.tuning.errors import read_error_examples
from monge.tuning.examples import Examples, compare_with, judged_examples
from monge.tuning.labelled import (
    Labelled,
    read_classes,
    read_graded,
    read_labelled,
    read_paraphrases,
    split_by_grade,
)
from monge.tuning.objectives import OBJECTIVES, PAIR_KINDS

_WRITTEN = re.compile(
    r"(?:(?P<objective>[a-z]+):)?(?P<data>[^*:()]+)(?:\((?P<options>[^()]*)\))?(?:\*(?P<weight>[0-9.]+))?"
)
_FORM = "[OBJECTIVE:]DATASET|FILE[(OPTION=VALUE,…)][*WEIGHT]"
_OF_LESSONS = (
    "sample",
    "batch",
    "teacher",
    "neighbours",
    "kinds",
    "labels",
    "paraphrase_from",
    "pool",
)
"""Options of lessons, not of data sets."""
_OBJECTIVES_OF = {
    "teacher": ("distil",),
    "neighbours": ("distil",),
    "kinds": ("errors",),
    "labels": ("nli", "classify"),
    "paraphrase_from": ("nli", "classify"),
    "pool": ("classify",),
}
"""The objectives that take an option that not all take."""
POOLS = ("first", "mean")
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
            by /), `labels` (A/B or A/B/C, the labels of a
            file of pairs), `paraphrase_from` (the grade from which a graded pair counts as a
            paraphrase), `pool` (the vector that classify reads, one of `POOLS`), or a switch of
            the data set.
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
    def classes(self) -> tuple[str, ...]:
        """The labels that are declared, none if those of the file decide."""
        text = dict(self.options).get("labels", "")
        labels = tuple(label.strip().lower() for label in text.split("/")) if text else ()
        if text and (len(set(labels)) not in (2, 3) or not all(labels)):
            raise InvalidSetting(
                f"{self.data}: labels takes two or three labels, A/B or A/B/C, got {text!r}"
            )
        return labels

    @property
    def pool(self) -> str:
        """The vector of a pair that is read together: of its first piece, or the mean."""
        pool = dict(self.options).get("pool", "first")
        if pool not in POOLS:
            raise InvalidSetting(f"{self.data}: pool takes {' or '.join(POOLS)}, got {pool!r}")
        return pool

    @property
    def paraphrase_from(self) -> float | None:
        """The least grade of a paraphrase, None if pairs have labels."""
        text = dict(self.options).get("paraphrase_from")
        try:
            return None if text is None else float(text)
        except ValueError:
            raise InvalidSetting(
                f"{self.data}: paraphrase_from takes a grade, such as 4, got {text!r}"
            ) from None

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
    against: str = REFERENCES


def open_lesson(lesson: Lesson, location: DataLocation) -> Examples | Labelled:
    """Read the examples of a lesson: rankings, scores, or labelled pairs from a file."""
    kind = lesson.objective
    _check_objective(lesson)
    if kind != "errors" and Path(lesson.data).is_file():
        return _draw_sample(_from_file(lesson, location), lesson, location)
    if kind in ("nli", "classify") and lesson.paraphrase_from is None:
        raise InvalidSetting(
            f"{kind} learns from a file of labelled pairs (two sentences, label), got "
            f"{lesson.data!r}; grades of a data set become labels by {kind}:{lesson.data}"
            "(paraphrase_from=GRADE)"
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
        return _draw_sample(_check_side(rankings, location.against), lesson, location)
    examples = judged_examples(
        lesson.data,
        location.data,
        pairs,
        cosines=_cosines_to_learn(kind, options, location.grades),
        raw=kind in ("mse", "nli", "classify"),
        against=location.against,
        **stated,
    )
    if kind in PAIR_KINDS and examples.targets is None:
        raise InvalidSetting(f"{lesson.data} has rankings: the objective {kind} learns from grades")
    if kind in ("nli", "classify"):
        return _draw_sample(_graded_classes(examples, lesson), lesson, location)
    return _draw_sample(examples, lesson, location)


def _check_side(examples: Examples, against: str) -> Examples:
    """Return the examples with the side that the metric reads; raise where a row has none."""
    sided = compare_with(examples, against)
    if not all(row.references for row in sided.rows):
        raise InvalidSetting(
            f"errors:{examples.name}: this metric compares with the source, and texts are without "
            "one: take a data set that has sources, such as wmt16"
        )
    return sided


def _graded_classes(examples: Examples, lesson: Lesson) -> Labelled:
    """Return the pairs of a data set, labelled by whether their grade makes them paraphrases."""
    assert examples.raw is not None
    assert lesson.paraphrase_from is not None
    pairs = tuple((row.hypothesis, row.references[0]) for row in examples.rows)
    graded = Labelled(examples.name, pairs, examples.raw, examples.licence)
    return split_by_grade(graded, lesson.paraphrase_from)


_Lesson = TypeVar("_Lesson", Examples, Labelled)


def _draw_sample(examples: _Lesson, lesson: Lesson, location: DataLocation) -> _Lesson:
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
        kinds = _OBJECTIVES_OF.get(name, (kind,))
        if kind not in kinds:
            raise InvalidSetting(
                f"{lesson.data}: the option {name} is for {' and '.join(kinds)}, {kind} has none"
            )
    assert lesson.pool in POOLS  # reading it raises for a wrong one
    if lesson.classes and lesson.paraphrase_from is not None:
        raise InvalidSetting(
            f"{lesson.data}: labels and paraphrase_from exclude each other: the last column has "
            "labels or grades"
        )


def _switch(value: str) -> str | int | bool:
    """Parse a switch of a data set like `--switch`: true, false, a whole number, or text."""
    return (
        value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
    )


def _from_file(lesson: Lesson, location: DataLocation) -> Labelled:
    """Read a file of pairs: labels, grades by a table or a range, or grades as two labels."""
    kind, options = lesson.objective, dict(lesson.options)
    if kind not in PAIR_KINDS:
        raise InvalidSetting(
            f"{lesson.data} is a file of pairs: say what its last column is, nli:{lesson.data} or "
            f"classify:{lesson.data} (labels) or paraphrase:{lesson.data} (grades); judgements of "
            f"texts go by --train table --data {lesson.data}"
        )
    _check_file_options(lesson)
    if kind != "paraphrase":
        least = lesson.paraphrase_from
        if least is not None:
            return read_paraphrases(lesson.data, least)
        return read_classes(lesson.data, lesson.classes)
    if "human_range" in options:
        return read_graded(lesson.data, *_read_range(lesson.data, options["human_range"]))
    return read_labelled(lesson.data, location.grades or GRADES["germeval"])


def _check_file_options(lesson: Lesson) -> None:
    """Raise for an option that a file of pairs does not have."""
    kind = lesson.objective
    own = [name for name, kinds in _OBJECTIVES_OF.items() if kind in kinds]
    accepted = ["sample", "batch", *own]
    if kind == "paraphrase":
        accepted.append("human_range")
    unknown = next((name for name, _ in lesson.options if name not in accepted), None)
    if unknown is not None:
        raise InvalidSetting(
            f"{lesson.data}: {kind} of a file of pairs takes the options {', '.join(accepted)}, "
            f"got {unknown!r}"
        )


def _read_range(data: str, text: str) -> tuple[float, float]:
    """Parse the ends of a scale, LOW/HIGH."""
    low, _, high = text.partition("/")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = 0.0, 0.0
    if not ends[0] < ends[1]:
        raise InvalidSetting(f"{data}: human_range takes LOW/HIGH, such as 1/5, got {text!r}")
    return ends


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
