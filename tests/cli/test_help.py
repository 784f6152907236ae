"""Help as a stranger meets it: kept screens, groups in order, defaults, examples that work, and
quick.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from help_screens import FOLDER, WIDTHS, screens, verbs

from monge.cli.app import command_of
from monge.cli.help_pages import EXAMPLES
from monge.cli.options import GROUPS

SCREENS = dict(screens())
INNER = [verb for verb in verbs() if verb and not getattr(command_of(verb[0]), "commands", None)]
INNER += [verb for verb in verbs() if len(verb) == 2]


def test_every_screen_is_kept():
    assert {path.name for path in FOLDER.iterdir()} == {path.name for path in SCREENS}


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_screens_are_as_they_were(path):
    """Where help was changed on purpose: `make help-screens`, and read what it wrote."""
    assert SCREENS[path] == path.read_text("utf-8")


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_screens_fit_their_width(path):
    width = next(width for width in WIDTHS if path.name.endswith(f".{width}.txt"))
    assert all(len(line) <= width for line in SCREENS[path].splitlines())
    assert "..." not in SCREENS[path].partition("Options:")[2], "a sentence is cut"


@pytest.mark.parametrize("verb", INNER, ids=" ".join)
def test_options_stand_in_groups_and_speak_in_sentences(verb):
    shown = SCREENS[FOLDER / f"{'-'.join(verb)}.120.txt"]
    titles = re.findall(r"^([A-Z][A-Za-z ]+):$", shown, re.M)
    order = ["Arguments", "Options", *GROUPS[1:], "Examples"]
    assert titles == [one for one in order if one in titles]
    assert titles[-1] == "Examples"
    command = command_of(verb[0])
    command = command.commands[verb[1]] if len(verb) > 1 else command
    for one in command.params:
        if not getattr(one, "hidden", False):
            assert re.match(r"(- |[A-Z`0-9]|-[a-z])", one.help), one.name
            assert one.help.endswith((".", "?")) and len(one.help) > 20, (one.name, one.help)
            assert one.param_type_name == "argument" or one.is_flag or one.metavar, one.name


@pytest.mark.parametrize("verb", INNER, ids=" ".join)
def test_there_are_two_examples_and_their_options_exist(verb):
    assert len(EXAMPLES[" ".join(verb)]) == 2
    for _, line in EXAMPLES[" ".join(verb)]:
        for part in line.replace("\\\n", " ").split("&&"):
            words = shlex.split(part.removeprefix('eval "$(').removesuffix(')"'))
            assert words[0] == "monge"
            command = command_of(words[1])
            command = command.commands[words[2]] if getattr(command, "commands", None) else command
            known = {flag for one in command.params for flag in one.opts}
            assert {word for word in words if re.match(r"--?[a-z]", word)} <= known


@pytest.mark.skipif(os.name == "nt", reason="POSIX process times")
def test_help_takes_a_third_of_a_second():
    """Processor time, the best of five: a busy machine says nothing about the command."""
    best = float("inf")
    command = [sys.executable, "-c", "from monge.cli.main import main; main()", "--help"]
    for _ in range(5):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        best = min(best, used.ru_utime + used.ru_stime)
    assert best < 0.35
