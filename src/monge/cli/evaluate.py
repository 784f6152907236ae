"""`monge evaluate`: how well metrics agree with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from monge.cli import engines, inputs, option_groups, options, protocols, studies
from monge.cli.options import option
from monge.cli.printing import tell_written, warn
from monge.datasets.segment_scores import given_scores
from monge.errors import UsageError
from monge.metrics.default import DEFAULT_METRIC

if TYPE_CHECKING:
    from monge.evaluation.evaluation_result import Evaluation


@dataclass(frozen=True, kw_only=True)
class EvaluationJudgementOptions(option_groups.JudgementOptions):
    """Options for the judgements, and for the statistics of agreement."""

    dataset: studies.OptionalDataset = None
    level: options.Level = "segment"
    human: Annotated[
        list[str] | None,
        option(
            "--human COLUMN",
            options.INPUT,
            help="A column of human judgements; by default the data set's main one; repeatable.",
        ),
    ] = None
    statistic: Annotated[
        list[str] | None,
        option(
            "--statistic NAME",
            options.STATISTICS,
            help="How agreement is measured: pearson, spearman, kendall, tau10, spa, "
            "pearson-by-item …; by default what the data set was published with; repeatable.",
        ),
    ] = None
    switch: studies.Switches = None
    columns: inputs.Columns = None
    sample: options.Sample = None
    strata: Annotated[
        str,
        option(
            "--strata document|domain",
            options.INPUT,
            help="With --sample: give every document or domain its share of the sample.",
        ),
    ] = ""


@dataclass(frozen=True, kw_only=True)
class BestMetricTestOptions(studies.SignificanceOptions):
    """Options for intervals, and for tests against the best metric."""

    test: Annotated[
        str,
        option(
            "--test auto|williams|perm-both|mcnemar|bootstrap",
            options.STATISTICS,
            help="The test of whether a metric is worse than the best one of its group; means over "
            "groups are always tested by bootstrap. mcnemar is for rankings, and takes their pairs "
            "as independent.",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class EvaluatedOptions:
    """Options for what is evaluated: metrics, and scores from files."""

    metric: options.Metrics = None
    scores: inputs.Scores = None
    uniform_units: Annotated[
        bool,
        option(
            "--uniform-units",
            options.STATISTICS,
            help="Evaluate every metric a second time with the same words and equal weights, and "
            "tell whether their order changes.",
        ),
    ] = False


@option_groups.flatten_options
def evaluate(
    *,
    judgements: EvaluationJudgementOptions,
    judges: EvaluatedOptions,
    setup: option_groups.SetupOptions,
    tests: BestMetricTestOptions,
    protocol: protocols.ProtocolOptions,
    figures: option_groups.FigureOptions,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Measure how well metrics agree with human judgements, and test which of them agrees best."""
    output.check()
    figures.check()
    if protocol.protocol is not None:
        _judge(protocol, judgements, judges, setup, tests, output)
        return
    _evaluate_task(judgements, judges, setup, tests, figures, output, engine)


def _evaluate_task(
    judgements: EvaluationJudgementOptions,
    judges: EvaluatedOptions,
    setup: option_groups.SetupOptions,
    tests: BestMetricTestOptions,
    figures: option_groups.FigureOptions,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Evaluate metrics on the judgements of a data set, and write the result."""
    other_scores = given_scores(judges.scores or ())
    from monge import evaluation
    from monge.render.cells import listed

    task = studies.task_of(judgements, switches=studies.switches(judgements.switch))
    names = judges.metric or ([] if other_scores else [DEFAULT_METRIC])
    setup.choose(names, quiet=output.quiet)
    with output.watching() as watch, engine.of_study(output.run(watch)) as run:
        agreement_study = evaluation.evaluate_task(
            task,
            names,
            setup=studies.setup_of(setup),
            uniform_units=judges.uniform_units,
            scores=other_scores,
            resampling=tests.resampling(),
            run=run,
        )
    _warn_of_scoring(agreement_study)
    labels = dict.fromkeys(agreement.label for agreement in agreement_study.agreements)
    dots, charts = _draw_page_figures(agreement_study) if output.is_page else ([], [])
    title = f"{studies.dataset_title(judgements)}: agreement of {listed(list(labels))} with people"
    output.write(agreement_study, title=title, figures=dots, charts=charts)
    if figures.folder is not None:
        from monge.report import evaluation_figures

        paths = evaluation_figures(agreement_study, figures.folder, form=figures.figure_format)
        tell_written(paths, quiet=output.quiet)


def _judge(
    protocol: protocols.ProtocolOptions,
    judgements: EvaluationJudgementOptions,
    judges: EvaluatedOptions,
    setup: option_groups.SetupOptions,
    tests: BestMetricTestOptions,
    output: studies.StudyOutputOptions,
) -> None:
    """Judge metrics by a protocol, which decides on the data and the statistics itself."""
    own = {
        "a data set": judgements.dataset,
        "--pairs": judgements.pairs,
        "--human": judgements.human,
        "--statistic": judgements.statistic,
        "--switch": judgements.switch,
        "--columns": judgements.columns,
        "--sample": judgements.sample,
        "--uniform-units": judges.uniform_units or None,
        "--level": None if judgements.level == "segment" else judgements.level,
    }
    for name, value in own.items():
        if value is not None:
            raise UsageError(f"--protocol decides {name} itself; leave it out")
    scores = given_scores(judges.scores or ())
    names = judges.metric or ([] if scores or protocol.stored else [DEFAULT_METRIC])
    protocols.judge(protocol, judgements.data, (names, scores), setup, tests, output)


def _draw_page_figures(agreement_study: Evaluation) -> tuple[list[str], list[str]]:
    """Return the figures above the tables of a page, and the charts under them."""
    from monge.report.evaluation import agreement_dots, evaluation_charts

    return agreement_dots(agreement_study), evaluation_charts(agreement_study)


def _warn_of_scoring(agreement_study: Evaluation) -> None:
    """Show the warnings of the study, without those that were shown when the data were read."""
    read_warnings = {line for pool, _ in agreement_study.pools for line in pool.warnings}
    warn([line for line in agreement_study.warnings if line not in read_warnings])
