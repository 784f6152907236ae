"""Make the reference pages from the code: verbs, settings, JSON, signature, metrics, endpoints.

    python tools/make_reference.py           # docs/reference/*.md, docs/metrics/*.md, docs/serve.md
    python tools/make_reference.py pictures  # docs/metrics/*.svg and docs/home.svg

The pictures show the same pair explained by every metric that can explain one. JSON and signature
come from runs of the embedded model on the bundled example.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reference_pages.endpoints import make_serve_page
from reference_pages.metrics import (
    GENERATED_NOTE,
    METRICS,
    PAIR,
    bare_names,
    draw_pictures,
    make_metric_page,
    make_metrics_page,
    make_table,
    page_name,
)
from repository import DOCS, PACKAGE, Pages, fill_block, write_pages

import monge
from monge.cli.app import VERBS, command_of, run
from monge.cli.help_pages import EXAMPLES
from monge.cli.options import GROUPS
from monge.datasets.catalogue import dataset_names, describe
from monge.datasets.columns import ROLES
from monge.metrics.axes import AXES
from monge.metrics.codec import LAYERS_ACCEPT, settable
from monge.metrics.lexical import LEXICAL

INPUT, REFERENCE, EXAMPLE = DOCS / "input.md", DOCS / "reference", PACKAGE / "example"


# --- public names

HOMES = {name: getattr(monge, name).__module__ for name in monge.__all__ if name != "__version__"}
"""The module of each public name."""


def make_python_page() -> str:
    """Return the page of every public name, which mkdocstrings fills from docstrings."""
    names = sorted(HOMES, key=lambda name: (name[0].isupper(), name.lower()))
    options = "    options:\n      show_root_full_path: false\n"
    parts = [
        "# Python reference\n",
        GENERATED_NOTE,
        "Every public name of `monge`, made from the docstrings; `help(monge.score)` shows the "
        "same. What may change from version to version: [policy](../policy.md). The examples run "
        "as tests.\n",
        *(f"::: {HOMES[name]}.{name}\n{options}" for name in names),
    ]
    return "\n".join(parts)


# --- verbs and options


def make_commands_page() -> str:
    """Return the page of every verb with its arguments and options."""
    parts = [
        "# Commands and options\n",
        GENERATED_NOTE,
        "`monge VERB --help` shows the same in a terminal, with examples. Results go to standard "
        "output, "
        "everything else to standard error.\n",
        make_table(
            ("verb", "what it does"),
            [(f"[`{verb}`](#monge-{verb})", summary) for verb, summary in VERBS.items()],
        ),
        "\n## Exit codes\n",
        make_table(
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
            parts += [
                _describe_verb(f"{verb} {name}", subcommand, "###")
                for name, subcommand in inner.items()
            ]
        else:
            parts.append(_describe_verb(verb, command, ""))
    return "\n".join(parts) + "\n"


def _describe_verb(name: str, command: Any, heading: str) -> str:
    """Return the examples, arguments and options of a verb."""
    parts = [f"{heading} monge {name}\n\n{_join_lines(command.help)}\n"] if heading else []
    parts += [f"```\n{line}\n```" for _, line in EXAMPLES.get(name, ())]
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    options = [
        parameter
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.hidden
    ]
    if arguments:
        rows = [
            (f"`{argument.metavar or argument.name.upper()}`", _join_lines(argument.help))
            for argument in arguments
        ]
        parts.append("\n" + make_table(("argument", ""), rows))
    for group in GROUPS:
        members = [
            option
            for option in options
            if (getattr(option, "rich_help_panel", None) or "") == group and option.name != "help"
        ]
        if members:
            parts.append(
                "\n"
                + make_table(
                    (group or "option", ""),
                    [(_show_names(option), _describe_option(option)) for option in members],
                )
            )
    return "\n".join(parts) + "\n"


def _show_names(option: Any) -> str:
    """Return the names of an option, with its placeholder."""
    metavar = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    return (
        " ".join(f"`{name}`" for name in option.opts[:-1])
        + (" " if len(option.opts) > 1 else "")
        + f"`{option.opts[-1]}{metavar}`"
    )


def _describe_option(option: Any) -> str:
    """Return what an option does, with its default and environment variable."""
    default = option.default
    plain = (
        isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != ""
    )
    sentences = [_join_lines(option.help)]
    sentences += [f"Default: `{default}`."] * plain
    sentences += [f"Environment: `{option.envvar}`."] * bool(option.envvar)
    return " ".join(sentences)


def _join_lines(text: str | None) -> str:
    """Return a help text on one line, safe for Markdown."""
    return " ".join((text or "").split()).replace("<", "&lt;")


# --- settings


def make_settings_page() -> str:
    """Return the page of every axis with its choices and fields, and of lexical options."""
    parts = [
        "# Settings\n",
        GENERATED_NOTE,
        "A metric of vectors is one choice on each of these axes. `monge show NAME` prints those "
        "of a metric; "
        "`--set AXIS=CHOICE` and `--set AXIS.FIELD=VALUE` change them for all metrics of a run, "
        "`-m 'NAME[axis.field=value]'` for one. What cannot go together is refused with the "
        "reason, and all of it is in the [signature](signature.md).\n",
    ]
    for axis, choices in AXES.items():
        parts.append(f"\n## {axis}\n")
        names_by_docstring: dict[str, list[str]] = {}
        for name, choice in choices.items():
            names_by_docstring.setdefault(_show_docstring(type(choice).__doc__), []).append(name)
        parts += [
            (f"**{', '.join(f'`{name}`' for name in names)}**: " if any(names) else "") + f"{doc}\n"
            for doc, names in names_by_docstring.items()
        ]
        names_by_field: dict[tuple[str, str, str], list[str]] = {}
        for name, choice in choices.items():
            for key, field_info in settable(choice).items():
                kind = field_info.metadata["kind"]
                names_by_field.setdefault(
                    (key, kind.accepts, kind.show(getattr(choice, key))), []
                ).append(name)
        rows = [
            (
                f"`{axis}.{key}`",
                ", ".join(f"`{name}`" for name in names if name),
                accepts,
                _show_value(default),
            )
            for (key, accepts, default), names in names_by_field.items()
        ]
        if axis == "layers":
            rows = [("`layers`", "", LAYERS_ACCEPT, "`auto`")]
        if rows:
            parts.append(make_table(("setting", "of", "takes", "default"), rows) + "\n")
    parts.append("\n## Options of lexical metrics\n")
    parts.append("Set in the same way: `-m 'chrf[beta=1]'`, `--set lowercase=yes`.\n")
    rows = [
        (f"`{name}`", f"`{key}`", kind.accepts, _show_value(kind.show(default)))
        for name, preset in LEXICAL.items()
        for key, (default, kind) in preset.options.items()
    ]
    parts.append(make_table(("metric", "option", "takes", "default"), rows))
    return "\n".join(parts) + "\n"


def _show_value(text: str) -> str:
    """Return a value as code, or "nothing"."""
    return f"`{text}`" if text else "nothing"


def _show_docstring(text: str | None) -> str:
    """Return a docstring on one line, with special tokens as code."""
    return " ".join((text or "").split()).replace("[UNK]", "`[UNK]`")


# --- data sets


def make_datasets_page() -> str:
    """Return the page of every data set that can be read."""
    rows = []
    for name in dataset_names():
        dataset = describe(name)
        humans = ", ".join(
            f"`{human}` ({about['statistic']})" for human, about in dataset.humans.items()
        )
        switches = ", ".join(f"`{key}={value}`" for key, value in dataset.switches.items())
        rows.append(
            (
                f"`{name}`",
                dataset.title,
                humans,
                dataset.groups,
                ", ".join(dataset.levels),
                switches,
                dataset.citation,
            )
        )
    return (
        "\n".join(
            [
                "# Data sets\n",
                GENERATED_NOTE,
                "What `monge evaluate`, `sweep`, `sensitivity`, `tune` and `reproduce` read. The "
                "data do not "
                "come with monge: "
                "`monge data NAME DIR` says which published files are wanted and which are there. "
                "Judgements of your own: `table` ([tutorial](../tutorials/own-judgements.md)).\n",
                make_table(
                    (
                        "name",
                        "what it is",
                        "human columns (statistic)",
                        "groups",
                        "levels",
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
KEY_MEANINGS = {
    "monge": "version of the package",
    "score": "the metric's own quantity, in its own direction",
    "higher_is_better": "direction of the score",
    "n": "number of segments, or of judgements",
    "parts": "further numbers of the score by name (precision, recall, f1 …)",
    "signature": "everything that moves the score, in one line",
    "run": "facts of the data: counts, nothing that moves a score",
    "segments": "one object a segment, in input order",
    "best_reference": "number of the reference that decided, from 1; null if several did",
    "schema": "version of this form",
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


def make_json_page() -> str:
    """Return the page of JSON objects, from real runs on the bundled example."""
    parts = [
        "# JSON\n",
        GENERATED_NOTE,
        "One object a run. The keys below are those of real runs on the bundled example; `[]` "
        "stands for the "
        "items of a "
        "list, `*` for names that depend on the input. `-f jsonl` writes one line a row, `-f tsv` "
        "the same as a table. A schema of `monge score -f json`: "
        "[score.schema.json](score.schema.json); what may change: [policy](../policy.md).\n",
    ]
    for verb, (options, arguments) in JSON_RUNS.items():
        output = json.loads(capture_output(arguments))
        rows = [
            (f"`{path}`", kind, KEY_MEANINGS.get(path.rpartition(".")[2].removesuffix("[]"), ""))
            for path, kind in list_keys(output)
        ]
        parts.append(f"\n## {verb} … {options}\n\n" + make_table(("key", "type", ""), rows))
    return "\n".join(parts) + "\n"


def capture_output(arguments: list[str]) -> str:
    """Return what a command prints on the bundled example and a small table of judgements."""
    with TemporaryDirectory() as folder:
        lines = {path.stem: path.read_text("utf-8").splitlines() for path in EXAMPLE.glob("*.txt")}
        rows = [
            f"{lines[f'system-{system}'][k]}\t{lines['reference'][k]}\t"
            f"{k % 5 + (system == 'a')}\t{system}\t{k + 1}"
            for system in "ab"
            for k in range(12)
        ]
        Path(folder, "judged.tsv").write_text(
            "hypothesis\treference\thuman\tsystem\tid\n" + "\n".join(rows) + "\n", "utf-8"
        )
        paths = {path.name: str(path) for path in EXAMPLE.glob("*.txt")} | {
            "judged.tsv": str(Path(folder, "judged.tsv"))
        }
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = run([paths.get(word, word) for word in arguments])
    if code:
        raise SystemExit(f"monge {' '.join(arguments)}: exit {code}")
    return output.getvalue()


KEYS_OF_INPUT = {
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


def list_keys(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key of a JSON object with its type; a list is described by its first item."""
    if isinstance(value, dict):
        free = path.rpartition(".")[2].removesuffix("[]") in KEYS_OF_INPUT
        for name, inner in list(value.items())[: 1 if free else None]:
            place = f"{path}.{'*' if free else name}".lstrip(".")
            yield place, _name_type(inner)
            yield from list_keys(inner, place)
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        yield from list_keys(value[0], f"{path}[]")


