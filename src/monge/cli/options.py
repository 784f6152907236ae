"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from monge.errors import UsageError

PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""How every command shows its help: plain text, -h or --help."""

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME", help="NAME, NAME@PROFILE or 'NAME[axis.field=value]'; repeatable."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="AXIS=VALUE", help="Change a part of every metric: AXIS=VALUE or AXIS.FIELD=VALUE."),
]
Layers = Annotated[str | None, typer.Option("--layers", metavar="CHOICE", help="Short for --set layers=CHOICE.")]
Lang = Annotated[str | None, typer.Option("--lang", metavar="CODE", help="Target language: en, de, zh …")]
Model = Annotated[str, typer.Option("--model", metavar="NAME|DIR", help="A model directory or name.")]
Online = Annotated[bool, typer.Option("--online", help="Allow fetching a named model from the hub.")]
Device = Annotated[str, typer.Option("--device", metavar="auto|cpu|cuda|mps", help="Where the model runs.")]
Precision = Annotated[str | None, typer.Option("--precision", metavar="fp32|bf16|int8", help="Numbers of the model.")]
Overlong = Annotated[
    str | None,
    typer.Option("--on-overlong", metavar="truncate|window|error", help="Texts longer than the model reads."),
]
Cache = Annotated[
    str | None,
    typer.Option("--cache", metavar="DIR", envvar="MONGE_CACHE", help="Keep vectors and scores here; off by default."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Use no cache, whatever MONGE_CACHE says.")]
Stats = Annotated[
    list[str] | None,
    typer.Option("--stats", metavar="FILE", help="Corpus statistics of `monge fit`; several of different kinds."),
]
Human = Annotated[str | None, typer.Option("--human", metavar="COLUMN", help="Human column.")]
Statistic = Annotated[str | None, typer.Option("--statistic", metavar="NAME", help="pearson, kendall …")]
Level = Annotated[str, typer.Option("--level", metavar="segment|system", help="What is judged.")]
Resamples = Annotated[int, typer.Option("--resamples", metavar="N", help="Bootstrap resamples.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the intervals.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the bootstrap.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of standard output.")
]
Rescale = Annotated[
    bool, typer.Option("--rescale", help="Short for --set scale=baseline: 0 is what random pairs get, fitted or known.")
]
Calibrate = Annotated[
    str | None, typer.Option("--calibrate", metavar="unit", help="Short for --set scale=unit: scores from 0 to 1.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes on standard error.")]


def changes(
    settings: list[str] | None, layers: str | None = None, precision: str | None = None, overlong: str | None = None
) -> tuple[str, ...]:
    """All changes of a command line as AXIS=VALUE texts, `--set` last."""
    short = {"layers": layers, "encoder.precision": precision, "encoder.overlong": overlong}
    return (*(f"{key}={value}" for key, value in short.items() if value is not None), *(settings or ()))


def scale(rescale: bool, calibrate: str | None) -> tuple[str, ...]:
    """The change that `--rescale` or `--calibrate` is short for."""
    if rescale and calibrate:
        raise UsageError("--rescale and --calibrate are two scales: give one")
    if calibrate not in (None, "unit"):
        raise UsageError(f"--calibrate takes unit, got {calibrate!r}")
    return ("scale=baseline",) if rescale else ("scale=unit",) if calibrate else ()


def formats(known: tuple[str, ...]) -> Any:
    """The option `--format` of a command that knows these."""
    return typer.Option("--format", "-f", metavar="|".join(known), envvar="MONGE_FORMAT", help="Output format.")


def chosen_format(name: str, known: tuple[str, ...]) -> str:
    """A known output format."""
    if name not in known:
        raise UsageError(f"--format takes {', '.join(known)}, got {name!r}")
    return name
