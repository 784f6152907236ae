from itertools import pairwise

import numpy as np
import ot
import pytest
import torch
from problems import between

from monge.errors import InvalidProblem
from monge.transport.barycentre import barycentre
from monge.transport.exact import exact
from monge.transport.plan_values import transported_cost
from monge.transport.tempered import cool_plans
from monge.types import Cloud

A = (((1.0, 0.0), (0.6, 0.8)), ((1.0, 0.0), (0.8, 0.6), (0.0, 1.0)))
B = (((0.8, 0.6), (0.0, 1.0)), ((0.6, 0.8), (1.0, 0.0), (-0.6, 0.8)))
TEMPERATURES = (10.0, 5.0, 1.0, 0.5, 0.1, 0.01, 0.001)


def cloud(points, weights=None):
    points = torch.as_tensor(points, dtype=torch.float64).unsqueeze(0)
    weights = (
        torch.ones(points.shape[:2], dtype=torch.float64)
        if weights is None
        else weights.unsqueeze(0)
    )
    return Cloud(points, weights, torch.ones(points.shape[:2], dtype=torch.bool))


def tempered_costs(problem):
    return {
        t: float(transported_cost(plan, problem))
        for t, plan in cool_plans(problem, TEMPERATURES).items()
    }


def support(side, start):
    layers = torch.tensor([A[side], B[side]], dtype=torch.float64).unsqueeze(0)
    ones = torch.ones(1, layers.shape[2], dtype=torch.float64)
    return barycentre(layers, ones, ones.bool(), start=start)[0]


def test_toy_of_the_layer_means():
    means = [torch.tensor([A[side], B[side]], dtype=torch.float64).mean(0) for side in (0, 1)]
    problem = between(cloud(means[0]), cloud(means[1]), ground="sqeuclidean")
    assert float((exact(problem).coupling * problem.cost).sum()) == pytest.approx(
        0.2066667, abs=1e-7
    )


def test_toy_costs_of_the_published_supports():
    candidate, reference = [[0.3, 0.9], [0.9, 0.3]], [[-0.3, 0.9], [1.0, 0.0], [0.7, 0.7]]
    problem = between(cloud(candidate), cloud(reference), ground="sqeuclidean")
    assert float((exact(problem).coupling * problem.cost).sum()) == pytest.approx(0.22, abs=1e-12)
    expected = [0.6309223, 0.6020969, 0.4049472, 0.2784248, 0.2200027, 0.22, 0.22]
    found = tempered_costs(problem)
    assert [found[t] for t in TEMPERATURES] == pytest.approx(expected, abs=1e-7)


def test_zero_start_ends_at_a_fixed_point_of_pot():
    for side in (0, 1):
        ours = support(side, "zero").numpy()
        layers = [np.array(A[side]), np.array(B[side])]
        n = len(ours)
        again = ot.lp.free_support_barycenter(layers, [np.full(n, 1 / n)] * 2, ours, numItermax=1)
        assert again == pytest.approx(ours, abs=1e-4)


def test_a_barycentre_that_does_not_come_to_rest_is_an_error(monkeypatch):
    monkeypatch.setattr("monge.transport.barycentre.MOST_STEPS", 1)
    with pytest.raises(InvalidProblem, match="a barycentre of 2 layers still moves after 1 steps"):
        support(1, "mean")


def test_one_layer_is_its_own_barycentre():
    layer = torch.randn(1, 1, 5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ones = torch.ones(1, 5, dtype=torch.float64)
    assert torch.allclose(barycentre(layer, ones, ones.bool())[0], layer[0, 0])


def test_alone_and_in_a_batch_of_64():
    generator = torch.Generator().manual_seed(2)
    lengths = [int(n) for n in torch.randint(3, 12, (64,), generator=generator)]
    layers = torch.zeros(64, 5, 12, 8, dtype=torch.float64)
    weights, present = (
        torch.zeros(64, 12, dtype=torch.float64),
        torch.zeros(64, 12, dtype=torch.bool),
    )
    for row, n in enumerate(lengths):
        base = torch.randn(1, n, 8, generator=generator, dtype=torch.float64)
        layers[row, :, :n] = base + 0.7 * torch.randn(
            5, n, 8, generator=generator, dtype=torch.float64
        )
        weights[row, :n] = torch.rand(n, generator=generator, dtype=torch.float64) * (
            torch.arange(n) > 0
        )
        present[row, :n] = True
    together = barycentre(layers, weights, present)
    for row, n in enumerate(lengths):
        alone = barycentre(
            layers[row : row + 1, :, :n], weights[row : row + 1, :n], present[row : row + 1, :n]
        )
        assert (together[row, :n] - alone[0]).abs().max() < 1e-9
        assert torch.allclose(alone[0, 0], layers[row, :, 0].mean(0))  # no mass: it stays


def test_costs_fall_with_the_temperature_and_never_below_the_exact_one():
    generator = torch.Generator().manual_seed(3)
    points = [torch.randn(n, 6, generator=generator, dtype=torch.float64) for n in (9, 7)]
    weights = [
        torch.rand(n, generator=generator, dtype=torch.float64) ** 4 * (torch.arange(n) > 0)
        for n in (9, 7)
    ]
    problem = between(
        *(cloud(p, w) for p, w in zip(points, weights, strict=True)), ground="sqeuclidean"
    )
    found = tempered_costs(problem)
    costs = [found[t] for t in TEMPERATURES]
    costs.append(float((exact(problem).coupling * problem.cost).sum()))
    assert all(warmer >= colder - 1e-10 for warmer, colder in pairwise(costs)), "settled to 1e-10"
    assert costs[0] > costs[-1] + 1
    alone = ot.sinkhorn(
        problem.hypothesis[0].numpy()[1:], problem.reference[0].numpy()[1:], problem.cost[0].numpy()[1:, 1:], 1.0,
        stopThr=1e-13, numItermax=100000,
    )  # fmt: skip
    assert found[1.0] == pytest.approx(
        float((alone * problem.cost[0].numpy()[1:, 1:]).sum()), abs=1e-9
    )


def test_the_support_costs_no_more_than_its_start():
    for side in (0, 1):
        layers = torch.tensor([A[side], B[side]], dtype=torch.float64)
        costs = []
        for points in (layers.mean(0), support(side, "mean")):
            problems = [
                between(cloud(points), cloud(layer), ground="sqeuclidean") for layer in layers
            ]
            costs.append(sum(float((exact(one).coupling * one.cost).sum()) for one in problems))
        assert costs[1] <= costs[0] + 1e-12
