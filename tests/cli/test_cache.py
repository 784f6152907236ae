"""`--cache`, interrupted runs and `monge cache`: saved work, the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

SCORE = (
    "score",
    "-t",
    "system-a.txt",
    "-t",
    "system-b.txt",
    "-r",
    "reference.txt",
    "-m",
    "twmd",
    "-m",
    "moverscore",
)
JSON = ("--format", "json", "--segments")


def test_a_cache_changes_nothing_but_the_work(monge, tmp_path):
    plain = monge(*SCORE, *JSON)
    cold = monge(*SCORE, *JSON, "--cache", tmp_path / "kept")
    warm = monge(*SCORE, *JSON, "--cache", tmp_path / "kept")
    assert plain.code == cold.code == warm.code == 0
    assert plain.out == cold.out == warm.out
    told = monge("cache", "info", tmp_path / "kept")
    assert "scores" in told.out
    assert "vectors" in told.out
    assert monge("cache", "clear", tmp_path / "kept").code == 0
    assert "empty" in monge("cache", "info", tmp_path / "kept").out


def test_the_environment_names_a_cache_and_no_cache_overrules_it(monge, tmp_path, monkeypatch):
    monkeypatch.setenv("MONGE_CACHE", str(tmp_path / "env"))
    assert monge(*SCORE, "--no-cache").code == 0
    assert not (tmp_path / "env").exists()
    assert monge(*SCORE).code == 0
    assert (tmp_path / "env").is_dir()


def test_a_cache_that_is_a_file_is_refused(monge, tmp_path):
    (tmp_path / "file").write_text("x")
    found = monge(*SCORE, "--cache", tmp_path / "file")
    assert found.code == 2
    assert "file" in found.err
    assert found.err.count("\n") == 1


def test_a_cache_that_keeps_nothing_is_one_line_beside_the_scores(monge, workplace):
    """Here the file is of another version: it is left alone, and the run goes on."""
    plain = monge(*SCORE, *JSON)
    assert monge(*SCORE, "--cache", "kept").code == 0
    with sqlite3.connect("kept/monge-cache.sqlite") as db:
        db.execute("PRAGMA user_version=7")
    db.close()
    before = Path("kept/monge-cache.sqlite").read_bytes()
    found = monge(*SCORE, *JSON, "--cache", "kept")
    assert (found.code, found.out) == (0, plain.out)
    assert found.err.startswith(
        "monge: cache kept: its monge-cache.sqlite was written by another version"
    )
    assert found.err.count("\n") == 1
    assert Path("kept/monge-cache.sqlite").read_bytes() == before
    told = monge("cache", "info", "kept")
    assert (told.code, told.out) == (2, "")
    assert "another version" in told.err


def test_cache_of_nowhere(monge, tmp_path):
    found = monge("cache", "info", tmp_path / "nowhere")
    assert (found.code, found.err.count("\n")) == (2, 1)


def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(monge, tmp_path, tiny_bert):
    words = [
        "the",
        "cat",
        "sat",
        "on",
        "mat",
        "dog",
        "ran",
        "to",
        "house",
        "and",
        "slept",
        "hello",
        "world",
    ]
    draw = random.Random(1)
    for name in ("h", "r"):
        lines = [" ".join(draw.choices(words, k=8)) for _ in range(20_000)]
        Path(name).write_text("\n".join(lines) + "\n")
    command = [
        "score",
        "-t",
        "h",
        "-r",
        "r",
        "-m",
        "bertscore",
        "--model",
        str(tiny_bert),
        *JSON,
        "-q",
    ]
    assert monge(*command, "-o", "whole.json").code == 0
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from monge.cli.main import main; main()",
            *command,
            "-o",
            "out.json",
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    journal = tmp_path / "out.json.partial" / "monge-cache.sqlite-wal"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (
        journal.exists() and journal.stat().st_size > 200_000
    ):
        assert process.poll() is None, "the run ended before it could be interrupted"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not Path("out.json").exists()
    assert Path("out.json.partial").is_dir()
    assert monge(*command, "-o", "out.json").code == 0
    assert Path("out.json").read_bytes() == Path("whole.json").read_bytes()
    assert not Path("out.json.partial").exists()


def test_jsonl_streams_segments_then_results(monge):
    found = monge(*SCORE, "--format", "jsonl")
    rows = [json.loads(line) for line in found.out.splitlines()]
    assert [row["type"] for row in rows] == ["segment"] * 24 + ["result"] * 4
    whole = json.loads(monge(*SCORE, *JSON).out)["results"]
    for result in whole:
        mine = [
            r
            for r in rows[:24]
            if (r["metric"], r["system"]) == (result["metric"], result["system"])
        ]
        assert [
            {k: row[k] for k in ("id", "score", "parts", "best_reference", "flags")} for row in mine
        ] == result["segments"]
