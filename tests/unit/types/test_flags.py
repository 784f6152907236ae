"""Flags: every kind has a sentence, written forms parse back, and nothing else parses flags."""

import copy
import json
import pickle
import re
from pathlib import Path

import pytest

import monge
from monge.types.flags import FLAGS, Flag, FlagKind, FlagSide, describe_flag, has_kind

WRITTEN = {
    "empty-hypothesis",
    "empty-reference",
    "truncated-hypothesis",
    "truncated-reference",
    "unknown-hypothesis",
    "unknown-reference",
    "no-mass-hypothesis",
    "no-mass-reference",
    "centre-vanished-hypothesis",
    "centre-vanished-reference",
    "all-filtered-hypothesis",
    "all-filtered-reference",
}
"""The written forms that files hold: a form that changes breaks the readers of those files."""


def test_the_written_forms_stay():
    assert {str(Flag(kind, side)) for kind in FlagKind for side in FlagSide} == WRITTEN


@pytest.mark.parametrize("written", sorted(WRITTEN))
def test_a_written_flag_parses_back_and_has_a_sentence(written):
    flag = FLAGS[written]
    assert type(flag) is Flag and flag == written and json.dumps(flag) == json.dumps(written)
    assert written == f"{flag.kind.label}-{flag.side}"
    assert flag == Flag(flag.kind, flag.side) and hash(flag) == hash(written)
    assert re.fullmatch(rf"The {flag.side} (is|was|has|had) [^.]+\.", describe_flag(written))


def test_sentences_and_labels_tell_kinds_apart():
    assert len({kind.sentence for kind in FlagKind}) == len(FlagKind)
    assert len({kind.label for kind in FlagKind}) == len(FlagKind)


def test_a_flag_of_another_program_is_shown_as_it_is():
    assert describe_flag("odd-hypothesis") == "odd-hypothesis."
    assert describe_flag("empty") == "empty."
    assert not has_kind(["odd-hypothesis", "empty", "emptyish-reference"], FlagKind.EMPTY)


def test_a_kind_is_looked_for_on_both_sides():
    flags = ["unknown-hypothesis", "truncated-reference"]
    present = {kind for kind in FlagKind if has_kind(flags, kind)}
    assert present == {FlagKind.UNKNOWN, FlagKind.TRUNCATED}


def test_flags_are_pickled_and_copied():
    flag = Flag(FlagKind.NO_MASS, FlagSide.REFERENCE)
    for other in (pickle.loads(pickle.dumps(flag)), copy.deepcopy(flag)):
        assert (type(other), other, other.kind, other.side) == (Flag, flag, flag.kind, flag.side)


def test_no_other_module_writes_or_parses_a_flag():
    root = Path(monge.__file__).parent
    labels = "|".join(kind.label for kind in FlagKind)
    made_or_parsed = re.compile(rf'"({labels})-(hypothesis|reference)?"')
    offenders = [
        path.name
        for path in root.rglob("*.py")
        if path != root / "types" / "flags.py" and made_or_parsed.search(path.read_text("utf-8"))
    ]
    assert not offenders


def test_the_flags_of_a_result_are_flags(tiny_bert, tmp_path):
    hypotheses, references = ["", "the cat " * 40, "zzzz qqqq"], ["the cat", "a dog", "the dog"]
    for _ in range(2):  # scored, then read from the cache
        metric = monge.load("bertscore", model=str(tiny_bert), device="cpu", cache=tmp_path)
        result = metric.score(hypotheses, references)
        assert [[(flag.kind, flag.side) for flag in flags] for flags in result.flags] == [
            [(FlagKind.EMPTY, FlagSide.HYPOTHESIS)],
            [(FlagKind.TRUNCATED, FlagSide.HYPOTHESIS)],
            [(FlagKind.UNKNOWN, FlagSide.HYPOTHESIS)],
        ]
        assert result.run["truncated"] == 1
