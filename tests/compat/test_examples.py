"""Scripts of peers (examples/peers), run before and after their import is changed; and whether all
can be installed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import time
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PEERS = (
    "bert-score",
    "torchmetrics",
    "evaluate",
    "sacrebleu",
    "sentence-transformers",
    "datasets",
    "polars",
    "pandas",
)


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    """The module that runs the scripts; evaluate keeps its files in a directory of the test."""
    spec = importlib.util.spec_from_file_location(
        "peers_run", ROOT / "examples" / "peers" / "run.py"
    )
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "peers_run", module)
        for name in ("HF_MODULES_CACHE", "HF_EVALUATE_CACHE", "HF_METRICS_CACHE"):
            patch.setenv(name, str(tmp_path_factory.mktemp("huggingface")))
        spec.loader.exec_module(module)
        yield module


BOTH = ("bert_score", "torchmetrics", "sacrebleu", "sentence_transformers")
OURS = ("evaluate", "moverscore")  # MoverScore does not import, evaluate's module is on the hub


def ran(peers, name, source, capsys):
    """What a script prints, run in this process, and how long it took."""
    start = time.perf_counter()
    exec(
        compile(source, f"{name}_script.py", "exec"),
        {"__file__": str(peers.HERE / f"{name}_script.py")},
    )
    return capsys.readouterr().out, time.perf_counter() - start


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("name", BOTH)
def test_a_script_runs_with_one_changed_import(name, peers, capsys):
    (theirs, before), (mine, after) = (
        ran(peers, name, source, capsys) for source in peers.make_sources(name)
    )
    with capsys.disabled():
        print(f"\n{name}: {before:.2f} s, with monge {after:.2f} s (in one process, first calls)")
    assert peers.hide_numbers(mine) == peers.hide_numbers(theirs)
    assert "N" in peers.hide_numbers(mine)
    if name != "torchmetrics":  # which mixes pairs up (see docs/migration.md)
        numbers = [
            [float(one) for one in re.findall(r"-?\d+\.\d+", said)] for said in (mine, theirs)
        ]
        assert numbers[0] == pytest.approx(numbers[1], abs=2e-4)


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("name", OURS)
def test_a_script_whose_peer_cannot_be_run_here(name, peers, capsys):
    said, _ = ran(peers, name, peers.make_sources(name)[1], capsys)
    assert "36 pairs" in said
    assert set(OURS) | set(BOTH) == set(peers.SCRIPTS)


def test_every_script_was_measured_on_both_sizes(peers):
    kept = json.loads(peers.TIMES.read_text("utf-8"))
    assert set(kept) == {"36", "500"}
    for seen in kept.values():
        assert set(seen["scripts"]) == set(peers.SCRIPTS)
        assert all(one["same_shape"] for one in seen["scripts"].values() if one["before"])


def test_real_pairs_in_the_place_of_the_example(peers, data_dir, tmp_path):
    peers.write_pairs(data_dir, 20, tmp_path)
    lines = {one.stem: one.read_text("utf-8").splitlines() for one in tmp_path.iterdir()}
    assert {name: len(some) for name, some in lines.items()} == {
        "system-a": 20,
        "system-b": 20,
        "reference": 20,
    }
    for name in peers.SCRIPTS:
        assert all(repr(str(tmp_path)) in one for one in peers.make_sources(name, tmp_path))


def unmet(requirements):
    """Requirements that the versions installed here do not meet; extras and other platforms are not
    asked for.
    """
    wanted = [Requirement(one) for one in requirements]
    asked = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [
        str(one) for one in asked if not one.specifier.contains(version(one.name), prereleases=True)
    ]


def test_every_peer_can_be_installed_beside_monge():
    """This environment has monge's dependencies and every peer's at once: none asks for what
    another refuses.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert unmet(project["dependencies"]) == []
    assert {peer: unmet(requires(peer) or ()) for peer in PEERS} == {peer: [] for peer in PEERS}


def test_a_requirement_that_is_not_met_is_seen():
    assert unmet(["numpy<1", "numpy>=2", "nothing-of-the-kind; python_version < '3'"]) == [
        "numpy<1"
    ]
