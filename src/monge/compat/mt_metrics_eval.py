"""Read and write score files of mt-metrics-eval and the WMT metrics task.

    metric-scores/SRC-TGT/NAME-REF.seg.score   lines of system and score, as mt-metrics-eval reads
                                               them
    NAME.seg.score   metric, pair, test set, domain, document, reference, system, segment, score:
                     what the task asks for
    NAME.sys.score   metric, pair, test set, domain, reference, system, score

Scores of a metric for which lower is better are negated: both formats expect that higher is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from monge.api import Metric, Watch, score_usable
from monge.datasets.lines import StrPath, TextFile
from monge.datasets.mtme import EvalSet, find_test_set, list_pairs, read_eval_set, read_scores
from monge.datasets.output import write_text
from monge.datasets.request import matching
from monge.datasets.segment_scores import finite_number
from monge.errors import Unreadable, UsageError
from monge.types import Result

__all__ = ["Submission", "TaskKey", "read_scores", "read_task_scores", "submit", "write_scores"]
SOURCE, REFERENCES = "src", "references"
_SEGMENT_FIELDS, _SYSTEM_FIELDS = 9, 7


def write_scores(path: StrPath, scores: Mapping[str, Iterable[float]]) -> None:
    """Write a score file of mt-metrics-eval: one line per system and score."""
    write_text(
        Path(path),
        (
            f"{system}\t{score!r}\n"
            for system, system_scores in scores.items()
            for score in map(float, system_scores)
        ),
    )


class TaskKey(NamedTuple):
    """The key of scores in a file of the metrics task."""

    metric: str
    pair: str
    test_set: str
    domain: str
    reference: str


def read_task_scores(path: StrPath) -> dict[TaskKey, dict[str, list[float]]]:
    """Read NAME.seg.score or NAME.sys.score; return the scores of each system by key.

    Scores of segments have the domain `all` and are in the order of their numbers, which must be 1,
    2, 3 …; scores of systems have the domain that the file names.
    """
    by_key: dict[TaskKey, dict[str, list[float]]] = {}
    for number, line in enumerate(TextFile(Path(path)), 1):
        fields = line.rstrip("\n").split("\t")
        score = finite_number(fields[-1])
        if len(fields) not in (_SEGMENT_FIELDS, _SYSTEM_FIELDS) or score is None:
            raise Unreadable(
                f"{path}:{number}: expected metric, pair, test set, domain, (document,) reference, "
                f"system, (segment,) score, {_SEGMENT_FIELDS} or {_SYSTEM_FIELDS} fields with tabs "
                f"between; got {line[:60]!r}"
            )
        by_segment = len(fields) == _SEGMENT_FIELDS
        reference, system = fields[5:7] if by_segment else fields[4:6]
        key = TaskKey(
            fields[0], fields[1], fields[2], "all" if by_segment else fields[3], reference
        )
        scores = by_key.setdefault(key, {}).setdefault(system, [])
        scores.append(score)
        if fields[7] != str(len(scores)) if by_segment else len(scores) > 1:
            problem = (
                f"segment {fields[7]}, expected {len(scores)}" if by_segment else "a second score"
            )
            raise Unreadable(f"{path}:{number}: {problem} of {system}")
    return by_key


@dataclass(frozen=True)
class LanguagePairScores:
    """The scores of a metric on a language pair: per segment of each system, and per system."""

    metric: str
    texts: EvalSet
    reference: str
    segments: Mapping[str, Sequence[float]]
    systems: Mapping[str, float]
    turned: bool


@dataclass(frozen=True)
class Submission:
    """All scores of a submission, and the name of the test set."""

    test_set: str
    scored: Sequence[LanguagePairScores]

    def write(self, folder: Path) -> list[Path]:
        """Write all files below a directory and return their paths."""
        written = []
        for pair_scores in self.scored:
            place = folder / "metric-scores" / pair_scores.texts.pair
            _make_folder(place)
            by_level = {
                "seg": pair_scores.segments,
                "sys": {system: [score] for system, score in pair_scores.systems.items()},
            }
            for level, scores in by_level.items():
                written.append(
                    place / f"{pair_scores.metric}-{pair_scores.reference}.{level}.score"
                )
                write_scores(written[-1], scores)
        for metric in dict.fromkeys(pair_scores.metric for pair_scores in self.scored):
            of_metric = [pair_scores for pair_scores in self.scored if pair_scores.metric == metric]
            for level, rows in (("seg", self._segment_rows), ("sys", self._system_rows)):
                written.append(folder / f"{metric}.{level}.score")
                write_text(
                    written[-1],
                    (
                        "\t".join(map(str, row)) + "\n"
                        for pair_scores in of_metric
                        for row in rows(pair_scores)
                    ),
                )
        return written

    def _segment_rows(self, pair_scores: LanguagePairScores) -> Iterator[tuple[object, ...]]:
        for system, scores in pair_scores.segments.items():
            for k, score in enumerate(scores):
                domain, document = pair_scores.texts.documents[k]
                yield (
                    pair_scores.metric,
                    pair_scores.texts.pair,
                    self.test_set,
                    domain,
                    document,
                    pair_scores.reference,
                    system,
                    k + 1,
                    score,
                )

    def _system_rows(self, pair_scores: LanguagePairScores) -> Iterator[tuple[object, ...]]:
        """Yield the mean scores of systems over all domains, and per domain if several."""
        for system, score in pair_scores.systems.items():
            yield (
                pair_scores.metric,
                pair_scores.texts.pair,
                self.test_set,
                "all",
                pair_scores.reference,
                system,
                score,
            )
        domains = sorted({domain for domain, _ in pair_scores.texts.documents})
        for domain in domains if len(domains) > 1 else ():
            for system, scores in pair_scores.segments.items():
                domain_scores = [
                    score
                    for (segment_domain, _), score in zip(
                        pair_scores.texts.documents, scores, strict=True
                    )
                    if segment_domain == domain
                ]
                mean = float(np.mean(domain_scores))
                yield (
                    pair_scores.metric,
                    pair_scores.texts.pair,
                    self.test_set,
                    domain,
                    pair_scores.reference,
                    system,
                    mean,
                )


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
        pairs: Language pairs; patterns such as `*-en` work; all by default.
        test_set: The name of the test set, if there are several.
        reference: A reference by name, or `all`; by default every reference by itself.
        watch: Callbacks of progress.
        grow: Called with the number of further segments to score.
    """
    folder = find_test_set(Path(data), test_set)
    by_side = {
        against: [metric for metric in metrics if metric.scorer.against == against]
        for against in (REFERENCES, "source")
    }
    scored: list[LanguagePairScores] = []
    for pair in matching(pairs, list_pairs(folder), "language pair"):
        texts = read_eval_set(folder, pair)
        sides = [reference] if reference else sorted(texts.references)
        runs = [(side, by_side[REFERENCES]) for side in sides]
        runs.append((SOURCE, by_side["source"] if sides else list(metrics)))
        for side, side_metrics in runs:
            scored += _score_side(side_metrics, texts, side, watch, grow) if side_metrics else []
    return Submission(folder.resolve().name, scored)


