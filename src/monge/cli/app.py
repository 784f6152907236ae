"""The verbs of the command `monge`; errors become one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from monge.cli import options, threads
from monge.errors import LeftOut, ModelError, MongeError, Notice, NotKept, UsageError, in_command

VERBS = {
    "score": "Score generated texts against references, line by line, or the rows of a table.",
    "explain": "Show why a pair of texts gets its score: which words were matched, at what cost, "
    "and each word's share.",
    "fit": "Fit word weights (idf) or mean vectors on a corpus once, to score with them later: "
    "`--stats FILE`.",
    "compare": "Tell which system is better, and whether that is more than chance: intervals, "
    "paired tests, clusters.",
    "report": "Make one file that shows everything about some systems: ranking, differences, "
    "distributions, every segment.",
    "evaluate": "Measure how well metrics agree with human judgements, and test which of them "
    "agrees best.",
    "recommend": "Say which metric to take: agreement with people and cost, from results kept in "
    "this package.",
    "submit": "Score every system of a WMT test set and write the files that the metrics task "
    "takes.",
    "sweep": "Try many values of a setting against human judgements, choose the best, and check it "
    "on other data.",
    "sensitivity": "Measure how much preprocessing changes the agreement of metrics with human "
    "judgements, and whether the best setting is more than noise.",
    "probe": "Put controlled errors into good texts, and tell which of them metrics see: numbers, "
    "negations, names, typos and many more.",
    "tune": "Tune a model on human judgements through a metric; the result is a small adapter "
    "beside the model. Or fit the weights of a blend of metrics.",
    "adapter": "Exchange adapters with the library peft: write them as a LoRA directory, or make "
    "them of such a directory.",
    "reproduce": "Compute a published table again: what was reported, what comes out here, and "
    "what still holds.",
    "analyse": "Describe the word vectors of a model, layer by layer: how alike are random words, "
    "and a word with itself.",
    "data": "List the published data sets, the files each needs, and which of them are in a "
    "directory.",
    "example": "Write the bundled example into a directory: two systems, references, sources, "
    "judgements to try with.",
    "metrics": "List every metric and profile.",
    "show": "Show every setting of a metric and the range of its scores, or the card of a model: "
    "what it learned from, and licences.",
    "selfcheck": "Check that this installation gives the scores it should: every metric on the "
    "bundled example.",
    "check-metric": "Check a metric of your own: the same scores again, in any order and batch, "
    "for empty texts too, and in the right direction.",
    "signature": "Show what a signature says, or in what two of them differ.",
    "cache": "Look at a cache directory, or empty it.",
    "serve": "Serve scores over HTTP, with a page that shows why a text got its score.",
    "mcp": "Answer agents by the Model Context Protocol over stdin and stdout: score, compare, "
    "explain, recommend.",
    "completion": "Complete verbs, options and metric names in your shell.",
}
"""Verb -> what it does, in one line. The module of a verb is imported when the verb is called."""
_HOMES = {"metrics": "catalogue", "show": "catalogue", "check-metric": "check_metric"}
"""Verbs whose module of `monge.cli` has another name."""


class Verbs(TyperGroup):
    """The group of all verbs; only the one that is called is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # names alone, among which the nearest to a wrong one is found
        self.commands: Any = dict.fromkeys(VERBS)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the command of a verb, or of a module with verbs of its own."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"monge.cli.{_HOMES.get(cmd_name, cmd_name)}")
        if hasattr(module, "app"):
            command: Any = typer.main.get_command(module.app)
        else:
            from monge.cli.help_pages import Verb

            alone = typer.Typer(**options.PLAIN)
            alone.command(cmd_name, cls=Verb)(getattr(module, cmd_name.replace("-", "_")))
            command = typer.main.get_command(alone)
        command.help = VERBS[cmd_name]
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the table of verbs."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


app = typer.Typer(
    name="monge",
    cls=Verbs,
    help="Evaluate generated text by optimal transport, and get the same number tomorrow.",
    no_args_is_help=True,
    **options.PLAIN,
)


def command_of(verb: str) -> Any:
    """Return the command of a verb."""
    return Verbs().get_command(None, verb)


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.")
    ] = False,
) -> None:
    if show_version:
        from importlib.metadata import version

        typer.echo(f"monge {version('monge')}")
        raise typer.Exit


_OUTPUT = ("-o", "--output")


def _check_output_is_no_input(arguments: list[str]) -> None:
    """Raise where the file to write is also one that is read: it would be overwritten."""
    outputs, other_arguments = [], []
    after = ""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if after in _OUTPUT:
            outputs.append(argument)
        elif name in _OUTPUT and equals:
            outputs.append(value)
        elif argument.startswith("-o") and not argument.startswith("--") and len(argument) > 2:
            outputs.append(argument[2:])
        else:
            other_arguments += [argument, value] if equals else [argument]
        after = "" if after in _OUTPUT else argument
    for output in outputs:
        for argument_path in other_arguments:
            with contextlib.suppress(OSError, ValueError):
                if Path(output).is_file() and Path(output).samefile(argument_path):
                    raise UsageError(
                        f"-o {output}: this file is also read ({argument_path}); writing would "
                        "destroy it"
                    )


def run(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code. Messages go to standard error, one line each."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):  # the same bytes whatever the locale
            stream.reconfigure(encoding="utf-8", errors=errors)
    threads.choose()
    with in_command():
        return _run_command(list(sys.argv[1:] if arguments is None else arguments))


def _run_command(command_line: list[str]) -> int:
    try:
        # not app(): its own handling of a closed pipe and of Ctrl-C hides both from us
        command = typer.main.get_command(app)
        _check_output_is_no_input(command_line)
        with warnings.catch_warnings(), command.make_context("monge", command_line) as context:
            warnings.simplefilter("default", Notice)  # each sentence once
            warnings.simplefilter("always", NotKept)
            left_out: list[str] = []
            warnings.showwarning = partial(_show_warning, left_out)
            code = command.invoke(context)
        sys.stdout.flush()
        return (code if isinstance(code, int) else 0) or (ModelError.exit_code if left_out else 0)
    except MongeError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", 130)
    except typer.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        with contextlib.suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _REFUSED as error:
        return _report_refusal(error)


# recent typer brings a click of its own: what its parser raises is found through what it exports
_REFUSED: type[Exception] = typer.BadParameter.__mro__[2]


def _report_refusal(error: Any) -> int:
    """Report a command line that the parser rejects; without a verb, show the help."""
    command_path = error.ctx.command_path if getattr(error, "ctx", None) else "monge"
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(error.format_message() + "\n")
        return 2
    return _fail(
        f"{error.format_message()}{_hint_at_table(error, command_path)} (see {command_path} "
        "--help)",
        2,
    )


def _hint_at_table(error: Any, command_path: str) -> str:
    """Return a hint where a table is given in the place of a data set's name."""
    dataset = getattr(getattr(error, "ctx", None), "params", {}).get("dataset")
    lacks_data = getattr(getattr(error, "param", None), "name", "") == "data"
    if not lacks_data or not dataset or not Path(dataset).is_file():
        return ""
    return f" For a table of your own: {command_path} table --data {dataset}"


def _show_warning(
    left_out: list[str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: Any,
    **__: Any,
) -> None:
    """Show a notice as one line; show other warnings, which are for developers, as Python does.

    `left_out` collects the notices of metrics that could not score: the command then fails.
    """
    if issubclass(category, LeftOut):
        left_out.append(str(message))
    if issubclass(category, Notice):
        _fail(str(message), 0)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"monge: {' '.join(message.split())}\n")
    return code
