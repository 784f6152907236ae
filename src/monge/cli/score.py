"""`monge score`: texts in, scores and signatures out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge import api
from monge.cli import bundles, options
from monge.cli.emit import check_output, emit, progress
from monge.data.lines import TextFile
from monge.data.parallel import Parallel, read_parallel
from monge.data.tables import Table, read_table
from monge.errors import UsageError
from monge.spec.presets import resolve
from monge.types import Result, Segment

if TYPE_CHECKING:
    from monge.scoring.pipeline import SegmentScore
    from monge.scoring.prepared import Prepared
    from monge.store import Store

FORMATS = ("text", "json", "jsonl", "tsv", "latex", "html")
TABLES = ("tsv", "csv", "jsonl", "parquet")


@bundles.flat
def score(
    *,
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="TSV, CSV, JSONL or Parquet with columns.")
    ] = None,
    table_format: Annotated[
        str | None,
        typer.Option("--table-format", metavar="|".join(TABLES), help="Of TABLE, where its name does not tell: of -."),
    ] = None,
    texts: bundles.Texts,
    metric: options.Metrics = None,
    setup: bundles.Setup,
    rule: Annotated[
        str | None,
        typer.Option("--references-rule", metavar="max|mean|first", help="Several references: which counts."),
    ] = None,
    overlong: options.Overlong = None,
    stats: options.Stats = None,
    idf_corpus: Annotated[
        str | None, typer.Option("--idf-corpus", metavar="FILE", help="Texts to fit idf from.")
    ] = None,
    signature: Annotated[
        list[str] | None,
        typer.Option("--signature", metavar="SIG", help="Replay a signature instead of naming a metric."),
    ] = None,
    refit: Annotated[bool, typer.Option("--refit", help="With --signature: accept statistics of other texts.")] = False,
    output_format: Annotated[str, options.formats(FORMATS)] = "text",
    output: options.Output = None,
    segments: Annotated[bool, typer.Option("--segments", help="Scores of every segment.")] = False,
    interval: Annotated[bool, typer.Option("--ci", help="Bootstrap interval of the score.")] = False,
    seed: options.Seed = 12345,
    rescale: options.Rescale = False,
    calibrate: options.Calibrate = None,
    fail_under: Annotated[
        float | None, typer.Option("--fail-under", metavar="X", help="Exit 1 if a score is worse than X.")
    ] = None,
    keep: bundles.Keep,
    resume: Annotated[bool, typer.Option("--resume", help="With -o: go on where an interrupted run stopped.")] = False,
) -> int:
    """Score hypotheses against references, line by line, or the rows of a table."""
    if fail_under is not None and isnan(fail_under):
        raise UsageError("--fail-under takes a number, got nan: a gate that nothing fails")
    check_output(output_format, FORMATS, output)
    changes = setup.changes(overlong)
    changes = (*((f"references={rule}",) if rule else ()), *options.scale(rescale, calibrate), *changes)
    if signature and metric:
        raise UsageError("--signature replays a metric: give it or -m, not both")
    for name in metric or ():
        resolve(name, changes, setup.lang)  # a wrong name or setting is known before a model is loaded
    rows = _rows(table, table_format, texts)
    expected: list[dict[str, str]] | None = None
    if signature:
        replayed = [
            api.replay(line, model=setup.model, device=setup.device, online=setup.online, settings=changes)
            for line in signature
        ]
        loaded = [one for one, _ in replayed]
        expected = [digests for _, digests in replayed]
    else:
        names = metric or [api.DEFAULT_METRIC]
        loaded = [setup.bind(*resolve(name, changes, setup.lang)) for name in names]
    with progress(show=not keep.quiet and sys.stderr.isatty()) as (grow, advance), _journal(output, resume) as journal:
        if grow is not None:
            grow(len(rows))
        streams = output_format == "jsonl" and output is None
        results = api.score_segments(
            loaded,
            rows,
            stats=api.load_stats(stats) if stats else None,
            idf_corpus=TextFile(idf_corpus) if idf_corpus else None,
            interval=interval,
            seed=seed,
            progress=advance,
            expect=None if refit else expected,
            cache=keep.folder or journal,
            on_window=_stream if streams else None,
        )
        if streams:
            _stream_results(results, loaded)
        else:
            _emit(results, output_format, output, segments=segments)
    if not keep.quiet:
        _notes(results)
    return _gate(results, fail_under)


class _SourceAsReference:
    """Segments whose source stands where the reference stood."""

    def __init__(self, rows: Parallel | Table) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Segment]:
        for row in self._rows:
            yield replace(row, references=(row.source or "",))


Rows = Parallel | Table | _SourceAsReference


def _rows(table: str | None, form: str | None, texts: bundles.Texts) -> Rows:
    if form is not None and table is None:
        raise UsageError("--table-format is for a table: give one (- is standard input)")
    if table is not None:
        if texts:
            raise UsageError(
                f"{table} stands alone, as a table would, beside -t, -r or -s: "
                "give a table or files, not both (several files: -t A -t B)"
            )
        found = read_table(table, format=form)
        first = next(iter(found))
        return found if first.references else _SourceAsReference(found)
    if not texts.hypotheses:
        raise UsageError("nothing to score: give -t HYPOTHESES and -r REFERENCES, or a table")
    if not texts.references and texts.source is None:
        raise UsageError("give -r REFERENCES, or -s SOURCE for a reference-free score")
    lines = read_parallel(texts.hypotheses, texts.references or (), texts.source)
    return lines if texts.references else _SourceAsReference(lines)


@contextmanager
def _journal(output: str | None, resume: bool) -> Iterator[Store | None]:
    """A directory beside the output that remembers the scores of a run until the output is written.

    A run that was interrupted leaves it; `--resume` goes on from it, otherwise it is begun anew.
    """
    from monge.store import Store

    if output is None:
        if resume:
            raise UsageError("--resume goes on with an output file: give it with -o FILE")
        yield None
        return
    folder = Path(f"{output}.partial")
    inside = list(folder.iterdir()) if folder.is_dir() else [folder] * folder.exists()
    foreign = next((path for path in inside if not path.name.startswith("monge-cache.sqlite")), None)
    if foreign is not None:
        raise UsageError(f"{foreign} is where an unfinished run would be kept: move it, or choose another -o FILE")
    if folder.exists() and not resume:
        shutil.rmtree(folder)
    journal = Store(folder, vectors=False)
    yield journal
    journal.close()
    shutil.rmtree(folder, ignore_errors=True)


def _stream(metrics: Sequence[Prepared], rows: Sequence[Segment], scores: list[list[SegmentScore]]) -> None:
    """Segment lines of a window as soon as it is done."""
    from monge.render.results import segment_line

    for metric, column in zip(metrics, scores, strict=True):
        for row, score in zip(rows, column, strict=True):
            parts = {name: value for name, value in score.parts.items() if name != "score"}
            line = {"id": row.id, "score": score.parts["score"], "parts": parts}
            line |= {"reference": score.winner, "flags": list(score.flags)}
            sys.stdout.write(segment_line({"metric": metric.name, "system": row.system}, line) + "\n")
    sys.stdout.flush()


def _stream_results(results: Sequence[Result], metrics: Sequence[api.Metric]) -> None:
    """Result lines at the end, and the segments of metrics that have no windows."""
    from monge.render.results import result_line, results_jsonl

    streamed = {metric.name for metric in metrics if metric.has_vectors}
    for result in results:
        lines = [result_line(result)] if result.metric in streamed else results_jsonl([result])
        sys.stdout.writelines(line + "\n" for line in lines)


def _emit(results: Sequence[Result], name: str, output: str | None, *, segments: bool) -> None:
    from monge.render import render_results, results_text

    if name == "text" and output is None and sys.stdout.isatty():
        sys.stdout.write(
            results_text(results, segments=segments, width=shutil.get_terminal_size().columns, colour=True)
        )
        return
    emit(render_results(results, name, version=version("monge"), segments=segments), output)


def _notes(results: Sequence[Result]) -> None:
    """What a user should know and would not look for: texts that were cut, and work that was saved."""
    cut = {one.system: one.run["truncated"] for one in results if one.run.get("truncated")}
    for system, count in cut.items():
        sys.stderr.write(
            f"monge: {system or 'texts'}: {count} text(s) longer than the model reads were cut "
            "(--on-overlong window|error)\n"
        )
    work = next((one.work for one in results if one.work), None)
    if work and sys.stderr.isatty():
        sys.stderr.write(f"monge: {work['texts']} texts, {work['encoded']} encoded ({work['pieces']} pieces)\n")


def _gate(results: Sequence[Result], least: float | None) -> int:
    if least is None:
        return 0
    failed = [one for one in results if (one.score < least if one.higher_is_better else one.score > least)]
    for one in failed:
        than = "below" if one.higher_is_better else "above"
        sys.stderr.write(f"monge: {one.metric} {one.system}: {one.score:.6f} is {than} {least}\n")
    return 1 if failed else 0
