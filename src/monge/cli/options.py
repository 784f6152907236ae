"""Options that several commands share, and the groups in which help shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from monge.errors import UsageError

PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 120},
}
"""How every command shows its help: plain text, -h or --help."""

INPUT, MODEL, STATISTICS, OUTPUT = "Input", "Model and settings", "Statistics", "Output"
KEEPING, CLUSTER = "Keeping and going on", "Engine"
GROUPS = ("", INPUT, MODEL, STATISTICS, OUTPUT, KEEPING, CLUSTER)
"""The groups of options in the order in which help shows them; the everyday ones, without a name,
come first.
"""


Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        metavar="N",
        help="Use only N source segments of each group, drawn at random.",
        rich_help_panel=INPUT,
    ),
]


def metrics_option(default: str) -> Any:
    """Return the option `-m` of a command that takes several metrics."""
    return typer.Option(
        "--metric",
        "-m",
        metavar="NAME",
        help="A metric: NAME, NAME@PROFILE or 'NAME[axis.field=value]'; give it several times for "
        f"several. `monge metrics` lists them; {default} by default.",
    )


Metrics = Annotated[list[str] | None, metrics_option("twmd")]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        "-m",
        metavar="NAME",
        help="The metric: NAME, NAME@PROFILE or 'NAME[axis.field=value]'. `monge metrics` lists "
        "them.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SETTING=VALUE",
        help="Change a setting of every metric that has it, such as layers=3, "
        "transport.temperature=0.05 or, for chrf, beta=1; repeatable. `monge show NAME` lists the "
        "settings of a metric.",
        rich_help_panel=MODEL,
    ),
]
Layers = Annotated[
    str | None,
    typer.Option(
        "--layers",
        metavar="CHOICE",
        help="Which layers of the model give the vectors: a number, a fraction, last, or "
        "lastN:mean. Short for --set layers=CHOICE.",
        rich_help_panel=MODEL,
    ),
]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="CODE",
        help="The language of the scored texts, such as en, de or zh, for metrics whose settings "
        "depend on it.",
        rich_help_panel=MODEL,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME|DIR",
        help="The model that gives the vectors: a directory, a file of word vectors, or a name; "
        "auto is the embedded one, mt the same tuned on judgements of translations, broad on those "
        "of several kinds, fast a faster one.",
        rich_help_panel=MODEL,
    ),
]
Adapter = Annotated[
    str | None,
    typer.Option(
        "--adapter",
        metavar="mt|broad|fast|DIR",
        help="Put an adapter into the model: mt, which is there for all-MiniLM-L6-v2, e5-small and "
        "all-mpnet-base-v2; broad or fast, for the first; or a directory that monge tune made. "
        "Short for --model MODEL+ADAPTER.",
        rich_help_panel=MODEL,
    ),
]
Online = Annotated[
    bool,
    typer.Option(
        "--online",
        help="Fetch a model that is not on this machine from the hub.",
        rich_help_panel=MODEL,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device", metavar="auto|cpu|cuda|mps", help="Where the model runs.", rich_help_panel=MODEL
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="fp32|bf16|int8",
        help="The numbers that the model computes with: fp32 unless a metric says otherwise; the "
        "others are faster and less exact.",
        rich_help_panel=MODEL,
    ),
]
Overlong = Annotated[
    str | None,
    typer.Option(
        "--on-overlong",
        metavar="truncate|window|error",
        help="What to do with a text that is longer than the model reads: cut it (the default), "
        "read it in windows, or stop.",
        rich_help_panel=MODEL,
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        envvar="MONGE_CACHE",
        help="Keep vectors and scores in this directory and use them in later runs; without it "
        "nothing is kept.",
        rich_help_panel=KEEPING,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache", help="Use no cache, even if MONGE_CACHE names one.", rich_help_panel=KEEPING
    ),
]
Stats = Annotated[
    list[str] | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        help="Take idf, means or baselines from a file that `monge fit` wrote, instead of fitting "
        "them on the texts; repeatable for different kinds.",
        rich_help_panel=STATISTICS,
    ),
]
Human = Annotated[
    str | None,
    typer.Option(
        "--human",
        metavar="COLUMN",
        help="The column of human judgements; by default the data set's main one.",
        rich_help_panel=INPUT,
    ),
]
Statistic = Annotated[
    str | None,
    typer.Option(
        "--statistic",
        metavar="NAME",
        help="How agreement is measured: pearson, spearman, kendall …; by default what the data "
        "set was published with.",
        rich_help_panel=STATISTICS,
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        metavar="segment|system",
        help="Whether the judgements of segments or of whole systems are used.",
    ),
]
Resamples = Annotated[
    int,
    typer.Option(
        "--resamples",
        metavar="N",
        help="How many bootstrap resamples an interval takes.",
        rich_help_panel=STATISTICS,
    ),
]
Confidence = Annotated[
    float,
    typer.Option(
        "--confidence",
        metavar="X",
        help="The confidence of the intervals.",
        rich_help_panel=STATISTICS,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="The seed of everything that is drawn.",
        rich_help_panel=STATISTICS,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file instead of standard output; it is written whole or not at all.",
    ),
]
SignatureForm = Annotated[
    str,
    typer.Option(
        "--signature-form",
        metavar="short|long",
        help="How signatures are shown to people: short names the metric, what differs from its "
        "defaults, and digests; long spells everything out. Both can be replayed; JSON always has "
        "the long one.",
        rich_help_panel=OUTPUT,
    ),
]
Rescale = Annotated[
    bool,
    typer.Option(
        "--rescale",
        help="Scale scores so that random pairs get 0 and equal texts 1. Short for --set "
        "scale=baseline.",
        rich_help_panel=STATISTICS,
    ),
]
Calibrate = Annotated[
    str | None,
    typer.Option(
        "--calibrate",
        metavar="unit|human",
        help="Map scores to 0 … 1, 1 being best (unit), or to units of human z scores, with a "
        "model that was tuned on human scores, such as --model mt (human). Short for --set "
        "scale=unit|human.",
        rich_help_panel=STATISTICS,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show no progress and no notes.", rich_help_panel=OUTPUT),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say what was read and how long each stage took.",
        rich_help_panel=OUTPUT,
    ),
]


def formats(accepted: tuple[str, ...]) -> Any:
    """Return the option `--format` of a command that accepts these formats."""
    return typer.Option(
        "--format",
        "-f",
        metavar="|".join(accepted),
        envvar="MONGE_FORMAT",
        help="The format of the output.",
    )


def signed(form: str) -> Callable[[str], str]:
    """Return the function that writes a signature for people in the form of `--signature-form`."""
    if form not in ("short", "long"):
        raise UsageError(f"--signature-form takes short, long, got {form!r}")
    if form == "long":
        return str
    from monge.metrics.signature import shortened

    return shortened
