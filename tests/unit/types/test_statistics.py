"""Corpus statistics: addition, union, equality, and files that no corpus can have written."""

import json
from math import inf, nan

import numpy as np
import pytest

from monge.errors import StatisticsMismatch
from monge.types import CorpusStats, DocumentCounts, MatrixSum, PartSums, Range, VectorSum

COUNTS = DocumentCounts(3, {7: 2, 9: 3}, 11)
KINDS = {
    "counts": {"references": COUNTS},
    "sums": {"space": {"references": VectorSum(np.array([1.0, 0.1]), 4, 12)}},
    "ranges": {"words": Range(-0.5, 0.25, 2, 13)},
    "baselines": {"bertscore": PartSums({"precision": 0.3, "score": 0.1}, 2, 14)},
    "maps": {"space/clp": MatrixSum(np.array([[1.0, 2.0], [3.0, 4.0]]), 5, 15)},
}
ALL = CorpusStats("reader", **KINDS)


def only(kind: str) -> CorpusStats:
    return CorpusStats("reader", **{kind: KINDS[kind]})


def test_statistics_with_vectors_can_be_compared():
    again = CorpusStats.from_dict(ALL.to_dict())
    assert again == ALL
    moved = VectorSum(np.array([1.0, 0.2]), 4, 12)
    assert CorpusStats("reader", sums={"space": {"references": moved}}) != only("sums")
    assert VectorSum(np.zeros(2), 0, 0) != VectorSum(np.zeros(3), 0, 0)


@pytest.mark.parametrize("kind", [VectorSum, MatrixSum])
def test_sums_of_other_counts_or_texts_differ(kind):
    total = np.ones((2,) * kind.dimensions)
    assert kind(total, 1, 5) == kind(total.copy(), 1, 5)
    assert kind(total, 1, 5) != kind(total, 2, 5)
    assert kind(total, 1, 5) != kind(total, 1, 6)


def test_addition_adds_every_kind():
    twice = ALL + ALL
    assert twice.counts["references"] == DocumentCounts(6, {7: 4, 9: 6}, 22)
    assert twice.sums["space"]["references"] == VectorSum(np.array([2.0, 0.2]), 8, 24)
    assert twice.ranges["words"] == Range(-0.5, 0.25, 4, 26)
    assert twice.baselines["bertscore"] == PartSums({"precision": 0.6, "score": 0.2}, 4, 28)
    assert twice.maps["space/clp"] == MatrixSum(np.array([[2.0, 4.0], [6.0, 8.0]]), 10, 30)


def test_addition_needs_the_same_things_on_both_sides():
    with pytest.raises(
        StatisticsMismatch, match="only one of the statistics holds baselines of bertscore"
    ):
        only("counts") + (only("counts") | only("baselines"))
    with pytest.raises(
        StatisticsMismatch, match="different readers cannot be added: 'reader' and 'another'"
    ):
        ALL + CorpusStats("another", **KINDS)


def test_a_union_of_all_kinds_is_the_whole():
    found = CorpusStats("reader")
    for kind in KINDS:
        found = found | only(kind)
    assert found == ALL


def test_a_union_joins_sides_and_spaces():
    other = CorpusStats("reader", sums={"space": {"hypotheses": VectorSum(np.zeros(2), 1, 1)}})
    assert set((only("sums") | other).sums["space"]) == {"references", "hypotheses"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_union_refuses_what_both_hold(kind):
    with pytest.raises(StatisticsMismatch, match=f"both statistics hold {kind} of "):
        ALL | only(kind)


def test_a_union_refuses_another_reader():
    with pytest.raises(StatisticsMismatch, match="different readers cannot be united"):
        only("counts") | CorpusStats("another", ranges=KINDS["ranges"])


def test_the_file_of_version_1_is_as_it_was():
    assert json.loads(json.dumps(ALL.to_dict())) == {
        "monge-statistics": 1,
        "reader": "reader",
        "counts": {"references": {"n": 3, "texts": f"{11:032x}", "df": {"7": 2, "9": 3}}},
        "sums": {"space": {"references": {"count": 4, "texts": f"{12:032x}", "total": [1.0, 0.1]}}},
        "ranges": {"words": {"low": -0.5, "high": 0.25, "n": 2, "texts": f"{13:032x}"}},
        "baselines": {
            "bertscore": {"n": 2, "texts": f"{14:032x}", "totals": {"precision": 0.3, "score": 0.1}}
        },
        "maps": {
            "space/clp": {"count": 5, "texts": f"{15:032x}", "total": [[1.0, 2.0], [3.0, 4.0]]}
        },
    }


def test_kinds_that_an_older_file_lacks_are_empty():
    data = only("counts").to_dict()
    for kind in ("ranges", "baselines", "maps"):
        del data[kind]
    assert CorpusStats.from_dict(data) == only("counts")


DAMAGE = [
    ("counts/references/n", 2),
    ("counts/references/n", -1),
    ("counts/references/n", 2.5),
    ("counts/references/df/7", 0),
    ("counts/references/texts", "not hex"),
    ("counts/references/texts", "f" * 33),
    ("sums/space/references/total", [1.0, nan]),
    ("sums/space/references/total", [[1.0]]),
    ("sums/space/references/count", -1),
    ("sums/space/references/count", "4"),
    ("ranges/words/low", 0.5),
    ("ranges/words/high", inf),
    ("ranges/words/n", 0),
    ("baselines/bertscore/n", 0),
    ("baselines/bertscore/totals", {}),
    ("baselines/bertscore/totals/score", nan),
    ("maps/space~clp/total", [[1.0, 2.0]]),
    ("maps/space~clp/total", [[1.0, inf], [0.0, 1.0]]),
    ("maps/space~clp/total", [1.0, 2.0]),
    ("maps/space~clp/count", -2),
    ("maps", []),
    ("sums/space", 3),
]


@pytest.mark.parametrize(("place", "value"), DAMAGE)
def test_damaged_statistics_are_refused(place, value):
    data = json.loads(json.dumps(ALL.to_dict()))
    *outer, last = (key.replace("~", "/") for key in place.split("/"))
    inner = data
    for key in outer:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(StatisticsMismatch, match=r"not (a )?statistics"):
        CorpusStats.from_dict(data)


def test_another_version_is_named():
    with pytest.raises(StatisticsMismatch, match="version 2; this monge reads 1"):
        CorpusStats.from_dict({**ALL.to_dict(), "monge-statistics": 2})
