"""How alike texts are in form: case, accents, digits, order, negations."""

import pytest

from monge.text.surface import (
    compare_case,
    compare_digits,
    compare_negations,
    compare_order,
)

CASE = [
    ("The bank of Bonn", "The bank of Bonn", 1),
    ("the bank of Bonn", "The bank of Bonn", 3 / 4),  # of three words and the start
    ("the bank of bonn", "The bank of Bonn", 2 / 4),
    ("THE BANK", "the bank", 0),
    ("the The", "the the", 1 / 2),
    ("The fans not", "Not the fans", 1),  # a capital at the start says where a word stands
    ("a cat", "a dog", 1),  # only the start
    ("cat", "dog", 1),
    ("cat", "Dog", 0),  # only the start
    ("«cat»", "Dog", 0),
    ("12 Cats", "12 cats", 0),  # digits have no case, so only the second word counts
    ("猫", "The dog", 1),
    ("", "The dog", 1),
    ("a Cafe", "a Café", 1 / 2),
    ("a caf\u00e9", "a cafe\u0301", 1),  # a composed letter and a decomposed one are the same
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


ORDER = [
    ("Ann saw Bob there", "Ann saw Bob there", 1),
    ("Bob saw Ann there", "Ann saw Bob there", 1 / 3),  # only saw before there is left: 3 of 6
    ("b d a c", "a b c d", (2 / 3 + 1 / 3) / 2),  # one descent one way, two the other
    ("d c b a", "a b c d", 0),
    ("the cat the dog", "the dog the cat", 0),  # words that a text has twice have no order
    ("a cat", "a dog", 1),  # one common word has no neighbour
    ("", "a dog", 1),
    ("ANN saw bob", "Ann saw Bob", 1),  # case is ignored
]


@pytest.mark.parametrize(("hypothesis", "reference", "share"), ORDER)
def test_order_of_common_words(hypothesis, reference, share):
    assert compare_order(hypothesis, reference) == pytest.approx(share)
    assert compare_order(reference, hypothesis) == pytest.approx(share)


NEGATIONS = [
    ("He came.", "He came.", 1),
    ("He did not come.", "He came.", 0),
    ("He didn't come.", "He did not come.", 1),
    ("He didn’t come, never.", "He never came.", 1 / 2),
    ("Er kam nicht.", "Er kam.", 0),
    ("Он не пришёл.", "Он пришёл.", 0),
    ("", "", 1),
]


@pytest.mark.parametrize(("hypothesis", "reference", "share"), NEGATIONS)
def test_numbers_of_negations(hypothesis, reference, share):
    assert compare_negations(hypothesis, reference) == pytest.approx(share)
    assert compare_negations(reference, hypothesis) == pytest.approx(share)
