"""The golden numbers: every metric has a row, one row can be written alone, a wrong one is found."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from monge.cli import selfcheck as module
from monge.cli.selfcheck import golden_scores, list_names, selfcheck
from monge.errors import MissingExtra, ModelError, UnknownName

GOLDEN = json.loads((files("monge") / "example" / "golden.json").read_text("utf-8"))


@pytest.fixture
def golden(tmp_path) -> Path:
    """A copy of the golden file in which every number is a little off."""
    path = tmp_path / "golden.json"
    rows = {
        name: {system: score + 1e-9 for system, score in systems.items()}
        for name, systems in GOLDEN.items()
    }
    path.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return path


def test_every_metric_of_every_kind_has_a_row():
    assert list(GOLDEN) == list_names()
    assert all(set(systems) == {"system-a", "system-b"} for systems in GOLDEN.values())


@pytest.mark.parametrize("name", ["chrf", "bertscore", "sentsim"])
def test_one_row_is_written_and_the_others_stay(name, golden):
    before = golden.read_text("utf-8").splitlines()
    assert selfcheck(update=str(golden), only=[name]) == 0
    after = golden.read_text("utf-8").splitlines()
    changed = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    row = before.index(f' "{name}": {{')
    assert changed == [row + 1, row + 2]


def test_a_new_row_gets_its_place_in_the_order_of_the_tables(golden):
    rows = json.loads(golden.read_text("utf-8"))
    del rows["chrf"]
    golden.write_text(json.dumps(rows), "utf-8")
    selfcheck(update=str(golden), only=["chrf"])
    assert list(json.loads(golden.read_text("utf-8"))) == list_names()


@pytest.mark.parametrize("name", ["chrf", "bertscore", "sentsim"])
def test_a_score_that_moved_is_named(name, monkeypatch, capsys):
    assert selfcheck(only=[name]) == 0
    assert capsys.readouterr().out.startswith("ok: 2 scores of 1 metrics")
    scores, _ = golden_scores([name])
    scores[name]["system-b"] += 0.01
    monkeypatch.setattr(module, "golden_scores", lambda names: (scores, []))
    with pytest.raises(ModelError, match=rf"1 score\(s\) differ .*{name} system-b"):
        selfcheck(only=[name])


def test_a_metric_whose_library_is_not_installed_is_named(monkeypatch, capsys):
    def refuse(metrics, rows):
        raise MissingExtra("chrf", "lexical")

    monkeypatch.setattr(module.api, "score_segments", refuse)
    assert selfcheck(only=["chrf"]) == 0
    assert capsys.readouterr().out.endswith("; not installed: chrf\n")


def test_a_name_that_is_no_metric_is_refused():
    with pytest.raises(UnknownName):
        selfcheck(only=["chrff"])
