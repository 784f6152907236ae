"""`monge report`: everything about some systems in one file that can be sent to people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge import api
from monge.cli import compare, inputs, option_groups, options
from monge.cli.options import option
from monge.cli.printing import check_output, emit, progress, tell
from monge.datasets.segment_scores import GivenScores, given_scores
from monge.errors import Unreadable, UsageError
from monge.types.table import Study

if TYPE_CHECKING:
    from monge.types import Result, Segment

FORMATS = ("html", "markdown", "latex")


@dataclass(frozen=True)
class ReportInputOptions(option_groups.TextFileOptions):
    """Options for the content of the report: files to score, a table, or saved results."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RESULTS.json…|TABLE]",
            help="Instead of -t and -r: what `monge score --with-texts`, `compare`, `evaluate` or "
            "`sensitivity` wrote with -f json; or a table of texts to score.",
        ),
    ] = None
    table_format: inputs.TableFormat = None
    columns: inputs.Columns = None

    def rows(self, *, quiet: bool) -> inputs.Rows:
        """Return the segments of a table or of parallel files."""
        table = next(iter(self.files or ()), None)
        files = inputs.InputOptions(
            self.hypotheses, self.references, self.source, table, self.table_format, self.columns
        )
        if not self and table is None:
            raise UsageError(
                "nothing to report on: give -t HYPOTHESES and -r REFERENCES, a table, or saved "
                "results"
            )
        try:
            return inputs.read_input(files, purpose="report on", quiet=quiet)
        except Unreadable as error:
            if self or not str(table).endswith(".json"):
                raise
            from monge.report.saved_results import ACCEPTED

            raise Unreadable(
                f"{table} holds no results that monge saved ({ACCEPTED}); as a table: {error}"
            ) from None


@dataclass(frozen=True, kw_only=True)
class ReportOutputOptions:
    """Options for the output of the report."""

    human: Annotated[
        str | None,
        option(
            "--human [NAME=]FILE[,lower]",
            help="Human scores of the segments, shown beside those of the metrics: a table with "
            "columns system, id and score, or one number per line. Not every segment needs one.",
        ),
    ] = None
    title: Annotated[
        str, option("--title TEXT", help="The title; by default systems and metrics.")
    ] = ""
    date: Annotated[
        str,
        option(
            "--date TEXT",
            options.OUTPUT,
            help="A date to show. None by default: the same input gives the same bytes.",
        ),
    ] = ""
    plans: Annotated[
        int,
        option(
            "--plans N",
            options.OUTPUT,
            help="How many transport plans (segments x systems x metrics) the page holds, those of "
            "the most telling segments first; 0 for none, which is faster.",
        ),
    ] = 15_000
    output_format: Annotated[str, options.formats(FORMATS)] = "html"
    output: options.Output = None
    signature_form: options.SignatureForm = "short"
    digits: options.Digits = None

    def check(self) -> None:
        """Raise where the report could not be written, before anything is scored."""
        check_output(self.output_format, FORMATS, self.output)
        options.signed(self.signature_form)
        if self.plans < 0:
            raise UsageError(f"--plans takes a whole number from 0, got {self.plans}")

    def given_human(self) -> GivenScores | None:
        """Return the human scores of `--human`, None without it."""
        if self.human is None:
            return None
        from monge.report.material import HUMAN

        named_scores = self.human if "=" in self.human else f"{HUMAN}={self.human}"
        return replace(given_scores([named_scores], "--human")[0], partial=True)


