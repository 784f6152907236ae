"""Lessons from controlled errors: a good text must score above the same text with an error, and an
error above a worse one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from monge.datasets import open_dataset
from monge.datasets.lines import TextFile
from monge.errors import DataError, InvalidSetting
from monge.perturbations.catalogue import ErrorKind, choose_kinds, perturb
from monge.perturbations.draws import Draws
from monge.perturbations.passages import Passage
from monge.text.language import guess_language, likely_language, main_script
from monge.tuning.examples import Examples
from monge.types import Array, Segment
from monge.types.text import is_blank

COSTS: Mapping[str, float] = {"neutral": 0.0, "minor": 1.0, "major": 2.0, "critical": 4.0}
"""What an error of each severity costs; the costs of two errors in a text are added."""
VERSIONS = 4
"""Perturbed versions of each text, where as many kinds apply."""
SECOND = 4
"""One in so many perturbed versions has a second error."""


@dataclass(frozen=True)
class Version:
    """A version of a good text, and what its errors cost."""

    text: str
    cost: float


def read_error_examples(
    name: str,
    data: str | Path,
    pairs: Sequence[str] | None = None,
    *,
    kinds: Sequence[str] = (),
    seed: int = 0,
    **options: str | int | bool,
) -> Examples:
    """Put errors into good texts: those of a file, or the best-judged outputs of data sets.

    A line of the file is a text, or a text and its reference with a tab between; a text without
    reference is its own. `kinds` are names or severities; without them the kinds of lessons.
    """
    if Path(name).is_file():
        return make_error_examples(name, _read_texts(name), kinds=kinds, seed=seed)
    datasets = [
        open_dataset(dataset_name, data, pairs=pairs, **options)  # type: ignore[arg-type]
        for dataset_name in name.split("+")
    ]
    rows: list[Segment] = []
    for dataset in datasets:
        for label, group in dataset.groups.items():
            if group.scores is None:
                raise InvalidSetting(
                    f"{dataset.dataset}/{label} has rankings: errors are put into the outputs with "
                    "the highest scores; take a data set of scores, or a file of good texts"
                )
            rows += _choose_best(group.segments, group.scores * dataset.direction)
    licence = "; ".join(dict.fromkeys(dataset.licence for dataset in datasets if dataset.licence))
    return replace(make_error_examples(name, rows, kinds=kinds, seed=seed), licence=licence)


def _read_texts(path: str) -> list[Segment]:
    rows = []
    for number, line in enumerate(TextFile(path), start=1):
        cells = line.split("\t")
        if len(cells) > 2:
            raise DataError(
                f"{path}, line {number}: {len(cells)} columns, wanted a good text, or a good text, "
                "a tab and its reference"
            )
        if not is_blank(cells[0]):
            rows.append(Segment(str(number), cells[0], (cells[-1],)))
    if not rows:
        raise DataError(f"{path}: no texts to put errors into")
    return rows


def _choose_best(segments: Sequence[Segment], scores: Array) -> list[Segment]:
    """Return the output with the highest score of each reference, in the order of the data."""
    best: dict[str, int] = {}
    for place, row in enumerate(segments):
        reference = row.references[0] if row.references else ""
        if reference and not is_blank(row.hypothesis):
            before = best.setdefault(reference, place)
            best[reference] = place if scores[place] > scores[before] else before
    return [segments[place] for place in sorted(best.values())]


def make_error_examples(
    name: str, rows: Sequence[Segment], *, kinds: Sequence[str] = (), seed: int = 0
) -> Examples:
    """Return rankings of good texts and their perturbed versions, with margins of severity."""
    texts = [row.hypothesis for row in rows[:1000]]
    language = guess_language(texts) or likely_language(main_script(texts)) or "en"
    chosen = [kind for kind in _choose_kinds(kinds) if kind.fits(language) and not kind.needs]
    if not chosen:
        raise InvalidSetting(f"errors:{name}: no kind has word lists for the language {language!r}")
    learned: list[Segment] = []
    better: list[tuple[int, int]] = []
    margins: list[float] = []
    for number, row in enumerate(rows):
        versions = [Version(row.hypothesis, 0.0), *_perturb(row.hypothesis, chosen, seed)]
        start = len(learned)
        learned += [
            replace(row, id=f"{number}.{k}", system="", hypothesis=version.text)
            for k, version in enumerate(versions)
        ]
        for i, j in combinations(range(len(versions)), 2):
            difference = versions[j].cost - versions[i].cost
            if difference:
                first, second = (i, j) if difference > 0 else (j, i)
                better.append((start + first, start + second))
                margins.append(abs(difference))
    if not better:
        raise DataError(f"errors:{name}: no error of these kinds fits into any of the texts")
    return Examples(
        name,
        tuple(learned),
        (name,) * len(learned),
        better=np.array(better, dtype=np.int64),
        margins=np.array(margins),
    )


def _choose_kinds(names: Sequence[str]) -> list[ErrorKind]:
    """Return the kinds of names or severities; without any, those that lessons may have."""
    return choose_kinds(names) if names else [kind for kind in choose_kinds() if kind.lesson]


def _perturb(text: str, kinds: Sequence[ErrorKind], seed: int) -> Iterable[Version]:
    """Yield perturbed versions of a text, of kinds in an order that seed and text decide."""
    order = sorted(kinds, key=lambda kind: Draws(seed, "lesson", kind.name, text).below(2**64))
    versions: dict[str, float] = {}
    for place, kind in enumerate(order):
        if len(versions) == VERSIONS:
            return
        changed = perturb(kind, Passage(text, None, None), seed)
        if changed is None or changed in versions:
            continue
        cost = COSTS[kind.severity]
        second = order[(place + 1) % len(order)]
        if Draws(seed, "second", kind.name, text).below(SECOND) == 0:
            changed_again = perturb(second, Passage(changed, None, None), seed)
            if changed_again is not None and changed_again != text:
                changed, cost = changed_again, cost + COSTS[second.severity]
        versions[changed] = cost
        yield Version(changed, cost)
