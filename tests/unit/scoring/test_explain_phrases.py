"""An explanation between n-grams: labels, shares and moves of the phrases of either side."""

import pytest

from monge import api

PAIR = "the cat sat on the mat", "a cat lay on a mat"


def test_shares_add_up_to_precision_and_recall():
    metric = api.load("yisi-1", settings=["units.ngram=2"])
    found = metric.explain(*PAIR)
    assert found.hypothesis.units[:2] == ("the cat", "cat sat") and len(found.hypothesis.units) == 5
    assert found.reference.units[-1] == "a mat"
    assert found.similarity.shape == (5, 5) and found.plans["recall"].shape == (5, 5)
    assert found.hypothesis.shares.sum() == pytest.approx(found.parts["precision"])
    assert found.reference.shares.sum() == pytest.approx(found.parts["recall"])
    assert (
        found.hypothesis.weights.sum()
        == pytest.approx(1)
        == pytest.approx(found.reference.weights.sum())
    )
    assert {move.plan for move in found.moves} == {"precision", "recall"}
