"""What Python users are given back shows itself in a notebook, with the same components as pages."""

import re

import numpy as np
import pytest

import monge
from monge.study import compare_scores
from monge.study.agreement import Resampling
from monge.study.compare import MEAN_OF_SEGMENTS, Comparison, Standings


def test_results_and_explanations_show_themselves(tiny_bert):
    texts = ["the cat sat on the mat", "the dog ran to the house"]
    result = monge.score(texts, texts[::-1], metric="bertscore", model=str(tiny_bert))
    shown = result._repr_html_()
    assert 'class="monge"' in shown and "<h1>bertscore</h1>" in shown and "<html" not in shown
    several = monge.score(texts, texts[::-1], metric=["bertscore", "twmd"], model=str(tiny_bert))
    assert "<h1>bertscore and twmd</h1>" in several._repr_html_()
    e = monge.explain(*texts, metric="bertscore", model=str(tiny_bert))
    shown = e._repr_html_()
    assert "mg-arc" in shown and "Most was lost by matching" in shown and "<script" not in shown
    assert set(re.findall(r'class="unit l(\d)"', shown)) - {"0"}


def test_a_comparison_draws_intervals_and_says_what_it_found():
    rng = np.random.default_rng(1)
    base = rng.normal(0.5, 0.1, 200)
    scores = np.stack([base + 0.05 + rng.normal(0, 0.01, 200), base, base + rng.normal(0, 0.05, 200)])
    how = Resampling(resamples=200, test="bootstrap")
    found = compare_scores(["a", "b", "c"], scores, resampling=how)
    comparison = Comparison((Standings("m", "m", "s:1", True, 200, MEAN_OF_SEGMENTS, *found),), how)
    assert comparison.verdict[0] == "a is the best system by m, and that is more than chance."
    shown = comparison._repr_html_()
    assert "a is the best system" in shown
    pairs = found[1]
    for pair in pairs:
        assert pair.low <= pair.difference <= pair.high
    tied = [pair for pair in pairs if not comparison.better(comparison.standings[0], pair)]
    assert shown.count('circle class="plain"') == len(tied) >= 1 and shown.count("<circle") == 3 + len(pairs)
    assert pairs[0].difference == pytest.approx(float((scores[0] - scores[1]).mean()))
