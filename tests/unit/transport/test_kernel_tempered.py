"""Tempered plans: alone, in company, padded, masked, unbalanced, in single precision, and
differentiated.
"""

import warnings
from math import inf

import numpy as np
import ot
import pytest
import torch
from problems import padded, problem, random_arrays

from monge.errors import InvalidSetting
from monge.metrics.axes import AXES
from monge.transport import scaling
from monge.transport.onesided import onesided
from monge.transport.tempered import tempered
from monge.types import Problem

SETTINGS = {
    "one sweep": {"temperature": 0.02, "sweeps": 1},
    "one sweep, other side last": {"temperature": 0.1, "sweeps": 1, "reference_last": True},
    "three sweeps": {"temperature": 0.1, "sweeps": 3},
    "settled": {"temperature": 0.2, "sweeps": 0},
    "softmax": {"temperature": 0.02, "sweeps": 1, "slack": (inf, 0.0)},
    "softmax, other side": {
        "temperature": 0.02,
        "sweeps": 1,
        "slack": (0.0, inf),
        "reference_last": True,
    },
    "unbalanced": {
        "temperature": 0.009,
        "sweeps": 0,
        "slack": (0.23, 0.31),
        "reference_last": True,
    },
    "half rigid": {"temperature": 0.1, "sweeps": 0, "slack": (inf, 0.31)},
    "cold": {"temperature": 0.001, "sweeps": 1},
}
every_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)


def random_problems(count, *, zeros=False, seed=0, largest=12):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, largest + 1, size=(count, 2))
    return [problem(*random_arrays(generator, n, m, zeros=zeros)) for n, m in sizes]


@every_setting
@pytest.mark.parametrize("zeros", [False, True])
def test_a_padded_batch_is_its_problems_alone(setting, zeros):
    ones = random_problems(25, zeros=zeros)
    together = tempered(padded(ones), **setting).coupling
    for k, one in enumerate(ones):
        n, m = one.cost.shape[1:]
        alone = tempered(one, **setting).coupling[0]
        assert float((together[k, :n, :m] - alone).abs().max()) <= 1e-12
        assert float(together[k, n:].abs().sum() + together[k, :, m:].abs().sum()) == 0


def blocks(monkeypatch, one, **setting):
    """How many blocks of sweeps a problem takes to settle."""
    seen, plain = [], scaling._block
    with monkeypatch.context() as patch:
        patch.setattr(scaling, "_block", lambda *given: seen.append(1) or plain(*given))
        tempered(one, **setting)
    return len(seen)


def test_a_hard_problem_does_not_change_an_easy_one(monkeypatch):
    """Each freezes at its own time: bit for bit the same beside a problem that needs many more
    sweeps.
    """
    generator = np.random.default_rng(1)
    easy = problem(*random_arrays(generator, 5, 6))
    cost, a, b = random_arrays(generator, 5, 6)
    hard = problem(3 * cost, a, b)
    setting = {"temperature": 0.2, "sweeps": 0}
    assert blocks(monkeypatch, hard, **setting) > blocks(monkeypatch, easy, **setting)
    batch = Problem(
        *(torch.cat([getattr(easy, n), getattr(hard, n)]) for n in Problem.__dataclass_fields__)
    )
    twin = Problem(*(torch.cat([getattr(easy, n)] * 2) for n in Problem.__dataclass_fields__))
    beside_hard, beside_easy = (
        tempered(batch, **setting).coupling[0],
        tempered(twin, **setting).coupling[0],
    )
    assert torch.equal(beside_hard, beside_easy)


@every_setting
def test_absent_units_in_the_middle(setting):
    """A unit that is not there is never met, wherever it stands and whatever it costs."""
    cost, a, b = random_arrays(np.random.default_rng(2), 6, 7)
    plain = tempered(problem(cost, a, b), **setting).coupling[0]
    wider = np.insert(np.insert(cost, 3, -5.0, axis=0), 2, -5.0, axis=1)
    there = np.ones_like(wider, dtype=bool)
    there[3], there[:, 2] = False, False
    found = tempered(
        problem(wider, np.insert(a, 3, 0), np.insert(b, 2, 0), there), **setting
    ).coupling[0]
    assert float(found[3].abs().sum() + found[:, 2].abs().sum()) == 0
    kept = found[[0, 1, 2, 4, 5, 6]][:, [0, 1, 3, 4, 5, 6, 7]]
    assert float((kept - plain).abs().max()) <= 1e-12


