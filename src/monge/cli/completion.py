"""`monge completion install|show`: completion of commands in bash, zsh and fish.

The shell asks `monge` itself: with MONGE_COMPLETE set to the shell's name, the words that stand
before the cursor are the arguments, and what could stand there comes out, a line each. Nothing
heavy is imported for that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from monge.cli import options
from monge.cli.help_pages import Verb, VerbGroup
from monge.cli.printing import tell
from monge.errors import UnknownName, UsageError

ASKED = "MONGE_COMPLETE"
_BREAKS = "@=:"  # where bash ends a word: what stands before is not written again
SCRIPTS = {
    "bash": """_monge_complete() {
    local IFS=$'\\n'
    COMPREPLY=($(MONGE_COMPLETE=bash COMP_LINE="${COMP_LINE:0:COMP_POINT}" monge 2>/dev/null))
}
complete -o default -F _monge_complete monge
""",
    "zsh": """#compdef monge
_monge_complete() {
    local -a found
    found=("${(@f)$(MONGE_COMPLETE=zsh monge "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    [[ -n "$found" ]] && compadd -a found || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _monge_complete monge
""",
    "fish": """function __monge_complete
    set -l words (commandline -opc) (commandline -ct)
    MONGE_COMPLETE=fish monge $words[2..-1] 2>/dev/null
end
complete -c monge -a '(__monge_complete)'
""",
}
_STARTED_FROM = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}
_AFTER_METRIC = ("-m", "--metric")

app = typer.Typer(cls=VerbGroup, no_args_is_help=True, **options.PLAIN)
Shell = Annotated[
    str | None,
    typer.Argument(metavar="[bash|zsh|fish]", help="The shell; by default the one you use."),
]


@app.command(cls=Verb)
def install(shell: Shell = None) -> None:
    """Write the script of a shell, and have the shell read it when it starts."""
    name = _shell(shell)
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    place = (
        config / "fish" / "completions" / "monge.fish"
        if name == "fish"
        else data / "monge" / f"completion.{name}"
    )
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SCRIPTS[name], "utf-8")
        if name in _STARTED_FROM:
            _read_at_start(
                Path(_STARTED_FROM[name]).expanduser(), f'source "{place}"  # completion of monge'
            )
    except OSError as error:
        raise UsageError(f"{place}: completion cannot be installed ({error.strerror})") from None
    tell(f"completion for {name} is in {place}; it works in shells that are started from now on")


@app.command(cls=Verb)
def show(shell: Shell = None) -> None:
    """Print the script of a shell, to be read by hand or in another place."""
    sys.stdout.write(SCRIPTS[_shell(shell)])


def _shell(requested: str | None) -> str:
    name = requested or Path(os.environ.get("SHELL", "")).name
    if name not in SCRIPTS:
        raise UnknownName("shell", name or "(SHELL is not set)", SCRIPTS)
    return name


def _read_at_start(file: Path, line: str) -> None:
    """Add a line to a start file, unless it is there."""
    text = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
    if line not in text.splitlines():
        with file.open("a", encoding="utf-8", errors="surrogateescape") as start:
            start.write(("" if text.endswith("\n") or not text else "\n") + line + "\n")


def answer(shell: str, arguments: Sequence[str]) -> int:
    """Print the completions at the cursor, for the script of a shell."""
    words = list(arguments)
    if shell == "bash":
        line = os.environ.get("COMP_LINE", "")
        words = line.split()[1:] + ([""] if line[-1:].isspace() else [])
    words = words or [""]
    last = words[-1]
    typed = max(last.rfind(mark) for mark in _BREAKS) + 1 if shell == "bash" else 0
    for word in dict.fromkeys(candidates(words)):
        if word.startswith(last):
            sys.stdout.write(word[typed:] + "\n")
    return 0


def candidates(words: Sequence[str]) -> Iterator[str]:
    """Yield completions of the last word; none where it is a file name."""
    from monge.cli.app import VERBS, command_of

    if len(words) == 1:
        yield from (*VERBS, "--help", "--version")
        return
    verb, *before, last = words
    if verb not in VERBS:
        return
    takes_metric = verb in ("show", "check-metric") and not last.startswith("-")
    if (before and before[-1] in _AFTER_METRIC) or takes_metric:
        yield from _metrics()
        return
    command = command_of(verb)
    inner = getattr(command, "commands", None)
    if inner is not None:
        if not before:
            yield from inner
            return
        command = inner.get(before[0], command)
        if before[0] in ("install", "show") and verb == "completion":
            yield from SCRIPTS
    flags = {flag: option for option in command.params for flag in option.opts}
    if before and before[-1] in flags and "|" in str(flags[before[-1]].metavar):
        choices = str(flags[before[-1]].metavar).split("|")
        yield from (choice for choice in choices if choice.islower())  # not FILE or DIR
    elif last.startswith("-"):
        yield from (*flags, "--help")


def _metrics() -> Iterator[str]:
    from monge.metrics.blend import BLENDS
    from monge.metrics.lexical import LEXICAL
    from monge.metrics.plugins import plugin_names
    from monge.metrics.presets import PRESETS

    yield from (*PRESETS, *BLENDS, *LEXICAL, *plugin_names())
