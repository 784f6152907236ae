"""Vectors of unknown pieces: a direction of its own for every string."""

import pytest
import torch

from monge.scoring.unknown_words import separate_unknown
from monge.text.select import count_unknown, unknown_share
from monge.types import Tokens

UNKNOWN, WIDTH = 100, 384


def tokens(*words):
    """[CLS] words [SEP]; a word in capitals is unknown."""
    text = " ".join(words)
    starts = [text.index(word) for word in words]
    spans = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
    ids = [UNKNOWN if word.isupper() else 7 for word in words]
    pieces = ["[UNK]" if word.isupper() else word for word in words]
    special = [True, *[False] * len(words), True]
    return Tokens(
        text,
        (1, *ids, 2),
        ["[CLS]", *pieces, "[SEP]"],
        [(0, 0), *spans, (0, 0)],
        special,
        [False] * len(special),
    )


def vectors(text, seed=1):
    return torch.randn(len(text.ids), WIDTH, generator=torch.Generator().manual_seed(seed))


def cosine(one, other):
    return float(torch.nn.functional.cosine_similarity(one, other, dim=0))


def test_equal_strings_are_equal_and_different_ones_are_not():
    one, other = tokens("ab", "XY", "c", "ZW"), tokens("XY", "d", "e", "UV")
    mine, theirs = (
        separate_unknown(one, vectors(one), UNKNOWN),
        separate_unknown(other, vectors(other, 2), UNKNOWN),
    )
    assert cosine(mine[2], theirs[1]) == pytest.approx(1, abs=1e-6)
    for vector in (theirs[4], mine[4], mine[1], theirs[2]):
        assert abs(cosine(mine[2], vector)) < 4 / WIDTH**0.5
    ratio = float(mine[2].norm() / vectors(one)[2].norm())
    assert 0.7 < ratio < 1.42, "about as long as it was"


def test_all_else_stays_as_it_is():
    text = tokens("ab", "XY", "c", "d")
    before = vectors(text)
    after = separate_unknown(text, before, UNKNOWN)
    kept = [0, 1, 3, 4, 5]
    assert torch.equal(after[kept], before[kept]) and not torch.equal(after[2], before[2])
    assert torch.equal(before, vectors(text)), "what was given is not written to"
    assert separate_unknown(text, before, None) is before
    assert separate_unknown(tokens("a", "b"), before, UNKNOWN) is before


def test_special_pieces_of_a_text_that_is_mostly_unknown_are_unknown_with_it():
    one, other = tokens("AB", "CD", "e"), tokens("AB", "XY", "e")
    mine, theirs = (
        separate_unknown(one, vectors(one), UNKNOWN),
        separate_unknown(other, vectors(other), UNKNOWN),
    )
    assert abs(cosine(mine[0], theirs[0])) < 4 / WIDTH**0.5
    assert torch.equal(mine[3], theirs[3])
    assert cosine(mine[0], separate_unknown(one, vectors(one, 5), UNKNOWN)[0]) == pytest.approx(
        1, abs=1e-6
    )


def test_a_mean_that_is_subtracted_leaves_the_direction():
    text, mean = (
        tokens("a", "XY", "c"),
        torch.randn(WIDTH, generator=torch.Generator().manual_seed(3)).double(),
    )
    around = separate_unknown(text, vectors(text), UNKNOWN, around=mean)
    assert torch.allclose(
        around[2] - mean.float(), separate_unknown(text, vectors(text), UNKNOWN)[2], atol=1e-6
    )


def test_layers_side_by_side_have_one_direction():
    text = tokens("a", "XY", "c")
    halves = separate_unknown(text, vectors(text), UNKNOWN, layers=2)[2].view(2, -1)
    assert torch.equal(halves[0], halves[1])


def test_pieces_are_counted_without_special_ones():
    texts = tokens("ab", "XY", "c", "ZW"), tokens("ab", "XY")
    assert count_unknown(texts, UNKNOWN) == [(4, 2), (2, 1)]
    assert count_unknown(texts, None) == [(4, 0), (2, 0)]
    assert unknown_share(tokens("ab", "XY", "c", "d"), UNKNOWN) == 0.25
    assert unknown_share(tokens(), UNKNOWN) == 0.0
