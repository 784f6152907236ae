"""Columns by their usual names: every one, whatever its letters; what is ambiguous or not there is
refused.
"""

import json
from pathlib import Path

import pytest

from monge.datasets import read_table
from monge.datasets.columns import ROLES, TEXTS, assign_columns, given_columns
from monge.errors import InvalidSetting, UnknownName, Unreadable, UsageError
from monge.types import Segment


def found(names, roles=TEXTS, **given):
    return dict(assign_columns(names, roles, given, "t.tsv").names)


@pytest.mark.parametrize(
    ("role", "name"),
    [(role, name) for role, tiers in ROLES.items() for one in tiers for name in one],
)
def test_every_usual_name_plays_its_role(role, name):
    for written in (name, name.upper(), name.replace("_", " ").title(), name.replace("_", "-")):
        assert found([written, "else"], [role]) == {role: (written,)}


def test_no_name_has_two_meanings_in_one_table():
    """What can be a hypothesis and a reference is the reference only where another column is the
    hypothesis.
    """
    often = [name for role in TEXTS for tier in ROLES[role] for name in tier]
    assert {name for name in often if often.count(name) > 1} == {"summary", "translation", "answer"}
    assert found(["summary", "reference"]) == {
        "hypothesis": ("summary",),
        "reference": ("reference",),
    }
    assert found(["prediction", "summary"]) == {
        "hypothesis": ("prediction",),
        "reference": ("summary",),
    }
    assert found(["mt", "ref", "summary"]) == {"hypothesis": ("mt",), "reference": ("ref",)}


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["ref_2", "ref10", "mt", "Ref 1"], ("Ref 1", "ref_2", "ref10")),
        (["mt", "refB", "refA"], ("refA", "refB")),
        (["reference", "reference1", "hyp"], ("reference", "reference1")),
        (["target2", "target1", "output"], ("target1", "target2")),
    ],
)
def test_numbered_references(names, order):
    assert found(names)["reference"] == order


def test_the_own_name_wins_and_is_no_guess():
    columns = assign_columns(["mt", "hypothesis", "References", "label", "model"], TEXTS, {}, "t")
    assert dict(columns.names) == {
        "hypothesis": ("hypothesis",),
        "reference": ("References",),
        "system": ("model",),
    }
    assert columns.note == "system=model"


def test_the_note_is_what_columns_would_say():
    columns = assign_columns(["src", "mt", "ref1", "ref2"], TEXTS, {}, "t")
    said = given_columns([columns.note])
    assert said == {"hypothesis": ("mt",), "reference": ("ref1", "ref2"), "source": ("src",)}
    assert dict(assign_columns(["src", "mt", "ref1", "ref2"], TEXTS, said, "t").names) == dict(
        columns.names
    )
    assert assign_columns(["src", "mt", "ref1", "ref2"], TEXTS, said, "t").note == ""


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            ["mt", "output", "ref"],
            "both 'mt' and 'output' can be the hypothesis; say which: columns={'hypothesis': 'mt'}",
        ),
        (["hyp", "gold", "target"], "both 'gold' and 'target' can be the reference"),
        (["hyp", "references", "reference"], "both 'references' and 'reference'"),
        (["hyp", "ref", "sys", "model"], "both 'sys' and 'model' can be the system"),
        (
            ["translation", "summary", "ref"],
            "both 'translation' and 'summary' can be the hypothesis",
        ),
    ],
)
def test_two_columns_for_one_role_are_ambiguous(names, says):
    with pytest.raises(Unreadable, match=says):
        found(names)


def test_what_the_user_says_goes_first():
    assert found(["mt", "output", "ref"], hypothesis="output") == {
        "hypothesis": ("output",),
        "reference": ("ref",),
    }
    assert found(["a", "b", "MT"], hypothesis="mt", reference=["b", "a"]) == {
        "hypothesis": ("MT",),
        "reference": ("b", "a"),
    }
    with pytest.raises(
        InvalidSetting, match=r"hypothesis=mtt: t\.tsv has no column 'mtt'; did you mean 'mt'\?"
    ):
        found(["mt", "ref"], hypothesis="mtt")
    with pytest.raises(UsageError, match=r"gives column 'ref' of t\.tsv two roles"):
        found(["mt", "ref"], hypothesis="ref", reference="ref")


@pytest.mark.parametrize(
    ("option", "kind", "says"),
    [
        ("mt", UsageError, "ROLE=COLUMN"),
        ("hypothesis=", UsageError, "ROLE=COLUMN"),
        ("hypotesis=mt", UnknownName, "did you mean hypothesis"),
        ("hypothesis=a,hypothesis=b", UsageError, "two columns: 'a' and 'b'"),
    ],
)
def test_a_wrong_option_is_refused(option, kind, says):
    with pytest.raises(kind, match=says):
        given_columns([option])


def test_a_generation_run_is_read_as_it_is(tmp_path):
    """What lm-eval logs: lists of one output, whole numbers for ids, columns that are nothing to
    us.
    """
    path = tmp_path / "samples.jsonl"
    line = {
        "doc_id": 0,
        "doc": {"x": 1},
        "target": "r",
        "resps": [["h "]],
        "filtered_resps": ["h"],
        "bleu": 0.5,
    }
    path.write_text(json.dumps(line) + "\n")
    assert list(read_table(path)) == [Segment("0", "h", ("r",))]
    path.write_text(json.dumps({**line, "filtered_resps": ["h", "i"]}) + "\n")
    with pytest.raises(
        Unreadable,
        match=r"samples\.jsonl:1, field 'filtered_resps': expected one text, got a list of 2",
    ):
        read_table(path)


def test_what_was_only_guessed_and_is_no_text_is_passed_over(tmp_path):
    path = tmp_path / "chat.jsonl"
    line = {
        "prompt": [{"role": "user", "content": "?"}],
        "key": {"a": 1},
        "response": "h",
        "answer": "r",
    }
    path.write_text(json.dumps(line) + "\n")
    assert list(read_table(path)) == [Segment("1", "h", ("r",))]
    with pytest.raises(Unreadable, match="field 'prompt': expected a text"):
        read_table(path, columns={"source": "prompt"})
    with pytest.raises(Unreadable, match="field 'key': expected a text"):
        read_table(path, columns={"id": "key"})


def test_columns_of_json_are_those_of_all_rows(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"mt": "h", "ref": "r"}\n{"mt": "h", "ref": "r", "src": "s"}\n')
    assert [one.source for one in read_table(path)] == [None, "s"]
    path.write_text('{"mt": "h", "ref": "r"}\n{"output": "h", "ref": "r"}\n')
    with pytest.raises(Unreadable, match="both 'mt' and 'output'"):
        read_table(path)


def test_the_page_lists_every_name():
    page = (Path(__file__).parents[3] / "docs" / "input.md").read_text("utf-8")
    for role, tiers in ROLES.items():
        names = "; ".join(", ".join(f"`{name}`" for name in tier) for tier in tiers)
        assert f"| {role} | {names} |" in page, role
