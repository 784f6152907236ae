"""Run the commands of the tutorials in an empty directory; compare or write what they print.

    python tools/run_tutorials.py                # compare: exit 1 where a page shows something else
    python tools/run_tutorials.py --write [PAGE …]   # write what is printed into the pages

A block ```console has commands behind `$ ` and what they print, as a terminal shows it; `…` on a
line of its own stands for lines left out. A block ```pycon has Python behind `>>> `. Commands of
monge run in this process, all others in a shell.
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

from repository import DOCS

from monge.cli.app import run
from monge.errors import MongeError

PAGES = (DOCS / "index.md", *sorted((DOCS / "tutorials").glob("*.md")))
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d+(?:e-?\d+)?(?![\w.])")
ABSOLUTE, RELATIVE = 2e-3, 2e-3
"""How far a printed number with decimals may be from that on the page."""
ELLIPSIS, WIDTH = "…", "100"


@dataclass(frozen=True)
class Step:
    """A command or statement as the page shows it, and the output that the page shows."""

    typed: tuple[str, ...]
    expected: tuple[str, ...]
    python: bool

    @property
    def command(self) -> str:
        """The command or statement without prompts."""
        prompts = (">>> ", "... ") if self.python else ("$ ", "> ")
        lines = [
            line.removeprefix(prompts[0])
            if line.startswith(prompts[0])
            else line.removeprefix(prompts[1])
            for line in self.typed
        ]
        return "\n".join(lines)


def split_steps(block: str, *, python: bool) -> Iterator[Step]:
    """Yield the steps of a block."""
    first, more = (">>> ", "... ") if python else ("$ ", "> ")
    typed: list[str] = []
    expected: list[str] = []
    for line in block.splitlines():
        if line.startswith(first):
            if typed:
                yield Step(tuple(typed), tuple(expected), python)
            typed, expected = [line], []
        elif (
            not expected
            and typed
            and line.startswith(more.rstrip())
            and (python or typed[-1].endswith("\\"))
        ):
            typed.append(line)
        else:
            expected.append(line)
    if typed:
        yield Step(tuple(typed), tuple(expected), python)


def run_step(step: Step, names: dict[str, object]) -> list[str]:
    """Run a step; return the lines that it prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        if step.python:
            _run_python(step.command, names)
        else:
            _run_command(step.command.replace("\\\n", " "), names, output)
    return (
        [line.rstrip() for line in output.getvalue().rstrip("\n").split("\n")]
        if output.getvalue().strip()
        else []
    )


def _run_python(source: str, namespace: dict[str, object]) -> None:
    """Run a Python statement; print the traceback of an error of monge."""
    try:
        exec(compile(source + "\n", "<page>", "single"), namespace)  # noqa: S102 - our own pages
    except MongeError:  # a page may show what we refuse; anything else is a fault of the page
        sys.stdout.write(traceback.format_exc(limit=0))


def _run_command(command: str, names: dict[str, object], output: io.StringIO) -> None:
    """Run a command: `monge` in this process, others in a shell.

    `$?` is the exit code of the command before.
    """
    if command == "echo $?":
        output.write(f"{names['?']}\n")
        return
    is_simple = not re.search(r"[|<>;&]", re.sub(r"'[^']*'|\"[^\"]*\"", "", command))
    if command.startswith("monge ") and is_simple:
        names["?"] = run(shlex.split(command)[1:])
        return
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = re.sub(r"(^|\| )monge ", rf"\1{shlex.quote(sys.executable)} -m monge ", command)
    environment = {**os.environ, "PATH": path}
    process = subprocess.run(  # noqa: S602
        command, shell=True, text=True, capture_output=True, env=environment, check=False
    )
    output.write(process.stdout + process.stderr)
    names["?"] = process.returncode


def is_same_output(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Tell whether a page shows what was printed: same words, near numbers, `…` for any lines."""
    return _match_lines([line.rstrip() for line in expected], printed)


def _match_lines(expected: list[str], printed: list[str]) -> bool:
    """Match lines one by one; `…` matches any number of lines."""
    if not expected:
        return not printed
    if expected[0] == ELLIPSIS:
        return any(_match_lines(expected[1:], printed[k:]) for k in range(len(printed) + 1))
    return (
        bool(printed)
        and _match_line(expected[0], printed[0])
        and _match_lines(expected[1:], printed[1:])
    )


def _match_line(expected: str, printed: str) -> bool:
    """Compare two lines: the same words, and numbers within the tolerance."""

    def words(line: str) -> list[str]:
        return NUMBER.sub("0.0", line).split()

    expected_numbers, printed_numbers = (
        [float(number) for number in NUMBER.findall(line)] for line in (expected, printed)
    )
    return words(expected) == words(printed) and all(
        abs(a - b) <= ABSOLUTE + RELATIVE * abs(b)
        for a, b in zip(expected_numbers, printed_numbers, strict=True)
    )


def run_page(page: Path, *, write: bool = False) -> list[str]:
    """Run a page in an empty directory; return what differs, or write the output into the page."""
    namespace: dict[str, object] = {"__name__": "__page__"}
    faults: list[str] = []

    def run_block(match: re.Match[str]) -> str:
        lines = []
        for step in split_steps(match[2], python=match[1] == "pycon"):
            printed = run_step(step, namespace)
            if not is_same_output(step.expected, printed):
                expected, got = "\n".join(step.expected), "\n".join(printed)
                faults.append(
                    f"{page.name}: {step.command}\n--- the page shows\n{expected}\n"
                    f"--- printed\n{got}"
                )
            lines += [
                *step.typed,
                *(
                    step.expected
                    if is_same_output(step.expected, printed)
                    else _shorten(step.expected, printed)
                ),
            ]
        return f"```{match[1]}\n" + "\n".join(lines) + "\n```"

    start = Path.cwd()
    with TemporaryDirectory() as folder, patch.dict(os.environ, COLUMNS=WIDTH, NO_COLOR="1"):
        os.environ.pop("MONGE_CACHE", None)
        os.chdir(folder)
        try:
            text = BLOCK.sub(run_block, page.read_text("utf-8"))
        finally:
            os.chdir(start)
    if write:
        page.write_text(text, encoding="utf-8")
    return faults


def _shorten(expected: tuple[str, ...], printed: list[str]) -> list[str]:
    """Return the printed lines, cut at the line where the page had `…` at its end."""
    return (
        [*printed[: len(expected) - 1], ELLIPSIS]
        if expected and expected[-1] == ELLIPSIS and len(printed) >= len(expected)
        else printed
    )


def main() -> int:
    """Run all pages, or those named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES)
    parser.add_argument("--write", action="store_true", help="write what is printed into the pages")
    options = parser.parse_args()
    faults = [
        fault
        for page in options.pages
        for fault in run_page(Path(page).resolve(), write=options.write)
    ]
    if not options.write:
        sys.stdout.write("\n\n".join(faults) + "\n" * bool(faults))
    return int(bool(faults) and not options.write)


if __name__ == "__main__":
    sys.exit(main())