@option_groups.flatten_options
def report(
    *,
    input_options: ReportInputOptions,
    metric: options.Metrics = None,
    setup: option_groups.SetupOptions,
    tests: compare.SystemTestOptions,
    output_options: ReportOutputOptions,
    keep: option_groups.CacheOptions,
) -> None:
    """Write a report about systems, from texts or from saved results."""
    output_options.check()
    human = output_options.given_human()
    saved = _read_saved(input_options)
    if saved and metric:
        raise UsageError(
            "-m is for texts to score: the metrics of saved results are those they were made with"
        )
    if _write_saved_study(saved, output_options):
        return
    from monge.report.document import render_report
    from monge.report.material import gathered, with_plans
    from monge.report.saved_results import scores_of

    loaded: dict[str, api.Metric] | None = None
    if saved:
        results, segments = scores_of(saved)
    else:
        results, segments, loaded = _score_input(input_options, metric, setup, keep, human)
    material = gathered(results, segments, resampling=tests.resampling(), human=human)
    material = replace(material, title=output_options.title, date=output_options.date)
    form, output = output_options.output_format, output_options.output
    most_plans = output_options.plans if form == "html" else 0
    material = with_plans(material, loaded, most=most_plans, replay=_replay(setup))
    signed = options.signed(output_options.signature_form)
    emit(render_report(material, form, version=version("monge"), signed=signed), output)
    if not keep.quiet:
        for note in material.notes:
            tell(note)
        if output is not None and sys.stderr.isatty():
            tell(f"{output}: {Path(output).stat().st_size / 1000:,.0f} kB")


def _write_saved_study(
    saved: Sequence[tuple[str, dict[str, Any]]], output_options: ReportOutputOptions
) -> bool:
    """Write the study that a file holds; return whether there is one."""
    from monge.evaluation.evaluation_result import Evaluation
    from monge.render.table import render_study
    from monge.report.evaluation import agreement_dots
    from monge.report.saved_results import study_of

    loaded = [(path, study_of(data, path)) for path, data in saved]
    studies = [(path, study) for path, study in loaded if study is not None]
    if not studies:
        return False
    _check_alone(saved, studies, output_options)
    form, study = output_options.output_format, studies[0][1]
    figures = agreement_dots(study) if form == "html" and isinstance(study, Evaluation) else []
    signed, title = options.signed(output_options.signature_form), output_options.title
    text = render_study(study, form, version="", signed=signed, title=title, figures=figures)
    emit(text, output_options.output)
    return True


def _read_saved(input_options: ReportInputOptions) -> list[tuple[str, dict[str, Any]]]:
    """Return the saved results among the files; none where there are texts to score."""
    from monge.report.saved_results import read_json

    if input_options or not input_options.files or input_options.table_format:
        return []
    read = [(path, read_json(path)) for path in input_options.files]
    results = [(path, data) for path, data in read if data is not None]
    if results and len(results) < len(read):
        text_file = next(path for path, data in read if data is None)
        raise UsageError(
            f"{text_file} holds no saved results, the other files do: give results, or texts to "
            "score"
        )
    if not results and len(read) > 1:
        remedy = "the outputs of systems: -t A -t B -r REF"
        raise UsageError(f"{len(read)} files, and none of them holds saved results; {remedy}")
    return results


def _check_alone(
    saved: Sequence[object],
    studies: Sequence[tuple[str, Study]],
    output_options: ReportOutputOptions,
) -> None:
    """Raise where a study is given with other files, or with options that are about scores."""
    if len(saved) > 1:
        raise UsageError(
            f"{studies[0][0]} is a study: a report shows one of them, or scores of one or more "
            "files"
        )
    if output_options.human is not None:
        raise UsageError("--human is for reports of scores: a study has its own human scores")


def _replay(setup: option_groups.SetupOptions) -> Any:
    """Return a function that loads a metric by its signature, with the chosen model."""
    return lambda line: api.replay(
        line, model=setup.model_name, device=setup.device, online=setup.online
    )


def _score_input(
    input_options: ReportInputOptions,
    metric: list[str] | None,
    setup: option_groups.SetupOptions,
    keep: option_groups.CacheOptions,
    human: GivenScores | None,
) -> tuple[list[Result], list[Segment], dict[str, api.Metric]]:
    """Score the texts; return results, segments, and metrics by their labels."""
    chosen = setup.choose(metric or [api.DEFAULT_METRIC], quiet=keep.quiet)
    rows = input_options.rows(quiet=keep.quiet)
    if human is not None:  # what is wrong with it is told before the scoring, not after
        human.of({"": list(rows)})
    metrics, labels = setup.load(chosen), [metric.label for metric in chosen]
    with progress(quiet=keep.quiet) as (grow, advance):
        if grow is not None:
            grow(len(rows))
        results, scored = api.score_usable(
            metrics, rows, cache=keep.folder, watch=api.Watch(advance), names=labels
        )
    return results, list(rows), {labels[k]: metrics[k] for k in scored}
