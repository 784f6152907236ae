"""Lazy-EMD on the toy problem, with values computed by hand."""

import warnings

import numpy as np
import ot
import pytest
import torch
from toy import X, Y, pair, scored

from monge.transport import plan_values

TABLE = [
    ("0.23/0.31", 0.0494109, 0.8946238),
    ("0.018/0.97", 0.0676112, 0.9349423),
    ("0.009/0.95", 0.0674886, 0.9334707),
    ("1e6/1e6", 0.1066666, 1.0),
    ("1e6/0", 0.0200000, 1.0),
    ("0/1e6", 0.0800000, 1.0),
]


@pytest.mark.parametrize(("slack", "cost", "mass"), TABLE)
def test_table(slack, cost, mass):
    parts = scored("lazy-emd", f"transport.slack={slack}")
    assert parts["score"] == pytest.approx(cost, abs=1e-6)
    assert parts["mass"] == pytest.approx(mass, abs=1e-6)


def test_languages():
    from monge.metrics.presets import resolve

    assert scored("lazy-emd")["score"] == pytest.approx(TABLE[0][1], abs=1e-6)
    for lang, slack in (("en", (0.23, 0.31)), ("zh", (0.018, 0.97)), ("de", (0.009, 0.95))):
        assert resolve("lazy-emd", lang=lang)[1].transport.slack == slack


def by_pot(reg_type, cost=1 - X @ Y.T, slack=(0.23, 0.31), reg=0.009):
    n, m = cost.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ot.unbalanced.sinkhorn_unbalanced(
            np.full(n, 1 / n),
            np.full(m, 1 / m),
            cost,
            reg,
            slack,
            reg_type=reg_type,
            numItermax=200_000,
            stopThr=1e-14,
        )


def test_entropy_and_not_divergence_from_the_masses():
    """POT's default regulariser since 0.9.5 is another metric."""
    cost, score = 1 - X @ Y.T, scored("lazy-emd")["score"]
    entropy, divergence = (float((by_pot(kind) * cost).sum()) for kind in ("entropy", "kl"))
    assert score == pytest.approx(entropy, abs=1e-9)
    assert score == pytest.approx(0.0494108972, abs=1e-9)
    assert divergence == pytest.approx(0.0479806539, abs=1e-7)
    assert abs(score - divergence) > 1e-3


def test_plan():
    spec, hypothesis, reference = pair("lazy-emd")
    plan = spec.transport.solve(spec.ground.problem(hypothesis, reference))["plan"].coupling[0]
    expected = [[0.402228, 0.000001, 0], [0, 0.306677, 0.185718]]
    assert torch.allclose(plan, torch.tensor(expected, dtype=torch.float64), atol=1e-6)


def closed_form(mu, c, left, right):
    """Theorem 2: a one-word reference, no entropy."""
    shares = mu * np.exp(-c / left)
    total = shares.sum() ** (left / (left + right))
    return shares * total ** (-right / left)


