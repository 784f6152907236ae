"""`monge report`: everything about some systems in one file that can be sent to people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge import api
from monge.cli import bundles, compare, inputs, options
from monge.cli.emit import bar_wanted, check_output, emit, progress, tell
from monge.cli.studies import setup_of
from monge.data.segment_scores import GivenScores, given_scores
from monge.errors import Unreadable, UsageError
from monge.types.table import Study

if TYPE_CHECKING:
    from monge.types import Result, Segment

FORMATS = ("html", "markdown", "latex")


@dataclass(frozen=True)
class Asked(bundles.Texts):
    """What the report is about: files to score, a table, or results that were saved."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RESULTS.json…|TABLE]",
            help="Instead of -t and -r: what `monge score --with-texts`, `compare`, `evaluate` or `sensitivity` wrote "
            "with -f json; or a table of texts to score.",
        ),
    ] = None
    table_format: inputs.TableFormat = None
    columns: inputs.Columns = None

    def rows(self, *, quiet: bool) -> inputs.Rows:
        """The segments of a table or of parallel files."""
        files = {one.name: getattr(self, one.name) for one in fields(bundles.Texts)}
        table = next(iter(self.files or ()), None)
        given = inputs.Input(**files, table=table, table_format=self.table_format, columns=self.columns)
        if not self and table is None:
            raise UsageError("nothing to report on: give -t HYPOTHESES and -r REFERENCES, a table, or saved results")
        try:
            return inputs.read_input(given, purpose="report on", quiet=quiet)
        except Unreadable as error:
            if self or not str(table).endswith(".json"):
                raise
            from monge.report.saved import ACCEPTED

            raise Unreadable(f"{table} holds no results that monge saved ({ACCEPTED}); as a table: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the report shows, how, and where."""

    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            metavar="[NAME=]FILE[,lower]",
            help="Human scores of the segments, shown beside those of the metrics: a table with columns system, id and "
            "score, or one number per line. Not every segment needs one.",
        ),
    ] = None
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="The title; by default systems and metrics.")
    ] = ""
    date: Annotated[
        str,
        typer.Option(
            "--date",
            metavar="TEXT",
            help="A date to show. None by default: the same input gives the same bytes.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = ""
    plans: Annotated[
        int,
        typer.Option(
            "--plans",
            metavar="N",
            help="How many plans (segments x systems x metrics) the page carries, of the segments that tell most; 0 is "
            "none, and faster.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = 15_000
    output_format: Annotated[str, options.formats(FORMATS)] = "html"
    output: options.Output = None
    signature_form: options.SignatureForm = "short"

    def given_human(self) -> GivenScores | None:
        """The file of human scores."""
        if self.human is None:
            return None
        from monge.report.material import HUMAN

        named = self.human if "=" in self.human else f"{HUMAN}={self.human}"
        return replace(given_scores([named], "--human")[0], partial=True)


@bundles.flat
def report(
    *,
    asked: Asked,
    metric: options.Metrics = None,
    setup: bundles.Setup,
    tests: compare.Tests,
    shown: Shown,
    keep: bundles.Keep,
) -> None:
    """Make one file that shows everything about some systems: ranking, differences, distributions, every segment."""
    check_output(shown.output_format, FORMATS, shown.output)
    signed = options.signed(shown.signature_form)
    if shown.plans < 0:
        raise UsageError(f"--plans takes a whole number from 0, got {shown.plans}")
    human = shown.given_human()
    saved = _saved(asked)
    if saved and metric:
        raise UsageError("-m is for texts to score: the metrics of saved results are those they were made with")
    from monge.render.table import render_study
    from monge.report.document import render_report
    from monge.report.evaluation import agreement_dots
    from monge.report.material import gathered, with_plans
    from monge.report.saved import scores_of, study_of
    from monge.study.evaluate import Evaluation

    studies = [(path, found) for path, data in saved if (found := study_of(data, path)) is not None]
    if studies:
        _check_alone(saved, studies, shown)
        form, study = shown.output_format, studies[0][1]
        figures = agreement_dots(study) if form == "html" and isinstance(study, Evaluation) else []
        emit(render_study(study, form, version="", signed=signed, title=shown.title, figures=figures), shown.output)
        return
    loaded: dict[str, api.Metric] | None = None
    if saved:
        results, segments = scores_of(saved)
    else:
        results, segments, loaded = _scored(asked, metric, setup, keep, human)
    material = replace(
        gathered(results, segments, resampling=tests.resampling(), human=human), title=shown.title, date=shown.date
    )
    wanted = shown.plans if shown.output_format == "html" else 0
    material = with_plans(material, loaded, most=wanted, replay=_replay(setup))
    emit(render_report(material, shown.output_format, version=version("monge"), signed=signed), shown.output)
    if not keep.quiet:
        for note in material.notes:
            tell(note)
        if shown.output is not None and sys.stderr.isatty():
            tell(f"{shown.output}: {Path(shown.output).stat().st_size / 1000:,.0f} kB")


def _saved(asked: Asked) -> list[tuple[str, dict[str, Any]]]:
    """The files of saved results among what was given; none where there are texts to score."""
    from monge.report.saved import read_json

    if asked or not asked.files or asked.table_format:
        return []
    read = [(path, read_json(path)) for path in asked.files]
    found = [(path, data) for path, data in read if data is not None]
    if found and len(found) < len(read):
        other = next(path for path, data in read if data is None)
        raise UsageError(f"{other} holds no saved results, the other files do: give results, or texts to score")
    if not found and len(read) > 1:
        remedy = "the outputs of systems: -t A -t B -r REF"
        raise UsageError(f"{len(read)} files, and none of them holds saved results; {remedy}")
    return found


def _check_alone(saved: Sequence[object], studies: Sequence[tuple[str, Study]], shown: Shown) -> None:
    """Raise where a study came with other files, or with options that are about scores."""
    if len(saved) > 1:
        raise UsageError(f"{studies[0][0]} is a study: a report shows one of them, or scores of one or more files")
    if shown.human is not None:
        raise UsageError("--human is for reports of scores: a study has its own human scores")


def _replay(setup: bundles.Setup) -> Any:
    """What finds a metric by its signature, with the model that was named."""
    return lambda line: api.replay(line, model=setup.named, device=setup.device, online=setup.online)


def _scored(
    asked: Asked, metric: list[str] | None, setup: bundles.Setup, keep: bundles.Keep, human: GivenScores | None
) -> tuple[list[Result], list[Segment], dict[str, api.Metric]]:
    """Results of the texts that were given, the segments, and the metrics by their labels."""
    names = metric or [api.DEFAULT_METRIC]
    setup.checked(names, quiet=keep.quiet)
    rows = asked.rows(quiet=keep.quiet)
    if human is not None:  # what is wrong with it is told before the scoring, not after
        human.of({"": list(rows)})
    from monge.study import load_variants

    variants = load_variants(names, setup_of(setup))
    with progress(show=bar_wanted(quiet=keep.quiet)) as (grow, advance):
        if grow is not None:
            grow(len(rows))
        loaded = [one.metric for one in variants]
        results = api.score_segments(loaded, rows, cache=keep.folder, watch=api.Watch(advance))
    labels = [one.metric for one in results[: len(loaded)]]
    return results, list(rows), dict(zip(labels, loaded, strict=True))
