"""Exact transport against two independent solvers, and what it refuses."""

import numpy as np
import ot
import pytest
import torch
from problems import between, padded, problem, random_arrays
from scipy.optimize import linprog
from scipy.sparse import block_diag, coo_array, identity, kron, vstack

from monge.errors import InvalidProblem
from monge.transport.exact import exact, left_over
from monge.transport.grounds import masses
from monge.transport.plan_values import transported_cost
from monge.types import Cloud, Problem

COUNT, TOLERANCE = 1000, 1e-9


@pytest.fixture(scope="module")
def problems():
    generator = np.random.default_rng(20)
    sizes = generator.integers(1, 41, size=(COUNT, 2))
    kinds = ({}, {"zeros": True}, {"uniform": True})
    return [random_arrays(generator, n, m, **kinds[k % 3]) for k, (n, m) in enumerate(sizes)]


def value(cost, a, b):
    one = problem(cost, a, b)
    return float(transported_cost(exact(one), one)[0])


def by_linear_programming(problems):
    """HiGHS on blocks of problems: they share no variable, so the least total is the sum of the
    least costs.
    """
    found = []
    for start in range(0, len(problems), 25):
        block = problems[start : start + 25]
        constraints, right = [], []
        for cost, a, b in block:
            n, m = cost.shape
            rows = kron(identity(n), np.ones((1, m)))
            columns = kron(np.ones((1, n)), identity(m))
            constraints.append(coo_array(vstack([rows, columns])))
            right += [a, b]
        costs = np.concatenate([cost.ravel() for cost, _, _ in block])
        solved = linprog(
            costs, A_eq=block_diag(constraints, format="csr"), b_eq=np.concatenate(right), method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        assert solved.status == 0
        ends = np.cumsum([cost.size for cost, _, _ in block])
        parts = np.split(costs * solved.x, ends[:-1])
        found += [part.sum() for part in parts]
    return np.array(found)


def test_against_linear_programming_and_pot(problems):
    ours = np.array([value(*one) for one in problems])
    pot = np.array([ot.emd2(a, b, cost) for cost, a, b in problems])
    assert np.abs(ours - pot).max() <= TOLERANCE
    highs = by_linear_programming(problems)
    assert np.abs(ours - highs).max() <= TOLERANCE


def test_plans_meet_their_masses(problems):
    for cost, a, b in problems[:200]:
        plan = exact(problem(cost, a, b)).coupling[0].numpy()
        assert plan.min() >= 0
        assert np.abs(plan.sum(1) - a).max() < 1e-12
        assert np.abs(plan.sum(0) - b).max() < 1e-12


def test_a_padded_batch_is_its_problems_alone(problems):
    ones = [problem(*one) for one in problems[:60]]
    batch = padded(ones)
    together = exact(batch)
    cost = transported_cost(together, batch)
    for k, one in enumerate(ones):
        n, m = one.cost.shape[1:]
        assert torch.equal(together.coupling[k, :n, :m], exact(one).coupling[0])
        assert (
            float(together.coupling[k, n:].abs().sum() + together.coupling[k, :, m:].abs().sum())
            == 0
        )
        assert float(cost[k]) == pytest.approx(
            float(transported_cost(exact(one), one)[0]), abs=1e-13
        )


def test_units_without_mass_do_not_matter():
    """Whatever a unit without mass costs, in front, between or behind."""
    generator = np.random.default_rng(3)
    cost, a, b = random_arrays(generator, 4, 5)
    for at in (0, 2, 4):
        wider = np.insert(np.insert(cost, at, -9.0, axis=0), at, -9.0, axis=1)
        assert value(wider, np.insert(a, at, 0), np.insert(b, at, 0)) == pytest.approx(
            value(cost, a, b), abs=1e-14
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["one", "all"])
def test_costs_that_are_no_numbers(bad, where):
    """POT answers these with cost 0.0, a perfect score."""
    cost, a, b = random_arrays(np.random.default_rng(0), 3, 4)
    cost[(0, 0) if where == "one" else slice(None)] = bad
    with pytest.raises(InvalidProblem, match="NaN or infinite"):
        exact(problem(cost, a, b))


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1])
def test_masses_that_are_no_masses(side, bad):
    arrays = list(random_arrays(np.random.default_rng(0), 3, 4))
    arrays[side][1] = bad
    with pytest.raises(InvalidProblem):
        exact(problem(*arrays))


@pytest.mark.parametrize("side", [1, 2])
def test_no_mass(side):
    arrays = list(random_arrays(np.random.default_rng(0), 3, 4))
    arrays[side][:] = 0
    with pytest.raises(InvalidProblem, match=r"no (hypothesis|reference) mass"):
        exact(problem(*arrays))


def test_one_bad_problem_of_a_batch():
    ones = [problem(*random_arrays(np.random.default_rng(k), 3, 4)) for k in range(3)]
    ones[1].cost[0, 2, 2] = float("nan")
    with pytest.raises(InvalidProblem):
        exact(padded(ones))


def test_unequal_totals():
    cost, a, b = random_arrays(np.random.default_rng(0), 3, 4)
    with pytest.raises(InvalidProblem, match="unequal masses"):
        exact(problem(cost, a, b * 0.9))