def _score_side(
    metrics: Sequence[Metric],
    texts: EvalSet,
    side: str,
    watch: Watch,
    grow: Callable[[int], None] | None,
) -> list[LanguagePairScores]:
    """Score every system, except references that the systems are compared with."""
    used = () if side == SOURCE else texts.choose_references(side)
    rows = [
        row for system in texts.systems(used, humans=True) for row in texts.segments(system, used)
    ]
    if grow is not None:
        grow(len(rows))
    results, _ = score_usable(metrics, rows, watch=watch)
    by_metric = {
        result.metric: [
            same_metric for same_metric in results if same_metric.metric == result.metric
        ]
        for result in results
    }
    return [
        _pair_scores(name, metric_results, texts, side)
        for name, metric_results in by_metric.items()
    ]


def _pair_scores(
    name: str, results: Sequence[Result], texts: EvalSet, side: str
) -> LanguagePairScores:
    turned = not results[0].higher_is_better
    sign = -1.0 if turned else 1.0
    return LanguagePairScores(
        metric=_file_name(name),
        texts=texts,
        reference=side,
        segments={result.system: (sign * result.segments).tolist() for result in results},
        systems={result.system: sign * result.score for result in results},
        turned=turned,
    )


def _file_name(name: str) -> str:
    """Return a metric's name as a part of a file name: separators are replaced by underscores."""
    return "".join(
        character if character.isalnum() or character in "+@_" else "_" for character in name
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror})") from None
