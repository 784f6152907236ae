"""The peers' own test files against ours, from checkouts of their repositories: their packages
leave them out.

    git clone the peers into a directory, as bert_score, torchmetrics and evaluate; MONGE_PEER_TESTS names it; their
    tests want the packages cachier and absl-py

Nothing of theirs stands here. A file is run as it is, with the import replaced by ours and the
model by the embedded one. Numbers that a file expects of a model that is not here are replaced by
what the peer says of the one that is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch

from monge.compat import bert_score as ours
from monge.compat.bert_score_hash import parse_hash
from monge.compat.evaluate import directory

LAYER = 4
pytestmark = pytest.mark.usefixtures("quietly")


class Told(str):
    """Our signature where a file expects the peer's hash: equal where it tells what the hash
    tells.
    """

    def __eq__(self, other):
        said = parse_hash(other)
        return ("|weights:idf" in self) == said.idf and ("|scale:baseline" in self) == said.rescaled

    __hash__ = str.__hash__


class BothScorers:
    """bert-score's module to a test file: it answers with our numbers, and keeps the peer's for
    what is expected.
    """

    def __init__(self, peer, model, baselines, ours=ours):
        self.__version__, self._modules = peer.__version__, (ours, peer)
        self._given = {"model_type": model, "num_layers": LAYER, "device": "cpu", "lang": "en"}
        self._baselines, self.expected = str(baselines), []

    def _settings(self, asked):
        file = {"baseline_path": self._baselines} if asked.get("rescale_with_baseline") else {}
        return {**asked, **self._given, **file}

    def _answer(self, mine, theirs, arguments, settings):
        wants_hash = settings.pop("return_hash", False)
        parts, signature = mine(*arguments, **settings, return_hash=True)
        try:
            self.expected = list(theirs(*arguments, **settings))
        except (
            AttributeError
        ):  # with transformers 5 the peer cannot read an empty text, and expects nothing
            self.expected = []
        return (parts, Told(signature)) if wants_hash else parts

    def score(self, *texts, **asked):
        return self._answer(*(one.score for one in self._modules), texts, self._settings(asked))

    def BERTScorer(self, **asked):  # noqa: N802
        mine, theirs = (one.BERTScorer(**self._settings(asked)) for one in self._modules)
        return SimpleNamespace(
            score=lambda *texts, **options: self._answer(mine.score, theirs.score, texts, options)
        )


def ran(file: Path, both: BothScorers, monkeypatch) -> unittest.TestResult:
    """What unittest says of a file of bert-score, run with `both` as its module."""
    monkeypatch.setitem(sys.modules, "bert_score", both)
    found = ModuleType("peers_own")
    exec(compile(file.read_text("utf-8"), file.name, "exec"), vars(found))
    found.torch = SimpleNamespace(
        is_tensor=torch.is_tensor, tensor=lambda literal: both.expected.pop(0)
    )
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(found).run(result)
    return result


@pytest.fixture
def baselines(tmp_path):
    file = tmp_path / "baselines.csv"
    file.write_text(
        "LAYER,P,R,F\n" + "".join(f"{k},0.{k + 1}1,0.{k + 1}2,0.{k + 1}3\n" for k in range(7))
    )
    return file


@pytest.mark.parametrize("module", ["test_score_function.py", "test_scorer.py"])
def test_bert_score(module, checkout, embedded, peer_bert_score, baselines, monkeypatch):
    file = checkout("bert_score") / "tests" / module
    result = ran(file, BothScorers(peer_bert_score, embedded, baselines), monkeypatch)
    assert result.testsRun == file.read_text("utf-8").count("    def test_") == 6
    assert [str(one) for one, _ in result.failures + result.errors] == []


def test_bert_scores_file_fails_where_numbers_are_others(
    checkout, embedded, peer_bert_score, baselines, monkeypatch
):
    """That the file can fail as it is run here: with another layer on our side four of its six
    tests do.
    """
    other = SimpleNamespace(
        score=lambda *texts, **asked: ours.score(*texts, **{**asked, "num_layers": LAYER - 1})
    )
    file = checkout("bert_score") / "tests" / "test_score_function.py"
    result = ran(file, BothScorers(peer_bert_score, embedded, baselines, other), monkeypatch)
    assert len(result.failures) == 4


def pytest_says(folder: Path, *arguments: str, **environment: str) -> str:
    """The last line of pytest, run in a checkout; what failed is shown."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout.strip().splitlines()[-1]


