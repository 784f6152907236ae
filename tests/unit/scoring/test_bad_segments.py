"""A segment that cannot be scored is named, and costs no other segment its score."""

import json

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import BadSegment, DataError, Flagged, InvalidProblem
from monge.scoring import measure
from monge.types import Segment

ROWS = [
    Segment(f"i{k}", f"the cat sat on mat {k}", (f"a cat slept {k}",), system="A" if k < 6 else "B")
    for k in range(12)
]


def load(name, model, *settings):
    return monge.load(name, model=str(model), device="cpu", settings=list(settings))


def failing_solver(monkeypatch, word):
    """A solver that does not settle on pairs whose hypothesis has a unit of its own."""
    solve_batch = measure.solve_batch

    def solve(batch, spec):
        if any(word in hypothesis.text.units.tokens.text for hypothesis, _ in batch):
            raise InvalidProblem("transport has not settled")
        return solve_batch(batch, spec)

    monkeypatch.setattr(measure, "solve_batch", solve)


@pytest.mark.parametrize("name", ["twmd", "bertscore[weights=idf]"])
def test_a_pair_that_does_not_settle_is_named_or_left_out(name, tiny_bert, monkeypatch):
    whole = api.score_segments([load(name, tiny_bert)], ROWS)
    failing_solver(monkeypatch, "mat 7")
    metrics = [load(name, tiny_bert), load("chrf", tiny_bert)]
    with pytest.raises(BadSegment, match=r"segment i7 of B: transport has not settled"):
        api.score_segments(metrics, ROWS)
    with pytest.warns(Flagged, match=r"segment i7 of B: .*; it is left out"):
        found = api.score_segments(metrics, ROWS, on_error="count")
    assert [one.n for one in found] == [6, 6, 5, 5], "left out of every metric"
    assert (
        found[2].run["failed"] == [{"id": "i7", "why": "transport has not settled"}]
        and "failed" not in found[0].run
    )
    assert found[2].ids == ("i6", "i8", "i9", "i10", "i11")
    if name == "twmd":
        assert np.array_equal(found[2].segments, np.delete(whole[1].segments, 1))


@pytest.mark.parametrize("name", ["twmd", "bertscore[weights=idf]", "twmd[centre=corpus]"])
def test_an_overlong_text_is_named_before_anything_is_fitted(name, tiny_bert):
    rows = [*ROWS[:3], Segment("long", "the cat " * 60, ("a cat slept",), system="A"), *ROWS[3:]]
    metric = load(name, tiny_bert, "encoder.overlong=error")
    with pytest.raises(BadSegment, match=r"segment long of A: .*122 pieces, the limit is 48"):
        api.score_segments([metric], rows)
    with pytest.warns(Flagged, match="segment long of A"):
        found = api.score_segments([metric], rows, on_error="count")
    expected = api.score_segments([metric], ROWS)
    assert [one.score for one in found] == [one.score for one in expected]
    assert [one.signature for one in found] == [one.signature for one in expected], (
        "nothing was fitted from it"
    )


def test_an_unknown_word_is_named(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\ncat 3 4\na 5 6\n")
    metric = load("wmd", path, "encoder.unknown=error")
    rows = [Segment("1", "the cat", ("a cat",)), Segment("2", "the dog", ("a cat",))]
    with pytest.raises(BadSegment, match=r"segment 2: no vector for 'dog'"):
        api.score_segments([metric], rows)
    with pytest.warns(Flagged):
        (found,) = api.score_segments([metric], rows, on_error="count")
    assert found.ids == ("1",)


def test_a_run_without_a_good_segment_is_an_error(tiny_bert, monkeypatch):
    metric = load("twmd", tiny_bert, "encoder.overlong=error")
    with pytest.raises(DataError, match="segment i0"):
        api.score_segments([metric], [Segment("i0", "the cat " * 60, ("a cat",))], on_error="count")


def test_a_system_without_a_good_segment_is_named(tiny_bert):
    metric = load("twmd", tiny_bert, "encoder.overlong=error")
    rows = [
        Segment("1", "the cat", ("a cat",), system="A"),
        Segment("1", "the cat " * 60, ("a cat",), system="B"),
    ]
    with pytest.raises(
        DataError, match=r"B: no segment could be scored \(segment 1 of B: .*the limit is 48"
    ):
        api.score_segments([metric], rows, on_error="count")


def test_the_command_names_and_counts(tiny_bert, tmp_path, capsys):
    from monge.cli.app import run

    (tmp_path / "h.txt").write_text("the cat\n" + "the cat " * 60 + "\na dog\n")
    (tmp_path / "r.txt").write_text("a cat\na cat\na dog ran\n")
    call = ["score", "-t", str(tmp_path / "h.txt"), "-r", str(tmp_path / "r.txt"), "--model", str(tiny_bert),
            "--on-overlong", "error", "-f", "json", "--with-texts"]  # fmt: skip
    assert run(call) == 1
    assert "segment 2 of h: text 'the cat" in capsys.readouterr().err.replace(
        str(tmp_path) + "/", ""
    )
    assert run([*call, "--on-error", "count"]) == 0
    out, err = capsys.readouterr()
    (result,) = json.loads(out)["results"]
    assert result["n"] == 2 and [one["id"] for one in result["segments"]] == ["1", "3"]
    assert [one["hypothesis"] for one in result["segments"]] == ["the cat", "a dog"], (
        "texts stay beside their scores"
    )
    assert result["run"]["failed"][0]["id"] == "2" and "it is left out" in err
    assert run([*call, "--on-error", "ignore"]) == 2