@pytest.mark.parametrize("factor", [0.9, 1.1, 1.00001])
def test_excess_mass_stays_at_its_price(factor):
    """pyemd's rule: the lighter side is met, and every unit of surplus pays the price."""
    cost, a, b = random_arrays(np.random.default_rng(5), 5, 6)
    one = problem(cost, a, b * factor)
    price = torch.tensor([3.5], dtype=torch.float64)
    plan = exact(one, excess=price)
    total = float(transported_cost(plan, one)[0] + left_over(one, price)[0])
    assert float(plan.coupling.sum()) == pytest.approx(min(1, factor), abs=1e-12)
    gap = factor - 1
    if gap > 0:
        wide = np.vstack([cost, np.full((1, 6), 3.5)])
        wanted = ot.emd2(np.append(a, gap), b * factor, wide)
    else:
        wide = np.hstack([cost, np.full((5, 1), 3.5)])
        wanted = ot.emd2(a, np.append(b * factor, -gap), wide)
    assert total == pytest.approx(wanted, abs=1e-9)


def test_gradient_flows_through_the_cost():
    """Envelope theorem: the derivative of the least cost is the plan."""
    cost, a, b = random_arrays(np.random.default_rng(7), 4, 5)
    leaf = torch.tensor(cost, requires_grad=True)
    one = problem(cost, a, b)
    moving = type(one)(
        leaf.unsqueeze(0), 1 - leaf.unsqueeze(0), one.hypothesis, one.reference, one.present
    )
    transported_cost(exact(moving), moving).sum().backward()
    assert torch.allclose(leaf.grad, exact(one).coupling[0])
    step = 1e-6
    for i, j in ((0, 0), (2, 3)):
        nudged = cost.copy()
        nudged[i, j] += step
        slope = (value(nudged, a, b) - value(cost, a, b)) / step
        assert slope == pytest.approx(float(leaf.grad[i, j]), abs=1e-6)


def test_float32_problems_are_solved_in_float64():
    cost, a, b = random_arrays(np.random.default_rng(8), 6, 6, uniform=True)
    single = exact(problem(cost, a, b, dtype=torch.float32))
    assert single.coupling.dtype == torch.float32
    assert float((single.coupling * torch.tensor(cost)).sum()) == pytest.approx(
        value(cost, a, b), abs=1e-6
    )


def cloud(weights, present=None):
    weights = torch.tensor([weights], dtype=torch.float64)
    there = (
        torch.ones_like(weights, dtype=torch.bool) if present is None else torch.tensor([present])
    )
    return Cloud(torch.eye(weights.shape[1], dtype=torch.float64).unsqueeze(0), weights, there)


@pytest.mark.parametrize(
    "weights", [[0.0, 0.0], [1.0, -0.5], [float("nan"), 1.0], [float("inf"), 1.0]]
)
def test_weights_that_make_no_masses(weights):
    with pytest.raises(InvalidProblem):
        masses(cloud(weights))
    with pytest.raises(InvalidProblem):
        between(cloud(weights), cloud([1.0, 1.0]), ground="cosine")


def test_masses():
    assert masses(cloud([1.0, 3.0, 9.0], [True, True, False])).tolist() == [[0.25, 0.75, 0.0]]
    assert masses(cloud([1.0, 3.0]), epsilon=1.0).tolist() == [[0.2, 0.6]]


def test_negative_costs_are_solved_as_if_they_were_raised():
    """The solver calls some problems infeasible whose costs are all below 0 (7 of these 300
    before).
    """
    generator = torch.Generator().manual_seed(0)
    masses = [torch.full((300, size), 1 / size, dtype=torch.float64) for size in (5, 6)]
    cost = -torch.rand(300, 5, 6, generator=generator, dtype=torch.float64) - 1
    present = torch.ones(300, 5, 6, dtype=torch.bool)
    found = exact(Problem(cost, -cost, *masses, present)).coupling
    raised = exact(Problem(cost + 3, -cost, *masses, present)).coupling
    assert torch.allclose((found * cost).sum((1, 2)), (raised * cost).sum((1, 2)), atol=1e-12)


@pytest.fixture
def count_solved(monkeypatch):
    """Count the problems that go to the solver."""
    solved = []
    solve = ot.lp.emd_wrap.emd_c

    def count(*arguments):
        solved.append(arguments)
        return solve(*arguments)

    monkeypatch.setattr("monge.transport.exact._solver", lambda: count)
    return solved


def test_one_unit_and_equal_texts_need_no_solver_and_cost_the_same(count_solved):
    generator = np.random.default_rng(5)
    plain = [random_arrays(generator, 1, 7), random_arrays(generator, 9, 1)]
    points = generator.normal(size=(8, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    masses_of_text = random_arrays(generator, 8, 8)[1]
    plain.append((distances - 0.5, masses_of_text, masses_of_text))
    for cost, a, b in plain:
        plan = exact(problem(cost, a, b)).coupling[0].numpy()
        assert (plan * cost).sum() == pytest.approx(ot.emd2(a, b, cost), abs=TOLERANCE)
        assert np.abs(plan.sum(1) - a).max() <= TOLERANCE
        assert np.abs(plan.sum(0) - b).max() <= TOLERANCE
    assert not count_solved
    exact(problem(*random_arrays(generator, 3, 4)))
    assert len(count_solved) == 1


def test_a_diagonal_that_is_not_the_cheapest_goes_to_the_solver(count_solved):
    masses_of_text = np.array([0.5, 0.5])
    cost = np.array([[0.2, 0.1], [0.1, 0.2]])
    plan = exact(problem(cost, masses_of_text, masses_of_text)).coupling[0].numpy()
    assert plan == pytest.approx(np.array([[0, 0.5], [0.5, 0]]))
    assert len(count_solved) == 1
