"""`monge score`: texts in, scores and signatures out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge import api
from monge.cli import bundles, options
from monge.cli.emit import check_output, emit, progress
from monge.cli.inputs import Input, read_input
from monge.data.lines import TextFile
from monge.errors import UsageError
from monge.spec.labels import labels
from monge.spec.presets import resolve
from monge.store import Store, opened
from monge.types import Result, Segment

if TYPE_CHECKING:
    from monge.scoring.scorer import Scores

FORMATS = ("text", "json", "jsonl", "tsv", "latex", "html")


@dataclass(frozen=True)
class Choice:
    """Which metrics: by name, with what is changed in all of them, or by signature."""

    metric: options.Metrics = None
    rule: Annotated[
        str | None,
        typer.Option("--references-rule", metavar="max|mean|first", help="Several references: which counts."),
    ] = None
    overlong: options.Overlong = None
    rescale: options.Rescale = False
    calibrate: options.Calibrate = None
    signature: Annotated[
        list[str] | None,
        typer.Option("--signature", metavar="SIG", help="Replay a signature instead of naming a metric."),
    ] = None
    refit: Annotated[bool, typer.Option("--refit", help="With --signature: accept statistics of other texts.")] = False

    def changes(self, setup: bundles.Setup) -> tuple[str, ...]:
        """What is changed in every metric, as AXIS=VALUE texts."""
        rule = (f"references={self.rule}",) if self.rule else ()
        return (*rule, *options.scale(self.rescale, self.calibrate), *setup.changes(self.overlong))

    def check(self, setup: bundles.Setup) -> None:
        """Raise where a name or setting is wrong, before a model is loaded."""
        if self.signature and self.metric:
            raise UsageError("--signature replays a metric: give it or -m, not both")
        for name in self.metric or ():
            resolve(name, self.changes(setup), setup.lang)

    def load(self, setup: bundles.Setup, cache: str | None) -> tuple[list[api.Metric], list[dict[str, str]] | None]:
        """The metrics with their models, and what each must find again where it is replayed; `cache` keeps vectors."""
        changes = self.changes(setup)
        if not self.signature:
            names = self.metric or [api.DEFAULT_METRIC]
            return [setup.bind(*resolve(name, changes, setup.lang), cache) for name in names], None
        replayed = [
            api.replay(line, model=setup.model, device=setup.device, online=setup.online, settings=changes)
            for line in self.signature
        ]
        return [one for one, _ in replayed], None if self.refit else [digests for _, digests in replayed]


@dataclass(frozen=True)
class Given:
    """Where statistics come from, other than the texts that are scored."""

    stats: options.Stats = None
    idf_corpus: Annotated[str | None, typer.Option("--idf-corpus", metavar="FILE", help="Texts to fit idf from.")] = (
        None
    )

    def corpora(self) -> api.Corpora:
        """The statistics and the corpus, opened."""
        return api.Corpora(
            api.load_stats(*self.stats) if self.stats else None,
            idf=TextFile(self.idf_corpus) if self.idf_corpus else None,
        )


@dataclass(frozen=True)
class Shown:
    """What is shown of the results, how, and where."""

    output_format: Annotated[str, options.formats(FORMATS)] = "text"
    output: options.Output = None
    segments: Annotated[bool, typer.Option("--segments", help="Scores of every segment.")] = False
    interval: Annotated[bool, typer.Option("--ci", help="Bootstrap interval of the score.")] = False
    seed: options.Seed = 12345
    fail_under: Annotated[
        float | None, typer.Option("--fail-under", metavar="X", help="Exit 1 if a score is worse than X.")
    ] = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="With -o: begin anew instead of going on where a run was interrupted.")
    ] = False

    def check(self) -> None:
        """Raise where the output could not be written, before anything is scored."""
        check_output(self.output_format, FORMATS, self.output)
        if self.fail_under is not None and isnan(self.fail_under):
            raise UsageError("--fail-under takes a number, got nan: a gate that nothing fails")
        if self.fresh and self.output is None:
            raise UsageError("--fresh is about an interrupted run that writes a file: give it with -o FILE")

    @property
    def streamed(self) -> bool:
        """Whether segments are written as soon as they are scored."""
        return self.output_format == "jsonl" and self.output is None


@bundles.flat
def score(
    *,
    texts: Input,
    choice: Choice,
    setup: bundles.Setup,
    given: Given,
    shown: Shown,
    keep: bundles.Keep,
) -> int:
    """Score hypotheses against references, line by line, or the rows of a table."""
    shown.check()
    choice.check(setup)
    rows = read_input(texts, purpose="score", quiet=keep.quiet)
    loaded, expected = choice.load(setup, keep.folder)
    with _kept_scores(shown, keep) as store:
        with progress(show=not keep.quiet and sys.stderr.isatty()) as (grow, advance):
            if grow is not None:
                grow(len(rows))
            stream = _stream(loaded) if shown.streamed else None
            watch = api.Watch(advance, stream)
            results = api.score_segments(
                loaded, rows, corpora=given.corpora(), expect=expected, cache=store, watch=watch
            )
        if shown.interval:
            results = api.with_intervals(results, seed=shown.seed)
        if shown.streamed:
            _stream_results(results, loaded)
        else:
            _emit(results, shown.output_format, shown.output, segments=shown.segments)
    if not keep.quiet:
        _notes(results)
    return _gate(results, shown.fail_under)


@contextmanager
def _kept_scores(shown: Shown, keep: bundles.Keep) -> Iterator[Store | None]:
    """What remembers scores while they are made: the cache, or a journal beside the output file.

    The journal is a directory that is gone when the output is written. An interrupted run leaves it, and the same
    command goes on from it: scores are found by what they depend on, so those of other settings do no harm.
    """
    if keep.folder is not None or shown.output is None:
        with opened(keep.folder) as store:
            yield store
        return
    folder = Path(f"{shown.output}.partial")
    try:
        inside = list(folder.iterdir()) if folder.is_dir() else [folder] * folder.exists()
    except OSError as error:
        raise UsageError(
            f"{folder} is where an unfinished run would be kept, and cannot be read ({error.strerror}): "
            "remove it, or choose another -o FILE"
        ) from None
    foreign = next((path for path in inside if not path.name.startswith("monge-cache.")), None)
    if foreign is not None:
        raise UsageError(f"{foreign} is where an unfinished run would be kept: move it, or choose another -o FILE")
    if folder.exists() and not shown.fresh and not keep.quiet:
        sys.stderr.write(f"monge: going on with what an interrupted run left in {folder} (--fresh begins anew)\n")
    journal = Store(folder, vectors=False)
    if shown.fresh:
        journal.clear()
    refused = journal.refusal()
    if refused:
        sys.stderr.write(f"monge: {folder}: {refused}, so scores are not kept on the way: begun again, all is scored\n")
    with closing(journal):
        try:
            yield journal
        except KeyboardInterrupt:
            if not refused:
                sys.stderr.write(f"monge: scores so far are kept in {folder}: the same command goes on from there\n")
            raise
        with suppress(UsageError):  # a journal that cannot be removed does no harm
            journal.clear()  # the output is written: nothing that still waits for a lock is needed
    shutil.rmtree(folder, ignore_errors=True)


def _stream(metrics: Sequence[api.Metric]) -> Callable[[int, Sequence[Segment], Scores], None]:
    """What writes the segments of a window as soon as a metric has scored them."""
    from monge.render.results import segment_line

    names = labels((metric.name, metric.asked) for metric in metrics)

    def scored(k: int, rows: Sequence[Segment], scores: Scores) -> None:
        parts = {name: values.tolist() for name, values in scores.parts.items()}
        for i, row in enumerate(rows):
            line = {
                "id": row.id,
                "score": parts["score"][i],
                "parts": {name: values[i] for name, values in parts.items() if name != "score"},
                "reference": int(scores.winners[i]),
                "flags": list(scores.flags[i]),
            }
            sys.stdout.write(segment_line({"metric": names[k], "system": row.system}, line) + "\n")
        sys.stdout.flush()

    return scored


def _stream_results(results: Sequence[Result], metrics: Sequence[api.Metric]) -> None:
    """Result lines at the end, with the segments of metrics that had to wait for the last one: blends."""
    from monge.render.results import result_line, results_jsonl

    for k, result in enumerate(results):
        waited = "" not in metrics[k % len(metrics)].scorer.members
        lines = results_jsonl([result]) if waited else [result_line(result)]
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
