"""Isotonic regression: values by hand, and the properties that define it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monge.stats.isotonic import evaluate_steps, fit_isotonic


def test_violators_are_pooled():
    places, values = fit_isotonic(np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 2, 6]))
    assert places.tolist() == [1, 2, 5]
    assert values == pytest.approx([1, 7 / 3, 6])


def test_equal_places_are_one_and_order_does_not_matter():
    x, y = np.array([2.0, 1, 2, 1]), np.array([1.0, 0, 0, 1])
    places, values = fit_isotonic(x, y)
    assert (places.tolist(), values.tolist()) == ([1], [0.5])


def test_steps_begin_at_their_places():
    places, values = np.array([1.0, 3.0]), np.array([0.2, 0.8])
    x = np.array([0.0, 1.0, 2.9, 3.0, 9.0])
    assert evaluate_steps(places, values, x).tolist() == [0.2, 0.2, 0.2, 0.8, 0.8]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=1, max_size=30))
def test_it_is_monotone_keeps_the_mean_and_is_a_fixed_point(pairs):
    x, y = np.array([float(a) for a, _ in pairs]), np.array([float(b) for _, b in pairs])
    fitted = evaluate_steps(*fit_isotonic(x, y), x)
    assert fitted.mean() == pytest.approx(y.mean())
    order = np.argsort(x, kind="stable")
    assert (np.diff(fitted[order]) >= -1e-12).all()
    assert evaluate_steps(*fit_isotonic(x, fitted), x) == pytest.approx(fitted)
