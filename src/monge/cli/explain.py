"""`monge explain`: why a pair got its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from monge import api
from monge.cli import bundles, inputs, options
from monge.cli.emit import check_output, coloured, emit, terminal_width
from monge.data.lines import is_there
from monge.errors import UsageError
from monge.spec.presets import fitting, resolve
from monge.types import Segment
from monge.types.explanation import EXPLANATION_FORMATS

FORMATS = (*EXPLANATION_FORMATS, "png")


@dataclass(frozen=True)
class Asked(bundles.Texts):
    """What is explained: texts on the command line, or a segment of a table or of files."""

    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HYPOTHESIS REFERENCE…|TABLE]",
            help="The generated text and the one it is compared with; of several references the best counts. With "
            "--id: a table that has them.",
        ),
    ] = None
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also", metavar="TEXT", help="Another generated text, explained beside the first one; repeatable."
        ),
    ] = None
    segment: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The segment of a table with this id, or this line of -t and -r, counted from 1."
        ),
    ] = None
    table_format: inputs.TableFormat = None
    columns: inputs.Columns = None

    def rows(self, *, quiet: bool) -> list[Segment]:
        """The segments to explain, side by side."""
        texts, also = self.texts or [], self.also or []
        if self.segment is None:
            return _texts(texts, also, self)
        if also or len(texts) > 1:
            raise UsageError("--id picks a segment of a table or of -t and -r files; texts of their own go without it")
        files = {one.name: getattr(self, one.name) for one in fields(bundles.Texts)}
        table = next(iter(texts), None)
        given = inputs.Input(**files, table=table, table_format=self.table_format, columns=self.columns)
        return _picked(list(inputs.read_input(given, purpose="explain", quiet=quiet)), self.segment)


@dataclass(frozen=True)
class Shown:
    """What is shown of an explanation, how, and where."""

    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Show every word of long texts instead of the worst 20 (text format).",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False
    output_format: Annotated[str, options.formats(FORMATS)] = "text"
    output: options.Output = None
    signature_form: options.SignatureForm = "short"
    quiet: options.Quiet = False


@bundles.flat
def explain(
    *,
    asked: Asked,
    metric: options.Metrics = None,
    setup: bundles.Setup,
    stats: options.Stats = None,
    shown: Shown,
) -> None:
    """Show why a pair of texts gets its score: which words were matched, at what cost, and each word's share."""
    check_output(shown.output_format, FORMATS, shown.output)
    if shown.output_format == "png":
        from monge.report import check_figures

        if shown.output is None:
            raise UsageError("png is a picture, not text: say into which file with -o FILE.png")
        check_figures(Path(shown.output).parent)
    signed = options.signed(shown.signature_form)
    asked_for = metric or [api.DEFAULT_METRIC]
    setup.checked(asked_for, quiet=shown.quiet)
    changes = setup.changes()
    specs = [resolve(one, fitting(one, changes) if len(asked_for) > 1 else changes, setup.lang) for one in asked_for]
    rows = asked.rows(quiet=shown.quiet)
    if len(rows) * len(specs) > 1 and shown.output_format in ("svg", "png"):
        what = f"{len(rows)} hypotheses" if len(rows) > 1 else f"{len(specs)} metrics"
        raise UsageError(f"{shown.output_format} draws one pair by one metric, here are {what}: take html, or one")
    known = api.load_stats(*stats) if stats else None
    found, names = [], []
    for name, spec in specs:
        loaded = setup.bind(name, spec)
        for k, one in enumerate(rows, 1):
            found.append(loaded.explain(one.hypothesis, _compared(one, loaded), stats=known))
            names.append(one.system or f"hypothesis {k}")
    if shown.output_format == "png":
        from monge.report.picture import explanation_png

        explanation_png(found[0], str(shown.output))
        return
    from monge.render import render_explanations

    text = render_explanations(
        found,
        names,
        shown.output_format,
        every=shown.every,
        signed=signed,
        colour=coloured(shown.output),
        width=terminal_width(shown.output),
    )
    emit(text, shown.output)


def _compared(row: Segment, metric: api.Metric) -> tuple[str, ...]:
    """What the hypothesis is compared with: the source, for a metric that faces it or where there is no reference."""
    source = () if row.source is None else (row.source,)
    return source or row.references if metric.scorer.against == "source" else row.references or source


def _texts(texts: Sequence[str], also: Sequence[str], files: bundles.Texts) -> list[Segment]:
    """The pairs of texts on the command line."""
    if files:
        raise UsageError("-t, -r and -s are files: say which of their lines with --id N")
    if len(texts) == 1:
        file = is_there(texts[0])
        more = "say which of its segments with --id ID" if file else "give the reference too: HYPOTHESIS REFERENCE"
        raise UsageError(f"explain {texts[0][:60]!r}: {more}")
    if not texts:
        raise UsageError("nothing to explain: give HYPOTHESIS and REFERENCE, or a table and --id ID")
    hypothesis, *references = texts
    return [Segment("1", one, tuple(references)) for one in (hypothesis, *also)]


def _picked(rows: Sequence[Segment], wanted: str) -> list[Segment]:
    """The segments with an id, of every system; raises where there is none, or one system has two."""
    found = [row for row in rows if row.id == wanted]
    if not found:
        ids = list(dict.fromkeys(row.id for row in rows))
        raise UsageError(f"--id {wanted}: no such segment; there are {len(ids)}, from {ids[0]!r} to {ids[-1]!r}")
    systems = [row.system for row in found]
    twice = next((one for one in systems if systems.count(one) > 1), None)
    if twice is not None:
        where = f" of {twice}" if twice else ""
        raise UsageError(
            f"--id {wanted}: {systems.count(twice)} segments{where} have this id; say what tells them apart: "
            "--columns id=COLUMN, or system=COLUMN"
        )
    return found
