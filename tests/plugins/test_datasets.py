"""Data sets of installed packages: described by a TOML file that an entry point names."""

from __future__ import annotations

import json

import pytest

DESCRIPTION = """
title = "ratings of our chatbot"
reader = "generated"
groups = "data set"
human = "helpful"
licence = "ours"
citation = "none"

[humans.helpful]
statistic = "pearson"

[files]
outputs = ["chatbot.jsonl"]

[switches]
distinct_references = true
"""
MODULE = """
from pathlib import Path
description = Path(__file__).parent / "chatbot.toml"
folder = Path(__file__).parent
number = 3
"""


@pytest.fixture
def chatbot(package):
    rows = [
        {"key": k, "src": "s", "sys_summ": f"yes {'no ' * k}", "ref_summs": ["yes"],
         "scores": {"helpful": 9 - k}}
        for k in range(9)
    ]  # fmt: skip
    texts = {"chatbot.toml": DESCRIPTION, "ours.py": MODULE, "wrong.toml": "titel = 'x'"}
    texts["data/chatbot.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    texts["elsewhere.toml"] = DESCRIPTION.replace("generated", "generatd")
    entries = (
        "chatbot = ours:description\nnumber = ours:number\nwrong = ours:folder\n"
        "elsewhere = ours:folder\nabsent = ours:folder"
    )
    package.write(texts, datasets=entries)
    return package


def test_a_data_set_is_evaluated_by_name(chatbot):
    judged = ("evaluate", "chatbot", "--data", chatbot.folder / "data", "--resamples", "50")
    outcome = chatbot.run(*judged, "-m", "sentbleu", "-m", "chrf", "-f", "json")
    assert outcome.returncode == 0, outcome.stderr
    assert '"dataset": "chatbot"' in outcome.stdout
    listed = chatbot.run("data", "chatbot", chatbot.folder / "data")
    assert "ratings of our chatbot" in listed.stdout or "chatbot.jsonl" in listed.stdout


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("number", "ours:number of demo 1.2 is a int, expected the path of a TOML file"),
        ("wrong", "wrong.toml does not describe a data set: TypeError"),
        ("elsewhere", "reader 'generatd'; did you mean generated?"),
        ("absent", "absent.toml does not describe a data set: FileNotFoundError"),
        ("chatbo", "unknown dataset 'chatbo'; did you mean chatbot?"),
    ],
)
def test_a_wrong_description_is_refused_in_one_line(chatbot, name, why):
    outcome = chatbot.run("evaluate", name, "--data", chatbot.folder, "-m", "chrf")
    assert outcome.returncode in (2, 3)
    assert why in outcome.stderr and len(outcome.stderr.splitlines()) == 1
