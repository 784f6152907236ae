"""Assert that the output of a system is good enough, and not worse than a baseline.

    assert_quality(hypotheses, references, metric="twmd", at_least=0.8)
    assert_quality(hypotheses, references, metric="twmd", not_worse_than="baseline.json")

With pytest the fixture `assert_quality` does the same, and `pytest --monge-update` writes the
baseline files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from monge.api import DEFAULT_METRIC, Metric, Options, load, score_segments, segments_of
from monge.compat.peers import PeerAssertionError
from monge.datasets.lines import read_lines
from monge.datasets.output import write_text
from monge.errors import StatisticsMismatch, UsageError
from monge.stats import pooled_tests
from monge.types import Array, Result, Segment
from monge.types.sums import mean_of_sums

FORM = "monge-baseline"
SHOWN_SEGMENTS, WIDTH = 5, 110
_ROUNDING = 1e-5
"""The difference that scores of the same texts may have on another machine."""


@dataclass(frozen=True)
class Check:
    """The result of a metric, with the score that is required and the result of the baseline."""

    result: Result
    segments: Sequence[Segment]
    at_least: float | None = None
    baseline: str = ""
    before: Result | None = None
    old: Sequence[str] = field(default_factory=tuple)
    p_value: float = 1.0
    alpha: float | None = 0.05

    @property
    def fall(self) -> float:
        """How much worse the score is than that of the baseline; positive means worse."""
        return 0.0 if self.before is None else self._sign * (self.before.score - self.result.score)

    @property
    def _sign(self) -> int:
        return 1 if self.result.higher_is_better else -1

    @property
    def too_low(self) -> bool:
        """Whether the score is worse than `at_least`."""
        return self.at_least is not None and self._sign * (self.at_least - self.result.score) > 0

    @property
    def fell(self) -> bool:
        """Whether the score is worse than the baseline, significantly so if `alpha` is given."""
        return self.fall > _ROUNDING and (self.alpha is None or self.p_value <= self.alpha)

    @property
    def line(self) -> str:
        """The check as one line of text."""
        result, before = self.result, self.before
        text = f"{result.metric} {result.score:.4f} of {result.n} segment{'s' * (result.n != 1)}"
        if self.at_least is not None:
            text += (
                f", asked: {'at least' if result.higher_is_better else 'at most'} {self.at_least:g}"
            )
        if before is not None:
            noise = "more than noise" if self.p_value <= (self.alpha or 0.05) else "could be noise"
            moved = f"{result.score - before.score:+.4f}, p = {self.p_value:.3g}: {noise}"
            text += (
                f", {Path(self.baseline).name}: {before.score:.4f} "
                f"({moved if self.fall else 'the same'})"
            )
        return text

    def report(self) -> str:
        """Return the report of a failure: the line, then the texts that fell most or are worst."""
        places = (
            self._falls()
            if self.fell
            else np.argsort(self._sign * self.result.segments, kind="stable")[:SHOWN_SEGMENTS]
        )
        worse = "worse than the baseline" if self.fell else "not good enough"
        lines = [f"{worse}: {self.line}"]
        if self.fell:
            change = self._changes()
            lines.append(
                f"{int((change < -_ROUNDING).sum())} segments fell, "
                f"{int((change > _ROUNDING).sum())} rose;"
            )
            lines[-1] += f" the {len(places)} that fell most:"
        else:
            lines.append(f"the {len(places)} worst segments:")
        for k in map(int, places):
            lines += self._segment(k)
        return "\n".join([*lines, f"signature: {self.result.signature}"])

    def _changes(self) -> Array:
        """Return how much better each segment is than in the baseline [n]."""
        before = self.result.segments if self.before is None else self.before.segments
        return self._sign * (self.result.segments - before)

    def _falls(self) -> Any:
        changes = self._changes()
        order = np.argsort(changes, kind="stable")[:SHOWN_SEGMENTS]
        return order[changes[order] < 0]

    def _segment(self, k: int) -> list[str]:
        row, now = self.segments[k], self.result.segments[k]
        scores = f"{now:.4f}"
        if self.before is not None:
            scores = (
                f"{self.before.segments[k]:.4f} -> {now:.4f} ({now - self.before.segments[k]:+.4f})"
            )
        texts = [("was", self.old[k])] if self.old and self.old[k] != row.hypothesis else []
        texts += [("is", row.hypothesis), *(("ref", reference) for reference in row.references[:2])]
        return [f"  {row.id}: {scores}", *(f"      {name:4}{_clip(text)}" for name, text in texts)]


def assert_quality(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    *,
    metric: str = DEFAULT_METRIC,
    at_least: float | None = None,
    not_worse_than: str | Path | None = None,
    sources: Iterable[str] | None = None,
    alpha: float | None = 0.05,
    update: bool = False,
    seen: Callable[[Check], None] = lambda _: None,
    **options: Unpack[Options],
) -> Result:
    """Return the result; raise with a report if texts score worse than a number or a baseline.

    Args:
        hypotheses: The texts to judge.
        references: One text or a list of texts per hypothesis; without them, sources are used.
        metric: A name, as `monge.load` takes it with its `options`.
        at_least: The lowest score that passes; for a distance, the highest.
        not_worse_than: A baseline file with earlier texts and their scores. If the settings or the
            version of the metric differ, the earlier texts are scored again.
        sources: Source texts, for metrics that compare with the source.
        alpha: A fall counts if a paired permutation test gives p <= alpha; None: any fall counts.
        update: Write the baseline file instead of comparing with it.
        seen: Called with the check, passed or not.
    """
    __tracebackhide__ = True
    if at_least is None and not_worse_than is None:
        raise UsageError("assert_quality: give at_least=NUMBER, or not_worse_than=FILE, or both")
    loaded = load(metric, **options)
    segments = segments_of(hypotheses, references, sources)
    (result,) = score_segments([loaded], segments, cache=options.get("cache"))
    check = Check(result, segments, at_least, alpha=alpha)
    if not_worse_than is not None:
        check = _use_baseline(check, Path(not_worse_than), loaded, update=update)
    seen(check)
    if check.too_low or check.fell:
        raise PeerAssertionError(check.report())
    return result


def _use_baseline(check: Check, path: Path, metric: Metric, *, update: bool) -> Check:
    """Write the baseline file if `update`, or return the check compared with it."""
    if not update:
        return _compare(check, path, metric)
    _write(path, check.result, check.segments)
    return check


def _write(path: Path, result: Result, segments: Sequence[Segment]) -> None:
    """Write the baseline file: texts, scores, and the signature."""
    rows = [
        {"id": row.id, "texts": _key(row), "hypothesis": row.hypothesis, "score": float(score)}
        for row, score in zip(segments, result.segments, strict=True)
    ]
    head = {
        FORM: 1,
        "metric": result.metric,
        "score": result.score,
        "signature": str(result.signature),
    }
    write_text(path, json.dumps({**head, "segments": rows}, ensure_ascii=False, indent=1) + "\n")


def _compare(check: Check, path: Path, metric: Metric) -> Check:
    """Return the check with the baseline's result; score its texts again if settings differ."""
    baseline = _read_baseline(path)
    rows = baseline["segments"]
    if [row["texts"] for row in rows] != [_key(segment) for segment in check.segments]:
        raise StatisticsMismatch(
            f"{path}: the baseline is of {len(rows)} segments with other references or sources "
            f"than these {len(check.segments)}: write it anew (pytest --monge-update)"
        )
    old = [str(row["hypothesis"]) for row in rows]
    old_segments = [
        Segment(segment.id, text, segment.references, segment.source)
        for segment, text in zip(check.segments, old, strict=True)
    ]
    same = baseline["signature"] == str(check.result.signature) and check.result.pooled is None
    if same:
        scores = np.array([row["score"] for row in rows], dtype=np.float64)
        before = replace(check.result, segments=scores, score=float(scores.mean()))
    else:
        (before,) = score_segments([metric], old_segments)
    return _add_p_value(replace(check, baseline=str(path), before=before, old=old))


