"""Wordset-CKA and SBERT, with values computed by hand."""

import numpy as np
import pytest
from toy import X, Y, scored

A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
B = np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 0.0, 3.0]])


def hsic(x, y):
    """tr(K_X H K_Y H) with D x D kernels, as the package corrsim writes it."""
    d = x.shape[1]
    h = np.eye(d) - np.ones((d, d)) / d
    return np.trace(x.T @ x @ h @ y.T @ y @ h)


def test_corrsim():
    value = scored("wordset-cka@corrsim", x=A, y=B)["score"]
    assert value == pytest.approx(0.7902066853, abs=1e-9)
    assert value == pytest.approx(hsic(A, B) / np.sqrt(hsic(A, A) * hsic(B, B)), abs=1e-12)


def test_unit_length_after_centring():
    assert scored("wordset-cka", x=A, y=B)["score"] == pytest.approx(0.7826237921, abs=1e-9)


def test_uncentred():
    assert scored("wordset-cka", "centre=none")["score"] == pytest.approx(0.9657743982, abs=1e-9)
    assert scored("wordset-cka", "centre=none")["score"] == pytest.approx(
        3.5616 / np.sqrt(2.72 * 5), abs=1e-12
    )


def test_mean_of_all_similarities_is_the_cosine_of_means():
    assert scored("sbert@paper")["score"] == pytest.approx(0.9656157585, abs=1e-9)
    assert scored("sbert")["score"] == pytest.approx(0.9656157585, abs=1e-9)
    x, y = X.mean(0), Y.mean(0)
    assert scored("sbert")["score"] == pytest.approx(
        x @ y / np.linalg.norm(x) / np.linalg.norm(y), abs=1e-12
    )