def test_one_word_reference_without_entropy():
    mu, c, slack = np.array([0.5, 0.5]), np.array([0.1, 0.4]), (0.23, 0.31)
    expected = closed_form(mu, c, *slack)
    assert expected.tolist() == pytest.approx([0.5388933, 0.1462284], abs=1e-6)
    cosines = 1 - c
    x = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    errors = []
    for temperature in (1e-4, 1e-5, 1e-7):
        spec, hypothesis, reference = pair(
            "lazy-emd", f"transport.temperature={temperature}", x=x, y=[[1.0, 0.0]]
        )
        plan = (
            spec.transport.solve(spec.ground.problem(hypothesis, reference))["plan"]
            .coupling[0, :, 0]
            .numpy()
        )
        errors.append(np.abs(plan - expected).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6
    parts = scored("lazy-emd", "transport.temperature=1e-7", x=x, y=[[1.0, 0.0]])
    assert parts["score"] == pytest.approx(0.1123807, abs=1e-6)
    assert parts["mass"] == pytest.approx(expected.sum(), abs=1e-6)


def test_the_closed_form_is_the_minimum():
    from scipy.optimize import minimize

    mu, c, left, right = np.array([0.5, 0.5]), np.array([0.1, 0.4]), 0.23, 0.31

    def objective(log_p):
        p = np.exp(log_p)
        return (
            c @ p
            + left * (p * np.log(p / mu) - p + mu).sum()
            + right * (p.sum() * np.log(p.sum()) - p.sum() + 1)
        )

    minimum = minimize(objective, np.log([0.3, 0.3]), method="BFGS", options={"gtol": 1e-10})
    assert np.exp(minimum.x) == pytest.approx(closed_form(mu, c, left, right), abs=1e-6)


def test_objective_is_what_is_minimised():
    """Any other plan near ours has a higher objective, and the reported one is the formula's."""
    spec, hypothesis, reference = pair("lazy-emd")
    problem = spec.ground.problem(hypothesis, reference)
    plan = spec.transport.solve(problem)["plan"]
    p, cost = plan.coupling[0].numpy(), problem.cost[0].numpy()

    def objective(q):
        rows, columns, mu, nu = q.sum(1), q.sum(0), np.full(2, 1 / 2), np.full(3, 1 / 3)
        kl = [(k * np.log(k / w) - k + w).sum() for k, w in ((rows, mu), (columns, nu))]
        return (q * cost).sum() + 0.23 * kl[0] + 0.31 * kl[1] + 0.009 * (q * (np.log(q) - 1)).sum()

    value = objective(p)
    assert scored("lazy-emd")["objective"] == pytest.approx(value, abs=1e-12)
    reported = plan_values.unbalanced_objective(
        plan, problem, temperature=0.009, slack=(0.23, 0.31)
    )
    assert float(reported[0]) == pytest.approx(value, abs=1e-12)
    generator = np.random.default_rng(0)
    for _ in range(200):
        perturbed = p * np.exp(generator.normal(scale=0.01, size=p.shape))
        assert objective(perturbed) > value


def test_mask_of_the_release():
    """Entries of cost .999 and more leave the plan after it has settled."""
    spec, hypothesis, reference = pair("lazy-emd@release", "transport.temperature=0.5")
    problem = spec.ground.problem(hypothesis, reference)
    masked = spec.transport.solve(problem)["plan"].coupling[0]
    bare = spec.changed(["transport.mask=inf"]).transport.solve(problem)["plan"].coupling[0]
    assert float(problem.cost[0, 0, 2]) == pytest.approx(1)
    assert float(masked[0, 2]) == 0 and float(bare[0, 2]) > 1e-3
    keep = problem.cost[0] < 0.999
    assert torch.equal(masked[keep], bare[keep])


ONE_SIDE_FREE = [("inf/0", 1), ("0/inf", 0)]


@pytest.mark.parametrize(("slack", "axis"), ONE_SIDE_FREE)
@pytest.mark.parametrize("temperature", [0.009, 0.5])
def test_a_free_side_is_a_softmax_of_the_other(slack, axis, temperature):
    """One side is met and the other costs nothing: every unit sends its mass by the softmax of
    -cost / T.
    """
    cost = 1 - X @ Y.T
    kernel = np.exp(-cost / temperature)
    mass = np.full(cost.shape[1 - axis], 1 / cost.shape[1 - axis])
    plan = kernel / kernel.sum(axis, keepdims=True) * np.expand_dims(mass, axis)
    changes = (f"transport.slack={slack}", f"transport.temperature={temperature}")
    parts = scored("lazy-emd", *changes)
    assert parts["score"] == pytest.approx((plan * cost).sum(), abs=1e-12)
    assert parts["mass"] == pytest.approx(1.0, abs=1e-12)
    objective = (plan * cost).sum() + temperature * (plan * (np.log(plan) - 1)).sum()
    assert parts["objective"] == pytest.approx(objective, abs=1e-12)
    for sweeps in ("1", "7"):
        again = scored("lazy-emd", *changes, f"transport.sweeps={sweeps}")
        assert again["score"] == pytest.approx(parts["score"], abs=1e-12)


@pytest.mark.parametrize(("slack", "side"), [("inf/0", "precision"), ("0/inf", "recall")])
def test_a_free_side_tends_to_a_side_of_bertscore(slack, side):
    """The paper's Table 1: 1 - P and 1 - R, as T goes to 0."""
    limit = 1 - scored("bertscore")[side]
    gaps = [
        abs(
            scored("lazy-emd", f"transport.slack={slack}", f"transport.temperature={t}")["score"]
            - limit
        )
        for t in (0.2, 0.05, 0.001)
    ]
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 1e-12


@pytest.mark.parametrize("slack", ["0.3/0", "0/0.4", "0/0"])
def test_a_free_side_beside_a_soft_or_free_side(slack):
    """The limit of a slack that goes to 0, where the solver takes the long way."""
    tiny = slack.replace("/0", "/1e-9") if slack.endswith("/0") else slack
    tiny = tiny.replace("0/", "1e-9/", 1) if tiny.startswith("0/") else tiny
    change = "transport.temperature=0.3"
    limit = scored("lazy-emd", f"transport.slack={slack}", change)
    near = scored("lazy-emd", f"transport.slack={tiny}", change)
    for part in ("score", "mass", "objective"):
        assert limit[part] == pytest.approx(near[part], abs=1e-6), part


def test_f_alpha_of_the_release_has_the_units_of_the_release():
    """Special pieces are match targets for F and for F alpha alike, and alpha .5 is F1."""
    special = {
        "x": np.vstack([[0.28, 0.96], X]), "y": np.vstack([[0.6, 0.8], Y]), "special_x": (0,), "special_y": (0,),
    }  # fmt: skip
    f1 = scored("bertscore@release", **special)
    parts = scored("f-alpha@release", **special)
    assert (parts["precision"], parts["recall"]) == (f1["precision"], f1["recall"])
    p, r = f1["precision"], f1["recall"]
    assert parts["score"] == pytest.approx(p * r / (0.48 * p + 0.52 * r), abs=1e-12)
    half = scored("f-alpha@release", "readout.alpha=0.5", **special)
    assert half["score"] == pytest.approx(f1["score"], abs=1e-12)
    assert scored("f-alpha", **special)["precision"] != parts["precision"]
