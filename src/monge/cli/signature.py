"""`monge signature parse|diff|from-bert-score`: contents and differences of signatures."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.help_pages import Verb, VerbGroup
from monge.cli.printing import write_listing
from monge.metrics.signature import difference, full, shortened
from monge.metrics.signature import parse as parse_signature
from monge.types.table import STUDY_FORMATS, Cell, Listing, Sheet, facts_sheet

app = typer.Typer(cls=VerbGroup, no_args_is_help=True, **options.PLAIN)
Format = Annotated[str, options.formats(STUDY_FORMATS)]
Line = Annotated[
    str, typer.Argument(metavar="SIGNATURE", help="A signature, long or short, in quotes.")
]


@app.command(cls=Verb)
def parse(signature: Line, output_format: Format = "text", output: options.Output = None) -> None:
    """Check a signature and print it, one setting per line, with its other form."""
    parsed, long, short = parse_signature(signature), full(signature), shortened(signature)
    fields = dict(long.fields)
    data = {
        "metric": parsed.metric,
        "fields": fields,
        "spec": parsed.spec.written(),
        "short": short,
        "long": str(long),
    }
    facts = {**fields, "in short": short, "in full": str(long)}
    write_listing(
        Listing(data, [facts_sheet("", facts, ("field", "value"))]), output_format, output
    )


@app.command(cls=Verb)
def diff(
    one: Line,
    other: Annotated[str, typer.Argument(metavar="SIGNATURE", help="Another, long or short.")],
    output_format: Format = "text",
    output: options.Output = None,
) -> None:
    """Print the settings in which two signatures differ; nothing where they are equal."""
    differences = difference(one, other)
    if output_format == "text" and output is None:  # long values read better one under another
        for key, first, second in differences:
            sys.stdout.write(f"{key}\n  - {first}\n  + {second}\n")
        return
    rows = tuple(tuple(map(Cell, values)) for values in differences)
    data = {key: [first, second] for key, first, second in differences}
    write_listing(
        Listing(data, [Sheet("", ("field", "first", "second"), rows, words_behind=2)]),
        output_format,
        output,
    )


@app.command("from-bert-score", cls=Verb)
def from_bert_score(
    line: Annotated[
        str,
        typer.Argument(metavar="HASH", help="What bert-score printed with its scores, in quotes."),
    ],
    output_format: Format = "text",
    output: options.Output = None,
) -> None:
    """Say which settings a hash of bert-score means, the command that computes the same, and what
    it does not tell.
    """
    from monge.compat.bert_score_hash import parse_hash

    parsed = parse_hash(line)
    data = {
        "metric": parsed.metric,
        "model": parsed.model,
        "command": parsed.command,
        "untold": parsed.untold,
    }
    facts = {**parsed.facts(), "command": parsed.command}
    facts |= {f"not told {k}": untold_setting for k, untold_setting in enumerate(parsed.untold, 1)}
    write_listing(
        Listing({**data, **parsed.facts()}, [facts_sheet("", facts, ("field", "value"))]),
        output_format,
        output,
    )
