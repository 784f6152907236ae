"""Line-aligned files: order, names, and counts that differ."""

import io
import sys

import pytest

from monge.datasets import read_parallel
from monge.errors import Misaligned, Unreadable, UsageError
from monge.types import Segment
from monge.types.system_names import short_names


@pytest.fixture
def write(tmp_path):
    def _write(name, *lines):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return _write


def test_by_line_then_by_system_and_again(write):
    a, b = write("a.txt", "a1", "a2"), write("b.txt", "b1", "b2")
    r, q, s = write("r.txt", "r1", "r2"), write("q.txt", "q1", "q2"), write("s.txt", "s1", "s2")
    segments = read_parallel([a, b], [r, q], s)
    assert list(segments) == [
        Segment("1", "a1", ("r1", "q1"), "s1", "a"),
        Segment("1", "b1", ("r1", "q1"), "s1", "b"),
        Segment("2", "a2", ("r2", "q2"), "s2", "a"),
        Segment("2", "b2", ("r2", "q2"), "s2", "b"),
    ]
    assert list(segments) == list(segments)
    assert len(segments) == 4
    assert segments.systems == ("a", "b")


def test_a_source_may_stand_alone(write):
    assert list(read_parallel([write("a", "x")], source=write("s", "y"))) == [
        Segment("1", "x", (), "y", "a")
    ]


def test_systems_that_share_a_name_keep_their_path(write):
    one, two, three = write("1/out.txt", "x"), write("2/out.txt", "x"), write("z.txt", "x")
    names = [path.removesuffix(".txt") for path in (one, two)]
    assert read_parallel([one, two, three], [three]).systems == (*names, "z")
    same_stem = write("z.out", "x")
    assert read_parallel([three, same_stem], [three]).systems == ("z.txt", "z.out")


def test_a_system_is_named_by_its_entry(write):
    first, second, odd = write("a.txt", "x"), write("b.txt", "y"), write("c=d.txt", "z")
    assert read_parallel([f"alpha={first}", second, odd], [first]).systems == ("alpha", "b", "c=d")
    with pytest.raises(UsageError, match="two systems have the name b: give each its own"):
        read_parallel([f"b={first}", second], [first])
    with pytest.raises(Unreadable, match="nowhere: no such file"):
        read_parallel(["alpha=nowhere"], [first])


def test_unequal_counts_name_both_files_and_the_line(write):
    h, r = write("h.txt", "1", "2"), write("r.txt", "1", "2", "third")
    with pytest.raises(Misaligned) as caught:
        read_parallel([h], [r])
    assert (
        str(caught.value)
        == f"{h} has 2 lines but {r} has 3: the first unmatched is line 3 of {r}, 'third'"
    )
    with pytest.raises(
        Misaligned, match=r"r\.txt has 3 lines but .*h\.txt has 2: .* line 3 of .*r\.txt"
    ):
        read_parallel([r], [h])
    with pytest.raises(Misaligned, match="a blank line"):
        read_parallel([h], [write("blank.txt", "1", "2", "")])
    with pytest.raises(Misaligned):
        read_parallel([h, r], [h])
    with pytest.raises(Misaligned):
        read_parallel([h], [h], r)


def test_a_bad_line_is_known_at_once(write, tmp_path):
    (tmp_path / "bad").write_bytes(b"ok\n\xff\n")
    with pytest.raises(Unreadable, match="bad:2"):
        read_parallel([write("h", "1", "2")], [tmp_path / "bad"])


def test_standard_input_once(write, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n")))
    segments = read_parallel(["-"], [write("r", "ref")])
    assert list(segments) == list(segments) == [Segment("1", "one", ("ref",), None, "stdin")]
    with pytest.raises(UsageError, match="more than once"):
        read_parallel(["-"], ["-"])


def test_nothing_to_compare(write):
    h = write("h", "x")
    with pytest.raises(UsageError, match="no hypotheses"):
        read_parallel([], [h])
    with pytest.raises(UsageError, match="neither references nor a source"):
        read_parallel([h])
    with pytest.raises(UsageError, match="given twice"):
        read_parallel([h, h], [h])


def test_a_directory_is_the_outputs_in_it(write, tmp_path):
    write("outs/b.txt", "x")
    write("outs/a.txt", "y")
    write("outs/.hidden", "z", "z")
    (tmp_path / "outs" / "deeper").mkdir()
    r = write("r.txt", "ref")
    segments = read_parallel([tmp_path / "outs"], [r])
    assert [(one.system, one.hypothesis, one.id) for one in segments] == [
        ("a", "y", "1"),
        ("b", "x", "1"),
    ]
    with pytest.raises(UsageError, match=r"a\.txt were given twice"):
        read_parallel([tmp_path / "outs", str(tmp_path / "outs" / "a.txt")], [r])
    write("empty/.hidden", "z")
    with pytest.raises(Unreadable, match="empty is a directory without a file in it"):
        read_parallel([tmp_path / "empty"], [r])
    with pytest.raises(Unreadable, match="outs is a directory; expected a file"):
        read_parallel([r], [tmp_path / "outs"])


def test_names_lose_file_endings_where_that_keeps_them_apart():
    assert short_names(["a.txt", "b.tsv.gz", "gpt-4.1", ".txt"]) == {
        "a.txt": "a", "b.tsv.gz": "b", "gpt-4.1": "gpt-4.1", ".txt": ".txt"}  # fmt: skip
    assert short_names(["a.txt", "a.out", "a", "b.txt"]) == {
        "a.txt": "a.txt",
        "a.out": "a.out",
        "a": "a",
        "b.txt": "b",
    }
