"""How alike texts are in form: case, accents, digits."""

import pytest

from monge.text.surface import compare_case, compare_digits

CASE = [
    ("The bank of Bonn", "The bank of Bonn", 1),
    ("the bank of Bonn", "The bank of Bonn", 3 / 5),  # of four words and the start
    ("the bank of bonn", "The bank of Bonn", 2 / 5),
    ("THE BANK", "the bank", 0),
    ("the The", "the the", 2 / 3),
    ("a cat", "a dog", 1),  # one common word, in the same case, and the start
    ("cat", "dog", 1),
    ("cat", "Dog", 0),  # only the start
    ("«cat»", "Dog", 0),
    ("12 Cats", "12 cats", 1 / 2),  # digits have no case
    ("猫", "The dog", 1),
    ("", "The dog", 1),
    ("Cafe", "Café", 1 / 2),
    ("café", "café", 1),  # composed and decomposed letters are the same word written otherwise
]


@pytest.mark.parametrize(("hypothesis", "reference", "share"), CASE)
def test_case_and_accents_of_common_words(hypothesis, reference, share):
    assert compare_case(hypothesis, reference) == pytest.approx(share)
    assert compare_case(reference, hypothesis) == pytest.approx(share)


DIGITS = [
    ("no numbers", "none at all", 1),
    ("in 1999", "in 1999", 1),
    ("in 1999", "in 1998", 0),
    ("in 1999", "then", 0),
    ("5,000 of 12", "5,000 of 13", 2 / 3),
    ("3 3 3", "3", 1 / 2),
]


@pytest.mark.parametrize(("hypothesis", "reference", "share"), DIGITS)
def test_runs_of_digits(hypothesis, reference, share):
    assert compare_digits(hypothesis, reference) == pytest.approx(share)
    assert compare_digits(reference, hypothesis) == pytest.approx(share)