def test_present_units_without_mass():
    """They take part only where their side is free: a special can be matched but brings nothing
    (BERTScore).
    """
    cost = np.array([[0.0, 0.5], [0.4, 0.1]])
    one = problem(cost, [1.0, 0.0], [1.0, 0.0])
    rigid = tempered(one, temperature=0.1, sweeps=1).coupling[0]
    assert rigid.tolist() == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0]]), abs=1e-12)
    free = tempered(one, temperature=0.1, sweeps=1, slack=(inf, 0.0)).coupling[0]
    weights = np.exp([0.0, -5.0])
    assert free[0].tolist() == pytest.approx((weights / weights.sum()).tolist(), abs=1e-12)
    assert free[1].tolist() == [0, 0]


def test_the_last_side_is_met_after_any_number_of_sweeps():
    for k, one in enumerate(random_problems(10, zeros=True)):
        last = bool(k % 2)
        for sweeps in (1, 2, 5):
            plan = tempered(one, temperature=0.05, sweeps=sweeps, reference_last=last).coupling
            met, wanted = (plan.sum(1), one.reference) if last else (plan.sum(2), one.hypothesis)
            assert float((met - wanted).abs().max()) < 1e-12


def test_settled_plans_meet_both_sides():
    for one in random_problems(10):
        plan = tempered(one, temperature=0.2, sweeps=0).coupling
        assert float((plan.sum(1) - one.reference).abs().max()) < 1e-9
        assert float((plan.sum(2) - one.hypothesis).abs().max()) < 1e-9


def test_one_sweep_by_hand():
    cost, a, b = random_arrays(np.random.default_rng(4), 3, 4)
    kernel = np.exp(-cost / 0.1)
    v = b / (kernel.T @ a)
    u = a / (kernel @ v)
    plan = tempered(problem(cost, a, b), temperature=0.1, sweeps=1).coupling[0].numpy()
    assert np.abs(plan - u[:, None] * kernel * v).max() < 1e-14


def test_log_domain_and_plain_scaling_agree():
    """float64 may scale the kernel itself; a colder problem must not change its character."""
    generator = np.random.default_rng(6)
    for temperature in (0.0064, 0.0066, 0.0068):
        cost, a, b = random_arrays(generator, 8, 9)
        plan = tempered(problem(cost, a, b), temperature=temperature, sweeps=2).coupling[0].numpy()
        log_kernel, f, g = -cost / temperature, np.log(a), np.log(b)
        for _ in range(2):
            g = np.log(b) - np.logaddexp.reduce(log_kernel + f[:, None], axis=0)
            f = np.log(a) - np.logaddexp.reduce(log_kernel + g, axis=1)
        assert np.abs(plan - np.exp(f[:, None] + log_kernel + g)).max() < 1e-12


GRID = [
    (0.23, 0.31),
    (0.018, 0.97),
    (0.009, 0.95),
    (1.0, 1.0),
    (5.0, 0.05),
    (0.0, 0.5),
    (0.5, 0.0),
    (3.0, 3.0),
]


@pytest.mark.parametrize("slack", GRID)
@pytest.mark.parametrize("temperature", [0.009, 0.1])
def test_slack_against_pot(slack, temperature):
    """POT with the entropy regulariser; slack 0 means that POT must not scale that side at all."""
    worst = 0.0
    for one in random_problems(8, seed=int(1000 * temperature), largest=9):
        cost, a, b = one.cost[0].numpy(), one.hypothesis[0].numpy(), one.reference[0].numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = ot.unbalanced.sinkhorn_unbalanced(
                a,
                b,
                cost,
                temperature,
                slack,
                reg_type="entropy",
                numItermax=100_000,
                stopThr=1e-13,
            )
        plan = tempered(one, temperature=temperature, sweeps=0, slack=slack).coupling[0].numpy()
        worst = max(worst, np.abs(plan - wanted).max())
    assert worst <= 1e-6


