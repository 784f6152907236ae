"""ARCHITECTURE.md names files and functions that exist, and every room of the package."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PACKAGE = ROOT / "src" / "monge"
ROWS = dict(re.findall(r"^\| (?:`errors\.py`, )?`(\w+)/` \| (.*)$", PAGE, re.M))
WALK = PAGE.partition("## The walk of one pair")[2].partition("\n## ")[0]
SOURCE = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))


def test_every_room_has_a_row():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(ROWS)


@pytest.mark.parametrize("room", ROWS)
def test_the_files_of_a_room_exist(room):
    names = re.findall(r"`([\w/*.]+\.(?:py|toml|json)|\w+/)`", ROWS[room])
    for name in names:
        # a row may point to a file of another room by its path
        places = [PACKAGE / room, PACKAGE] if "/" in name else [PACKAGE / room]
        assert any(list(place.glob(name)) for place in places), name


def test_the_functions_of_the_walk_exist():
    named = re.findall(r"`(?!\S+\.py`)(?:[\w/]+\.)?([A-Za-z_]\w+)(?:\(…\)|\(window\))?`", WALK)
    missing = [
        name
        for name in dict.fromkeys(named)
        if not re.search(rf"\b(?:def|class) {name}\b|^\s*{name}\b.*[:=]", SOURCE, re.M)
    ]
    assert len(named) > 30
    assert missing == []
