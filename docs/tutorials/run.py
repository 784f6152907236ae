"""Runs the commands of the documentation in an empty directory, and compares or writes what they
print.

    python docs/tutorials/run.py                # compare: exit 1 where a page shows something else
    python docs/tutorials/run.py --write [PAGE …]   # write what is printed into the pages

A block ```console has commands behind `$ ` and what they print, results and messages as a terminal
shows them; `…` on a line of its own stands for lines left out. A block ```pycon has Python with
`>>> `. Commands of monge run in this process, all others in a shell.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from monge.cli.app import run
from monge.errors import MongeError

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
PAGES = (DOCS / "index.md", *sorted(HERE.glob("*.md")))
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d+(?:e-?\d+)?(?![\w.])")
ABSOLUTE, RELATIVE = 2e-3, 2e-3
"""How far a printed number with decimals may be from the page's."""
ELSE, WIDTH = "…", "100"


@dataclass(frozen=True)
class Step:
    """Something typed, as the page has it line by line, and what the page says is printed."""

    typed: tuple[str, ...]
    shown: tuple[str, ...]
    python: bool

    @property
    def command(self) -> str:
        """What is run."""
        prompts = (">>> ", "... ") if self.python else ("$ ", "> ")
        lines = [
            line.removeprefix(prompts[0])
            if line.startswith(prompts[0])
            else line.removeprefix(prompts[1])
            for line in self.typed
        ]
        return "\n".join(lines)


def steps(block: str, *, python: bool) -> Iterator[Step]:
    """The steps of a block."""
    first, more = (">>> ", "... ") if python else ("$ ", "> ")
    typed: list[str] = []
    shown: list[str] = []
    for line in block.splitlines():
        if line.startswith(first):
            if typed:
                yield Step(tuple(typed), tuple(shown), python)
            typed, shown = [line], []
        elif (
            not shown
            and typed
            and line.startswith(more.rstrip())
            and (python or typed[-1].endswith("\\"))
        ):
            typed.append(line)
        else:
            shown.append(line)
    if typed:
        yield Step(tuple(typed), tuple(shown), python)


def printed(step: Step, names: dict[str, object]) -> list[str]:
    """What a step prints, here and now."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        if step.python:
            _python(step.command, names)
        else:
            _shell(step.command.replace("\\\n", " "), names, heard)
    return (
        [line.rstrip() for line in heard.getvalue().rstrip("\n").split("\n")]
        if heard.getvalue().strip()
        else []
    )


def _python(source: str, names: dict[str, object]) -> None:
    try:
        exec(compile(source + "\n", "<page>", "single"), names)  # noqa: S102 - our own pages
    except MongeError:  # a page may show what we refuse; anything else is a fault of the page
        sys.stdout.write(traceback.format_exc(limit=0))


def _shell(command: str, names: dict[str, object], heard: io.StringIO) -> None:
    """Our own verbs in this process, others in a shell; `$?` is the exit code of the one before."""
    if command == "echo $?":
        heard.write(f"{names['?']}\n")
        return
    plain = not re.search(r"[|<>;&]", re.sub(r"'[^']*'|\"[^\"]*\"", "", command))
    if command.startswith("monge ") and plain:
        names["?"] = run(shlex.split(command)[1:])
        return
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = re.sub(r"(^|\| )monge ", rf"\1{shlex.quote(sys.executable)} -m monge ", command)
    environment = {**os.environ, "PATH": place}
    done = subprocess.run(  # noqa: S602
        command, shell=True, text=True, capture_output=True, env=environment, check=False
    )
    heard.write(done.stdout + done.stderr)
    names["?"] = done.returncode


def agree(shown: tuple[str, ...], found: list[str]) -> bool:
    """Whether a page shows what was printed: words alike, numbers near, `…` for any lines."""
    return _match([line.rstrip() for line in shown], found)


def _match(shown: list[str], found: list[str]) -> bool:
    if not shown:
        return not found
    if shown[0] == ELSE:
        return any(_match(shown[1:], found[k:]) for k in range(len(found) + 1))
    return bool(found) and _same(shown[0], found[0]) and _match(shown[1:], found[1:])


def _same(one: str, other: str) -> bool:
    def words(line: str) -> list[str]:
        return NUMBER.sub("0.0", line).split()

    mine, theirs = ([float(number) for number in NUMBER.findall(line)] for line in (one, other))
    return words(one) == words(other) and all(
        abs(a - b) <= ABSOLUTE + RELATIVE * abs(b) for a, b in zip(mine, theirs, strict=True)
    )


def play(page: Path, *, write: bool = False) -> list[str]:
    """Run a page in an empty directory: where it shows something else; `write` puts what is printed
    into it.
    """
    names: dict[str, object] = {"__name__": "__page__"}
    faults: list[str] = []

    def block(found: re.Match[str]) -> str:
        lines = []
        for step in steps(found[2], python=found[1] == "pycon"):
            now = printed(step, names)
            if not agree(step.shown, now):
                wanted, got = "\n".join(step.shown), "\n".join(now)
                faults.append(
                    f"{page.name}: {step.command}\n--- the page shows\n{wanted}\n--- printed\n{got}"
                )
            lines += [
                *step.typed,
                *(step.shown if agree(step.shown, now) else _elided(step.shown, now)),
            ]
        return f"```{found[1]}\n" + "\n".join(lines) + "\n```"

    here = Path.cwd()
    with TemporaryDirectory() as folder, patch.dict(os.environ, COLUMNS=WIDTH, NO_COLOR="1"):
        os.environ.pop("MONGE_CACHE", None)
        os.chdir(folder)
        try:
            text = BLOCK.sub(block, page.read_text("utf-8"))
        finally:
            os.chdir(here)
    if write:
        page.write_text(text, encoding="utf-8")
    return faults


def _elided(shown: tuple[str, ...], now: list[str]) -> list[str]:
    """What is printed; where the page left the rest out from some line on, it is left out again."""
    return (
        [*now[: len(shown) - 1], ELSE]
        if shown and shown[-1] == ELSE and len(now) >= len(shown)
        else now
    )


def main() -> int:
    """Play all pages, or those named."""
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument("pages", nargs="*", type=Path, default=PAGES)
    reader.add_argument("--write", action="store_true", help="write what is printed into the pages")
    given = reader.parse_args()
    faults = [
        fault for page in given.pages for fault in play(Path(page).resolve(), write=given.write)
    ]
    if not given.write:
        sys.stdout.write("\n\n".join(faults) + "\n" * bool(faults))
    return int(bool(faults) and not given.write)


if __name__ == "__main__":
    sys.exit(main())
