"""The Python interface: what lists may be, what is refused, what comes back."""

from __future__ import annotations

import html
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import (
    DataError,
    InvalidSetting,
    Misaligned,
    MongeError,
    StatisticsMismatch,
    UnknownName,
    UsageError,
)
from monge.types import CorpusStats, Result

HYPOTHESES = [
    "A dog jumps after a red ball.",
    "No one was hurt in the fire.",
    "Profits rose by 12 percent.",
]
REFERENCES = [
    "A dog is jumping for a red ball.",
    "Nobody was injured in the fire.",
    "The profit increased by 12 %.",
]


@pytest.fixture(scope="module")
def usual():
    return monge.score(HYPOTHESES, REFERENCES)


def test_result_in_input_order(usual):
    assert isinstance(usual, Result)
    assert usual.segments.shape == (3,)
    assert usual.score == pytest.approx(usual.segments.mean())
    assert usual.ids == ("1", "2", "3")
    assert set(usual.parts) == {"precision", "recall", "f1", "transport", "surface"}
    assert Result.from_dict(usual.to_dict()).to_dict() == usual.to_dict()


def as_pandas(values):
    return pytest.importorskip("pandas").Series(values, index=range(7, 7 + len(values)))


def as_polars(values):
    return pytest.importorskip("polars").Series(values)


