"""The command `monge`: verbs are wired here; errors become one line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import click
import typer

from monge.cli import analyse, catalogue, explain, fit, reproduce, score, selfcheck, signature
from monge.errors import MongeError

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


app.command("score")(score.score)
app.command("explain")(explain.explain)
app.command("fit")(fit.fit)
app.command("reproduce")(reproduce.reproduce)
app.command("analyse")(analyse.analyse)
app.command("metrics")(catalogue.metrics)
app.command("show")(catalogue.show)
app.command("selfcheck")(selfcheck.selfcheck)
app.add_typer(signature.app, name="signature")


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: 0 ok, 1 data, 2 usage, 3 model or signature, 130 interrupted."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code. Messages go to standard error, one line each."""
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except MongeError as error:
        return _fail(str(error), error.exit_code)
    except click.exceptions.Abort:
        return _fail("interrupted", 130)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "monge"
        return _fail(f"{error.format_message()} (see {where} --help)", 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"monge: {' '.join(message.split())}\n")
    return code
