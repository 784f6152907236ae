"""Options of `monge evaluate --protocol`: judge metrics by the questions of a shared task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from monge.cli import option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import warn

if TYPE_CHECKING:
    from monge.datasets.segment_scores import GivenScores


@dataclass(frozen=True, kw_only=True)
class ProtocolOptions:
    """Options for judging metrics by the questions of a shared task."""

    protocol: Annotated[
        str | None,
        option(
            "--protocol NAME|FILE.toml",
            options.STATISTICS,
            help="Judge by all questions of a shared task (wmt22, wmt23, wmt24, wmt25, or a TOML "
            "file): a value and a cluster per task and metric, and their average; --data is the "
            "directory of its mt-metrics-eval test sets.",
        ),
    ] = None
    stored: Annotated[
        list[str] | None,
        option(
            "--stored NAME",
            options.INPUT,
            help="With --protocol: a metric whose scores are stored with the test set, or a "
            "pattern such as '*'; repeatable.",
        ),
    ] = None
    as_published: Annotated[
        bool,
        option(
            "--as-published",
            options.STATISTICS,
            help="With --protocol: test as the WMT metrics tasks do, one-sided, without "
            "correction, outputs exchanged one by one; it finds more differences than there are.",
        ),
    ] = False
    sentinels: Annotated[
        bool,
        option(
            "--sentinels/--no-sentinels",
            options.STATISTICS,
            help="With --protocol: let stand-ins take part that read only the length of a text, "
            "and warn if they rank high.",
        ),
    ] = True


def judge(
    protocol: ProtocolOptions,
    data: str,
    metrics_and_scores: tuple[Sequence[str], Sequence[GivenScores]],
    setup: option_groups.SetupOptions,
    tests: studies.SignificanceOptions,
    output: studies.StudyOutputOptions,
) -> None:
    """Judge metrics and scores of files by the questions of a shared task, and write the result."""
    from monge.evaluation.protocol import load_protocol
    from monge.evaluation.protocol_run import ProtocolMetrics, run_protocol
    from monge.evaluation.protocol_tasks import ProtocolTests

    questions = load_protocol(str(protocol.protocol))
    names, scores = metrics_and_scores
    if names:
        setup.choose(names, quiet=output.quiet)
    metrics = ProtocolMetrics(names, scores, protocol.stored or (), protocol.sentinels)
    permutations = ProtocolTests(
        tests.resamples, tests.alpha, tests.seed, as_published=protocol.as_published
    )
    with output.watching() as watch:
        result = run_protocol(
            questions,
            data,
            metrics,
            setup=studies.setup_of(setup),
            tests=permutations,
            run=output.run(watch),
        )
    warn(result.warnings)
    output.write(result, title=f"{questions.title}: metrics judged by {len(questions.tasks)} tasks")
