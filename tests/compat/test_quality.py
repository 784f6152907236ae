"""`assert_quality`: by itself, and as the fixture of the pytest plugin in a real pytest run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from monge.compat.quality import assert_quality
from monge.errors import StatisticsMismatch, UsageError

METRIC = "chrf"


@pytest.fixture
def worse(pairs):
    """The hypotheses with the second half of every text lost."""
    return [text[: len(text) // 2] for text in pairs[0]]


@pytest.mark.parametrize(("metric", "good", "bad"), [("chrf", 20.0, 99.0), ("emd", 0.9, 0.01)])
def test_a_threshold_in_the_metrics_own_direction(pairs, metric, good, bad):
    assert assert_quality(*pairs, metric=metric, at_least=good).n == 8
    with pytest.raises(
        AssertionError, match=rf"not good enough: {metric} .* 8 segments, asked: at (least|most)"
    ) as found:
        assert_quality(*pairs, metric=metric, at_least=bad)
    assert "the 5 worst segments:" in str(found.value)
    assert "signature: metric:" in str(found.value)


@pytest.mark.parametrize("metric", ["chrf", "bleu", "bertscore"])
def test_a_baseline_tells_which_segments_fell_and_whether_that_is_more_than_noise(
    pairs, worse, tmp_path, metric
):
    file = tmp_path / "baseline.json"
    assert_quality(*pairs, metric=metric, not_worse_than=file, update=True)
    assert_quality(*pairs, metric=metric, not_worse_than=file)
    with pytest.raises(AssertionError, match="worse than the baseline") as found:
        assert_quality(worse, pairs[1], metric=metric, not_worse_than=file)
    said = str(found.value)
    assert "p = 0.00781: more than noise" in said  # all of 2^8 sign flips: 2/256
    assert "8 segments fell, 0 rose; the 5 that fell most:" in said
    assert [said.count(f"\n      {name:4}") for name in ("was", "is", "ref")] == [5, 5, 5]
    one = [*pairs[0][:-1], "Nothing of the kind"]  # one of eight may be chance
    assert_quality(one, pairs[1], metric=metric, not_worse_than=file)
    with pytest.raises(AssertionError, match="could be noise"):
        assert_quality(one, pairs[1], metric=metric, not_worse_than=file, alpha=None)


def test_a_baseline_of_other_settings_is_scored_again(pairs, worse, tmp_path):
    file = tmp_path / "baseline.json"
    assert_quality(*pairs, metric="chrf", not_worse_than=file, update=True)
    assert_quality(*pairs, metric="chrf++", not_worse_than=file)  # another scale, the same texts
    with pytest.raises(AssertionError, match=r"worse than the baseline: chrf\+\+"):
        assert_quality(worse, pairs[1], metric="chrf++", not_worse_than=file)


def test_what_is_wrong_with_a_baseline_is_said(pairs, tmp_path):
    with pytest.raises(UsageError, match="give at_least"):
        assert_quality(*pairs)
    file = tmp_path / "baseline.json"
    with pytest.raises(
        AssertionError, match="no such baseline file; write it with pytest --monge-update"
    ):
        assert_quality(*pairs, metric=METRIC, not_worse_than=file)
    file.write_text("{}")
    with pytest.raises(StatisticsMismatch, match="not a baseline file"):
        assert_quality(*pairs, metric=METRIC, not_worse_than=file)
    assert_quality(*pairs, metric=METRIC, not_worse_than=file, update=True)
    with pytest.raises(
        StatisticsMismatch, match="8 segments with other references or sources than these 7"
    ):
        assert_quality(pairs[0][1:], pairs[1][1:], metric=METRIC, not_worse_than=file)


def test_in_a_pytest_run(pairs, worse, tmp_path):
    (tmp_path / "test_system.py").write_text(
        "import json\n"
        "def test_quality(assert_quality):\n"
        "    texts = json.load(open('texts.json'))\n"
        f"    assert_quality(*texts, metric={METRIC!r}, not_worse_than='baseline.json', "
        f"at_least=10)\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "monge.compat.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(texts, *options):
        (tmp_path / "texts.json").write_text(json.dumps([texts, pairs[1]]))
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    assert run(pairs[0], "--monge-update")[0] == 0
    code, said = run(worse)
    assert code == 1
    assert "quality of texts (monge)" in said
    assert "8 segments fell, 0 rose" in said
    assert "quality.py" not in said  # the failure is shown where the user called, not inside monge


def test_the_plugin_is_declared_and_light():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"monge": "monge.compat.pytest_plugin"}
    heavy = "('torch', 'numpy', 'monge.api')"
    code = (
        f"import sys, monge.compat.pytest_plugin; print(*[name for name in {heavy} if name in "
        f"sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
