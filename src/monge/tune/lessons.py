"""What a run learns from, as a user names it, and the examples that this opens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from monge.errors import DataError, InvalidSetting
from monge.tune.examples import Examples, Labelled, judged_examples, read_labelled
from monge.tune.objectives import OBJECTIVES

_WRITTEN = re.compile(
    r"(?:(?P<objective>[a-z]+):)?(?P<data>[^*:()]+)(?:\((?P<options>[^()]*)\))?(?:\*(?P<weight>[0-9.]+))?"
)
_FORM = "[OBJECTIVE:]DATASET|FILE[(OPTION=VALUE,…)][*WEIGHT]"
_OF_LESSONS = "sample", "batch", "teacher", "neighbours"  # options that are none of a data set
GRADES: Mapping[str, Mapping[float, float]] = {
    "germeval": {1: 0.05, 1.5: 0.10, 2: 0.20, 2.5: 0.30, 3: 0.50, 3.5: 0.70, 4: 0.85}
}
"""Tables of grades by name -> the cosine that each stands for: of Opusparcus as in GermEval 2020."""


@dataclass(frozen=True)
class Lesson:
    """An objective, what it learns from, and its weight.

    Attributes:
        data: The names of data sets joined by +, or a file of labelled pairs of sentences.
        objective: One of `objectives.OBJECTIVES`; `auto` is `score` where there are scores, `rank` where rankings.
        weight: What its loss is multiplied with.
        options: `pairs`, `human`, `text`, `sample` (so many judgements, drawn), `batch` (so many a step), `teacher`
            (the group whose texts a teacher reads instead, such as en), `neighbours` (with so many texts that a teacher
            finds nearest each text is paired too), or a switch of the data set.
    """

    data: str
    objective: str = "auto"
    weight: float = 1.0
    options: tuple[tuple[str, str], ...] = ()

    @property
    def batch(self) -> int | None:
        """How many judgements a step learns from, where the lesson says so."""
        return self._count("batch", 2)

    @property
    def sample(self) -> int | None:
        """How many judgements are drawn, where not all are taken."""
        return self._count("sample", 2)

    @property
    def neighbours(self) -> int:
        """With how many texts that the teacher finds nearest each text is paired, besides its own."""
        return self._count("neighbours", 1) or 0

    @property
    def for_teacher(self) -> Lesson | None:
        """The rows that a teacher reads where it reads others: the same ones of the group that `teacher` names."""
        given = dict(self.options)
        if "teacher" not in given:
            return None
        mine = "pairs", "languages", *_OF_LESSONS
        others = tuple(one for one in self.options if one[0] not in mine)
        return replace(self, options=(*others, ("pairs", given["teacher"])))

    def _count(self, name: str, least: int) -> int | None:
        given = dict(self.options).get(name)
        if given is not None and (not given.isdigit() or int(given) < least):
            raise InvalidSetting(f"{self.data}: {name} takes a number, {least} or more, got {given!r}")
        return None if given is None else int(given)

    @classmethod
    def written(cls, text: str) -> Lesson:
        """The lesson of a text such as ``rank:wmt18(pairs=*-en)*0.5``."""
        found = _WRITTEN.fullmatch(text.strip())
        try:
            weight = float(found["weight"] or 1) if found else 0.0
        except ValueError:
            weight = 0.0
        if found is None or weight <= 0:
            raise InvalidSetting(f"--train takes {_FORM}, got {text!r}")
        parts = [part.partition("=") for part in (found["options"] or "").split(",") if part.strip()]
        wrong = next(("".join(part) for part in parts if not part[1]), None)
        if wrong is not None:
            raise InvalidSetting(f"{text}: an option is NAME=VALUE, got {wrong!r}")
        options = tuple((name.strip(), value.strip()) for name, _, value in parts)
        return cls(found["data"], found["objective"] or "auto", weight, options)


@dataclass(frozen=True)
class Place:
    """Where judgements lie, and how they are read where a lesson does not say otherwise."""

    data: str | Path
    pairs: Sequence[str] | None = None
    human: str | None = None
    text: str = "raw"
    grades: Mapping[float, float] = field(default_factory=dict)
    seed: int = 0


def open_lesson(lesson: Lesson, place: Place) -> Examples | Labelled:
    """The examples of a lesson; rankings, scores, or labelled pairs from a file."""
    kind = lesson.objective
    if kind != "auto" and kind not in OBJECTIVES:
        raise InvalidSetting(f"objective takes {', '.join(OBJECTIVES)}, got {kind!r}")
    of_teacher = next((name for name, _ in lesson.options if name in ("teacher", "neighbours")), None)
    if of_teacher is not None and kind != "distil":
        raise InvalidSetting(f"{lesson.data}: the option {of_teacher} says what a teacher reads: only distil has one")
    if Path(lesson.data).is_file():
        return _from_file(lesson, place)
    if kind == "nli":
        raise InvalidSetting(f"nli learns from a file of labelled pairs (two sentences, label), got {lesson.data!r}")
    options = {name: value for name, value in lesson.options if name not in _OF_LESSONS}
    pairs = options.pop("pairs").split("/") if "pairs" in options else place.pairs
    switches = {name: value if name in ("human", "text") else _switch(value) for name, value in options.items()}
    named = {"human": place.human, "text": place.text, **switches}
    cosines = place.grades if kind == "paraphrase" else None
    found = judged_examples(
        lesson.data, place.data, pairs, cosines=cosines, **{k: v for k, v in named.items() if v is not None}
    )
    if lesson.sample is not None:
        order = np.random.default_rng([place.seed, len(found)]).permutation(len(found))[: lesson.sample]
        found = found.of(sorted(order.tolist()))
    if kind == "paraphrase" and found.unit is None:
        raise InvalidSetting(f"{lesson.data} has rankings: the objective paraphrase learns from grades")
    return found


def _switch(value: str) -> str | int | bool:
    """The value of a switch of a data set, as `--switch` reads it: true, false, a whole number, or a text."""
    return value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value


def _from_file(lesson: Lesson, place: Place) -> Labelled:
    if lesson.objective not in ("nli", "paraphrase"):
        raise InvalidSetting(
            f"{lesson.data} is a file of pairs: say what its last column is, nli:{lesson.data} (labels) or "
            f"paraphrase:{lesson.data} (grades); judgements of texts go by --train table --data {lesson.data}"
        )
    if lesson.objective == "nli":
        return read_labelled(lesson.data)
    return read_labelled(lesson.data, place.grades or GRADES["germeval"])


def read_grades(given: str | None) -> Mapping[float, float]:
    """A table of grades by name, or as GRADE=COSINE,…; nothing where none is given."""
    if given is None:
        return {}
    if given in GRADES:
        return GRADES[given]
    try:
        found = {float(one): float(other) for one, _, other in (part.partition("=") for part in given.split(","))}
    except ValueError:
        raise InvalidSetting(f"--grades takes {', '.join(GRADES)} or GRADE=COSINE,…, got {given!r}") from None
    wrong = next((value for value in found.values() if not -1 <= value <= 1), None)
    if wrong is not None:
        raise DataError(f"--grades: a cosine lies between -1 and 1, got {wrong:g}")
    return found
