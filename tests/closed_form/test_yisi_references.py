"""YiSi-1 with several references, against the authors' description written out here."""

import numpy as np
import pytest
import torch
from toy import scored_window

from monge.errors import InvalidSetting
from monge.metrics.presets import resolve
from monge.metrics.rules import check


def one_sided(x, y, n):
    """The mean over n-grams of one side of the best place-by-place similarity; uniform token
    weights.
    """
    n = min(n, len(x), len(y))
    similarity = np.maximum(x @ y.T, 0)
    best = [
        max(np.mean([similarity[i + k, j + k] for k in range(n)]) for j in range(len(y) - n + 1))
        for i in range(len(x) - n + 1)
    ]
    return float(np.mean(best))


def authors(hypothesis, references, n=3, alpha=0.8):
    """P and R each from its best reference; score = P R / (alpha P + (1 - alpha) R)."""
    precision = max(one_sided(hypothesis, reference, n) for reference in references)
    recall = max(one_sided(reference, hypothesis, n) for reference in references)
    return precision, recall, precision * recall / (alpha * precision + (1 - alpha) * recall)


def unit(random, count):
    vectors = random.normal(size=(count, 4))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(8))
def test_f_is_made_of_the_best_precision_and_the_best_recall(seed):
    random = np.random.default_rng(seed)
    hypothesis = unit(random, 6)
    short, long = hypothesis[1:4], np.vstack([hypothesis, unit(random, 5)])
    references = [short, long, unit(random, 5)]
    (score,) = scored_window("yisi-1@release", "weights=uniform", rows=[(hypothesis, references)])
    precision, recall, value = authors(hypothesis, references)
    assert score.parts["precision"] == pytest.approx(precision, abs=1e-6)
    assert score.parts["recall"] == pytest.approx(recall, abs=1e-6)
    assert score.parts["score"] == pytest.approx(value, abs=1e-6)
    assert score.parts["f"] == score.parts["score"]
    best_alone = max(authors(hypothesis, [reference])[2] for reference in references)
    assert value > best_alone + 1e-3  # what was given out before


def test_one_reference_is_as_before():
    random = np.random.default_rng(9)
    rows = [(unit(random, 6), [unit(random, 7)]), (unit(random, 2), [unit(random, 5)])]
    sides, by_best = (
        scored_window("yisi-1@release", "weights=uniform", f"references={rule}", rows=rows)
        for rule in ("max-sides", "max")
    )
    for side_scores, best_scores in zip(sides, by_best, strict=True):
        assert side_scores.parts == best_scores.parts


def test_sides_need_precision_and_recall():
    with pytest.raises(
        InvalidSetting, match=r"references=max-sides .* it needs readout=prf, not self-normalised"
    ):
        check(resolve("twmd", ("references=max-sides",))[1])


def test_what_is_learned_is_what_is_scored(tiny_bert):
    """Tuning sees the same score as scoring, and its gradient reaches both references."""
    import monge
    from monge.scoring.measure import measure
    from monge.scoring.windows import Window
    from monge.tuning.learner import LiveEncoding
    from monge.types import CorpusStats, Segment

    references = ["the cat", "the cat sat on the mat in the house and ran"]
    metric = monge.load("yisi-1@release[weights=uniform]", model=str(tiny_bert)).by_transport(
        "tune"
    )
    window = Window(
        [Segment("1", "the cat sat on", tuple(references))],
        LiveEncoding(metric.reader.encoder, metric.request),
    )
    learned = measure(window, metric, {"": CorpusStats(metric.reader.key)}).parts["score"]
    scored_now = monge.score(
        ["the cat sat on"],
        [references],
        metric="yisi-1@release[weights=uniform]",
        model=str(tiny_bert),
    ).segments
    assert isinstance(learned, torch.Tensor)
    assert float(learned[0]) == pytest.approx(scored_now[0], abs=1e-6)
