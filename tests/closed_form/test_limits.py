"""What metrics become at the ends of their settings, on the toy problem and on random texts."""

import numpy as np
import pytest
from toy import X, Y, scored

RANDOM = [np.random.default_rng(seed) for seed in range(6)]
TEXTS = [(X, Y)] + [
    (random.normal(size=(random.integers(1, 8), 5)), random.normal(size=(random.integers(1, 8), 5)))
    for random in RANDOM
]


def spread(x, y, temperature):
    """How far the entropy can move the cost of a rigid plan from the cheapest: temperature * ln(n
    m).
    """
    return temperature * np.log(len(x) * len(y)) + 1e-9


@pytest.mark.parametrize("temperature", [1.0, 0.3, 0.1])
@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_lazy_emd_rigid_on_both_sides_is_exact(x, y, temperature):
    exact = scored("emd", x=x, y=y)["score"]
    lazy = scored(
        "lazy-emd", "transport.slack=inf/inf", f"transport.temperature={temperature}", x=x, y=y
    )["score"]
    assert exact - 1e-9 <= lazy <= exact + spread(x, y, temperature)


@pytest.mark.parametrize(("x", "y"), TEXTS)
@pytest.mark.parametrize(("slack", "part"), [("inf/0", "precision"), ("0/inf", "recall")])
def test_lazy_emd_free_on_one_side_is_greedy(x, y, slack, part):
    greedy = scored("bertscore", x=x, y=y)[part]
    order = "hypothesis-last" if part == "precision" else "reference-last"
    changes = (
        f"transport.slack={slack}",
        f"transport.order={order}",
        "transport.sweeps=1",
        "transport.temperature=1e-5",
    )
    lazy = scored("lazy-emd", *changes, x=x, y=y)
    assert lazy["score"] == pytest.approx(1 - greedy, abs=1e-6)
    assert lazy["mass"] == pytest.approx(1, abs=1e-9)


def test_lazy_emd_limits_of_the_toy():
    small = "transport.temperature=1e-4"
    assert scored("lazy-emd", "transport.slack=inf/inf", small)["score"] == pytest.approx(
        0.32 / 3, abs=1e-9
    )
    for slack, value in (("1e6/0", 0.02), ("0/1e6", 0.08)):
        assert scored("lazy-emd", f"transport.slack={slack}", small)["score"] == pytest.approx(
            value, abs=1e-6
        )


@pytest.mark.parametrize("temperature", [1.0, 0.3, 0.1])
@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_twmd_cold_and_converged_is_exact(x, y, temperature):
    changes = f"transport.temperature={temperature}", "transport.sweeps=converged", "readout=prf"
    cold, exact = scored("twmd", *changes, x=x, y=y), 1 - scored("emd", x=x, y=y)["score"]
    assert exact - spread(x, y, temperature) <= cold["precision"] <= exact + 1e-8
    assert cold["recall"] == pytest.approx(cold["precision"], abs=1e-8)


def test_twmd_cold_and_converged_on_the_toy():
    cold = scored("twmd", "transport.temperature=0.002", "transport.sweeps=converged")
    assert cold["precision"] == pytest.approx(0.8933333333, abs=1e-9)


@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_trwmd_cold_is_greedy(x, y):
    cold, greedy = (
        scored("trwmd", "transport.temperature=1e-5", x=x, y=y),
        scored("bertscore", x=x, y=y),
    )
    assert (cold["precision"], cold["recall"]) == pytest.approx(
        (greedy["precision"], greedy["recall"]), abs=1e-6
    )


@pytest.mark.parametrize(("x", "y"), TEXTS)
@pytest.mark.parametrize("profile", ["", "@paper"])
def test_ngrams_as_long_as_the_text_are_the_sentence(x, y, profile):
    weights = {"wx": np.arange(1, len(x) + 1), "wy": np.arange(2, len(y) + 2)}
    longest = max(len(x), len(y))
    of_sentence = scored(f"smd{profile}", x=x, y=y, **weights)["score"]
    for n in (longest, longest + 1, 50):
        assert (
            scored(f"moverscore{profile}", f"units.ngram={n}", x=x, y=y, **weights)["score"]
            == of_sentence
        )


@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_relaxation_is_a_lower_bound(x, y):
    wmd = scored("wmd", x=x, y=y)["score"]
    assert scored("rwmd", x=x, y=y)["score"] <= wmd + 1e-12
    sides = scored("rwmd", "readout=prf", x=x, y=y)
    assert scored("rwmd", x=x, y=y)["score"] == pytest.approx(
        max(-sides["precision"], -sides["recall"]), abs=1e-12
    )


@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_hot_plans_are_independent(x, y):
    """At a high temperature every unit goes everywhere in proportion."""
    hot = scored("twmd", "transport.temperature=1e6", "readout=prf", x=x, y=y)
    mean = scored("twmd", "transport=independent", "readout=prf", x=x, y=y)
    assert hot["precision"] == pytest.approx(mean["precision"], abs=1e-5)
    assert hot["recall"] == pytest.approx(mean["recall"], abs=1e-5)


@pytest.mark.parametrize(("x", "y"), TEXTS)
def test_exchange_of_sides(x, y):
    forward, backward = scored("twmd", x=x, y=y), scored("twmd", x=y, y=x)
    assert (forward["precision"], forward["recall"], forward["f1"]) == pytest.approx(
        (backward["recall"], backward["precision"], backward["f1"]), abs=1e-12
    )
