"""The verbs of the command `monge`, wired; errors become one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer

from monge.cli import (
    analyse,
    cache,
    catalogue,
    compare,
    evaluate,
    explain,
    fit,
    reproduce,
    score,
    selfcheck,
    sensitivity,
    signature,
    sweep,
    threads,
)
from monge.errors import MongeError, NotKept

app = typer.Typer(
    name="monge",
    help="Evaluate generated text by optimal transport, and get the same number tomorrow.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"monge {version('monge')}")
        raise typer.Exit


@app.callback()
def _root(
    show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


VERBS: dict[str, Callable[..., Any]] = {
    "score": score.score,
    "explain": explain.explain,
    "fit": fit.fit,
    "compare": compare.compare,
    "evaluate": evaluate.evaluate,
    "sweep": sweep.sweep,
    "sensitivity": sensitivity.sensitivity,
    "reproduce": reproduce.reproduce,
    "analyse": analyse.analyse,
    "metrics": catalogue.metrics,
    "show": catalogue.show,
    "selfcheck": selfcheck.selfcheck,
}
for _name, _verb in VERBS.items():  # a short help that is given is wrapped, one that is taken from the docstring is cut
    app.command(_name, short_help=(_verb.__doc__ or "").partition("\n")[0])(_verb)
app.add_typer(signature.app, name="signature")
app.add_typer(cache.app, name="cache")


def run(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code. Messages go to standard error, one line each."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):  # the same bytes whatever the locale
            stream.reconfigure(encoding="utf-8", errors=errors)
    threads.choose()
    try:
        # not app(): its own handling of a closed pipe and of Ctrl-C hides both from us
        command = typer.main.get_command(app)
        given = list(sys.argv[1:] if arguments is None else arguments)
        with warnings.catch_warnings(), command.make_context("monge", given) as context:
            warnings.simplefilter("always", NotKept)
            warnings.showwarning = _warned
            code = command.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
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
        return _refused(error)


# recent typer brings a click of its own: what its parser raises is found through what it exports
_REFUSED: type[Exception] = typer.BadParameter.__mro__[2]


def _refused(error: Any) -> int:
    """A command line that the parser does not take; one without a verb gets the help instead."""
    where = error.ctx.command_path if getattr(error, "ctx", None) else "monge"
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(error.format_message() + "\n")
        return 2
    return _fail(f"{error.format_message()} (see {where} --help)", 2)


def _warned(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """What is not kept is one line for the user; other warnings are for developers, as Python shows them."""
    if issubclass(category, NotKept):
        _fail(str(message), 0)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"monge: {' '.join(message.split())}\n")
    return code
