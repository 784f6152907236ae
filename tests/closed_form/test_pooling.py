"""Routing of layers, with values computed by hand."""

import pytest
import torch

from monge.errors import InvalidProblem
from monge.transport.pooling import routing

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
