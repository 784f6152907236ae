"""Metrics of installed packages at the command line: by name, lazily, and broken ones alone."""

from __future__ import annotations

import json

import pytest
from plugin_package import EXAMPLE

MODULE = """
import sys
import monge

print("demo is loaded", file=sys.stderr)

def word_f1(hypothesis, reference):
    words, reference_words = set(hypothesis.split()), set(reference.split())
    return 2 * len(words & reference_words) / max(len(words) + len(reference_words), 1)

def boom(hypothesis, reference):
    return 1 / 0

class Length:
    def score(self, hypotheses, references):
        return [float(len(text)) for text in hypotheses]

length = monge.MetricPlugin(Length(), higher_is_better=False, low=0)
"""
ENTRIES = """
word-f1 = demo:word_f1
boom = demo:boom
length = demo:length
missing = nowhere:score
chrf = demo:word_f1
"""


@pytest.fixture
def demo(package):
    package.write({"demo.py": MODULE}, metrics=ENTRIES)
    return package


def test_nothing_is_loaded_before_it_is_named(demo, texts):
    for arguments in (("--help",), ("score", *texts, "-m", "sentbleu"), ("score", "--help")):
        outcome = demo.run(*arguments)
        assert outcome.returncode == 0 and "demo is loaded" not in outcome.stderr
    code = "import monge, sys; assert not {'demo', 'importlib.metadata'} & set(sys.modules)"
    assert demo.python(code).returncode == 0
    assert "demo is loaded" in demo.run("score", *texts, "-m", "word-f1").stderr


def test_names_are_completed_without_loading(demo):
    environment = "import os; os.environ['MONGE_COMPLETE'] = 'zsh'\n"
    code = environment + "from monge.cli.main import main; main()"
    outcome = demo.python(code, "score", "-m", "word-")
    assert "word-f1" in outcome.stdout.split()
    assert "demo is loaded" not in outcome.stderr


def test_the_table_of_metrics_loads_all_and_says_what_is_broken(demo):
    outcome = demo.run("metrics", "-f", "json")
    metrics = json.loads(outcome.stdout)
    assert outcome.returncode == 0
    assert metrics["length"]["higher_is_better"] is False
    assert metrics["missing"]["title"].startswith(
        "cannot be used: plugin missing: nowhere:score of demo 1.2 cannot be loaded: "
        "ModuleNotFoundError"
    )
    assert metrics["chrf"]["cites"] == "Popović 2015"  # the name of a metric of monge stays its own
    assert metrics["chrf (plugin)"]["title"] == "cannot be used: a metric of monge has this name"
    assert demo.run("show", "length").stdout.count("length@1.2#") == 1


def test_scores_with_intervals_segments_files_and_replay(demo, texts, tmp_path):
    out = tmp_path / "scores.json"
    names = ("-m", "word-f1", "-m", "length", "-m", "chrf")
    outcome = demo.run("score", *texts, *names, "--ci", "--segments", "-f", "json", "-o", out)
    assert outcome.returncode == 0, outcome.stderr
    results = json.loads(out.read_text("utf-8"))["results"]
    assert [result["metric"] for result in results] == ["word-f1", "length", "chrf"]
    for result in results[:2]:
        assert result["interval"]["low"] < result["score"] < result["interval"]["high"]
        replayed = demo.run("score", *texts, "--signature", result["signature"], "-f", "json")
        assert json.loads(replayed.stdout)["results"][0]["score"] == result["score"]
    (demo.folder / "demo.py").write_text(MODULE.replace("1.0", "2.0") + "\n# changed\n", "utf-8")
    changed = demo.run("score", *texts, "--signature", results[0]["signature"])
    assert changed.returncode == 3
    assert "the signature says plugin=word-f1@1.2#" in changed.stderr
    assert demo.run("score", *texts, "--refit", "--signature", results[0]["signature"]).stdout


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_a_broken_plugin_costs_no_other_metric(demo, texts, form):
    outcome = demo.run("score", *texts, "-m", "word-f1", "-m", "boom", "-m", "chrf", "-f", form)
    assert outcome.returncode == 3
    line = "monge: plugin boom: it raised ZeroDivisionError: division by zero (segment 1); it is"
    assert [line in text for text in outcome.stderr.splitlines()].count(True) == 1
    assert "Traceback" not in outcome.stderr
    alone = demo.run("score", *texts, "-m", "word-f1", "-m", "chrf", "-f", form)
    assert alone.returncode == 0 and outcome.stdout == alone.stdout
    file = demo.folder / "scores"
    written = demo.run("score", *texts, "-m", "word-f1", "-m", "boom", "-f", form, "-o", file)
    assert written.returncode == 3 and "word-f1" in file.read_text("utf-8")
    assert not (demo.folder / "scores.partial").exists()


