"""Options that several commands share, and the groups in which help shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Annotated, Any

import typer

from monge.errors import UsageError
from monge.metrics.default import DEFAULT_METRIC

PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 120},
}
"""How every command shows its help: plain text, -h or --help."""

INPUT, MODEL, STATISTICS, OUTPUT = "Input", "Model and settings", "Statistics", "Output"
KEEPING, CLUSTER = "Cache and resuming", "Engine"
GROUPS = ("", INPUT, MODEL, STATISTICS, OUTPUT, KEEPING, CLUSTER)
"""The groups of options in the order in which help shows them; the everyday ones, without a name,
come first.
"""


def option(names: str, group: str = "", *, help: str, **more: Any) -> Any:  # noqa: A002
    """Return an option of a command; `names` are its flags and its placeholder: `--output -o FILE`.

    `group` is the one of `GROUPS` under which help shows it; `more` goes to `typer.Option`.
    """
    words = names.split()
    flags = [word for word in words if word.startswith("-")]
    metavar = next((word for word in words if word not in flags), None)
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=group or None, **more)


Sample = Annotated[
    int | None,
    option("--sample N", INPUT, help="Use only N source segments of each group, drawn at random."),
]


def split_metrics(texts: list[str] | None) -> list[str] | None:
    """Return the metrics of `-m A -m B` and of `-m A,B`; commas in brackets are part of a name."""
    if not texts:
        return texts
    names = [name.strip() for text in texts for name in re.split(r",(?![^\[]*\])", text)]
    if not all(names):
        raise UsageError(f"-m takes NAME or NAME,NAME,…; got {', '.join(map(repr, texts))}")
    return names


def metrics_option(default: str) -> Any:
    """Return the option `-m` of a command that takes several metrics."""
    return option(
        "--metric -m NAME",
        help="A metric: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or FILE.json of `monge tune "
        "blend`; several as -m A -m B or "
        f"-m A,B. `monge metrics` lists them; {default} by default.",
        callback=split_metrics,
    )


Metrics = Annotated[list[str] | None, metrics_option(DEFAULT_METRIC)]
Set = Annotated[
    list[str] | None,
    option(
        "--set SETTING=VALUE",
        MODEL,
        help="Change a setting of every metric that has it, such as layers=3, "
        "transport.temperature=0.05 or, for chrf, beta=1; repeatable. `monge show NAME` lists the "
        "settings of a metric.",
    ),
]
Layers = Annotated[
    str | None,
    option(
        "--layers CHOICE",
        MODEL,
        help="Which layers of the model give the vectors: a number, a fraction, last, or "
        "lastN:mean. Short for --set layers=CHOICE.",
    ),
]
Lang = Annotated[
    str | None,
    option(
        "--lang CODE",
        MODEL,
        help="The language of the scored texts, such as en, de or zh, for metrics whose settings "
        "depend on it.",
    ),
]
Model = Annotated[
    str,
    option(
        "--model NAME|DIR",
        MODEL,
        help="The model that gives the vectors: a directory, a file of word vectors, or a name, "
        "on the hub too (OWNER/NAME[@REVISION]); auto is the embedded one, people the same with "
        "the weights of the metric monge, mt tuned on judgements of translations, broad on those "
        "of several kinds, fast a faster one.",
    ),
]
Adapter = Annotated[
    str | None,
    option(
        "--adapter people|mt|broad|fast|DIR",
        MODEL,
        help="Put an adapter into the model: people, which is there for all-MiniLM-L6-v2, "
        "all-mpnet-base-v2 and multilingual-e5-small; mt, for the first two and e5-small; broad or "
        "fast, for the first; or a directory that monge tune made, or a hub name. "
        "Short for --model MODEL+ADAPTER.",
    ),
]
Online = Annotated[
    bool,
    option(
        "--online",
        MODEL,
        help="Fetch a model or adapter from the hub; without it, only its local cache is read.",
    ),
]
Device = Annotated[str, option("--device auto|cpu|cuda|mps", MODEL, help="Where the model runs.")]
Precision = Annotated[
    str | None,
    option(
        "--precision fp32|bf16|int8",
        MODEL,
        help="The numbers that the model computes with: fp32 unless a metric says otherwise; the "
        "others are faster and less exact.",
    ),
]
Overlong = Annotated[
    str | None,
    option(
        "--on-overlong truncate|window|error",
        MODEL,
        help="What to do with a text that is longer than the model reads: cut it (the default), "
        "read it in windows, or stop.",
    ),
]
Cache = Annotated[
    str | None,
    option(
        "--cache DIR",
        KEEPING,
        help="Keep vectors and scores in this directory and use them in later runs; without it "
        "nothing is kept.",
        envvar="MONGE_CACHE",
    ),
]
NoCache = Annotated[
    bool, option("--no-cache", KEEPING, help="Use no cache, even if MONGE_CACHE names one.")
]
Stats = Annotated[
    list[str] | None,
    option(
        "--stats FILE",
        STATISTICS,
        help="Take idf, means or baselines from a file that `monge fit` wrote, instead of fitting "
        "them on the texts; repeatable for different kinds.",
    ),
]
Human = Annotated[
    str | None,
    option(
        "--human COLUMN",
        INPUT,
        help="The column of human judgements; by default the data set's main one.",
    ),
]
Statistic = Annotated[
    str | None,
    option(
        "--statistic NAME",
        STATISTICS,
        help="How agreement is measured: pearson, spearman, kendall …; by default what the data "
        "set was published with.",
    ),
]
Level = Annotated[
    str,
    option(
        "--level segment|system|document|domain",
        help="What the judgements are of: segments, whole systems, documents, or systems in every "
        "domain; the data set tells which of them it has.",
    ),
]
Resamples = Annotated[
    int, option("--resamples N", STATISTICS, help="How many bootstrap resamples an interval takes.")
]
Confidence = Annotated[
    float, option("--confidence X", STATISTICS, help="The confidence of the intervals.")
]
Seed = Annotated[int, option("--seed N", STATISTICS, help="The seed of all random draws.")]
Output = Annotated[
    str | None,
    option(
        "--output -o FILE",
        help="Write to this file instead of standard output; it is written whole or not at all.",
    ),
]
SignatureForm = Annotated[
    str,
    option(
        "--signature-form short|long",
        OUTPUT,
        help="How signatures are shown to people: short names the metric, what differs from its "
        "defaults, and digests; long spells everything out. Both can be replayed; JSON always has "
        "the long one.",
    ),
]
Rescale = Annotated[
    bool,
    option(
        "--rescale",
        STATISTICS,
        help="Scale scores so that random pairs get 0 and equal texts 1. Short for --set "
        "scale=baseline.",
    ),
]
Calibrate = Annotated[
    str | None,
    option(
        "--calibrate unit|human",
        STATISTICS,
        help="Map scores to 0 … 1, 1 being best (unit), or to units of human z scores, with a "
        "model that was tuned on human scores, such as --model mt (human). Short for --set "
        "scale=unit|human.",
    ),
]


def fix_digits(context: typer.Context, digits: int | None) -> int | None:
    """Show numbers with so many decimals until the command ends."""
    if digits is not None:
        if not 0 <= digits <= MOST_DIGITS:
            raise UsageError(f"--digits takes a whole number from 0 to {MOST_DIGITS}, got {digits}")
        from monge.render.cells import fixed_digits

        context.with_resource(fixed_digits(digits))
    return digits


MOST_DIGITS = 15
"""The decimals that a number of double precision can have."""
Digits = Annotated[
    int | None,
    option(
        "--digits N",
        OUTPUT,
        help="Show scores, agreements and their intervals with N decimals; by default as many as "
        "the intervals support. JSON, JSON Lines, TSV and Parquet always have all digits.",
        callback=fix_digits,
    ),
]
TableColumns = Annotated[
    str | None,
    option(
        "--table-columns NAME,…",
        OUTPUT,
        help="Show only these columns of tables, by their titles, and the tables that have one of "
        "them. JSON always has everything.",
    ),
]
Quiet = Annotated[bool, option("--quiet -q", OUTPUT, help="Show no progress and no notes.")]
Verbose = Annotated[
    bool, option("--verbose -v", OUTPUT, help="Say what was read and how long each stage took.")
]


def split_names(text: str | None) -> list[str] | None:
    """Return the names of a text such as `a,b`; None without a text."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