def _add_p_value(check: Check) -> Check:
    """Return the check with the p-value of the difference, paired over segments."""
    results = [result for result in (check.before, check.result) if result is not None]
    if check.result.pooled is not None:
        statistics, of = (
            [result.pooled.statistics for result in results if result.pooled is not None],
            check.result.pooled.of,
        )
    else:
        statistics, of = (
            [np.stack([result.segments, np.ones(result.n)], axis=1) for result in results],
            mean_of_sums,
        )
    tests = pooled_tests(np.stack(statistics), of, method="permutation")
    return replace(check, p_value=float(tests.p_values[0, 1]))


def _read_baseline(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise PeerAssertionError(
            f"{path}: no such baseline file; write it with pytest --monge-update, and keep it"
        )
    try:
        content = json.loads("\n".join(read_lines(path)))
        complete = content[FORM] == 1 and all(
            {"texts", "hypothesis", "score"} <= row.keys() for row in content["segments"]
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise StatisticsMismatch(
            f"{path}: not a baseline file of assert_quality; write it with --monge-update"
        )
    baseline: dict[str, Any] = content
    return baseline


def _key(row: Segment) -> str:
    """Return a digest of the references and the source of a segment."""
    return blake2b(
        repr((row.references, row.source)).encode("utf-8", "surrogatepass"), digest_size=8
    ).hexdigest()


def _clip(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= WIDTH else plain[: WIDTH - 1] + "…"