def _name_type(value: Any) -> str:
    """Return the JSON type of a value in words."""
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


FIELD_MEANINGS = {
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


def make_signature_page() -> str:
    """Return the page of every field of a signature, from a real one."""
    long = json.loads(capture_output(["score", *TEXTS, "-m", "moverscore", "-f", "json"]))[
        "results"
    ][0]["signature"]
    short = json.loads(capture_output(["signature", "parse", long, "-f", "json"]))["short"]
    fields = [part.partition(":")[::2] for part in long.split("|")]
    rows = [
        (
            f"`{key}`",
            FIELD_MEANINGS.get(key) or f"the axis [`{key}`](settings.md#{key})",
            _show_value(value),
        )
        for key, value in fields
    ]
    return (
        "\n".join(
            [
                "# Signature\n",
                GENERATED_NOTE,
                "Every score travels with a line that says all that moved it. The short form names "
                "what differs "
                "from the metric's "
                "row, with a digest of the whole; both replay (`monge score … --signature 'SIG'`; "
                "other weights or statistics are "
                "refused, exit 3), both can be compared (`monge signature diff A B`).\n",
                f"```\n{short}\n```\n",
                "The fields of the long form, of `moverscore` on the bundled example:\n",
                make_table(("field", "what it is", "here"), rows),
                "\nLexical metrics carry the signature of their library (`lib`, `nrefs`, `case`, "
                "`tok`, "
                "`version` …); a blend the "
                "fields of its members under their names, and one that was fitted on human scores "
                "`formula:linear` with the `weight`, `mean` and `deviation` of each; scores from a "
                "file `scores:NAME#DIGEST`.",
            ]
        )
        + "\n"
    )


# --- columns of tables


def make_columns_table() -> str:
    """Return the names by which columns of a table are found, by role."""
    rows = [
        (role, "; ".join(", ".join(f"`{name}`" for name in rank) for rank in ranks))
        for role, ranks in ROLES.items()
    ]
    lines = [f"| {role} | {names} |" for role, names in rows]
    head = "| role | column names, preferred ones first; semicolons separate ranks |\n|---|---|"
    return "\n".join([head, *lines])


def make_pages() -> Pages:
    """Return every page of the reference that needs no run of a model."""
    pages = {
        REFERENCE / "python.md": make_python_page(),
        REFERENCE / "commands.md": make_commands_page(),
        REFERENCE / "settings.md": make_settings_page(),
        REFERENCE / "data-sets.md": make_datasets_page(),
        DOCS / "serve.md": make_serve_page(),
        INPUT: fill_block(INPUT.read_text("utf-8"), "columns", make_columns_table()),
        METRICS / "index.md": make_metrics_page(),
        **{METRICS / page_name(name): make_metric_page(name) for name in bare_names()},
    }
    return {path: _join_blank_lines(text) for path, text in pages.items()}


def make_model_pages() -> Pages:
    """Return the pages made by runs of the embedded model: JSON and signature."""
    return {
        REFERENCE / "json.md": _join_blank_lines(make_json_page()),
        REFERENCE / "signature.md": _join_blank_lines(make_signature_page()),
    }


def _join_blank_lines(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text)


if __name__ == "__main__":
    if sys.argv[1:] == ["pictures"]:
        draw_pictures()
    else:
        write_pages({**make_pages(), **make_model_pages()})
