"""`monge score`: texts in, scores and signatures out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge import api
from monge.cli import gate, option_groups, options
from monge.cli.engines import ScaleOptions
from monge.cli.inputs import Columns, InputOptions, Rows, TableFormat, read_input
from monge.cli.journal import kept_scores
from monge.cli.options import option
from monge.cli.parquet import check_parquet, write_parquet
from monge.cli.printing import (
    check_output,
    emit,
    progress,
    stage,
    tell,
    terminal_layout,
    today,
)
from monge.datasets.lines import TextFile
from monge.errors import UsageError
from monge.metrics.labels import labels
from monge.metrics.metric import MetricSpec
from monge.metrics.signature import parse
from monge.types import Result, Segment
from monge.types.result import place_of
from monge.types.table import STUDY_FORMATS

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.render import View
    from monge.scoring.scorer import Scores

FORMATS = (*STUDY_FORMATS, "parquet")


@dataclass(frozen=True)
class MetricOptions:
    """Options for the metrics: by name, with changes to all of them, or by signature."""

    metric: options.Metrics = None
    rule: Annotated[
        str | None,
        option(
            "--references-rule max|mean|first",
            options.MODEL,
            help="With several references: the best one counts (max), their mean, or the first; "
            "max unless the metric says otherwise.",
        ),
    ] = None
    overlong: options.Overlong = None
    rescale: options.Rescale = False
    calibrate: options.Calibrate = None
    signature: Annotated[
        list[str] | None,
        option(
            "--signature SIGNATURE",
            help="Compute again what a signature, long or short, says, instead of naming a metric; "
            "it is refused if the model or the statistics differ.",
        ),
    ] = None
    refit: Annotated[
        bool,
        option(
            "--refit",
            options.STATISTICS,
            help="With --signature: accept that statistics fitted on other texts differ.",
        ),
    ] = False

    def changes(self) -> tuple[str, ...]:
        """Return the changes of these options to every metric, as AXIS=VALUE texts."""
        if self.rescale and self.calibrate:
            raise UsageError("--rescale and --calibrate are two scales: give one")
        if self.calibrate not in (None, "unit", "human"):
            raise UsageError(f"--calibrate takes unit or human, got {self.calibrate!r}")
        scale = "baseline" if self.rescale else self.calibrate
        settings = {"references": self.rule, "scale": scale}
        return tuple(f"{name}={value}" for name, value in settings.items() if value)

    def choose(
        self, setup: option_groups.SetupOptions, *, quiet: bool
    ) -> list[option_groups.ChosenMetric]:
        """Return the metrics of `-m`, or those that `--signature` describes; load no model."""
        if self.signature and self.metric:
            raise UsageError("--signature replays a metric: give it or -m, not both")
        if not self.signature:
            texts, more = self.metric or [api.DEFAULT_METRIC], self.changes()
            return setup.choose(texts, quiet=quiet, overlong=self.overlong, more=more)
        specs = [(parsed.metric, parsed.spec) for parsed in map(parse, self.signature)]
        return [
            option_groups.ChosenMetric(name, name, spec, label)
            for (name, spec), label in zip(specs, labels(specs), strict=True)
        ]

    def replay(
        self, setup: option_groups.SetupOptions
    ) -> tuple[list[api.Metric], list[dict[str, str]] | None]:
        """Return the metrics of `--signature` with their models, and the digests to match."""
        settings = (*self.changes(), *setup.changes(self.overlong))
        model: dict[str, Any] = {
            "model": setup.model_name,
            "device": setup.device,
            "online": setup.online,
        }
        replayed = [api.replay(line, settings=settings, **model) for line in self.signature or ()]
        digests = None if self.refit else [digests for _, digests in replayed]
        return [metric for metric, _ in replayed], digests


@dataclass(frozen=True)
class StatisticsOptions:
    """Options for statistics that do not come from the scored texts."""

    stats: options.Stats = None
    idf_corpus: Annotated[
        str | None,
        option(
            "--idf-corpus FILE",
            options.STATISTICS,
            help="Fit idf on the lines of this file instead of the texts that are scored.",
        ),
    ] = None

    def corpora(self) -> api.Corpora:
        """Return the loaded statistics and the opened corpus."""
        return api.Corpora(
            api.load_stats(*self.stats) if self.stats else None,
            idf=TextFile(self.idf_corpus) if self.idf_corpus else None,
        )


@dataclass(frozen=True)
class ScoreOutputOptions:
    """Options for the output of results."""

    output_format: Annotated[str, options.formats(FORMATS)] = "text"
    output: options.Output = None
    segments: Annotated[bool, option("--segments", help="Show the score of every segment too.")] = (
        False
    )
    with_texts: Annotated[
        bool,
        option(
            "--with-texts",
            options.OUTPUT,
            help="Show hypothesis, references and source beside the score of every segment.",
        ),
    ] = False
    interval: Annotated[
        bool, option("--ci", help="Show a 95 % bootstrap interval of every score, over segments.")
    ] = False
    seed: options.Seed = 12345
    fail_under: Annotated[
        list[str] | None,
        option(
            "--fail-under X|NAME=X,…",
            help="Exit with 4 and name the worst segments where a score is worse than X: below it, "
            "or above it for a distance. NAME=X is for one metric.",
        ),
    ] = None
    signature_form: options.SignatureForm = "short"
    digits: options.Digits = None
    fresh: Annotated[
        bool,
        option(
            "--fresh",
            options.KEEPING,
            help="With -o: start again instead of resuming an interrupted run.",
        ),
    ] = False
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            options.KEEPING,
            help="Say what would be read, fitted and encoded, and about how long it takes; score "
            "and write nothing.",
        ),
    ] = False

    def check(self) -> None:
        """Raise where the output could not be written, before anything is scored."""
        check_output(self.output_format, FORMATS, self.output)
        options.signed(self.signature_form)
        if self.output_format == "parquet" and not self.dry_run:
            check_parquet(self.output)
        if self.fresh and self.output is None:
            raise UsageError(
                "--fresh restarts an interrupted run that writes a file: give it with -o FILE"
            )

    def view(self, rows: Iterable[Segment]) -> View:
        """Return how results are shown; `rows` is iterated again for texts."""
        from monge.render import View

        def texts(system: str) -> Iterator[Segment]:
            return (row for row in rows if row.system == system)

        return View(
            version("monge"),
            self.segments or self.with_texts,
            texts if self.with_texts else None,
            options.signed(self.signature_form),
            today() if self.output_format == "html" else "",
        )


@dataclass(frozen=True)
class ScoreInputOptions(option_groups.TextFileOptions):
    """Options for tables, or parallel files."""

    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]",
            help="Instead of -t and -r: a TSV, CSV, JSONL, JSON or Parquet file with a text in "
            "each of its columns hypothesis, reference and source, and optional columns system and "
            "id. - is standard input. With --engine ray it may be a directory of parts, or several "
            "tables that follow each other.",
        ),
    ] = None
    table_format: TableFormat = None
    columns: Columns = None

    def local_input(self) -> InputOptions:
        """Return the input of a run in this process: one table, or parallel files."""
        if self.tables and len(self.tables) > 1:
            first, second, *_ = self.tables
            raise UsageError(
                f"{second} is a second table, and only --engine ray takes several; texts and "
                f"references are given by options: -t {first} -r {second}"
            )
        table = self.tables[0] if self.tables else None
        return InputOptions(
            self.hypotheses, self.references, self.source, table, self.table_format, self.columns
        )


@option_groups.flatten_options
def score(
    *,
    texts: ScoreInputOptions,
    choice: MetricOptions,
    setup: option_groups.SetupOptions,
    statistics: StatisticsOptions,
    output_options: ScoreOutputOptions,
    keep: option_groups.CacheOptions,
    scale: ScaleOptions,
) -> int:
    """Score generated texts against references, line by line, or the rows of a table."""
    if scale.on_ray:
        from monge.cli.scale import score_on_ray

        return score_on_ray(texts, choice, setup, statistics, output_options, keep, scale)
    output_options.check()
    chosen, files = choice.choose(setup, quiet=keep.quiet), texts.local_input()
    limits = output_options.fail_under
    thresholds = gate.parse_limits(limits, chosen) if limits else {}
    with stage("read", verbose=keep.verbose):
        rows = read_input(files, purpose="score", quiet=keep.quiet)
    if output_options.dry_run:
        from monge.cli.dryrun import write_forecast

        return write_forecast(rows, chosen, setup, files, statistics, output_options, keep)
    with stage("loaded the model", verbose=keep.verbose):
        if choice.signature:
            metrics, expected = choice.replay(setup)
        else:
            metrics, expected = setup.load(chosen, keep.folder), None
    corpora, names = statistics.corpora(), [metric.label for metric in chosen]
    with kept_scores(output_options.output, keep, fresh=output_options.fresh) as store:
        run = _PreparedRun(rows, metrics, names, corpora, expected, store, tolerant=scale.tolerant)
        results, scored_rows, usable = _score_and_write(run, output_options, keep)
    if not keep.quiet:
        _tell_notes(results, usable, verbose=keep.verbose)
        if texts.source is not None and setup.model_name == "auto" and sys.stderr.isatty():
            _suggest_tuned_model(metrics)
    return gate.judge(results, thresholds, scored_rows) if thresholds else 0


@dataclass(frozen=True)
class _PreparedRun:
    """What is scored: rows, metrics with their labels, statistics, and digests of a replay."""

    rows: Rows
    metrics: Sequence[api.Metric]
    labels: Sequence[str]
    corpora: api.Corpora
    expected: list[dict[str, str]] | None
    store: Store | None
    tolerant: bool


def _score_and_write(
    run: _PreparedRun, output_options: ScoreOutputOptions, keep: option_groups.CacheOptions
) -> tuple[list[Result], Iterable[Segment], list[api.Metric]]:
    """Score the rows with a progress bar, write the results; return them, the scored rows, and the
    metrics that could score.
    """
    with (
        stage("fitted, encoded and scored", verbose=keep.verbose),
        progress(quiet=keep.quiet) as (grow, advance),
    ):
        if grow is not None:
            grow(len(run.rows))
        stream = None
        if output_options.output_format == "jsonl" and output_options.output is None:
            stream = _stream(run.labels, texts=output_options.with_texts)
        results, scored = api.score_usable(
            run.metrics,
            run.rows,
            corpora=run.corpora,
            expect=run.expected,
            cache=run.store,
            watch=api.Watch(advance, stream),
            on_error="count" if run.tolerant else "fail",
            names=run.labels,
        )
    usable = list(map(run.metrics.__getitem__, scored))
    rows = _without_failed(run.rows, results) if run.tolerant else run.rows
    if output_options.interval:
        results = api.with_intervals(results, seed=output_options.seed)
    with stage("written", verbose=keep.verbose):
        if stream is not None:
            _stream_results(results, usable, output_options.view(rows))
        else:
            _emit(results, rows, output_options)
    return results, rows, usable


def _without_failed(rows: Rows, results: Sequence[Result]) -> Iterable[Segment]:
    """Return the rows that were scored: texts are matched to scores by position."""
    bad = {
        (result.system, failure["id"])
        for result in results
        for failure in result.run.get("failed", ())
    }
    return [row for row in rows if (row.system, row.id) not in bad] if bad else rows


def _stream(
    labels: Sequence[str], *, texts: bool
) -> Callable[[int, Sequence[Segment], Scores], None]:
    """Return a function that writes the segments of a window once a metric has scored them."""
    from monge.render.result_records import segment_line, text_fields

    def scored(k: int, rows: Sequence[Segment], scores: Scores) -> None:
        parts = {name: values.tolist() for name, values in scores.parts.items()}
        for i, row in enumerate(rows):
            line = {
                "id": row.id,
                "score": parts["score"][i],
                "parts": {name: values[i] for name, values in parts.items() if name != "score"},
                "best_reference": place_of(scores.winners[i]),
                "flags": list(scores.flags[i]),
                **(text_fields(row) if texts else {}),
            }
            sys.stdout.write(segment_line({"metric": labels[k], "system": row.system}, line) + "\n")
        sys.stdout.flush()

    return scored


def _emit(
    results: Sequence[Result],
    rows: Iterable[Segment],
    output_options: ScoreOutputOptions,
) -> None:
    """Write the results in the requested format and to the requested place."""
    from monge.render import render_results, results_text

    view = output_options.view(rows)
    if output_options.output_format == "parquet" and output_options.output is not None:
        write_parquet(results, output_options.output, version=view.version, texts=view.texts)
    elif output_options.output_format == "text" and output_options.output is None:
        sys.stdout.write(results_text(results, **terminal_layout(), view=view))
    else:
        emit(
            render_results(results, output_options.output_format, view=view), output_options.output
        )


def _suggest_tuned_model(metrics: Sequence[api.Metric]) -> None:
    """Tell that there is a model tuned on translations, where a metric compares vectors."""
    if any(isinstance(metric.asked, MetricSpec) for metric in metrics):
        tell(
            "for translations into English, --model mt agrees with people more than the plain model"
        )


def _stream_results(results: Sequence[Result], metrics: Sequence[api.Metric], view: View) -> None:
    """Write the results, and the segments of blends, which are final only at the end."""
    from monge.render.result_records import result_line, results_jsonl

    for k, result in enumerate(results):
        waited = "" not in metrics[k % len(metrics)].scorer.members
        lines = results_jsonl([result], view.texts) if waited else [result_line(result)]
        sys.stdout.writelines(line + "\n" for line in lines)


def _tell_notes(results: Sequence[Result], metrics: Sequence[api.Metric], *, verbose: bool) -> None:
    """Tell which texts were truncated, how much was encoded, and the error of human z scores."""
    cut = {
        result.system: result.run["truncated"] for result in results if result.run.get("truncated")
    }
    for system, count in cut.items():
        tell(
            f"{system or 'texts'}: {count} text(s) longer than the model reads were cut "
            "(--on-overlong window|error)"
        )
    work = next((result.work for result in results if result.work), None)
    if work and (verbose or sys.stderr.isatty()):
        tell(f"{work['texts']} texts, {work['encoded']} encoded ({work['pieces']} pieces)")
    for metric in metrics:
        if isinstance(metric.asked, MetricSpec) and metric.asked.scale.name == "human":
            tell(
                f"{metric.name}: in human z scores, off by {metric.human_error():.2f} (root mean "
                "square) on judgements held out in tuning"
            )
