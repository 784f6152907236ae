"""Routing of layers, with values computed by hand."""

import pytest
import torch

from monge.errors import InvalidProblem, InvalidSetting
from monge.transport.pooling import power_means, routing

Z = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]], dtype=torch.float64)


@pytest.mark.parametrize(("kernel", "value"), [
    ("gaussian", (0.7877720, 0.5020576)), ("epanechnikov", (0.7835935, 0.5134253)),
])  # fmt: skip
def test_toy(kernel, value):
    assert routing(Z, kernel=kernel, tolerance=1e-6).tolist() == pytest.approx(value, abs=1e-6)


def test_each_token_stops_at_its_own_time():
    """A token routed beside others that settle later gives the same vector as alone."""
    second = torch.tensor([[1.0, 0.0], [-0.9, 0.1], [0.0, -1.0]], dtype=torch.float64)
    together = routing(torch.stack([Z, second], dim=1), tolerance=1e-6)
    assert torch.allclose(together[0], routing(Z, tolerance=1e-6), atol=1e-12)
    assert torch.allclose(together[1], routing(second, tolerance=1e-6), atol=1e-12)


def test_equal_layers_stay_as_they_are():
    assert torch.allclose(routing(Z[:1].repeat(3, 1)), Z[0], atol=1e-15)


def test_routing_that_does_not_settle_is_an_error() -> None:
    with pytest.raises(InvalidProblem, match=r"did not settle for 1 token\(s\) in 2 rounds"):
        routing(Z, tolerance=0.0, most=2)


LITERAL = [
    ("gaussian", (0.2658066, 0.1585326)),
    ("epanechnikov", (0.2652913, 0.1597477)),
]


@pytest.mark.parametrize(("kernel", "value"), LITERAL)
def test_the_denominator_of_algorithm_1_leaves_gamma_out(kernel, value):
    routed = routing(Z, kernel=kernel, tolerance=1e-6, denominator="literal")
    assert routed.tolist() == pytest.approx(value, abs=1e-6)


def test_one_round_by_hand():
    """Two vectors at distance sqrt(2) from each other, the mean between them; after one round v
    stays at the mean and both kernels are equal. A third layer at the mean weighs more.
    """
    layers = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    assert routing(layers).tolist() == pytest.approx([0.5, 0.5])
    three = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.8]], dtype=torch.float64)
    mean = three.mean(0)
    near = torch.exp(-(three - mean).square().sum(-1) / (2 * 0.5**2))
    expected = (near.unsqueeze(1) * three).sum(0) / near.sum()
    routed = routing(three, width=0.5, rate=0.0, tolerance=1e9)
    assert not torch.allclose(routed, expected)  # the first round is never the last
    second = torch.exp(-(three - expected).square().sum(-1) / (2 * 0.5**2))
    after_two = (second.unsqueeze(1) * three).sum(0) / second.sum()
    assert torch.allclose(routed, after_two, atol=1e-12)


def test_a_narrow_epanechnikov_kernel_leaves_far_layers_out():
    """Width .3: only the two layers within .3 of v count; with width 1 all three do."""
    layers = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.9, 0.6]], dtype=torch.float64)
    narrow = routing(layers, kernel="epanechnikov", width=0.3, rate=0.0, tolerance=1e-9)
    wide = routing(layers, kernel="epanechnikov", width=1.0, rate=0.0, tolerance=1e-9)
    assert narrow.tolist() == pytest.approx([1.0, 0.05], abs=1e-9)
    assert wide.tolist() == pytest.approx(layers.mean(0).tolist(), abs=1e-9)


def test_geometric_mean_by_hand():
    layers = torch.tensor([[1.0, -1.0, 0.0], [2.0, 2.0, 5.0], [4.0, 4.0, 5.0]], dtype=torch.float64)
    assert power_means(layers, (0.0,)).tolist() == pytest.approx([2.0, -2.0, 0.0])
    positive = layers.abs() + 1
    near = power_means(positive, (1e-6,))
    assert torch.allclose(power_means(positive, (0.0,)), near, atol=1e-5)  # the limit p -> 0
    with pytest.raises(InvalidSetting, match="exponent 0 of 2 layers is not defined"):
        power_means(layers[:2], (0.0,))
