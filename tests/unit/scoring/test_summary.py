"""Summaries of parts of a corpus add up, if they were scored alike."""

import pytest

import monge
from monge.errors import StatisticsMismatch
from monge.scoring.summary import Summary
from monge.types import Signature


def summary(**changed):
    result = monge.score(["the cat sat", "a dog"], [["the cat"], ["a dog ran"]], metric="chrf")
    fields = tuple((key, changed.get(key, value)) for key, value in result.signature.fields)
    made = Summary.of(result)
    return made.__class__(**{**vars(made), "signature": Signature(fields)})


def test_the_number_of_references_may_vary():
    joined = summary(nrefs="1") + summary(nrefs="2")
    assert joined.signature["nrefs"] == "var" and joined.n == 4


@pytest.mark.parametrize("key", ["case", "version", "options", "monge"])
def test_any_other_difference_is_an_error(key):
    """It became `var`, whatever it was."""
    with pytest.raises(
        StatisticsMismatch, match=rf"scored differently cannot be added up: they differ in {key} "
    ):
        summary() + summary(**{key: "another"})
