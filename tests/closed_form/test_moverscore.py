"""MoverScore and its releases on the toy problem, with values computed by hand."""

import numpy as np
import pytest
import torch
from toy import ONES, WX, WY, X, pair, scored

from monge.transport.pooling import power_means, unit

TABLE = [  # weights, n, without epsilons, as released
    ("uniform", 1, 0.7866666667, 0.7866652),
    ("uniform", 2, 0.7899494937, 0.7899496),
    ("uniform", 3, 0.9312315170, 0.9312319),
    ("idf", 1, 0.8600000000, 0.8600006),
    ("idf", 2, 0.9349853161, 0.9349854),
    ("idf", 3, 0.9999594316, 0.9999594),
]


def weights(kind):
    return {"wx": ONES, "wy": ONES} if kind == "uniform" else {"wx": WX, "wy": WY}


@pytest.mark.parametrize(("kind", "n", "value", "released"), TABLE)
def test_without_epsilons(kind, n, value, released):
    assert scored("moverscore", f"units.ngram={n}", **weights(kind))["score"] == pytest.approx(
        value, abs=1e-9
    )


@pytest.mark.parametrize(("kind", "n", "value", "released"), TABLE)
def test_as_released(kind, n, value, released):
    assert scored("moverscore@v1", f"units.ngram={n}", **weights(kind))["score"] == pytest.approx(
        released, abs=5e-6
    )


def test_named_bigrams_and_whole_sentence():
    idf = weights("idf")
    assert scored("moverscore-2", **idf)["score"] == pytest.approx(0.9349853161, abs=1e-9)
    assert scored("moverscore-2@v1", **idf)["score"] == pytest.approx(0.9349854, abs=5e-6)
    assert scored("smd", **idf)["score"] == pytest.approx(0.9999594316, abs=1e-9)


def test_hand_check_of_the_plan():
    spec, hypothesis, reference = pair("moverscore", **weights("idf"))
    problem = spec.ground.problem(hypothesis, reference)
    cost = torch.tensor([[0.0, 0.4, 2.0], [0.8, 0.08, 0.4]], dtype=torch.float64)
    plan = torch.tensor([[0.25, 0.0, 0.0], [0.0, 0.5, 0.25]], dtype=torch.float64)
    assert torch.allclose(problem.cost[0], cost, atol=1e-12)
    assert torch.allclose(spec.transport.solve(problem)["plan"].coupling[0], plan, atol=1e-12)


@pytest.mark.parametrize(("kind", "cost", "score"), [
    ("uniform", 0.3633682181, 0.7334775644), ("idf", 0.2995352392, 0.7695058739),
])  # fmt: skip
def test_release_2(kind, cost, score):
    assert scored("moverscore@v2", **weights(kind))["score"] == pytest.approx(score, abs=1e-9)
    assert scored("moverscore@v2", "readout=cost", **weights(kind))["score"] == pytest.approx(
        cost, abs=1e-9
    )


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("idf", "moverscore@paper", 1.1783639656),
        ("idf", "moverscore-2@paper", 1.2165525061),
        ("idf", "smd@paper", 0.2828427125),
        ("uniform", "moverscore@paper", 0.3633682181),
        ("uniform", "moverscore-2@paper", 0.7071067812),
        ("uniform", "smd@paper", 0.8246211251),
    ],
)
def test_literal_equations(kind, name, value):
    assert scored(name, **weights(kind))["score"] == pytest.approx(value, abs=1e-9)


def test_sentence_mover_of_the_web_service():
    assert scored("smd@web")["score"] == pytest.approx(-0.3641681156, abs=1e-9)


def test_power_means_of_three_layers():
    layers = torch.tensor([[3.0, 4.0], [0.0, 2.0], [5.0, 0.0]], dtype=torch.float64)
    pooled = power_means(unit(layers), (float("-inf"), 1.0, float("inf")))
    expected = [0, 0, (0.6 + 0 + 1) / 3, 0.6, 1, 1]
    assert pooled.tolist() == pytest.approx(expected, abs=1e-12)


def test_a_special_of_no_weight_forms_windows_with_its_neighbour():
    """[CLS] w1 and w2 [SEP]: with idf 0 on specials every word is covered twice."""
    x = np.vstack([[0.3, -0.9], X, [-0.7, 0.7]])
    _, cloud, _ = pair("moverscore-2", x=x, wx=(0.0, *WX, 0.0), wy=WY, special_x=(0, 3))
    assert cloud.weights[0].tolist() == pytest.approx([1, 4, 3])
    assert cloud.vectors[0, 0].tolist() == pytest.approx(X[0].tolist())
    assert cloud.vectors[0, 2].tolist() == pytest.approx(X[1].tolist())


def test_identical_texts():
    same = {"x": X, "y": X, "wx": WX, "wy": WX}
    assert scored("moverscore", **same)["score"] == pytest.approx(1, abs=1e-12)
    assert scored("moverscore@v1", **same)["score"] == pytest.approx(1, abs=1e-6)
    assert scored("moverscore@v2", **same)["score"] == pytest.approx(1, abs=1e-7)
