"""What Python users are given back shows itself in a notebook, with the same components as
pages.
"""

import re
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pytest

import monge
from monge.evaluation import compare_scores
from monge.evaluation.agreement import Resampling
from monge.evaluation.compare import MEAN_OF_SEGMENTS
from monge.evaluation.comparison import Comparison, Standings


def test_results_and_explanations_show_themselves(tiny_bert):
    texts = ["the cat sat on the mat", "the dog ran to the house"]
    result = monge.score(texts, texts[::-1], metric="bertscore", model=str(tiny_bert))
    shown = result._repr_html_()
    assert 'class="monge"' in shown and "<h1>bertscore</h1>" in shown and "<html" not in shown
    several = monge.score(texts, texts[::-1], metric=["bertscore", "twmd"], model=str(tiny_bert))
    assert "<h1>bertscore and twmd</h1>" in several._repr_html_()
    e = monge.explain(*texts, metric="bertscore", model=str(tiny_bert))
    shown = e._repr_html_()
    pictures = [
        b64decode(one).decode() for one in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", shown)
    ]
    assert (
        "mg-arc" in pictures[0] and "Most was lost by matching" in shown and "<script" not in shown
    )
    assert set(re.findall(r'class="unit l(\d)"', shown)) - {"0"}


class Untrusted(HTMLParser):
    """The words that are left of a page where scripts, styles and elements other than texts are
    taken away.
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.words, self.skipped = "", 0
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.skipped += tag in ("style", "script")

    def handle_endtag(self, tag):
        self.skipped -= tag in ("style", "script")

    def handle_data(self, data):
        self.words += "" if self.skipped else data


def test_where_nobody_is_trusted_an_explanation_is_still_read(tiny_bert):
    """JupyterLab before one trusts a notebook, and GitHub, keep words of pictures and hidden tips:
    there are none.
    """
    e = monge.explain(
        "the cat sat on the mat",
        "the dog ran to the house",
        metric="bertscore",
        model=str(tiny_bert),
    )
    words = " ".join(Untrusted(e._repr_html_()).words.split())
    assert "Hypothesis the cat sat on the mat Reference the dog ran to the house orange:" in words
    assert (
        "Which word was matched with which thicker: more mass moved" in words
        and words.count("similarity") == 0
    )


def test_a_comparison_draws_intervals_and_says_what_it_found():
    rng = np.random.default_rng(1)
    base = rng.normal(0.5, 0.1, 200)
    scores = np.stack(
        [base + 0.05 + rng.normal(0, 0.01, 200), base, base + rng.normal(0, 0.05, 200)]
    )
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
    assert shown.count('circle class="plain"') == len(tied) >= 1 and shown.count(
        "<circle"
    ) == 3 + len(pairs)
    assert pairs[0].difference == pytest.approx(float((scores[0] - scores[1]).mean()))
