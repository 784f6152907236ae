"""BERTScore and YiSi-1 on the toy problem, with values computed by hand."""

import numpy as np
import pytest
import torch
from toy import WX, WY, X2, Y2, X, Y, pair, scored, scored_window

from monge.errors import InvalidSetting
from monge.metrics.presets import resolve
from monge.metrics.rules import check
from monge.scoring.measure import combine_references

CLS_X, SEP_X = [0.28, 0.96], [0.96, 0.28]
CLS_Y, SEP_Y = [0.6, 0.8], [0.96, 0.28]


def prf(parts):
    return parts["precision"], parts["recall"], parts["f1"]


@pytest.mark.parametrize("name", ["bertscore", "bertscore@release"])
@pytest.mark.parametrize(("weights", "values"), [
    ({}, (0.98, 0.92, 0.9490526316)), ({"wx": WX, "wy": WY}, (0.97, 0.93, 0.9495789474)),
])  # fmt: skip
def test_without_specials(name, weights, values):
    parts = scored(name, **weights)
    assert prf(parts) == pytest.approx(values, abs=1e-9)
    assert parts["score"] == parts["f1"]


def test_specials_weigh_nothing_and_can_be_matched():
    x, y = np.vstack([CLS_X, X, SEP_X]), np.vstack([CLS_Y, Y, SEP_Y])
    specials = {"x": x, "y": y, "special_x": (0, 3), "special_y": (0, 4)}
    parts = scored("bertscore@release", **specials)
    assert prf(parts) == pytest.approx((1.0, 0.9733333333, 0.9864864865), abs=1e-9)
    assert prf(scored("bertscore", **specials)) == pytest.approx(
        (0.98, 0.92, 0.9490526316), abs=1e-9
    )
    spec, hypothesis, reference = pair("bertscore@release", **specials)
    problem = spec.ground.problem(hypothesis, reference)
    assert problem.hypothesis[0].tolist() == [0, 0.5, 0.5, 0]
    assert bool(problem.present.all())


def test_best_of_each_part_over_references():
    f = [2 * p * r / (p + r) for p, r in ((0.9, 0.5), (0.6, 0.8))]
    parts = {
        name: torch.tensor(values, dtype=torch.float64)
        for name, values in {
            "score": f,
            "precision": (0.9, 0.6),
            "recall": (0.5, 0.8),
            "f1": f,
        }.items()
    }
    spec = resolve("bertscore", ("references=max-each",))[1]
    combined, winners = combine_references(parts, [2], spec, True)
    assert [combined[name][0] for name in ("precision", "recall", "f1")] == pytest.approx(
        (0.9, 0.8, 0.685714), abs=1e-6
    )
    assert winners.tolist() == [1]
    best_by_f1, winners = combine_references(parts, [2], resolve("bertscore")[1], True)
    assert (best_by_f1["precision"][0], best_by_f1["recall"][0], winners[0]) == (0.6, 0.8, 1)


@pytest.mark.parametrize("rule", ["max", "mean", "first", "max-each"])
def test_rules_over_references_through_the_pipeline(rule):
    """Each reference scored by itself, then joined by the rule."""
    second = np.array([[0.6, 0.8], [0.0, 1.0]])
    parts_of_references = [scored("bertscore", y=y) for y in (Y, second)]
    (score,) = scored_window("bertscore", f"references={rule}", rows=[(X, [Y, second])])
    best = max((0, 1), key=lambda k: parts_of_references[k]["f1"])
    expected = {
        "max": parts_of_references[best],
        "mean": {
            name: (parts_of_references[0][name] + parts_of_references[1][name]) / 2
            for name in parts_of_references[0]
        },
        "first": parts_of_references[0],
        "max-each": {
            name: max(parts_of_references[0][name], parts_of_references[1][name])
            for name in parts_of_references[0]
        },
    }[rule]
    assert score.parts == pytest.approx(expected, abs=1e-12)
    assert score.winner == {"max": best, "mean": -1, "first": 0, "max-each": best}[rule]