COLUMNS = {
    "tuple": tuple,
    "generator": lambda values: (one for one in values),
    "numpy objects": lambda values: np.array(values, dtype=object),
    "numpy strings": np.array,
    "pandas": as_pandas,
    "polars": as_polars,
    "dict keys": lambda values: dict.fromkeys(values).keys(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_any_column_of_texts(usual, kind):
    make = COLUMNS[kind]
    found = monge.score(make(HYPOTHESES), make(REFERENCES))
    assert found.segments.tolist() == usual.segments.tolist()
    assert found.signature == usual.signature


@pytest.mark.parametrize("kind", ["lists", "tuples", "generators", "numpy", "pandas of lists"])
def test_lists_of_references(usual, kind):
    nested = {
        "lists": [[one] for one in REFERENCES],
        "tuples": tuple((one,) for one in REFERENCES),
        "generators": ((text for text in [one]) for one in REFERENCES),
        "numpy": np.array([[one] for one in REFERENCES]),
        "pandas of lists": None,
    }[kind]
    if kind == "pandas of lists":
        nested = as_pandas([[one] for one in REFERENCES])
    assert monge.score(HYPOTHESES, nested).segments.tolist() == usual.segments.tolist()


def test_ragged_references_are_fine(usual):
    found = monge.score(
        HYPOTHESES, [[REFERENCES[0]], ["nothing alike", REFERENCES[1]], [REFERENCES[2]] * 3]
    )
    assert np.allclose(found.segments, usual.segments, atol=1e-5, rtol=0)
    assert found.references.tolist() == [0, 1, 0]


BAD = {
    "a text for hypotheses": ("a text", REFERENCES, UsageError, "hypotheses"),
    "a text for references": (HYPOTHESES, "a text", UsageError, "references"),
    "bytes": (b"a text", REFERENCES, UsageError, "bytes"),
    "bytes within": ([b"a", "b", "c"], REFERENCES, DataError, r"hypotheses\[0\]"),
    "None": (None, REFERENCES, UsageError, "hypotheses"),
    "None within": (["a", None, "c"], REFERENCES, DataError, r"hypotheses\[1\].*None"),
    "None among references": (HYPOTHESES, ["a", "b", None], MongeError, r"references"),
    "NaN within": (["a", math.nan, "c"], REFERENCES, DataError, r"hypotheses\[1\].*float nan"),
    "NaN among references": (HYPOTHESES, ["a", math.nan, "c"], MongeError, "references"),
    "numbers": ([1, 2, 3], REFERENCES, DataError, r"hypotheses\[0\].*int"),
    "a number": (3, REFERENCES, UsageError, "int"),
    "a dict": ({"a": 1}, REFERENCES, UsageError, "dict"),
    "empty list": ([], [], DataError, "nothing to score"),
    "empty references": (HYPOTHESES, [], Misaligned, "3 hypotheses but 0"),
    "unequal lengths": (HYPOTHESES, REFERENCES[:2], Misaligned, "3 hypotheses but 2"),
    "texts and lists mixed": (HYPOTHESES, ["a", ["b"], "c"], UsageError, "references"),
    "transposed": (HYPOTHESES, [REFERENCES, REFERENCES], Misaligned, "transposed"),
    "transposed, one list": (HYPOTHESES, [REFERENCES], Misaligned, "transposed"),
    "no references for one": (HYPOTHESES, [["a"], [], ["c"]], DataError, r"references\[1\]"),
    "None in a list of references": (
        HYPOTHESES,
        [["a"], [None], ["c"]],
        DataError,
        r"references\[1\]\[0\]",
    ),
    "deep nesting": (HYPOTHESES, [[["a"]], [["b"]], [["c"]]], DataError, r"references\[0\]\[0\]"),
    "lone high surrogate": (
        ["a\ud800b", "b", "c"],
        REFERENCES,
        DataError,
        r"hypotheses\[0\].*U\+D800",
    ),
    "lone low surrogate": (
        HYPOTHESES,
        ["a", "b", "c\udc00"],
        DataError,
        r"references\[2\].*U\+DC00",
    ),
    "nothing to compare with": (HYPOTHESES, None, UsageError, "references"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    hypotheses, references, error, words = BAD[case]
    with pytest.raises(error, match=words):
        monge.score(hypotheses, references)


def test_sources_stand_in_for_references():
    against_sources = monge.score(HYPOTHESES, sources=REFERENCES, metric="twmd")
    against_references = monge.score(HYPOTHESES, REFERENCES, metric="twmd")
    assert against_sources.segments.tolist() == against_references.segments.tolist()
    with pytest.raises(Misaligned, match="3 hypotheses but 1 sources"):
        monge.score(HYPOTHESES, REFERENCES, sources=["x"])


def test_settings_in_both_forms():
    listed = monge.score(HYPOTHESES, REFERENCES, settings=["transport.temperature=0.05"])
    mapped = monge.score(HYPOTHESES, REFERENCES, settings={"transport.temperature": 0.05})
    named = monge.score(HYPOTHESES, REFERENCES, metric="monge[transport.temperature=0.05]")
    assert listed.signature == mapped.signature == named.signature
    assert monge.score(HYPOTHESES, REFERENCES, layers=2).signature["layers"] == "2"
    with pytest.raises(UnknownName, match="twmd"):
        monge.load("twmdd")
    with pytest.raises(InvalidSetting, match="temperature"):
        monge.load("twmd", settings={"transport.temperature": -1})
    with pytest.raises(UsageError, match="unknown option 'metrik'; did you mean metric"):
        monge.score(HYPOTHESES, REFERENCES, metrik="twmd")


def test_a_metric_keeps_nothing_between_calls():
    """The idf of the first call's references must not weigh the second call's."""
    kept = monge.load("moverscore")
    first = kept.score(HYPOTHESES, REFERENCES)
    other = [*REFERENCES[::-1][:2], "Something else entirely."]
    second = kept.score(HYPOTHESES, other)
    fresh = monge.load("moverscore").score(HYPOTHESES, other)
    assert second.segments.tolist() == fresh.segments.tolist()
    assert second.signature == fresh.signature != first.signature
    assert kept.score(HYPOTHESES, REFERENCES).segments.tolist() == first.segments.tolist()


def test_statistics_are_frozen_savable_and_addable(tmp_path):
    metric = monge.load("twmd-b[weights=idf]")
    whole = metric.fit(references=[*REFERENCES, *HYPOTHESES])
    added = metric.fit(references=REFERENCES) + metric.fit(references=HYPOTHESES)
    path = tmp_path / "stats.json"
    api.save_stats(whole, path)
    found = [
        metric.score(HYPOTHESES, REFERENCES, stats=one)
        for one in (whole, added, api.load_stats(path))
    ]
    assert len({str(one.signature) for one in found}) == 1
    assert np.allclose(found[0].segments, found[1].segments, atol=1e-9, rtol=0)
    assert found[0].segments.tolist() == found[2].segments.tolist()
    with pytest.raises(FrozenInstanceError):
        whole.reader = "x"
    with pytest.raises(StatisticsMismatch):
        metric.fit(references=REFERENCES) + monge.load("twmd-b", layers=2).fit(
            references=REFERENCES
        )
    with pytest.raises(StatisticsMismatch):
        CorpusStats.from_dict({})
    with pytest.raises(DataError):
        metric.fit([])


def test_one_text_has_no_idf():
    """Other libraries answer NaN, or 1.0 for unrelated texts."""
    with pytest.raises(DataError, match="1 text"):
        monge.score(["a cat"], ["profits rose"], metric="moverscore")


def test_an_empty_text_is_no_error():
    """bert-score fails on an empty text with transformers 5."""
    found = monge.score(["", "a dog"], ["a dog", "a dog"], metric="bertscore")
    assert found.segments == pytest.approx([0, 1])
    assert found.flags == (("empty-hypothesis",), ())


def test_compute_has_the_shape_of_evaluate(usual):
    found = monge.load().compute(predictions=HYPOTHESES, references=REFERENCES)
    assert found["scores"] == usual.segments.tolist()
    assert found["score"] == usual.score
    assert found["precision"] == usual.parts["precision"].tolist()
    assert found["signature"] == str(usual.signature)


def test_explain_is_the_score_of_the_pair(usual):
    found = monge.explain(HYPOTHESES[0], REFERENCES[0])
    assert found.score == pytest.approx(usual.segments[0], abs=1e-5)
    page = found._repr_html_()
    assert f"{found.score:.4f}" in page
    assert all(html.escape(word) in page for word in found.hypothesis.units)
    for bad in (None, b"x", 3):
        with pytest.raises(MongeError):
            monge.explain(bad, "a dog")
    with pytest.raises(DataError):
        monge.explain("", "a dog")


def test_ten_systems_encode_a_reference_once():
    segments = [
        monge.types.Segment(str(i), f"{text} {system}", (REFERENCES[i],), system=str(system))
        for i, text in enumerate(HYPOTHESES)
        for system in range(10)
    ]
    found = api.score_segments([monge.load("twmd"), monge.load("bertscore")], segments)
    assert len(found) == 20
    assert found[0].work["encoded"] == 33
