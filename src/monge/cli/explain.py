"""`monge explain`: why a pair got its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from monge import api
from monge.cli import inputs, option_groups, options
from monge.cli.options import option
from monge.cli.printing import check_output, emit, terminal_layout
from monge.datasets.lines import is_there
from monge.errors import UsageError
from monge.types import Segment
from monge.types.explanation import EXPLANATION_FORMATS

FORMATS = (*EXPLANATION_FORMATS, "png")


@dataclass(frozen=True)
class ExplainInputOptions(option_groups.TextFileOptions):
    """Options for what is explained: texts, or a segment of a table or of files."""

    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HYPOTHESIS REFERENCE…|TABLE]",
            help="The generated text and the one it is compared with; of several references the "
            "best counts. With --id: a table that has them.",
        ),
    ] = None
    also: Annotated[
        list[str] | None,
        option(
            "--also TEXT",
            help="Another generated text, explained beside the first one; repeatable.",
        ),
    ] = None
    segment: Annotated[
        str | None,
        option(
            "--id ID",
            help="The segment of a table with this id, or this line of -t and -r, counted from 1.",
        ),
    ] = None
    table_format: inputs.TableFormat = None
    columns: inputs.Columns = None

    def rows(self, *, quiet: bool) -> list[Segment]:
        """Return the segments to explain."""
        texts, also = self.texts or [], self.also or []
        if self.segment is None:
            return _texts(texts, also, self)
        if also or len(texts) > 1:
            raise UsageError(
                "--id picks a segment of a table or of -t and -r files: leave it out to explain "
                "texts"
            )
        table = next(iter(texts), None)
        files = inputs.InputOptions(
            self.hypotheses, self.references, self.source, table, self.table_format, self.columns
        )
        return _pick_segments(
            list(inputs.read_input(files, purpose="explain", quiet=quiet)), self.segment
        )


@dataclass(frozen=True)
class ExplainOutputOptions:
    """Options for the output of an explanation."""

    every: Annotated[
        bool,
        option(
            "--all",
            options.OUTPUT,
            help="Show every word of long texts instead of the worst 20 (text format).",
        ),
    ] = False
    output_format: Annotated[str, options.formats(FORMATS)] = "text"
    output: options.Output = None
    signature_form: options.SignatureForm = "short"
    quiet: options.Quiet = False

    def check(self) -> None:
        """Raise where the explanation could not be written, before a model is loaded."""
        check_output(self.output_format, FORMATS, self.output)
        if self.output_format == "png":
            from monge.report import check_figures

            if self.output is None:
                raise UsageError("png is a picture, not text: say into which file with -o FILE.png")
            check_figures(Path(self.output).parent)

    def check_amount(self, hypotheses: int, metrics: int) -> None:
        """Raise where a picture, which shows one pair by one metric, would have to show more."""
        if hypotheses * metrics > 1 and self.output_format in ("svg", "png"):
            amount = f"{hypotheses} hypotheses" if hypotheses > 1 else f"{metrics} metrics"
            raise UsageError(
                f"{self.output_format} draws one pair by one metric, here are {amount}: use html, "
                "or ask for one"
            )


@option_groups.flatten_options
def explain(
    *,
    input_options: ExplainInputOptions,
    metric: options.Metrics = None,
    setup: option_groups.SetupOptions,
    stats: options.Stats = None,
    output_options: ExplainOutputOptions,
) -> None:
    """Explain the scores of pairs of texts."""
    output_options.check()
    signed = options.signed(output_options.signature_form)
    chosen = setup.choose(metric or [api.DEFAULT_METRIC], quiet=output_options.quiet)
    rows = input_options.rows(quiet=output_options.quiet)
    output_options.check_amount(len(rows), len(chosen))
    corpus_stats = api.load_stats(*stats) if stats else None
    explanations, names = [], []
    for loaded in setup.load(chosen):
        for k, row in enumerate(rows, 1):
            explanations.append(
                loaded.explain(row.hypothesis, _compared_texts(row, loaded), stats=corpus_stats)
            )
            names.append(row.system or f"hypothesis {k}")
    if output_options.output_format == "png":
        from monge.render.member_shares import check_has_plan
        from monge.report.picture import explanation_png

        check_has_plan(explanations[0], "png")
        explanation_png(explanations[0], str(output_options.output))
        return
    from monge.render import render_explanations

    text = render_explanations(
        explanations,
        names,
        output_options.output_format,
        every=output_options.every,
        signed=signed,
        **terminal_layout(output_options.output),
    )
    emit(text, output_options.output)


def _compared_texts(row: Segment, metric: api.Metric) -> tuple[str, ...]:
    """Return the source if the metric compares with it or no reference exists, else references."""
    source = () if row.source is None else (row.source,)
    return (
        source or row.references if metric.scorer.against == "source" else row.references or source
    )


def _texts(
    texts: Sequence[str], also: Sequence[str], files: option_groups.TextFileOptions
) -> list[Segment]:
    """Return the pairs of texts on the command line as segments."""
    if files:
        raise UsageError("-t, -r and -s are files: say which of their lines with --id N")
    if len(texts) == 1:
        file = is_there(texts[0])
        more = (
            "say which of its segments with --id ID"
            if file
            else "give the reference too: HYPOTHESIS REFERENCE"
        )
        raise UsageError(f"explain {texts[0][:60]!r}: {more}")
    if not texts:
        raise UsageError(
            "nothing to explain: give HYPOTHESIS and REFERENCE, or a table and --id ID"
        )
    hypothesis, *references = texts
    return [Segment("1", text, tuple(references)) for text in (hypothesis, *also)]


def _pick_segments(rows: Sequence[Segment], segment_id: str) -> list[Segment]:
    """Return the segments with an id; raise where there is none, or one system has two."""
    matching = [row for row in rows if row.id == segment_id]
    if not matching:
        ids = list(dict.fromkeys(row.id for row in rows))
        raise UsageError(
            f"--id {segment_id}: no such segment; there are {len(ids)}, from {ids[0]!r} to "
            f"{ids[-1]!r}"
        )
    systems = [row.system for row in matching]
    repeated = next((system for system in systems if systems.count(system) > 1), None)
    if repeated is not None:
        of_system = f" of {repeated}" if repeated else ""
        raise UsageError(
            f"--id {segment_id}: {systems.count(repeated)} segments{of_system} have this id; say "
            "what tells them apart: --columns id=COLUMN, or system=COLUMN"
        )
    return matching