EXPECTED = """
def _as_bert_score_says(preds, target):
    from bert_score import score

    rows = [[one] if isinstance(one, str) else list(one) for one in target]
    return dict(zip(_METRIC_KEY_TO_IDX, score(preds, rows, model_type=MODEL_NAME, num_layers=6)))


"""
"""What a test of torchmetrics expects where its own numbers are of a model that is not here."""


def test_torchmetrics(checkout, embedded, baselines, tmp_path):
    """All of test_bertscore.py, with its tester classes and its pool of two processes, but one row.

    Left out: the error for a long text without truncation, which we read as bert-score does.
    """
    theirs = tmp_path / "tests"
    shutil.copytree(checkout("torchmetrics") / "tests", theirs)
    file = theirs / "unittests" / "text" / "test_bertscore.py"
    source = file.read_text("utf-8")
    multiple = "def test_bertscore_multiple_references(preds, target, expected):\n"
    described = '    """Test both functional and class APIs with multiple references."""\n'
    for before, after in {
        "from torchmetrics.functional.text.bert import "
        "bert_score": "from monge.compat.torchmetrics import bert_score",
        "from torchmetrics.text.bert import "
        "BERTScore": "from monge.compat.torchmetrics import BERTScore",
        'MODEL_NAME = "albert-base-v2"\n': f"MODEL_NAME = {embedded!r}\n{EXPECTED}",
        "        (8, ": f"        ({LAYER}, ",
        "        (12, ": "        (6, ",
        "        "
        "nthreads=0,\n": f"        nthreads=0,\n        baseline_path={str(baselines)!r},\n",
        '            "idf": '
        "idf,\n": f'            "idf": idf,\n            "baseline_path": {str(baselines)!r},\n',
        # which makes a function of it, that pytest does not collect
        "@skip_on_connection_issues()\nclass": "class",
        multiple + described: f"{multiple}    expected = _as_bert_score_says(preds, target)\n",
    }.items():
        assert before in source
        source = source.replace(before, after)
    file.write_text(source, "utf-8")
    package = (
        theirs / "unittests" / "__init__.py"
    )  # a memory of expected numbers on disk: two processes wait for it
    memory = "_reference_cachier = cachier(cache_dir=_PATH_TEST_CACHE, separate_files=True)"
    assert memory in package.read_text("utf-8")
    package.write_text(
        package.read_text("utf-8").replace(memory, "_reference_cachier = lambda one: one"), "utf-8"
    )
    (theirs / "conftest.py").write_text(
        f"import monge.compat.torchmetrics as one\none.DEFAULT_MODEL = {embedded!r}\n", "utf-8"
    )
    (theirs / "pytest.ini").write_text("[pytest]\nmarkers = DDP\n", "utf-8")
    said = pytest_says(
        theirs,
        "unittests/text/test_bertscore.py",
        "-k",
        "not (truncation and False)",
        USE_PYTEST_POOL="1",
        PYTHONPATH=os.pathsep.join([str(theirs), os.environ.get("PYTHONPATH", "")]),
    )
    assert said.startswith("39 passed, 1 deselected"), said


def test_evaluates_module_checks(checkout, tmp_path):
    """The checks that evaluate holds each of its own modules to, on a tree whose metrics are our
    two.
    """
    shutil.copytree(checkout("evaluate") / "tests", tmp_path / "tests")
    for name in ("bertscore", "monge_score"):
        shutil.copytree(
            directory(name),
            tmp_path / "metrics" / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    left_out = "not seqeval"  # a test of another module
    said = pytest_says(tmp_path, "tests/test_metric_common.py", "-k", left_out, HF_HUB_OFFLINE="1")
    assert said.startswith("2 passed, 2 skipped, 1 deselected"), (
        said
    )  # skipped: marked slow, from the hub
