"""Scripts of peers (examples/peers), run before and after their import is changed; and whether all can be installed."""

from __future__ import annotations

import re
import time
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    "bert_score": ("from bert_score import score", "from monge.compat.bert_score import score"),
    "torchmetrics": ("from torchmetrics.text.bert import BERTScore", "from monge.compat.torchmetrics import BERTScore"),
}
PEERS = ("bert-score", "torchmetrics", "evaluate", "sacrebleu", "sentence-transformers", "datasets", "polars", "pandas")


@pytest.mark.usefixtures("quietly")
@pytest.mark.parametrize("peer", SCRIPTS)
def test_a_script_runs_with_one_changed_import(peer, capsys):
    script = (ROOT / "examples" / "peers" / f"{peer}_script.py").read_text("utf-8")
    before, after = SCRIPTS[peer]
    assert script.count(f"\n{before}\n") == 1
    said, took = [], []
    for source in (script, script.replace(f"\n{before}\n", f"\n{after}\n")):
        start = time.perf_counter()
        exec(compile(source, f"{peer}_script.py", "exec"), {"__name__": "__main__"})
        took.append(time.perf_counter() - start)
        said.append(capsys.readouterr().out)
    with capsys.disabled():
        print(f"\n{peer}: {took[0]:.2f} s, with monge {took[1]:.2f} s (first calls, imports included)")
    assert re.sub(r"\d+\.\d+", "N", said[0]) == re.sub(r"\d+\.\d+", "N", said[1])
    if peer == "bert_score":  # torchmetrics mixes pairs up (V1), so its numbers are not ours
        assert said[0] == said[1]


def unmet(requirements):
    """Requirements that the versions installed here do not meet; extras and other platforms are not asked for."""
    wanted = [Requirement(one) for one in requirements]
    asked = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [str(one) for one in asked if not one.specifier.contains(version(one.name), prereleases=True)]


def test_every_peer_can_be_installed_beside_monge():
    """This environment has monge's dependencies and every peer's at once: none asks for what another refuses."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert unmet(project["dependencies"]) == []
    assert {peer: unmet(requires(peer) or ()) for peer in PEERS} == {peer: [] for peer in PEERS}
