"""The bundled texts, and the example script, are what the documentation says they are."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

NAMES = ["reference", "reference-2", "source-de", "system-a", "system-b"]
SCRIPT = Path(__file__).parents[3] / "examples" / "picture_of_a_plan.py"


def lines(name: str) -> list[str]:
    raw = (files("monge") / "example" / f"{name}.txt").read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    return raw.decode("utf-8").split("\n")[:-1]


@pytest.mark.parametrize("name", NAMES)
def test_36_clean_segments(name):
    segments = lines(name)
    assert len(segments) == 36
    assert all(segment == " ".join(segment.split()) and segment for segment in segments)
    assert len(set(segments)) == 36


def test_references_are_4_to_40_words_and_varied():
    lengths = [len(segment.split()) for segment in lines("reference")]
    assert min(lengths) == 4
    assert 30 <= max(lengths) <= 40
    text = "\n".join(lines("reference"))
    assert {'"', "?", "!"} <= set(text)
    assert any(character.isdigit() for character in text)


def test_neither_system_is_the_other():
    a, b, reference = lines("system-a"), lines("system-b"), lines("reference")
    assert not any(x == y for x, y in zip(a, b, strict=True))
    assert sum(x == y for x, y in zip(a, reference, strict=True)) == 1
    assert sum(x == y for x, y in zip(b, reference, strict=True)) == 1


@pytest.mark.parametrize(
    ("form", "start"), [("text", "by-hand ↓  0.2300"), ("svg", "<svg "), ("html", "<!DOCTYPE")]
)
def test_the_example_script_runs(form, start):
    done = subprocess.run(
        [sys.executable, SCRIPT, form], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.startswith(start)
