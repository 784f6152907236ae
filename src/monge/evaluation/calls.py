"""The Python calls that study metrics and systems: compare and evaluate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from monge import api
from monge.api.options import Options, changes_of, check_options
from monge.api.progress import Progress, report_progress
from monge.datasets.frames import is_frame
from monge.datasets.segment_scores import GivenScores
from monge.datasets.tables import read_frame
from monge.errors import UsageError
from monge.evaluation.agreement import USUAL, Resampling
from monge.evaluation.compare import compare_segments
from monge.evaluation.comparison import Comparison
from monge.evaluation.evaluate import evaluate_task
from monge.evaluation.evaluation_result import Evaluation
from monge.evaluation.external_scores import NO_SCORES
from monge.evaluation.score_book import Run
from monge.evaluation.task import Task
from monge.evaluation.variants import Setup, load_variants
from monge.metrics.default import DEFAULT_METRIC
from monge.types import Segment

Names = str | Sequence[str]


class StudyOptions(Options, total=False):
    """The options of `Options`, and of every study of metrics.

    metric: a name, or a list of names, in place of `metrics`; progress: True for a line on standard
    error, or a function that is called with the number of segments scored since its last call.
    """

    metric: Names
    progress: Progress


def compare(
    systems: Mapping[str, Iterable[str]] | Any,
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    metrics: Names = DEFAULT_METRIC,
    *,
    sources: Iterable[str] | None = None,
    common: bool = False,
    resampling: Resampling = USUAL,
    **options: Unpack[StudyOptions],
) -> Comparison:
    """Compare systems by one metric or several: intervals, paired tests of every two, clusters.

    Args:
        systems: Name of a system -> its texts, all for the same items; or a data frame with the
            columns system, hypothesis, reference, and source or id where there are any.
        references: One text or a list of texts per item; without them the sources take their place.
        metrics: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names.
        sources: Source texts.
        common: Leave out items that not all systems of a frame have, instead of an error.
        resampling: Resamples, confidence, alpha, seed, and the test whose p-values make the
            clusters: bootstrap or permutation (auto: permutation below 30 segments, exact where
            there are few).
        options: model, layers, precision, device, lang, settings, online, cache as `monge.load`
            takes them; progress.

    Examples:
        >>> systems = {"a": ["The cat sat.", "He left."] * 9, "b": ["A cat sits.", "Left."] * 9}
        >>> comparison = monge.compare(systems, ["The cat sat.", "He left."] * 9, "chrf")
        >>> print(comparison.verdict[0])
        a is the best system by chrf, and that is more than chance.
    """
    rows = _rows_of(systems, references, sources)
    names, setup = names_and_setup(metrics, options)
    with run_of(options) as run:
        return compare_segments(
            load_variants(names, setup), rows, resampling=resampling, run=run, common=common
        )


def evaluate(
    task: Task,
    metrics: Names = DEFAULT_METRIC,
    *,
    uniform_units: bool = False,
    scores: Sequence[GivenScores] = NO_SCORES,
    resampling: Resampling = USUAL,
    **options: Unpack[StudyOptions],
) -> Evaluation:
    """Measure how well metrics agree with people, with intervals and tests of every two.

    Args:
        task: Which judgements of which data, and which statistics.
        metrics: A name (`twmd`, `bertscore@release`, `twmd[layers=4]`), or a list of names.
        uniform_units: Give all metrics the same units and weights; tell if their order changes.
        scores: Scores from files, which take part as metrics do.
        resampling: Resamples, confidence, alpha, seed and test.
        options: model, layers, precision, device, lang, settings, online, cache as `monge.load`
            takes them; progress.

    Examples:
        >>> judged = [
        ...     {"hypothesis": "The cat sat.", "reference": "A cat sat.", "human": 5},
        ...     {"hypothesis": "Cat the.", "reference": "A cat sat.", "human": 2},
        ...     {"hypothesis": "No dog.", "reference": "A cat sat.", "human": 1},
        ... ]
        >>> evaluation = monge.evaluate(monge.Task("table", judged), ["chrf", "bleu"])
        >>> {row["metric"] for row in evaluation.records()} == {"chrf", "bleu"}
        True
    """
    names, setup = names_and_setup(metrics, options)
    more: dict[str, Any] = {"uniform_units": uniform_units, "scores": scores}
    with run_of(options) as run:
        return evaluate_task(task, names, setup=setup, resampling=resampling, run=run, **more)


def names_and_setup(metrics: Names, options: StudyOptions) -> tuple[list[str], Setup]:
    """Return the names of metrics, and what they share, of the arguments of a call."""
    studied = {name: value for name, value in options.items() if name not in ("metric", "progress")}
    check_options(studied)
    chosen = options.get("metric", metrics)
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    setup = Setup(
        changes_of(options),
        options.get("lang"),
        str(options.get("model", "auto")),
        options.get("device", "auto"),
        options.get("online", False),
    )
    return names, setup


@contextmanager
def run_of(options: StudyOptions) -> Iterator[Run]:
    """Yield how a study runs: with its cache, and its progress reported."""
    with report_progress(options.get("progress")) as advance:
        yield Run(options.get("cache"), advance)


def _rows_of(systems: Any, references: Any, sources: Any) -> list[Segment]:
    """Return the segments of a mapping of systems with references and sources, or of a frame."""
    if is_frame(systems):
        if references is not None or sources is not None:
            raise UsageError("systems is a data frame: references and sources are columns of it")
        return list(read_frame(systems))
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems: expected {{name: hypotheses}} or a data frame, got {type(systems).__name__}"
        )
    references = list(references) if references is not None else None
    sources = list(sources) if sources is not None else None
    return [
        replace(row, system=name)
        for name, texts in systems.items()
        for row in api.segments_of(texts, references, sources)
    ]
