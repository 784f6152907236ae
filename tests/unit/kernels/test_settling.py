"""Plans that are to settle: they do, or they are an error."""

from __future__ import annotations

import pytest
import torch

from monge.errors import InvalidProblem
from monge.kernels import tempered as room
from monge.kernels.ground import between
from monge.types import Cloud


def problem():
    generator = torch.Generator().manual_seed(3)
    one, other = (
        Cloud(
            torch.randn(1, size, 2, generator=generator, dtype=torch.float64),
            torch.rand(1, size, generator=generator, dtype=torch.float64) + 0.01,
            torch.ones(1, size, dtype=torch.bool),
        )
        for size in (9, 11)
    )
    return between(one, other, ground="euclidean")


def test_a_plan_that_does_not_settle_is_an_error_not_a_number(monkeypatch):
    monkeypatch.setattr(room, "MOST_SWEEPS", 60)
    with pytest.raises(InvalidProblem, match="has not settled after 60 sweeps"):
        room.tempered(problem(), temperature=0.003, sweeps=0)


def test_a_settled_plan_meets_both_sides():
    plan = room.tempered(problem(), temperature=1.0, sweeps=0).coupling
    assert torch.allclose(plan.sum(1), problem().reference, atol=1e-9)
    assert torch.allclose(plan.sum(2), problem().hypothesis, atol=1e-9)
