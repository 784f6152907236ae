"""BERTScore and YiSi-1 on the toy problem: metrics-spec §2.4 and §6.4."""

import numpy as np
import pytest
from toy import WX, WY, X, Y, pair, scored, scored_window

from monge.scoring.measure import problem_between
from monge.scoring.references import combined

CLS_X, SEP_X = [0.28, 0.96], [0.96, 0.28]
CLS_Y, SEP_Y = [0.6, 0.8], [0.96, 0.28]


def prf(found):
    return found["precision"], found["recall"], found["f1"]


@pytest.mark.parametrize("name", ["bertscore", "bertscore@release"])
@pytest.mark.parametrize(("weights", "values"), [
    ({}, (0.98, 0.92, 0.9490526316)), ({"wx": WX, "wy": WY}, (0.97, 0.93, 0.9495789474)),
])  # fmt: skip
def test_without_specials(name, weights, values):
    found = scored(name, **weights)
    assert prf(found) == pytest.approx(values, abs=1e-9)
    assert found["score"] == found["f1"]


def test_specials_weigh_nothing_and_can_be_matched():
    x, y = np.vstack([CLS_X, X, SEP_X]), np.vstack([CLS_Y, Y, SEP_Y])
    specials = {"x": x, "y": y, "special_x": (0, 3), "special_y": (0, 4)}
    found = scored("bertscore@release", **specials)
    assert prf(found) == pytest.approx((1.0, 0.9733333333, 0.9864864865), abs=1e-9)
    assert prf(scored("bertscore", **specials)) == pytest.approx((0.98, 0.92, 0.9490526316), abs=1e-9)
    spec, hypothesis, reference = pair("bertscore@release", **specials)
    problem = problem_between(hypothesis, reference, spec)
    assert problem.hypothesis[0].tolist() == [0, 0.5, 0.5, 0]
    assert bool(problem.present.all())


def test_best_of_each_part_over_references():
    f = [2 * p * r / (p + r) for p, r in ((0.9, 0.5), (0.6, 0.8))]
    rows = [
        {"score": f[k], "precision": p, "recall": r, "f1": f[k]} for k, (p, r) in enumerate([(0.9, 0.5), (0.6, 0.8)])
    ]
    found, winner = combined(rows, "max-each", higher_is_better=True)
    assert (found["precision"], found["recall"], found["f1"]) == pytest.approx((0.9, 0.8, 0.685714), abs=1e-6)
    assert winner == 1
    whole, winner = combined(rows, "max", higher_is_better=True)
    assert (whole["precision"], whole["recall"], winner) == (0.6, 0.8, 1)


@pytest.mark.parametrize("rule", ["max", "mean", "first", "max-each"])
def test_rules_over_references_through_the_pipeline(rule):
    """Each reference scored by itself, then joined by the rule."""
    other = np.array([[0.6, 0.8], [0.0, 1.0]])
    each = [scored("bertscore", y=y) for y in (Y, other)]
    (score,) = scored_window("bertscore", f"references={rule}", rows=[(X, [Y, other])])
    best = max((0, 1), key=lambda k: each[k]["f1"])
    wanted = {
        "max": each[best],
        "mean": {name: (each[0][name] + each[1][name]) / 2 for name in each[0]},
        "first": each[0],
        "max-each": {name: max(each[0][name], each[1][name]) for name in each[0]},
    }[rule]
    assert score.parts == pytest.approx(wanted, abs=1e-12)
    assert score.winner == {"max": best, "mean": -1, "first": 0, "max-each": best}[rule]


@pytest.mark.parametrize(("weights", "values"), [
    ({}, {0.5: 0.9490526, 0.7: 0.9372141, 0.8: 0.9314050}),
    ({"wx": WX, "wy": WY}, {0.5: 0.9495789, 0.7: 0.9416493, 0.8: 0.9377339}),
])  # fmt: skip
def test_yisi(weights, values):
    for alpha, value in values.items():
        assert scored("yisi-1", f"readout.alpha={alpha}", **weights)["score"] == pytest.approx(value, abs=1e-6)
    assert scored("yisi-1", **weights)["score"] == pytest.approx(values[0.7], abs=1e-6)


def test_yisi_clips_negative_cosines():
    x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [-0.6, -0.8]])
    found = scored("yisi-1", x=x, y=y)
    assert (found["precision"], found["recall"]) == pytest.approx((0.5, 0.5), abs=1e-12)
    plain = scored("bertscore", x=x, y=y)
    assert (plain["precision"], plain["recall"]) == pytest.approx((0.5, (1 - 0.6) / 2), abs=1e-12)


def test_f_alpha_is_the_named_balance():
    p, r, alpha = 0.98, 0.92, 0.48
    assert scored("f-alpha")["score"] == pytest.approx(p * r / (alpha * p + (1 - alpha) * r), abs=1e-12)


def test_power_mean_vectors_with_one_sided_plans():
    found = scored("hmd", wx=WX, wy=WY)
    assert prf(found) == pytest.approx((0.97, 0.93, 0.9495789474), abs=1e-9)
