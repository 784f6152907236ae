"""Scores of a run on their way to its results: nothing is lost or changes places between memory and
disk.
"""

import random
import tempfile
import tracemalloc
from tempfile import SpooledTemporaryFile

import numpy as np
import pytest

from monge.errors import UsageError
from monge.scoring import result_buffer
from monge.scoring.result_buffer import Buffer
from monge.scoring.scorer import Scores
from monge.types import Segment

FLAGS = [(), ("empty-hypothesis",), ("truncated-hypothesis", "truncated-reference")]


def blocks(count, seed, size=50):
    """Positions, segments and scores in blocks of random sizes."""
    draw = random.Random(seed)
    places = list(range(count))
    draw.shuffle(places)
    while places:
        some, places = places[:size], places[size:]
        rows = [Segment(f"süß-{p}-\ud800" * draw.randrange(3), f"h{p}", (f"r{p}",)) for p in some]
        parts = {name: np.array([draw.random() for _ in some]) for name in ("f1", "score")}
        winners = np.array([draw.randrange(-1, 4) for _ in some])
        sums = np.array([[p, draw.random()] for p in some], dtype=float)
        yield some, rows, Scores(parts, winners, [draw.choice(FLAGS) for _ in some], sums)


@pytest.mark.parametrize("count", [1, 49, 50, 51, 357])
@pytest.mark.parametrize("room", [1, result_buffer.ROOM])
def test_rows_come_back_in_input_order(count, room):
    with SpooledTemporaryFile(room) as scratch:
        scratch.write(b"another run's")
        both = [Buffer(scratch), Buffer(scratch)]
        every = [list(blocks(count, 1)), list(blocks(count, 2))]
        arriving = [(k, block) for k, some in enumerate(every) for block in some]
        random.Random(0).shuffle(arriving)
        for k, block in arriving:
            both[k].add(*block)
        for buffer, some in zip(both, every, strict=True):
            expected = {
                place: (
                    rows[i].id,
                    scores.flags[i],
                    scores.winners[i],
                    scores.parts["score"][i],
                    scores.parts["f1"][i],
                )
                for place, rows, scores in some
                for i, place in enumerate(place)
            }
            found = buffer.column("a")
            mine = found.scores
            assert [
                found.ids,
                list(mine.flags),
                mine.winners.tolist(),
                mine.parts["score"].tolist(),
            ] == [
                tuple(expected[p][0] for p in range(count)),
                *([expected[p][k] for p in range(count)] for k in (1, 2, 3)),
            ]
            assert mine.parts["f1"].tolist() == [expected[p][4] for p in range(count)]
            assert mine.sums[:, 0].tolist() == list(range(count))


def score(parts):
    return Scores({name: np.array([value]) for name, value in parts.items()}, np.array([0]), [()])


def test_parts_are_kept_by_name():
    with SpooledTemporaryFile(result_buffer.ROOM) as scratch:
        buffer = Buffer(scratch)
        buffer.add([0], [Segment("a", "h")], score({"f1": 1.0, "score": 2.0}))
        buffer.add([1], [Segment("b", "h")], score({"score": 4.0, "f1": 3.0}))
        assert buffer.column("").scores.parts["score"].tolist() == [2.0, 4.0]


def test_memory_does_not_grow_with_the_rows():
    with SpooledTemporaryFile(1 << 16) as scratch:
        buffer = Buffer(scratch)
        scores = Scores(
            {name: np.full(100, 0.5) for name in ("f1", "score")},
            np.zeros(100, int),
            [("x",)] * 100,
        )
        tracemalloc.start()
        try:
            for start in range(0, 20_000, 100):
                rows = [Segment(f"segment-{p}", "h") for p in range(start, start + 100)]
                buffer.add(range(start, start + 100), rows, scores)
            del rows
            grown, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert grown < 200_000  # 10 bytes a row; in memory they would be 80
        assert len(buffer.column("").ids) == 20_000


def test_a_scratch_file_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with (
        SpooledTemporaryFile(4) as scratch,
        pytest.raises(UsageError, match=r"gone: .* set TMPDIR"),
    ):
        Buffer(scratch).add([0], [Segment("a", "h")], score({"score": 1.0}))
