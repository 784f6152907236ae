"""What is fitted from a corpus does not need memory in proportion to it."""

import tracemalloc

from monge.scoring.first_occurrences import FirstTexts
from monge.scoring.fit import REFERENCES, SOURCES, iter_run_texts
from monge.types import Segment


class Many:
    """Segments of two systems on the same items, made when they are asked for."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for system in "AB":
            for k in range(self.items):
                yield Segment(
                    f"i{k}",
                    "h",
                    (f"reference number {k} of many", f"another {k % 7}"),
                    f"source {k}",
                    system,
                )


def peak(items):
    tracemalloc.start()
    firsts = FirstTexts(Many(items))
    for _ in firsts.scan():
        pass
    for _ in iter_run_texts(firsts, {}, {(REFERENCES, ""), (SOURCES, "")}):
        pass
    firsts.close()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_corpus():
    """A set of all reference tuples took some 250 bytes per item."""
    peak(1000)
    small, large = peak(2000), peak(20000)
    assert large - small < 60 * 18000, (small, large)


def test_the_texts_of_an_item_come_once_whatever_its_systems():
    rows = [*Many(5), Segment("i0", "h", ("other reference",), None, "B")]
    firsts = FirstTexts(rows)
    assert list(firsts.scan()) == rows
    found = list(iter_run_texts(firsts, {}, {(REFERENCES, ""), (SOURCES, "")}))
    firsts.close()
    references = [text for corpus, text in found if corpus[0] == REFERENCES]
    assert references == [*(text for row in rows[:5] for text in row.references), "other reference"]
    assert [text for corpus, text in found if corpus[0] == SOURCES] == [
        f"source {k}" for k in range(5)
    ]


def test_nothing_is_left_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    firsts = FirstTexts(Many(3))
    list(firsts.scan())
    assert list(tmp_path.iterdir())
    firsts.close()
    assert not list(tmp_path.iterdir())
    dropped = FirstTexts(Many(3))
    del dropped
    assert not list(tmp_path.iterdir())
