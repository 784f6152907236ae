"""Scores of a run on their way to its results: nothing is lost or changes places between memory and disk."""

import random
import tempfile
import tracemalloc
from contextlib import closing

import pytest

from monge.errors import UsageError
from monge.scoring import columns
from monge.scoring.columns import ROWS, Column, Scratch
from monge.scoring.pipeline import SegmentScore


def scores(count, seed):
    draw = random.Random(seed)
    flags = [(), ("empty-hypothesis",), ("truncated-hypothesis", "truncated-reference")]
    for position in range(count):
        parts = {"f1": draw.random(), "score": draw.random()}
        yield (
            position,
            f"süß-{position}-\ud800" * draw.randrange(3),
            SegmentScore(parts, draw.randrange(-1, 4), draw.choice(flags)),
        )


@pytest.mark.parametrize("count", [1, ROWS - 1, ROWS, ROWS + 1, 5 * ROWS + 7])
@pytest.mark.parametrize("room", [1, columns.ROOM])
def test_rows_come_back_in_input_order(count, room):
    scratch = Scratch(room)
    assert scratch.append(b"another run's") == 0
    both = [Column(scratch), Column(scratch)]
    every = [list(scores(count, 1)), list(scores(count, 2))]
    arriving = [(k, row) for k, rows in enumerate(every) for row in rows]
    random.Random(0).shuffle(arriving)
    for k, row in arriving:
        both[k].add(*row)
    for column, rows in zip(both, every, strict=True):
        found = column.rows()
        assert found.ids == tuple(identity for _, identity, _ in rows)
        assert found.flags == tuple(score.flags for *_, score in rows)
        assert found.winners.tolist() == [score.winner for *_, score in rows]
        assert {name: values.tolist() for name, values in found.parts.items()} == {
            name: [score.parts[name] for *_, score in rows] for name in ("f1", "score")
        }
    scratch.close()


def test_parts_are_kept_by_name():
    with closing(Scratch()) as scratch:
        column = Column(scratch)
        column.add(0, "a", SegmentScore({"f1": 1.0, "score": 2.0}, 0, ()))
        column.add(1, "b", SegmentScore({"score": 4.0, "f1": 3.0}, 0, ()))
        assert column.rows().parts["score"].tolist() == [2.0, 4.0]


def test_memory_does_not_grow_with_the_rows():
    score = SegmentScore(dict.fromkeys(("precision", "recall", "f1", "score"), 0.5), 0, ("truncated-hypothesis",))
    with closing(Scratch(1 << 16)) as scratch:
        column = Column(scratch)
        tracemalloc.start()
        try:
            for position in range(20_000):
                column.add(position, f"segment-{position}", score)
            grown, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert grown < 200_000  # 10 bytes a row; in memory they would be 80
        assert len(column.rows().ids) == 20_000


def test_a_scratch_file_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with closing(Scratch(4)) as scratch, pytest.raises(UsageError, match=r"gone: .* set TMPDIR"):
        scratch.append(b"12345678")
