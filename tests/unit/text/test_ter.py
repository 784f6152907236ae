"""`monge.text.ter`: the edits that sacrebleu counts, one shift after another."""

from __future__ import annotations

import random

import pytest
from sacrebleu.metrics.lib_ter import translation_edit_rate

from monge.text import ter


def made(seed):
    """Two lists of words: unrelated ones, or one that is turned round and has a word replaced; some
    beyond the beam.
    """
    draw = random.Random(seed)
    words = draw.choice([2, 4, 15])
    sides = [
        [str(draw.randrange(words)) for _ in range(draw.randint(0, draw.choice([4, 12, 60])))]
        for _ in range(2)
    ]
    if sides[0] and draw.random() < 0.6:
        cut = draw.randrange(len(sides[0]))
        sides[1] = sides[0][cut:] + sides[0][:cut]
        sides[1][draw.randrange(len(sides[1]))] = "other"
    return sides


@pytest.mark.parametrize("seed", range(0, 120, 10))
def test_the_number_of_edits_is_sacrebleus(seed):
    for k in range(seed, seed + 10):
        hypothesis, reference = made(k)
        assert (
            ter.count_edits(hypothesis, reference)
            == translation_edit_rate(hypothesis, reference)[0]
        ), k


def test_by_hand():
    assert ter.count_edits([*"abcd"], [*"abcd"]) == 0
    assert ter.count_edits([*"cdab"], [*"abcd"]) == 1  # one shift of two words
    assert ter.count_edits([*"axc"], [*"abcd"]) == 2
    assert ter.count_edits([], ["a", "b"]) == ter.count_edits(["a", "b"], []) == 2
    assert ter.segment_statistics("c d a b", [["a", "b", "c", "d"], ["c", "d"]]) == [1, 3.0]


def test_a_few_tables_at_a_time_give_the_same(monkeypatch):
    pairs = [made(k) for k in range(30)]
    at_once = [ter.count_edits(*pair) for pair in pairs]
    monkeypatch.setattr(ter, "_CELLS", 1)
    assert [ter.count_edits(*pair) for pair in pairs] == at_once


def test_a_search_that_is_cut_short_ends_where_sacrebleus_does(monkeypatch):
    from sacrebleu.metrics import lib_ter

    pairs = [made(k) for k in range(40)]
    whole = [ter.count_edits(*pair) for pair in pairs]
    monkeypatch.setattr(ter, "MOST_SHIFTS", 7)
    monkeypatch.setattr(lib_ter, "_MAX_SHIFT_CANDIDATES", 7)
    cut = [ter.count_edits(*pair) for pair in pairs]
    assert cut == [translation_edit_rate(*pair)[0] for pair in pairs]
    assert cut != whole
