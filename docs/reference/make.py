"""Makes the reference of the documentation from the code: verbs, settings, JSON, signature,
metrics, endpoints.

    python docs/reference/make.py            # writes docs/reference/*.md, docs/metrics/*.md, docs/serve.md
    python docs/reference/make.py pictures   # docs/metrics/*.svg: the same pair explained by every metric that can

tests/docs/test_pages.py compares what this makes with what is written, so that the pages cannot go
stale.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from monge.cli.app import VERBS, command_of, run
from monge.cli.help_pages import EXAMPLES
from monge.cli.options import GROUPS
from monge.datasets.catalogue import dataset_names, describe
from monge.metrics.axes import AXES
from monge.metrics.codec import LAYERS_ACCEPT, settable
from monge.metrics.lexical import LEXICAL

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import http_pages  # noqa: E402
from metric_pages import (  # noqa: E402
    DOCS,
    MADE,
    METRICS,
    PAIR,
    bare,
    metric,
    metrics,
    page_name,
    pictures,
    table,
)

EXAMPLE = DOCS.parent / "src" / "monge" / "example"


# --- verbs and options
# -----------------------------------------------------------------------------------------------


def commands() -> str:
    """Every verb with its arguments and options."""
    parts = [
        "# Commands and options\n",
        MADE,
        "`monge VERB --help` shows the same in a terminal, with examples. Results go to standard "
        "output, "
        "everything else to "
        "standard error.\n",
        table(
            ("verb", "what it does"),
            [(f"[`{verb}`](#monge-{verb})", said) for verb, said in VERBS.items()],
        ),
        "\n## Exit codes\n",
        table(
            ("code", "meaning"),
            [
                ("0", "all that was asked is done"),
                ("1", "the content of your data: unreadable, misaligned, nothing to fit from"),
                ("2", "the command line: a wrong option, name or setting, a missing extra"),
                ("3", "a model, weights, signature or statistics file that does not fit"),
                ("4", "a score below `--fail-under`"),
                ("130", "interrupted"),
            ],
        ),
    ]
    for verb in VERBS:
        command = command_of(verb)
        inner = getattr(command, "commands", None)
        parts.append(f"\n## monge {verb}\n\n{VERBS[verb]}\n")
        if inner:
            parts += [_verb(f"{verb} {name}", one, "###") for name, one in inner.items()]
        else:
            parts.append(_verb(verb, command, ""))
    return "\n".join(parts) + "\n"


def _verb(name: str, command: Any, heading: str) -> str:
    parts = [f"{heading} monge {name}\n\n{_sentence(command.help)}\n"] if heading else []
    parts += [f"```\n{line}\n```" for _, line in EXAMPLES.get(name, ())]
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    if arguments:
        rows = [(f"`{one.metavar or one.name.upper()}`", _sentence(one.help)) for one in arguments]
        parts.append("\n" + table(("argument", ""), rows))
    for group in GROUPS:
        mine = [
            one
            for one in options
            if (getattr(one, "rich_help_panel", None) or "") == group and one.name != "help"
        ]
        if mine:
            parts.append(
                "\n"
                + table((group or "option", ""), [(_names(one), _explained(one)) for one in mine])
            )
    return "\n".join(parts) + "\n"


def _names(option: Any) -> str:
    metavar = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    return (
        " ".join(f"`{name}`" for name in option.opts[:-1])
        + (" " if len(option.opts) > 1 else "")
        + f"`{option.opts[-1]}{metavar}`"
    )


def _explained(option: Any) -> str:
    default = option.default
    plain = (
        isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != ""
    )
    said = [_sentence(option.help)]
    said += [f"Default: `{default}`."] * plain
    said += [f"Environment: `{option.envvar}`."] * bool(option.envvar)
    return " ".join(said)


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split()).replace("<", "&lt;")


# --- settings
# --------------------------------------------------------------------------------------------------------


def settings() -> str:
    """Every axis with its choices and their fields, and the options of lexical metrics."""
    parts = [
        "# Settings\n",
        MADE,
        "A metric of vectors is one choice on each of these axes. `monge show NAME` prints those "
        "of a metric; "
        "`--set AXIS=CHOICE` and `--set AXIS.FIELD=VALUE` change them for all metrics of a run, "
        "`-m 'NAME[axis.field=value]'` for one. What cannot go together is refused with the "
        "reason, and all of "
        "it is in "
        "the [signature](signature.md).\n",
    ]
    for axis, choices in AXES.items():
        parts.append(f"\n## {axis}\n")
        said: dict[str, list[str]] = {}
        for name, choice in choices.items():
            said.setdefault(_doc(type(choice).__doc__), []).append(name)
        parts += [
            (f"**{', '.join(f'`{name}`' for name in names)}**: " if any(names) else "") + f"{doc}\n"
            for doc, names in said.items()
        ]
        found: dict[tuple[str, str, str], list[str]] = {}
        for name, choice in choices.items():
            for key, one in settable(choice).items():
                kind = one.metadata["kind"]
                found.setdefault((key, kind.accepts, kind.show(getattr(choice, key))), []).append(
                    name
                )
        rows = [
            (
                f"`{axis}.{key}`",
                ", ".join(f"`{name}`" for name in names if name),
                accepts,
                _value(default),
            )
            for (key, accepts, default), names in found.items()
        ]
        if axis == "layers":
            rows = [("`layers`", "", LAYERS_ACCEPT, "`auto`")]
        if rows:
            parts.append(table(("setting", "of", "takes", "default"), rows) + "\n")
    parts.append("\n## Options of lexical metrics\n")
    parts.append("Set in the same way: `-m 'chrf[beta=1]'`, `--set lowercase=yes`.\n")
    rows = [
        (f"`{name}`", f"`{key}`", kind.accepts, _value(kind.show(default)))
        for name, preset in LEXICAL.items()
        for key, (default, kind) in preset.options.items()
    ]
    parts.append(table(("metric", "option", "takes", "default"), rows))
    return "\n".join(parts) + "\n"


def _value(text: str) -> str:
    return f"`{text}`" if text else "nothing"


def _doc(text: str | None) -> str:
    return " ".join((text or "").split()).replace("[UNK]", "`[UNK]`")


# --- data sets
# -------------------------------------------------------------------------------------------------------


def datasets() -> str:
    """Every data set that evaluate and its kin can read."""
    rows = []
    for name in dataset_names():
        one = describe(name)
        humans = ", ".join(
            f"`{human}` ({about['statistic']})" for human, about in one.humans.items()
        )
        switches = ", ".join(f"`{key}={value}`" for key, value in one.switches.items())
        rows.append((f"`{name}`", one.title, humans, one.groups, switches, one.citation))
    return (
        "\n".join(
            [
                "# Data sets\n",
                MADE,
                "What `monge evaluate`, `sweep`, `sensitivity`, `tune` and `reproduce` read. The "
                "data do not "
                "come with monge: "
                "`monge data NAME DIR` says which published files are wanted and which are there. "
                "Judgements of "
                "your own: "
                "`table` ([tutorial](../tutorials/own-judgements.md)).\n",
                table(
                    (
                        "name",
                        "what it is",
                        "human columns (statistic)",
                        "groups",
                        "switches and defaults",
                        "cite",
                    ),
                    rows,
                ),
            ]
        )
        + "\n"
    )


# --- JSON and signature, from real runs
# ------------------------------------------------------------------------------

TEXTS = ["-t", "system-a.txt", "-t", "system-b.txt", "-r", "reference.txt"]
JSON_RUNS: Mapping[str, tuple[str, list[str]]] = {
    "monge score": (
        "-f json --segments",
        ["score", *TEXTS, "-m", "bertscore", "--ci", "--segments", "-f", "json"],
    ),
    "monge compare": (
        "-f json",
        ["compare", *TEXTS, "-m", "chrf", "-f", "json", "--resamples", "50"],
    ),
    "monge evaluate": (
        "-f json",
        [
            "evaluate",
            "table",
            "--data",
            "judged.tsv",
            "-m",
            "chrf",
            "-m",
            "ter",
            "-f",
            "json",
            "--resamples",
            "50",
        ],
    ),
    "monge explain": (
        "-f json",
        ["explain", *PAIR, "-m", "moverscore[weights=uniform]", "-f", "json"],
    ),
    "monge recommend": (
        "--task captions -f json",
        ["recommend", "--task", "captions", "-f", "json"],
    ),
    "monge show": ("-f json", ["show", "twmd", "-f", "json"]),
}
MEANS = {
    "monge": "version of the package",
    "score": "the metric's own quantity, in its own direction",
    "higher_is_better": "direction of the score",
    "n": "number of segments, or of judgements",
    "parts": "further numbers of the score by name (precision, recall, f1 …)",
    "signature": "everything that moves the score, in one line",
    "run": "facts of the data: counts, nothing that moves a score",
    "segments": "one object a segment, in input order",
    "reference": "index of the reference that won",
    "flags": "what was unusual, in words",
    "ci": "bootstrap interval",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "id": "the segment's name: its line, or the id of the table",
    "system": "the system's name: that of its file, or of the table",
    "value": "agreement with people",
    "mean": "over groups",
    "excluded": "what was left out, counted by reason",
}


def formats() -> str:
    """The JSON objects as real runs on the bundled example print them."""
    parts = [
        "# JSON\n",
        MADE,
        "One object a run. The keys below are those of real runs on the bundled example; `[]` "
        "stands for the "
        "items of a "
        "list, `*` for names that depend on the input. `-f jsonl` writes one line a row, `-f tsv` "
        "the same as a "
        "table.\n",
    ]
    for verb, (shown, arguments) in JSON_RUNS.items():
        found = json.loads(printed(arguments))
        rows = [
            (f"`{path}`", kind, MEANS.get(path.rpartition(".")[2].removesuffix("[]"), ""))
            for path, kind in keys(found)
        ]
        parts.append(f"\n## {verb} … {shown}\n\n" + table(("key", "type", ""), rows))
    return "\n".join(parts) + "\n"


def printed(arguments: list[str]) -> str:
    """What the command prints on the bundled example, with a small table of judgements beside
    it.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        lines = {path.stem: path.read_text("utf-8").splitlines() for path in EXAMPLE.glob("*.txt")}
        rows = [
            f"{lines[f'system-{which}'][k]}\t{lines['reference'][k]}\t{k % 5 + (which == 'a')}\t{which}\t{k + 1}"
            for which in "ab"
            for k in range(12)
        ]
        Path(folder, "judged.tsv").write_text(
            "hypothesis\treference\thuman\tsystem\tid\n" + "\n".join(rows) + "\n", "utf-8"
        )
        there = {path.name: str(path) for path in EXAMPLE.glob("*.txt")} | {
            "judged.tsv": str(Path(folder, "judged.tsv"))
        }
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(io.StringIO()):
            code = run([there.get(word, word) for word in arguments])
    if code:
        raise SystemExit(f"monge {' '.join(arguments)}: exit {code}")
    return heard.getvalue()


