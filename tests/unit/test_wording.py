"""Errors and warnings speak of parameters in Python, and of options in the command."""

import ast
import re
from pathlib import Path

import pytest

import monge
from monge.errors import PARAMETERS, MongeError, Notice, in_command, worded

PACKAGE = Path(monge.__file__).parent
COMMAND_ROOMS = ("cli", "server", "compat", "tuning", "cluster")
"""Rooms whose messages are about the command, the service, or another library's parameters."""
ONLY_OF_THE_COMMAND = {
    "--all", "--contexts", "--cross", "--factor", "--fail-under", "--list", "--monge-update",
    "--on-overlong", "--plans", "--refit", "--resamples", "--signature", "--signature-form", "--table-format", "--task",
    "--test", "--vary", "--write", "--baseline", "--parallel", "--data", "--train", "--format", "--to_json", "--ground",
}  # fmt: skip
"""Options that no Python call takes as a parameter of the same meaning."""


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("use --lang de, which means more", "use lang=de, which means more"),
        ("give --model DIRECTORY|NAME", "give model=DIRECTORY|NAME"),
        ("or --online to fetch it", "or online=True to fetch it"),
        ("--idf-corpus FILE, --stats FILE, or --set weights=uniform",
         "idf_corpus=FILE, stats=FILE, or settings=['weights=uniform']"),
        ("give it with --stats", "give it with stats"),
        ("needs source texts (-s FILE, or a column)", "needs source texts (sources, or a column)"),
        ("fit one with monge fit -m twmd -r CORPUS -o STATS and give --stats STATS",
         "fit one with monge fit -m twmd -r CORPUS -o STATS and give stats=STATS"),
        ("a well-known pre-trained -m-x", "a well-known pre-trained -m-x"),
        ("segment 'a --lang b'", "segment 'a lang b'"),
    ],
)  # fmt: skip
def test_options_become_parameters(command, python):
    assert worded(command) == python
    assert str(MongeError(command)) == str(Notice(command)) == python
    with in_command():
        assert str(MongeError(command)) == str(Notice(command)) == command


MISTAKES = [
    lambda: monge.score(["a cat"], ["a cat"], "twmd", settings={"weights": "idf(file)"}),
    lambda: monge.score(["a cat"], ["a cat"], "bertscore", settings={"scale": "baseline"}, model="all-MiniLM-L6-v2", layers=1, lang="en"),
    lambda: monge.score(["ein"], None, "twmd", sources=["a"], settings={"scale": "human"}),
    lambda: monge.load("sentsim", settings={"units.stopwords": "lang"}),
    lambda: monge.load("twmd", model="no/such-model"),
    lambda: monge.load("twmd", lang="xx"),
    lambda: monge.load("twmd", settings=["layers=last3"]),
    lambda: monge.load("wordset-cka").fit(["a"]),
    lambda: monge.score(["a"], ["b"], "xmoverscore"),
    lambda: monge.compare({"a": ["x"]}, ["y"]),
    lambda: monge.compare([{"system": "a", "hypothesis": "x", "reference": "y"}]),
    lambda: monge.compare([{"system": "a", "x": "x", "y": "y"}]),
    lambda: monge.evaluate(monge.Task("table", [{"hypothesis": "x", "reference": "y"}])),
    lambda: monge.evaluate(monge.Task("wmt17", "nowhere")),
    lambda: monge.evaluate(monge.Task("wmt17", ".", columns={"human": "x"})),
    lambda: monge.evaluate(monge.Task("stsb", ".", sample=0)),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_python_are_named_in_the_words_of_python(mistake):
    try:
        mistake()
    except MongeError as error:
        text = re.sub(r"monge [a-z]+( -{1,2}\S+( [A-Z]+)?)+", "", str(error))
        assert not re.search(r"(?<![\w-])(--[a-z]|-[mrst] )", text), text


def test_every_option_in_a_message_has_a_parameter_or_is_of_the_command_alone():
    """What nobody listed would be a flag in a Python error: decide for each option."""
    unknown = {}
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] in COMMAND_ROOMS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Raise) or node.exc is None:
                continue
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    for option in re.findall(r"(?<![\w-])--[a-z][a-z_-]*", part.value):
                        if option not in PARAMETERS and option not in ONLY_OF_THE_COMMAND:
                            unknown.setdefault(option, str(path.relative_to(PACKAGE)))
    assert not unknown
