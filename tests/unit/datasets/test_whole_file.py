"""All of a file or nothing."""

import pytest

from monge.datasets.output import write_text
from monge.errors import InvalidProblem


def test_pieces_become_one_file(tmp_path):
    write_text(tmp_path / "out", (piece for piece in ("a\n", "", "süß\n")))
    assert (tmp_path / "out").read_bytes() == "a\nsüß\n".encode()
    write_text(tmp_path / "out", "b")
    assert (tmp_path / "out").read_bytes() == b"b"


def test_a_piece_that_fails_leaves_the_old_file_alone(tmp_path):
    def pieces():
        yield "a\n"
        raise InvalidProblem("not a score")

    (tmp_path / "out").write_text("as it was")
    with pytest.raises(InvalidProblem):
        write_text(tmp_path / "out", pieces())
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "as it was"