def test_alone_it_fails_in_one_line(demo, texts):
    for name, why in (("boom", "it raised ZeroDivisionError"), ("missing", "cannot be loaded")):
        outcome = demo.run("score", *texts, "-m", name)
        assert (outcome.returncode, outcome.stdout) == (3, "")
        assert outcome.stderr.splitlines()[-1].startswith(f"monge: plugin {name}: ")
        assert why in outcome.stderr and "Traceback" not in outcome.stderr
    wrong = demo.run("score", *texts, "-m", "word-f")
    assert wrong.returncode == 2 and "did you mean word-f1?" in wrong.stderr
    settings = demo.run("score", *texts, "-m", "word-f1", "--set", "layers=3")
    assert settings.returncode == 2 and "a plugin without settings" in settings.stderr


def test_check_metric_says_which_checks_hold(demo):
    outcome = demo.run("check-metric", "word-f1")
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("word-f1: every required check holds")
    outcome = demo.run("check-metric", "length", "-f", "json")
    report = json.loads(outcome.stdout)
    assert outcome.returncode == 1 and not report["passed"]
    assert {check["name"]: check["holds"] for check in report["checks"]} == {
        **dict.fromkeys(["scores", "again", "order", "batch", "empty", "replay", "long"], True),
        "direction": False,
    }
    outcome = demo.run("check-metric", "boom")
    assert outcome.returncode == 1 and "ZeroDivisionError" in outcome.stdout
    assert demo.run("check-metric", "nothing").returncode == 2


def test_studies_and_reports_take_plugins(demo, texts, tmp_path):
    both = (*texts, "-t", EXAMPLE / "system-b.txt")
    names = ("-m", "word-f1", "-m", "boom")
    judged = ("table", "--data", EXAMPLE / "judged.tsv", "--resamples", "50")
    page = tmp_path / "report.html"
    for arguments in (
        ("compare", *both, *names, "--resamples", "50"),
        ("evaluate", *judged, *names),
        ("probe", *names, "--kind", "number", "--resamples", "50"),
        ("report", *both, *names, "-o", page),
    ):
        outcome = demo.run(*arguments)
        assert outcome.returncode == 3, arguments[0]
        assert "monge: plugin boom: it raised ZeroDivisionError" in outcome.stderr
        assert "Traceback" not in outcome.stderr
        assert "word-f1" in (outcome.stdout or page.read_text("utf-8"))
    assert demo.run("evaluate", *judged, "-m", "word-f1", "-m", "length").returncode == 0


def test_a_name_that_two_packages_offer_is_refused(demo, texts):
    (demo.folder / "other-1.dist-info").mkdir()
    facts = {"METADATA": "Metadata-Version: 2.1\nName: other\nVersion: 1\n"}
    facts["entry_points.txt"] = "[monge.metrics]\nword-f1 = demo:boom\n"
    for name, text in facts.items():
        (demo.folder / "other-1.dist-info" / name).write_text(text, "utf-8")
    outcome = demo.run("score", *texts, "-m", "word-f1")
    assert outcome.returncode == 2
    assert "plugin word-f1 has several entry points" in outcome.stderr


def test_a_service_loads_no_plugin_that_its_operator_did_not_name(demo):
    code = (
        "import monge\n"
        "from monge.metrics.plugins import stop_loading\n"
        "monge.load('length'); stop_loading(); monge.load('length')\n"
        "try: monge.load('word-f1')\n"
        "except monge.MongeError as error: print(error)\n"
    )
    outcome = demo.python(code)
    assert outcome.stdout.startswith("unknown metric 'word-f1'"), outcome.stderr
