"""`monge sensitivity`: how much preprocessing moves the agreement of metrics with people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from monge.cli import engines, inputs, option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import tell_written


@dataclass(frozen=True, kw_only=True)
class SensitivityJudgementOptions(option_groups.JudgementOptions):
    """Options for the judgements, how many of them, and the statistic."""

    dataset: studies.Dataset
    level: options.Level = "segment"
    human: options.Human = None
    statistic: options.Statistic = None
    columns: inputs.Columns = None
    sample: options.Sample = None


@dataclass(frozen=True, kw_only=True)
class FactorOptions:
    """Options for the factors, and for the measure of their spread."""

    factor: Annotated[
        list[str] | None,
        option(
            "--factor NAME,…|NAME=V,V,…",
            help="What is varied: stopwords, idf, subwords, punctuation or transport, or two as "
            "one, such as subwords+punctuation; or any setting with its values, such as "
            "layers=4,5,6, stopwords=none,en,FILE ({lang} in the name stands for the language of "
            "the texts) or idf=off,references,random:4x2000,FILE. All five by default; repeatable.",
        ),
    ] = None
    cross: Annotated[
        bool,
        option(
            "--cross",
            help="Also try all combinations of the factors, and tell which share of the variance "
            "each of them has.",
        ),
    ] = False
    ddof: Annotated[
        int,
        option(
            "--ddof 0|1",
            options.STATISTICS,
            help="Whether the spread is that of a population (0) or estimated from a sample (1).",
        ),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class SensitivityResamplingOptions(studies.ResamplingOptions):
    """Options for intervals."""

    confidence: options.Confidence = 0.95
    seed: Annotated[
        int,
        option(
            "--seed N",
            options.STATISTICS,
            help="The seed of the bootstrap, the sample and the random corpora.",
        ),
    ] = 12345


@option_groups.flatten_options
def sensitivity(
    *,
    judgements: SensitivityJudgementOptions,
    metric: Annotated[list[str] | None, options.metrics_option("moverscore, bertscore")] = None,
    design: FactorOptions,
    setup: option_groups.SetupOptions,
    resamples: SensitivityResamplingOptions,
    figures: option_groups.FigureOptions,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Measure how much preprocessing moves the agreement of metrics with people."""
    output.check()
    figures.check()
    from monge import evaluation

    task = studies.task_of(judgements)
    names = metric or ["moverscore", "bertscore"]
    setup.choose(names, quiet=output.quiet)
    with output.watching() as watch, engine.of_study(output.run(watch)) as run:
        sensitivity_study = evaluation.sensitivity(
            task,
            names,
            evaluation.Design(design.factor or (), design.cross, design.ddof),
            setup=studies.setup_of(setup),
            resampling=resamples.resampling(),
            run=run,
        )
    dataset, measured = studies.dataset_title(judgements), ", ".join(sensitivity_study.metrics)
    title = f"{dataset}: sensitivity of {measured} to preprocessing"
    output.write(sensitivity_study, "sensitivity", title)
    if figures.folder is not None:
        from monge.report.sensitivity import sensitivity_figures

        paths = sensitivity_figures(sensitivity_study, figures.folder, form=figures.figure_format)
        tell_written(paths, quiet=output.quiet)
