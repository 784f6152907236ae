"""mt-metrics-eval and the WMT metrics task: score files, read and written, and a whole submission.

    metric-scores/SRC-TGT/NAME-REF.seg.score   lines of system and score, as mt-metrics-eval reads them
    NAME.seg.score   metric, pair, test set, domain, document, reference, system, segment, score: what the task asks for
    NAME.sys.score   metric, pair, test set, domain, reference, system, score

A metric whose lower scores are better is written with its sign turned: both take higher for better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from monge.api import Metric, Watch, score_segments
from monge.data.lines import StrPath, TextFile
from monge.data.mtme import EvalSet, find_test_set, list_pairs, read_eval_set, read_scores
from monge.data.output import write_text
from monge.data.request import matching
from monge.data.segment_scores import finite_number
from monge.errors import Unreadable, UsageError
from monge.types import Result

__all__ = ["Submission", "TaskKey", "read_scores", "read_task_scores", "submit", "write_scores"]
SOURCE, REFERENCES = "src", "references"
_SEGMENT_FIELDS, _SYSTEM_FIELDS = 9, 7


def write_scores(path: StrPath, scores: Mapping[str, Iterable[float]]) -> None:
    """A score file of mt-metrics-eval: for every system its scores, one a line."""
    write_text(Path(path), (f"{system}\t{score!r}\n" for system, some in scores.items() for score in map(float, some)))


class TaskKey(NamedTuple):
    """What a score in a file of the metrics task is of."""

    metric: str
    pair: str
    test_set: str
    domain: str
    reference: str


def read_task_scores(path: StrPath) -> dict[TaskKey, dict[str, list[float]]]:
    """A file of the WMT metrics task, NAME.seg.score or NAME.sys.score: for every system its scores.

    Those of segments are under the domain `all`, in the order of their numbers, which must begin at 1 and leave none
    out; those of systems under the domain that the file names.
    """
    found: dict[TaskKey, dict[str, list[float]]] = {}
    for number, line in enumerate(TextFile(Path(path)), 1):
        fields = line.rstrip("\n").split("\t")
        score = finite_number(fields[-1])
        if len(fields) not in (_SEGMENT_FIELDS, _SYSTEM_FIELDS) or score is None:
            raise Unreadable(
                f"{path}:{number}: expected metric, pair, test set, domain, (document,) reference, system, (segment,) "
                f"score, {_SEGMENT_FIELDS} or {_SYSTEM_FIELDS} fields with tabs between; got {line[:60]!r}"
            )
        by_segment = len(fields) == _SEGMENT_FIELDS
        reference, system = fields[5:7] if by_segment else fields[4:6]
        key = TaskKey(fields[0], fields[1], fields[2], "all" if by_segment else fields[3], reference)
        scores = found.setdefault(key, {}).setdefault(system, [])
        scores.append(score)
        if fields[7] != str(len(scores)) if by_segment else len(scores) > 1:
            said = f"segment {fields[7]}, expected {len(scores)}" if by_segment else "a second score"
            raise Unreadable(f"{path}:{number}: {said} of {system}")
    return found


@dataclass(frozen=True)
class Scored:
    """The scores of a metric on a language pair: of every segment of every system, and of the systems."""

    metric: str
    texts: EvalSet
    reference: str
    segments: Mapping[str, Sequence[float]]
    systems: Mapping[str, float]
    turned: bool


@dataclass(frozen=True)
class Submission:
    """All files of a submission: what was scored, under which name of test set."""

    test_set: str
    scored: Sequence[Scored]

    def write(self, folder: Path) -> list[Path]:
        """Write every file below a directory; their paths."""
        written = []
        for one in self.scored:
            place = folder / "metric-scores" / one.texts.pair
            _made(place)
            each = {"seg": one.segments, "sys": {system: [score] for system, score in one.systems.items()}}
            for level, scores in each.items():
                written.append(place / f"{one.metric}-{one.reference}.{level}.score")
                write_scores(written[-1], scores)
        for metric in dict.fromkeys(one.metric for one in self.scored):
            mine = [one for one in self.scored if one.metric == metric]
            for level, rows in (("seg", self._segment_rows), ("sys", self._system_rows)):
                written.append(folder / f"{metric}.{level}.score")
                write_text(written[-1], ("\t".join(map(str, row)) + "\n" for one in mine for row in rows(one)))
        return written

    def _segment_rows(self, one: Scored) -> Iterator[tuple[object, ...]]:
        for system, scores in one.segments.items():
            for k, score in enumerate(scores):
                domain, document = one.texts.documents[k]
                yield one.metric, one.texts.pair, self.test_set, domain, document, one.reference, system, k + 1, score

    def _system_rows(self, one: Scored) -> Iterator[tuple[object, ...]]:
        """The systems as a whole, and in every domain where there are several: the mean of its segments."""
        for system, score in one.systems.items():
            yield one.metric, one.texts.pair, self.test_set, "all", one.reference, system, score
        domains = sorted({domain for domain, _ in one.texts.documents})
        for domain in domains if len(domains) > 1 else ():
            for system, scores in one.segments.items():
                mine = [score for (own, _), score in zip(one.texts.documents, scores, strict=True) if own == domain]
                mean = float(np.mean(mine))
                yield one.metric, one.texts.pair, self.test_set, domain, one.reference, system, mean


def submit(
    metrics: Sequence[Metric],
    data: StrPath,
    *,
    pairs: Sequence[str] | None = None,
    test_set: str = "",
    reference: str = "",
    watch: Watch = Watch(),  # noqa: B008 - frozen
    grow: Callable[[int], None] | None = None,
) -> Submission:
    """Score every system output of a test set in the layout of mt-metrics-eval.

    Args:
        metrics: Metrics, loaded.
        data: The directory of the test set, or of several.
        pairs: Language pairs; `*-en` works; all by default.
        test_set: Which of several.
        reference: A reference by name, or `all`; by default every reference by itself.
        watch: Is told how far it has come.
        grow: Is told how many segments there are more to score.
    """
    folder = find_test_set(Path(data), test_set)
    kinds = {against: [one for one in metrics if one.scorer.against == against] for against in (REFERENCES, "source")}
    found: list[Scored] = []
    for pair in matching(pairs, list_pairs(folder), "language pair"):
        texts = read_eval_set(folder, pair)
        sides = [reference] if reference else sorted(texts.references)
        facing = [(side, kinds[REFERENCES]) for side in sides]
        facing.append((SOURCE, kinds["source"] if sides else list(metrics)))
        for side, some in facing:
            found += _scored(some, texts, side, watch, grow) if some else []
    return Submission(folder.resolve().name, found)


def _scored(
    metrics: Sequence[Metric], texts: EvalSet, side: str, watch: Watch, grow: Callable[[int], None] | None
) -> list[Scored]:
    """What the metrics give every system, the references that are used as one excepted."""
    used = () if side == SOURCE else texts.choose_references(side)
    rows = [row for system in texts.systems(used, humans=True) for row in texts.segments(system, used)]
    if grow is not None:
        grow(len(rows))
    results = score_segments(metrics, rows, watch=watch)
    by_metric = {one.metric: [other for other in results if other.metric == one.metric] for one in results}
    return [_one(name, some, texts, side) for name, some in by_metric.items()]


def _one(name: str, results: Sequence[Result], texts: EvalSet, side: str) -> Scored:
    turned = not results[0].higher_is_better
    sign = -1.0 if turned else 1.0
    return Scored(
        metric=_plain(name),
        texts=texts,
        reference=side,
        segments={one.system: (sign * one.segments).tolist() for one in results},
        systems={one.system: sign * one.score for one in results},
        turned=turned,
    )


def _plain(name: str) -> str:
    """A metric's name as a file name: what tells references apart, and what separates, is replaced."""
    return "".join(one if one.isalnum() or one in "+@_" else "_" for one in name)


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror})") from None