FORMAT_ENDINGS = {".txt": "text", ".md": "markdown", ".tex": "latex", ".htm": "html"}
"""The endings of file names that are not the name of their format."""


def formats(accepted: tuple[str, ...]) -> Any:
    """Return the option `--format` of a command that accepts these formats.

    Where the format is not given, the ending of the name of `--output` decides, if it names an
    accepted format.
    """

    def choose(context: typer.Context, parameter: typer.CallbackParam, form: str) -> str:
        source = context.get_parameter_source(str(parameter.name))
        is_default = source is not None and source.name == "DEFAULT"
        ending = PurePath(context.params.get("output") or "").suffix.lower()
        chosen_format = FORMAT_ENDINGS.get(ending, ending.removeprefix("."))
        return chosen_format if chosen_format in accepted and is_default else form

    return option(
        f"--format -f {'|'.join(accepted)}",
        help="The format of the output; without it, the ending of -o FILE decides (.json, .tsv, "
        ".md, .tex, .html …).",
        envvar="MONGE_FORMAT",
        callback=choose,
    )


def signed(form: str) -> Callable[[str], str]:
    """Return the function that writes a signature for people in the form of `--signature-form`."""
    if form not in ("short", "long"):
        raise UsageError(f"--signature-form takes short, long, got {form!r}")
    if form == "long":
        return str
    from monge.metrics.signature import shortened

    return shortened