@every_setting
def test_single_precision(setting):
    ones = random_problems(20, largest=10)
    double = tempered(padded(ones), **setting).coupling
    batch = padded(ones)
    single = tempered(
        Problem(
            batch.cost.float(), batch.similarity.float(), batch.hypothesis.float(), batch.reference.float(),
            batch.present,
        ),
        **setting,
    ).coupling  # fmt: skip
    assert single.dtype == torch.float32
    assert bool(torch.isfinite(single).all())
    assert float((single - double).abs().max()) < (2e-3 if setting["temperature"] < 0.005 else 1e-4)


@every_setting
def test_gradients(setting):
    """Finite everywhere, and equal to finite differences where the number of sweeps is fixed."""
    cost, a, b = random_arrays(np.random.default_rng(9), 3, 4)
    cost = cost * 10 * setting["temperature"]
    leaves = [torch.tensor(v, requires_grad=True) for v in (cost, a, b)]
    there = torch.ones(1, 3, 4, dtype=torch.bool)

    def plan(cost, a, b):
        cost, a, b = cost.unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0)
        return tempered(Problem(cost, 1 - cost, a, b, there), **setting).coupling

    for grad in torch.autograd.grad(
        (plan(*leaves) * torch.tensor(cost).unsqueeze(0)).sum(), leaves, allow_unused=True
    ):
        assert grad is None or bool(torch.isfinite(grad).all())
    if setting["sweeps"]:
        assert torch.autograd.gradcheck(plan, leaves, eps=1e-7, atol=1e-4, rtol=1e-4)


def test_gradients_of_padded_problems_are_finite():
    batch = padded(random_problems(6, zeros=True))
    leaf = batch.cost.clone().requires_grad_()
    moving = Problem(leaf, 1 - leaf, batch.hypothesis, batch.reference, batch.present)
    plan = tempered(moving, temperature=0.1, sweeps=2).coupling
    (grad,) = torch.autograd.grad((plan * leaf).sum(), [leaf])
    assert bool(torch.isfinite(grad).all())
    assert float(grad[~batch.present].abs().max()) == 0


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), inf])
def test_temperatures_that_are_none(temperature):
    with pytest.raises(InvalidSetting, match="temperature"):
        tempered(random_problems(1)[0], temperature=temperature)


@pytest.mark.parametrize("slack", [(-1.0, 1.0), (1.0, float("nan"))])
def test_slack_that_is_none(slack):
    with pytest.raises(InvalidSetting, match="slack"):
        tempered(random_problems(1)[0], temperature=0.1, slack=slack)


def test_one_sweep_of_a_very_cold_problem_meets_the_last_side():
    for temperature in (1e-6, 1e-9):
        for one in random_problems(3, seed=11):
            plan = tempered(one, temperature=temperature, sweeps=1).coupling
            assert bool(torch.isfinite(plan).all())
            rounding = (
                4 * np.finfo(np.float64).eps / temperature
            )  # of potentials as large as cost / temperature
            assert float((plan.sum(2) - one.hypothesis).abs().max()) < 1e-12 + rounding


def test_nearest_units():
    similarity = np.array([[0.1, 0.9, 0.9], [-0.5, -0.2, -0.9]])
    one = problem(1 - similarity, [0.3, 0.7], [0.2, 0.3, 0.5])
    assert onesided(one).coupling[0].tolist() == [[0, 0.3, 0], [0, 0.7, 0]]
    absent = np.array([[True, False, True], [True, False, True]])
    masked = onesided(problem(1 - similarity, [0.3, 0.7], [0.5, 0.0, 0.5], absent))
    assert masked.coupling[0].tolist() == [[0, 0, 0.3], [0.7, 0, 0]]


def test_nearest_unit_of_negative_similarities_ignores_padding():
    """Padding must not win with 0 when all true similarities are negative."""
    one = problem(1 + np.array([[0.3, 0.2]]), [1.0], [0.5, 0.5])
    wide = problem(np.full((2, 4), 1.0), [1.0, 0.0], [0.25] * 4)
    batch = padded([one, wide])
    assert onesided(batch).coupling[0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


def test_independent_plans():
    one = problem(np.zeros((2, 3)), [0.25, 0.75], [0.5, 0.5, 0.0])
    assert AXES["transport"]["independent"].solve(one)["plan"].coupling[0].tolist() == [
        [0.125, 0.125, 0],
        [0.375, 0.375, 0],
    ]
