"""`make laws METRIC=name` holds one metric to its laws, and scores no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from law_functions import laws_of

ROOT = Path(__file__).parents[2]


def run_laws(metric: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "tests/laws/test_laws.py"]
    return subprocess.run(
        [*command, "--metric", metric],
        cwd=ROOT,
        env={**os.environ, "MONGE_LAW_FIGURES": "1", "PYTEST_ADDOPTS": "-q"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_one_metric_is_scored_in_less_than_a_minute():
    process = run_laws("chrf")
    assert process.returncode == 0, process.stdout
    lines = process.stdout.splitlines()
    assert lines[0].count(".") == len(laws_of("chrf"))
    assert lines[-1] == "metrics scored: chrf"


def test_a_name_that_is_no_metric_is_refused():
    process = run_laws("chrff")
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--metric chrff: no such metric" in process.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_passes_the_name_on():
    def recipe(*arguments: str) -> str:
        command = ["make", "-n", "-o", ".venv/.test", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout

    assert "pytest tests/laws --metric twmd@paper\n" in recipe("laws", "METRIC=twmd@paper")
    golden = "monge selfcheck --update src/monge/example/golden.json"
    assert f"{golden} --only twmd\n" in recipe("golden", "ONLY=twmd")
    assert f"{golden} \n" in recipe("golden")
    assert "pytest" not in recipe("laws")
