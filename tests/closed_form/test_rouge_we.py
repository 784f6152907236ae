"""ROUGE-WE by hand: nearest cosines of words, and of products of neighbouring words."""

import numpy as np
import pytest
from toy import scored

X = np.array([[1.0, 0.0], [0.6, 0.8]])
Y = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])


def test_words():
    """Precision (1 + .96) / 2, recall (1 + .96 + .8) / 3: the toy of BERTScore."""
    parts = scored("rouge-we-1", x=X, y=Y)
    assert (parts["precision"], parts["recall"]) == pytest.approx((0.98, 0.92), abs=1e-9)


def test_word_pairs_are_products():
    """x1 x2 = (.6, 0); y1 y2 = (.8, 0) and y2 y3 = (0, .6): cosines 1 and 0."""
    parts = scored("rouge-we-2", x=X, y=Y)
    assert (parts["precision"], parts["recall"]) == pytest.approx((1.0, 0.5), abs=1e-9)
    assert parts["score"] == pytest.approx(2 / 3, abs=1e-9)


def test_products_of_three_words_differ_from_means():
    x, y = np.array([[2.0, 1.0], [1.0, 3.0], [1.0, 1.0]]), np.array([[1.0, 0.0]] * 3)
    trigrams = scored("rouge-we-1", "units.ngram=3", x=x, y=y)
    assert trigrams["precision"] == pytest.approx(2 / np.sqrt(4 + 9), abs=1e-9)
    means = scored("rouge-we-1", "units.ngram=3", "units.join=mean", x=x, y=y)
    assert means["precision"] == pytest.approx(4 / np.sqrt(16 + 25), abs=1e-9)
