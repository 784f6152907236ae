"""Checks of a metric: is it a function of its texts, and does better mean better?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np

from monge.api.metric import Metric, score_segments
from monge.errors import MongeError
from monge.scoring.plugin import TOLERANCE
from monge.scoring.windows import REFERENCES
from monge.types import Array, Segment
from monge.types.table import Cell, Sheet

SHIFT = 5
"""How far the texts are shifted to make pairs that do not belong together."""
LONG = 200
"""How often a sentence is repeated to make a long text."""


@dataclass(frozen=True)
class MetricCheck:
    """What one check of a metric came to: `holds` is None where it does not apply."""

    name: str
    sentence: str
    holds: bool | None
    required: bool
    detail: str = ""

    @property
    def verdict(self) -> str:
        """Whether it holds, in a word or two."""
        if self.holds is None:
            return "-"
        return "yes" if self.holds else "NO" if self.required else "no (not required)"


@dataclass(frozen=True)
class MetricReport:
    """All checks of a metric."""

    metric: str
    signature: str
    checks: Sequence[MetricCheck]

    @property
    def passed(self) -> bool:
        """Whether every required check holds."""
        return all(check.holds is not False for check in self.checks if check.required)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        checks = [vars(check) for check in self.checks]
        about = {"metric": self.metric, "signature": self.signature, "passed": self.passed}
        return {**about, "checks": checks}

    def sheets(self) -> list[Sheet]:
        """Return the table of the checks."""
        rows = tuple(
            tuple(map(Cell, (check.name, check.verdict, check.sentence, check.detail)))
            for check in self.checks
        )
        failed = [check.name for check in self.checks if check.required and check.holds is False]
        outcome = f"fails: {', '.join(failed)}" if failed else "every required check holds"
        head = ("check", "holds", "what it asks", "what came out")
        signatures = (self.signature,) if self.signature else ()
        title = f"{self.metric}: {outcome}"
        return [Sheet(title, head, rows, signatures=signatures, words=4, texts=2)]


def check_metric(metric: Metric) -> MetricReport:
    """Check a metric on the bundled example texts: every check, and which of them hold.

    Required: scores come out; the same again, in another order and one by one; also for empty
    texts; a text that equals its reference is at least as good as another. A long text is a check
    that is not required. Order and batch do not apply to a metric that scores all segments of a
    system together; which text is better is not required of a metric that compares with the source.
    """
    rows = _example_segments()
    if metric.scorer.against != REFERENCES:
        rows = [replace(row, references=()) for row in rows]
    try:
        first, signature = _scores(metric, rows)
    except MongeError as error:
        return MetricReport(metric.name, "", [_describe_failure(_CHECKS[0], error)])
    checks = [MetricCheck(*_CHECKS[0][:2], holds=True, required=True, detail=_range_of(first))]
    for description in _CHECKS[1:]:
        name, sentence, required, run_check = description
        required = required and (name != "direction" or metric.scorer.against == REFERENCES)
        try:
            holds, detail = run_check(metric, rows, first)
        except MongeError as error:
            checks.append(_describe_failure(description, error))
            continue
        checks.append(MetricCheck(name, sentence, holds, required, detail))
    return MetricReport(metric.name, signature, checks)


Outcome = tuple[bool | None, str]
RunCheck = Callable[[Metric, Sequence[Segment], Array], Outcome]
Description = tuple[str, str, bool, RunCheck]


def _describe_failure(description: Description, error: MongeError) -> MetricCheck:
    name, sentence, required, _ = description
    return MetricCheck(name, sentence, False, required, str(error))


def _example_segments() -> list[Segment]:
    """Return the texts of both example systems in one list, with references and sources."""
    folder = files("monge") / "example"
    texts = {
        name: (folder / f"{name}.txt").read_text("utf-8").split("\n")[:-1]
        for name in ("system-a", "system-b", "reference", "source-de")
    }
    pairs = zip(texts["reference"], texts["source-de"], strict=True)
    sides = list(pairs)
    return [
        Segment(f"{system}-{k + 1}", texts[system][k], (reference,), source)
        for system in ("system-a", "system-b")
        for k, (reference, source) in enumerate(sides)
    ]


def _scores(metric: Metric, rows: Sequence[Segment]) -> tuple[Array, str]:
    (result,) = score_segments([metric], rows)
    return result.segments, str(result.signature)


def _segment_scores(metric: Metric, rows: Sequence[Segment]) -> Array:
    return _scores(metric, rows)[0]


def _range_of(scores: Array) -> str:
    return f"{len(scores)} scores from {scores.min():.4g} to {scores.max():.4g}"


def _has_block(metric: Metric) -> bool:
    """Return whether some member scores several segments together by definition."""
    return any(member.block != 1 for member in metric.scorer.members.values())


def _compare(first: Array, second: Array, rows: Sequence[Segment]) -> Outcome:
    """Return whether two arrays of scores are the same, and where they differ most."""
    gaps = np.abs(first - second) / np.maximum(1.0, np.abs(first))
    worst = int(np.argmax(gaps))
    if gaps[worst] <= TOLERANCE:
        return True, f"largest difference {gaps[worst]:.1e}"
    return False, f"segment {rows[worst].id} got {first[worst]:.6g}, then {second[worst]:.6g}"


def _check_again(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    return _compare(first, _segment_scores(metric, rows), rows)


def _check_order(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    if _has_block(metric) or metric.scorer.fits:
        return None, "scores depend on other segments by definition"
    return _compare(first, _segment_scores(metric, rows[::-1])[::-1], rows)


def _check_batch(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    if _has_block(metric) or metric.scorer.fits:
        return None, "scores depend on other segments by definition"
    alone = np.concatenate([_segment_scores(metric, [row]) for row in rows[:4]])
    return _compare(first[:4], alone, rows)


def _check_empty(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    row = rows[0]
    without_side = replace(row, references=("",) * len(row.references), source="")
    texts = [replace(row, hypothesis=""), without_side, replace(without_side, hypothesis="")]
    texts = [replace(text, id=f"empty-{k}") for k, text in enumerate(texts)]
    scores = _segment_scores(metric, [*texts, *rows])[:3]
    return True, "hypothesis {:.4g}, other side {:.4g}, both {:.4g}".format(*scores)


def _check_direction(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    """Compare texts that equal their references with the same texts beside other references.

    A metric that compares with the source is shown its own hypotheses beside other sources.
    """
    sign = 1.0 if metric.scorer.bounds.higher_is_better else -1.0
    texts = rows[: len(rows) // 2]
    shifted = [*texts[SHIFT:], *texts[:SHIFT]]
    if metric.scorer.against == REFERENCES:
        good = [replace(row, hypothesis=row.references[0]) for row in texts]
        bad = [
            replace(row, hypothesis=next_row.references[0])
            for row, next_row in zip(texts, shifted, strict=True)
        ]
    else:
        good = list(texts)
        bad = [
            replace(row, hypothesis=next_row.hypothesis)
            for row, next_row in zip(texts, shifted, strict=True)
        ]
    good_scores, bad_scores = _segment_scores(metric, good), _segment_scores(metric, bad)
    falls = sign * (good_scores - bad_scores)
    mean_scores = f"{good_scores.mean():.4g} against {bad_scores.mean():.4g} on average"
    lower = int((falls < -TOLERANCE).sum())
    if metric.scorer.against == REFERENCES:
        return lower == 0, f"{mean_scores}; worse than another text in {lower} of {len(texts)}"
    return bool(falls.mean() >= 0), mean_scores


def _check_long(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    row = rows[0]
    text = " ".join([row.hypothesis] * LONG)
    score = _segment_scores(metric, [replace(row, hypothesis=text), *rows])[0]
    return True, f"{len(text.split())} words got {score:.4g}"


def _check_replay(metric: Metric, rows: Sequence[Segment], first: Array) -> Outcome:
    from monge.api.replay import replay

    line = _scores(metric, rows)[1]
    model = str(metric.home.get("model", "auto"))
    again, _ = replay(line, model=model, device=str(metric.home.get("device", "auto")))
    return _scores(again, rows)[1] == line, "its signature names it again"


_CHECKS: tuple[Description, ...] = (
    ("scores", "one finite number per segment, within the declared range", True, _check_again),
    ("again", "the same texts get the same scores a second time", True, _check_again),
    ("order", "the order of the segments does not matter", True, _check_order),
    ("batch", "a segment by itself gets the score it gets among others", True, _check_batch),
    ("empty", "empty texts get a score too", True, _check_empty),
    ("direction", "the reference itself is at least as good as another text", True,
     _check_direction),
    ("replay", "the signature describes the metric so that it can be loaded again", True,
     _check_replay),
    ("long", "a text of thousands of words gets a score", False, _check_long),
)  # fmt: skip
