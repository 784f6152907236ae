"""Plans that are to settle: they do, or they are an error."""

from __future__ import annotations

import pytest
import torch
from problems import between

from monge.errors import InvalidProblem
from monge.transport import scaling
from monge.transport.tempered import cool_plans, tempered
from monge.types import Cloud

COLD = (1.0, 0.1, 0.01, 0.001)


def problem(sizes=(9, 11), dimensions=2, ground="euclidean", batch=1):
    generator = torch.Generator().manual_seed(3)
    one, other = (
        Cloud(
            torch.randn(batch, size, dimensions, generator=generator, dtype=torch.float64),
            torch.rand(batch, size, generator=generator, dtype=torch.float64) + 0.01,
            torch.ones(batch, size, dtype=torch.bool),
        )
        for size in sizes
    )
    return between(one, other, ground=ground)


def test_a_plan_that_does_not_settle_is_an_error_not_a_number(monkeypatch):
    monkeypatch.setattr(scaling, "MOST_SWEEPS", 40)
    monkeypatch.setattr(scaling, "HALVINGS", 0)
    with pytest.raises(
        InvalidProblem, match=r"at temperature 0.003 has not settled after 40 sweeps"
    ):
        tempered(problem(), temperature=0.003, sweeps=0)
    with pytest.raises(
        InvalidProblem, match=r"at temperature 0.01 has not settled after 40 sweeps"
    ):
        cool_plans(problem(), [0.01])


def test_a_settled_plan_meets_both_sides():
    plan = tempered(problem(), temperature=1.0, sweeps=0).coupling
    assert torch.allclose(plan.sum(1), problem().reference, atol=1e-9)
    assert torch.allclose(plan.sum(2), problem().hypothesis, atol=1e-9)


@pytest.mark.parametrize("ground", ["euclidean", "sqeuclidean"])
def test_cooled_plans_are_the_optimum_of_every_temperature(ground):
    """The optimum is the one plan that meets both masses and is exp(f_i + g_j - cost_ij /
    temperature).
    """
    given = problem((30, 40), 8, ground, batch=3)
    for temperature, plan in cool_plans(given, COLD).items():
        coupling = plan.coupling
        assert torch.allclose(coupling.sum(1), given.reference, atol=1e-8)
        assert torch.allclose(coupling.sum(2), given.hypothesis, atol=1e-8)
        potentials = coupling.log() + given.cost / temperature
        seen = coupling > 1e-250
        f = (potentials - potentials[:, :1]).masked_fill(~(seen & seen[:, :1]), float("nan"))
        spread = f.nan_to_num(nan=-torch.inf).amax(2) - f.nan_to_num(nan=torch.inf).amin(2)
        assert spread[torch.isfinite(spread)].max() < 1e-8 / temperature


def test_cooled_and_begun_anew_are_one_plan():
    given = problem((20, 25), 4, "sqeuclidean", batch=2)
    for temperature, plan in cool_plans(given, (0.1, 0.01)).items():
        again = tempered(given, temperature=temperature, sweeps=0)
        assert torch.allclose(plan.coupling, again.coupling, atol=1e-9)


def test_a_cooled_plan_alone_is_that_of_the_batch():
    given = problem((12, 9), 3, "sqeuclidean", batch=4)
    together = cool_plans(given, COLD)
    for row in range(4):
        one = type(given)(*(getattr(given, name)[row : row + 1] for name in given.__slots__))
        for temperature, plan in cool_plans(one, COLD).items():
            assert torch.allclose(plan.coupling[0], together[temperature].coupling[row], atol=1e-9)
