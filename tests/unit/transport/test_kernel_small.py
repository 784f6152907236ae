"""Ground costs, centring, pooling and readouts, each against numpy."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
import torch
from problems import between, problem, random_arrays

from monge.errors import InvalidProblem, InvalidSetting
from monge.transport import centring, plan_values, readouts
from monge.transport.grounds import exchange_sides
from monge.transport.pooling import power_means, unit
from monge.types import Cloud, TransportPlan

GENERATOR = np.random.default_rng(0)


def cloud(vectors, weights=None, present=None):
    vectors = torch.as_tensor(np.asarray(vectors, dtype=np.float64))
    weights = (
        torch.ones(vectors.shape[:2], dtype=torch.float64)
        if weights is None
        else torch.tensor(weights)
    )
    there = (
        torch.ones(vectors.shape[:2], dtype=torch.bool)
        if present is None
        else torch.tensor(present)
    )
    return Cloud(vectors, weights.double(), there)


X, Y = GENERATOR.normal(size=(2, 3, 5)), GENERATOR.normal(size=(2, 4, 5))


def cosine(x, y):
    return x @ y / np.linalg.norm(x) / np.linalg.norm(y)


GROUNDS = {
    "cosine": lambda x, y: 1 - cosine(x, y),
    "dot": lambda x, y: 1 - x @ y,
    "dot2": lambda x, y: 1 - (x @ y) ** 2,
    "euclidean": lambda x, y: np.linalg.norm(x - y),
    "sqeuclidean": lambda x, y: ((x - y) ** 2).sum(),
    "manhattan": lambda x, y: np.abs(x - y).sum(),
}


@pytest.mark.parametrize(("ground", "of"), GROUNDS.items())
def test_ground(ground, of):
    found = between(cloud(X), cloud(Y), ground=ground)
    wanted = np.array([[[of(x, y) for y in Y[k]] for x in X[k]] for k in range(2)])
    assert np.abs(found.cost.numpy() - wanted).max() < 1e-12
    similarity = -wanted if ground in ("euclidean", "sqeuclidean", "manhattan") else 1 - wanted
    assert np.abs(found.similarity.numpy() - similarity).max() < 1e-12


def test_clipped_cosine():
    found = between(cloud(X), cloud(Y), ground="cosine", clip=True)
    plain = between(cloud(X), cloud(Y), ground="cosine")
    assert bool((plain.similarity < 0).any())
    assert torch.equal(found.similarity, plain.similarity.clamp_min(0))
    assert torch.equal(found.cost, 1 - found.similarity)


@pytest.mark.parametrize("ground", GROUNDS)
def test_distance_of_a_vector_to_itself(ground):
    """Never NaN, never negative, by rounding under the root."""
    big = cloud(1e3 * X)
    cost = torch.diagonal(between(big, big, ground=ground).cost, dim1=1, dim2=2)
    if ground in ("euclidean", "sqeuclidean", "manhattan"):
        assert float(cost.min()) >= 0
        assert float(cost.max()) < 1e-3
    assert bool(torch.isfinite(cost).all())


@pytest.mark.parametrize("ground", GROUNDS)
def test_absent_units_are_nowhere(ground):
    """Rubbish in padding reaches neither cost, similarity nor masses."""
    x = X.copy()
    x[0, 2] = 1e6
    there = [[True, True, False], [True, True, True]]
    found = between(cloud(x, present=there), cloud(Y), ground=ground)
    alone = between(cloud(X[:1, :2]), cloud(Y[:1]), ground=ground)
    assert torch.allclose(found.cost[0, :2], alone.cost[0], atol=1e-12)
    assert (
        float(
            found.cost[0, 2].abs().sum()
            + found.similarity[0, 2].abs().sum()
            + found.hypothesis[0, 2]
        )
        == 0
    )
    assert not bool(found.present[0, 2].any())
    assert found.hypothesis[0, :2].tolist() == [0.5, 0.5]


def test_zero_vectors_have_similarity_0():
    x = X.copy()
    x[0, 0] = 0
    found = between(cloud(x), cloud(Y), ground="cosine")
    assert found.similarity[0, 0].tolist() == [0, 0, 0, 0]


def test_vectors_that_are_no_numbers():
    x = X.copy()
    x[1, 1, 1] = np.nan
    with pytest.raises(InvalidProblem, match="NaN or infinite"):
        between(cloud(x), cloud(Y), ground="cosine")


def test_flipped():
    one = problem(*random_arrays(GENERATOR, 2, 3))
    other = exchange_sides(one)
    assert torch.equal(other.cost, one.cost.transpose(1, 2))
    assert torch.equal(other.hypothesis, one.reference)
    assert other.present.shape == (1, 3, 2)


def test_unit():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
    assert unit(vectors).tolist() == [[0.6, 0.8], [0, 0]]
    assert unit(vectors, epsilon=5.0).tolist() == [[0.3, 0.4], [0, 0]]


def test_centring():
    there = [[True, True, False], [True, True, True]]
    one = cloud(X, present=there)
    assert (
        np.abs(centring.by_dimension(one).vectors.numpy() - (X - X.mean(2, keepdims=True))).max()
        < 1e-14
    )
    sentence = centring.by_sentence(one).vectors.numpy()
    assert np.abs(sentence[0, :2] - (X[0, :2] - X[0, :2].mean(0))).max() < 1e-14
    assert np.abs(sentence[1] - (X[1] - X[1].mean(0))).max() < 1e-14
    mean = torch.arange(5.0, dtype=torch.float64)
    assert np.abs(centring.by_mean(one, mean).vectors.numpy() - (X - np.arange(5))).max() < 1e-14
    each = torch.stack([mean, -mean])
    moved = centring.by_mean(one, each).vectors.numpy()
    assert np.abs(moved[1] - (X[1] + np.arange(5))).max() < 1e-14
    total, count = centring.sums(one)
    assert count.tolist() == [2, 3]
    assert np.abs(total[0].numpy() - X[0, :2].sum(0)).max() < 1e-14


LAYERS = torch.tensor(GENERATOR.uniform(0.1, 2.0, size=(5, 3, 4)))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 0.5, -1.0, -2.0, 1.7, 10.0, inf, -inf])
def test_power_means(p):
    x = LAYERS.numpy()
    wanted = {inf: x.max(0), -inf: x.min(0)}.get(p)
    wanted = (x**p).mean(0) ** (1 / p) if wanted is None else wanted
    assert np.abs(power_means(LAYERS, [p]).numpy() - wanted).max() < 1e-12


def test_power_means_are_joined_in_order():
    found = power_means(LAYERS, [inf, 1.0, -inf])
    assert found.shape == (3, 12)
    assert torch.equal(found[:, :4], LAYERS.amax(0))
    assert torch.equal(found[:, 8:], LAYERS.amin(0))


def test_power_means_grow_with_the_exponent():
    means = [power_means(LAYERS, [p]) for p in (-inf, -3.0, -1.0, 0.5, 1.0, 2.0, 7.0, inf)]
    for smaller, larger in pairwise(means):
        assert bool((smaller <= larger + 1e-12).all())


def test_power_means_of_negative_entries():
    layers = torch.tensor([[-1.0], [-8.0]], dtype=torch.float64)
    assert float(power_means(layers, [3.0])) == pytest.approx(-(((1 + 512) / 2) ** (1 / 3)))
    assert float(power_means(layers, [2.0])) == pytest.approx((65 / 2) ** 0.5)
    for p in (0.5, 2.5, -0.3):
        with pytest.raises(InvalidSetting, match="negative entries"):
            power_means(layers, [p])


def test_negative_powers_of_zero():
    with pytest.raises(InvalidSetting, match="entries that are 0"):
        power_means(torch.tensor([[0.0], [1.0]]), [-1.0])


def test_power_means_have_gradients():
    leaf = LAYERS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: power_means(x, [1.0, 2.0, 3.0, 0.5, -1.0]), [leaf])


P, R = (
    torch.tensor([0.9, 0.5, 0.0, -0.2, 0.3, -0.4, 1.0]),
    torch.tensor([0.5, 0.5, 0.7, 0.6, -0.1, -0.3, 1.0]),
)


def test_harmonic_mean_and_its_negative_side():
    found = readouts.f_alpha(P, R).tolist()
    assert found[0] == pytest.approx(2 * 0.9 * 0.5 / 1.4)
    assert found[1] == pytest.approx(0.5)
    assert found[2:] == pytest.approx([0.0, -0.2, -0.1, -0.4, 1.0])


@pytest.mark.parametrize("alpha", [0.0, 0.48, 0.7, 1.0])
def test_balance(alpha):
    found = readouts.f_alpha(P[:1], R[:1], alpha).item()
    assert found == pytest.approx(1 / (alpha / 0.5 + (1 - alpha) / 0.9))
    assert readouts.f_alpha(P[:1], R[:1], 0.0).item() == pytest.approx(0.9)
    assert readouts.f_alpha(P[:1], R[:1], 1.0).item() == pytest.approx(0.5)


def test_f_grows_with_both_sides_across_zero():
    """No jump down when a side turns positive."""
    line = torch.linspace(-1, 1, 401, dtype=torch.float64)
    for fixed in (-0.5, -0.01, 0.01, 0.5):
        for alpha in (0.2, 0.5, 0.9):
            values = readouts.f_alpha(line, torch.full_like(line, fixed), alpha)
            assert float((values[1:] - values[:-1]).min()) >= -1e-12


def test_f_has_finite_gradients():
    leaves = [P.double().clone().requires_grad_(), R.double().clone().requires_grad_()]
    readouts.f_alpha(*leaves).sum().backward()
    assert all(bool(torch.isfinite(leaf.grad).all()) for leaf in leaves)


def test_self_normalised():
    value, own, other = (
        torch.tensor([0.5, 0.5, 0.5]),
        torch.tensor([0.25, 0.0, -1.0]),
        torch.tensor([1.0, 1.0, -1.0]),
    )
    assert readouts.self_normalised(value, own, other).tolist() == [1.0, 0.0, 0.0]


def test_plan_readouts():
    cost, a, b = random_arrays(GENERATOR, 3, 4)
    one = problem(cost, a, b)
    coupling = GENERATOR.uniform(0, 0.1, size=(3, 4))
    coupling[1, 1] = 0
    plan = TransportPlan(torch.tensor(coupling).unsqueeze(0))
    positive = coupling[coupling > 0]
    entropy = -(positive * np.log(positive)).sum()
    assert plan_values.transported_cost(plan, one).item() == pytest.approx((coupling * cost).sum())
    assert plan_values.transported_similarity(plan, one).item() == pytest.approx(
        (coupling * (1 - cost)).sum()
    )
    assert plan_values.mass(plan).item() == pytest.approx(coupling.sum())
    assert plan_values.entropy(plan).item() == pytest.approx(entropy)
    assert plan_values.entropy(plan, conditioned_on=one.hypothesis).item() == pytest.approx(
        entropy + (a * np.log(a)).sum()
    )
    wanted = (coupling * (1 - cost)).sum() + 0.1 * entropy
    assert plan_values.objective(plan, one, temperature=0.1).item() == pytest.approx(wanted)


def test_divergence():
    kept, wanted = torch.tensor([[0.5, 0.0]]), torch.tensor([[0.25, 0.75]])
    assert plan_values.divergence(kept, wanted).item() == pytest.approx(0.5 * np.log(2) - 0.5 + 1.0)
    assert plan_values.divergence(wanted, wanted).item() == pytest.approx(0)