@pytest.mark.parametrize(("weights", "values"), [
    ({}, {0.5: 0.9490526, 0.7: 0.9372141, 0.8: 0.9314050}),
    ({"wx": WX, "wy": WY}, {0.5: 0.9495789, 0.7: 0.9416493, 0.8: 0.9377339}),
])  # fmt: skip
def test_yisi(weights, values):
    for alpha, value in values.items():
        assert scored("yisi-1", f"readout.alpha={alpha}", **weights)["score"] == pytest.approx(
            value, abs=1e-6
        )
    assert scored("yisi-1", **weights)["score"] == pytest.approx(values[0.7], abs=1e-6)


def test_yisi_clips_negative_cosines():
    x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [-0.6, -0.8]])
    parts = scored("yisi-1", x=x, y=y)
    assert (parts["precision"], parts["recall"]) == pytest.approx((0.5, 0.5), abs=1e-12)
    plain = scored("bertscore", x=x, y=y)
    assert (plain["precision"], plain["recall"]) == pytest.approx((0.5, (1 - 0.6) / 2), abs=1e-12)


@pytest.mark.parametrize(("weights", "precision", "recall", "score"), [
    ({}, 0.98, 0.89, 0.9152151),
    ({"wx": WX, "wy": WY}, 0.97, 0.8866667, 0.9101235),
])  # fmt: skip
@pytest.mark.parametrize("n", ["2", "3", "sentence"])
def test_yisi_compares_n_grams_place_by_place(weights, precision, recall, score, n):
    parts = scored(
        "yisi-1", f"units.ngram={n}", **weights
    )  # the hypothesis has two words: n is at most 2
    assert (parts["precision"], parts["recall"]) == pytest.approx((precision, recall), abs=1e-7)
    assert parts["score"] == pytest.approx(score, abs=1e-7)
    assert scored("yisi-2", f"units.ngram={n}", **weights) == parts


def test_n_grams_of_equal_texts_match_and_of_one_word_are_that_word():
    assert scored("yisi-1", "units.ngram=2", y=X)["score"] == pytest.approx(1, abs=1e-12)
    short = {"x": X[1:]}
    assert scored("yisi-1", "units.ngram=2", **short) == scored("yisi-1", **short)


def test_n_grams_of_several_pairs_have_each_pair_s_length():
    rows = [(X, [Y]), (X[:1], [Y]), (Y, [Y2, X]), (np.vstack([Y, X2]), [np.vstack([Y2, X])])]
    together = scored_window("yisi-1", "units.ngram=2", "weights=uniform", rows=rows)
    for row, in_batch in zip(rows, together, strict=True):
        (alone,) = scored_window("yisi-1", "units.ngram=2", "weights=uniform", rows=[row])
        assert in_batch.parts == pytest.approx(alone.parts, abs=1e-12)


@pytest.mark.parametrize("change", [
    "transport=exact", "readout=similarity", "weights=counts", "units.specials=targets", "weights.epsilon=0.1",
])  # fmt: skip
def test_what_n_grams_place_by_place_do_not_go_with_is_told(change):
    name = change.partition("=")[0]
    with pytest.raises(InvalidSetting, match=f"place by place: .* it needs {name}="):
        check(resolve("yisi-1", ("units.ngram=2", change))[1])
    if change != "weights=counts":
        check(resolve("yisi-1", (change,))[1])


def test_f_alpha_is_the_named_balance():
    p, r, alpha = 0.98, 0.92, 0.48
    assert scored("f-alpha")["score"] == pytest.approx(
        p * r / (alpha * p + (1 - alpha) * r), abs=1e-12
    )


def test_power_mean_vectors_with_one_sided_plans():
    parts = scored("hmd", wx=WX, wy=WY)
    assert prf(parts) == pytest.approx((0.97, 0.93, 0.9495789474), abs=1e-9)
