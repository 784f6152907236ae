"""Distances between vectors that are nearly or exactly the same, against the difference itself."""

import pytest
import torch

from monge.metrics.axes import AXES

LENGTHS = [1.0, 50.0, 2500.0, 1e6]  # units, raw vectors, sums of them


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["euclidean", "sqeuclidean"])
def test_a_vector_is_at_distance_0_from_itself_whatever_its_length(name, length):
    torch.manual_seed(2)
    x = length * torch.nn.functional.normalize(torch.randn(2, 7, 384, dtype=torch.float64), dim=-1)
    found = AXES["ground"][name].compare(x, x, x.dtype)
    nearest = float(found.diagonal(dim1=1, dim2=2).abs().max())
    assert nearest < 1e-7 if length == 1 else nearest == 0


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("apart", [1e-12, 1e-8, 1e-5, 1e-4, 1e-2, 1.0])
def test_distances_are_those_of_the_difference(length, apart):
    torch.manual_seed(3)
    x = length * torch.nn.functional.normalize(torch.randn(2, 5, 16, dtype=torch.float64), dim=-1)
    y = x + length * apart * torch.nn.functional.normalize(
        torch.randn(2, 5, 16, dtype=torch.float64), dim=-1
    )
    expected = (x.unsqueeze(2) - y.unsqueeze(1)).square().sum(-1).sqrt()
    assert torch.allclose(
        AXES["ground"]["euclidean"].compare(x, y, x.dtype),
        expected,
        rtol=1e-6,
        atol=1e-7 if length == 1 else 0,
    )
