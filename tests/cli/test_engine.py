"""The options of an engine: what is refused before anything is read, in one line."""

from __future__ import annotations

import sys

import pytest

FILES = ("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "chrf")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--engine", "spark"), "--engine takes local, ray, got 'spark'"),
        (("--workers", "2"), "--workers is for workers: give it with --engine ray"),
        (
            ("--engine", "ray", "-o", "out", "--workers", "0"),
            "--workers takes a number of at least 1, or auto; got '0'",
        ),
        (("--engine", "ray"), "--engine ray writes parts: give -o DIRECTORY"),
        (
            ("--engine", "ray", "-o", "out", "--on-bad-row", "skip"),
            "--on-error takes fail, count, got 'skip'",
        ),
        (
            ("--engine", "ray", "-o", "out.tsv", "-f", "jsonl"),
            "out.tsv does not end like a file of the format jsonl",
        ),
        (
            ("--engine", "ray", "-o", "out", "-f", "latex"),
            "--engine ray writes parts as parquet, jsonl, tsv",
        ),
        (
            ("--engine", "ray", "-o", "out", "--dry-run"),
            "--dry-run describes a run on this machine",
        ),
    ],
)
def test_what_an_engine_does_not_take_is_named(monge, workplace, arguments, says):
    found = monge(*FILES, *arguments)
    assert (found.code, found.out) == (2, "")
    assert says in found.err
    assert not (workplace / "out").exists()


def test_several_tables_are_for_ray(monge, workplace):
    for name in ("a.tsv", "b.tsv"):
        (workplace / name).write_text("hypothesis\treference\na\tb\n")
    found = monge("score", "a.tsv", "b.tsv", "-m", "chrf")
    assert found.code == 2
    assert "b.tsv is a second table" in found.err and "-t a.tsv -r b.tsv" in found.err


@pytest.mark.parametrize(
    "arguments",
    [
        (*FILES, "--engine", "ray", "-o", "out"),
        ("evaluate", "table", "--data", "judged.tsv", "-m", "chrf", "--engine", "ray"),
    ],
)
def test_without_the_extra_it_says_what_to_install(monge, workplace, monkeypatch, arguments):
    (workplace / "judged.tsv").write_text(
        "hypothesis\treference\thuman\na\tb\t1\nb\tb\t2\nc\td\t3\n"
    )
    monkeypatch.setitem(sys.modules, "ray", None)
    found = monge(*arguments)
    assert found.code == 2
    assert "pip install 'monge[ray]'" in found.err