FREE = {
    "groups",
    "agreement",
    "switches",
    "best",
    "tied",
    "tests",
    "p_values",
    "flagged",
    "excluded",
    "clusters",
}
"""Keys below which the names depend on the input."""


def keys(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a JSON object with its type, in order; lists by their first item."""
    if isinstance(value, dict):
        free = path.rpartition(".")[2].removesuffix("[]") in FREE
        for name, inner in list(value.items())[: 1 if free else None]:
            here = f"{path}.{'*' if free else name}".lstrip(".")
            yield here, _type(inner)
            yield from keys(inner, here)
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        yield from keys(value[0], f"{path}[]")


def _type(value: Any) -> str:
    names = {
        dict: "object",
        list: "list",
        str: "text",
        bool: "yes or no",
        int: "number",
        float: "number",
        type(None): "null",
    }
    return names[type(value)]


SIGNED = {
    "metric": "NAME or NAME@PROFILE",
    "model": "name, and the first 8 hex digits of the SHA-256 of its weights",
    "tokenizer": "digest of all files of the tokenizer",
    "config": "digest of the model's configuration",
    "precision": "fp32, bf16 or int8",
    "length": "pieces that the model reads at most",
    "overlong": "what becomes of longer texts",
    "prefix": "what is put before each text",
    "unknown": "static vectors: what becomes of a word without one",
    "nrefs": "how many references a segment has, or `var`; a replay may have others",
    "stats": "digests of fitted statistics: idf, means, ranges, maps; `none` where the metric fits "
    "none",
    "monge": "version that made the score; moves nothing by itself",
}


def signature() -> str:
    """Every field of a signature, from a real one."""
    found = json.loads(printed(["score", *TEXTS, "-m", "moverscore", "-f", "json"]))["results"][0][
        "signature"
    ]
    short = json.loads(printed(["signature", "parse", found, "-f", "json"]))["short"]
    fields = [part.partition(":")[::2] for part in found.split("|")]
    rows = [
        (f"`{key}`", SIGNED.get(key) or f"the axis [`{key}`](settings.md#{key})", _value(value))
        for key, value in fields
    ]
    return (
        "\n".join(
            [
                "# Signature\n",
                MADE,
                "Every score travels with a line that says all that moved it. The short form names "
                "what differs "
                "from the metric's "
                "row, with a digest of the whole; both replay (`monge score … --signature 'SIG'`; "
                "other weights "
                "or statistics are "
                "refused, exit 3), both can be compared (`monge signature diff A B`).\n",
                f"```\n{short}\n```\n",
                "The fields of the long form, of `moverscore` on the bundled example:\n",
                table(("field", "what it is", "here"), rows),
                "\nLexical metrics carry the signature of their library (`lib`, `nrefs`, `case`, "
                "`tok`, "
                "`version` …); a blend the "
                "fields of its members under their names; scores from a file `scores:NAME#DIGEST`.",
            ]
        )
        + "\n"
    )


PAGES: Mapping[Path, Callable[[], str]] = {
    HERE / "commands.md": commands,
    HERE / "settings.md": settings,
    HERE / "data-sets.md": datasets,
    HERE / "json.md": formats,
    HERE / "signature.md": signature,
    http_pages.PAGE: http_pages.serve_page,
    METRICS / "index.md": metrics,
    **{METRICS / page_name(name): (lambda name=name: metric(name)) for name in bare()},
}


def main() -> None:
    """Write every page."""
    if sys.argv[1:] == ["pictures"]:
        pictures()
        return
    for place, made in PAGES.items():
        place.write_text(re.sub(r"\n{3,}", "\n\n", made()), encoding="utf-8")


if __name__ == "__main__":
    main()
