"""Gates that fail a release, and dry runs that say what would be done."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "chrf")


def lines(path):
    return path.read_text("utf-8").split("\n")[:-1]


def ok(found):
    assert found.code == 0, found.err
    return found.out


# --- gates
# ---------------------------------------------------------------------------------------------------------


def test_a_gate_names_the_worst_segments(monge, workplace):
    rows = json.loads(ok(monge(*BASIC, "--segments", "-f", "json")))["results"][0]["segments"]
    worst = sorted(rows, key=lambda row: row["score"])[:5]
    found = monge(*BASIC, "--fail-under", "99.5")
    assert found.code == 4 and "chrf" in found.out
    first, *others = found.err.splitlines()
    assert re.fullmatch(
        r"monge: chrf of system-a: [0-9.]+ is below 99.5; its worst 5 segment\(s\):", first
    )
    texts = lines(workplace / "system-a.txt")
    for line, row in zip(others, worst, strict=True):
        assert line.startswith(
            f"monge:   id {row['id']}  {row['score']:.4f}  {texts[int(row['id']) - 1][:30]}"
        )


def test_a_gate_of_a_distance_is_from_above(monge):
    rows = json.loads(ok(monge("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "ter", "--segments", "-f",
                               "json")))["results"][0]["segments"]  # fmt: skip
    found = monge(
        "score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "ter", "--fail-under", "0"
    )
    highest = max(rows, key=lambda row: row["score"])
    assert found.code == 4
    assert "is above 0" in found.err and f"id {highest['id']}  " in found.err.splitlines()[1]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (("chrf=1,sentbleu=1",), 0),
        (("chrf=99,sentbleu=1",), 4),
        (("chrf=1", "sentbleu=99"), 4),
        (("chrf[beta=1]=1,99",), 4),
        (("99,chrf=1,sentbleu=1",), 0),
        (("1",), 0),
    ],
)
def test_gates_by_metric(monge, given, code):
    gates = [word for one in given for word in ("--fail-under", one)]
    line = (
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
        "-m",
        "chrf[beta=1]",
        "-m",
        "sentbleu",
    )
    assert monge(*line, *gates).code == code


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("chfr=1", "'chfr'; did you mean chrf? (this run has chrf)"),
        ("twmd=1", "'twmd' (this run has chrf)"),
        ("chrf=", "--fail-under takes X or NAME=X,…, X a number; got 'chrf='"),
        ("high", "--fail-under takes X or NAME=X,…, X a number; got 'high'"),
        ("nan", "got nan, which no score is below"),
    ],
)
def test_a_gate_that_makes_no_sense(monge, given, message):
    found = monge(*BASIC, "--fail-under", given)
    assert (found.code, found.out) == (2, "")
    assert message in found.err and found.err.count("\n") == 1


# --- dry runs
# ------------------------------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_done_and_does_nothing(monge, workplace):
    before = sorted(path.name for path in workplace.iterdir())
    line = (
        "score",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "-m",
        "moverscore",
        "-m",
        "chrf",
    )
    found = json.loads(
        ok(monge(*line, "--dry-run", "--cache", "kept", "-o", "out.txt", "-f", "json"))
    )["dry_run"]
    texts = {
        one
        for name in ("system-a", "system-b", "reference")
        for one in lines(workplace / f"{name}.txt")
    }
    assert found["read"] == "system-a.txt, system-b.txt, reference.txt: 12 segments of 2 system(s)"
    assert found["fit"] == "idf of references (moverscore)"
    assert re.fullmatch(rf"{len(texts)} distinct texts, about \d+ pieces", found["encode"])
    assert "all-MiniLM-L6-v2 (23 million parameters" in found["model"]
    assert (found["cache"], found["write"]) == ("kept: nothing yet", "out.txt")
    assert found["time"].startswith("about ")
    assert sorted(path.name for path in workplace.iterdir()) == before


def test_a_dry_run_is_about_right(monge, workplace):
    """The pieces that were foreseen, against those that were encoded."""
    line = ("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "bertscore")
    found = json.loads(ok(monge(*line, "--dry-run", "-f", "json")))["dry_run"]
    foreseen = int(re.search(r"about (\d+) pieces", found["encode"])[1])
    encoded = int(re.search(r"encoded \((\d+) pieces\)", monge(*line, "-v").err)[1])
    assert foreseen == pytest.approx(encoded, rel=0.3)


def test_a_dry_run_tells_what_a_cache_holds_and_leaves_it(monge, workplace):
    line = (
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
        "-m",
        "bertscore",
        "--cache",
        "kept",
    )
    assert monge(*line).code == 0
    before = {path.name: path.read_bytes() for path in (workplace / "kept").iterdir()}
    assert "kept: holds 6 scores and 12 vectors" in ok(monge(*line, "--dry-run"))
    assert {path.name: path.read_bytes() for path in (workplace / "kept").iterdir()} == before


def test_a_dry_run_loads_no_torch(workplace):
    code = (
        "import sys; from monge.cli.app import run; "
        "code = run('score -t system-a.txt -r reference.txt --dry-run'.split()); "
        "sys.exit(code or 'torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_a_dry_run_finds_mistakes(monge, workplace):
    assert monge("score", "-t", "system-a.txt", "-r", "missing.txt", "--dry-run").code == 1
    assert monge(*BASIC, "-m", "twmdd", "--dry-run").code == 2


def test_a_comparison_fails_where_a_system_is_significantly_worse_than_the_baseline(
    monge, workplace
):
    texts = lines(workplace / "reference.txt") * 6
    (workplace / "good.txt").write_text("\n".join(texts) + "\n")
    (workplace / "bad.txt").write_text("\n".join("x" + text[:9] for text in texts) + "\n")
    (workplace / "wanted.txt").write_text("\n".join(texts) + "\n")
    both = ("compare", "-t", "good.txt", "-t", "bad.txt", "-r", "wanted.txt", "-m", "chrf")
    failed = monge(*both, "--fail-under", "good")
    assert failed.code == 4 and failed.out.startswith("2 systems")
    assert "monge: bad is significantly worse than good by chrf: " in failed.err
    assert monge(*both, "--fail-under", "bad").code == 0
    wrong = monge(*both, "--fail-under", "god")
    assert wrong.code == 2 and "did you mean good?" in wrong.err


def test_two_segments_are_no_reason_to_fail(monge, workplace):
    (workplace / "t.tsv").write_text(
        "system\tid\thypothesis\treference\n"
        "a\t1\tthe cat sat\tthe cat sat\na\t2\the left\the left\nb\t1\tcat\tthe cat sat\nb\t2\tx\the left\n"
    )
    assert monge("compare", "t.tsv", "-m", "chrf", "--fail-under", "a").code == 0
