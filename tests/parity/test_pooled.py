"""Corpus scores that pool counts: a sum of segment counts gives the score that sacrebleu gives
those segments.
"""

import pickle
import time
from importlib.resources import files

import numpy as np
import pytest

from monge.metrics.presets import resolve
from monge.text import lexical

from .reference import real_pairs

sacrebleu = pytest.importorskip("sacrebleu")

THEIRS = {
    "bleu": sacrebleu.BLEU(),
    "bleu[smooth=add-k,smooth_value=2]": sacrebleu.BLEU(smooth_method="add-k", smooth_value=2),
    "bleu[smooth=floor,tokenize=intl,lowercase=yes]": sacrebleu.BLEU(
        smooth_method="floor", tokenize="intl", lowercase=True
    ),
    "chrf": sacrebleu.CHRF(),
    "chrf[eps_smoothing=yes]": sacrebleu.CHRF(eps_smoothing=True),
    "chrf++": sacrebleu.CHRF(word_order=2),
    "ter": sacrebleu.TER(),
}


def example():
    texts = [
        (files("monge") / "example" / f"{name}.txt").read_text("utf-8").splitlines()
        for name in ("system-a", "reference", "reference-2")
    ]
    return texts[0], list(zip(texts[1], texts[2], strict=True))


def judged(data_dir):
    hypotheses, references = real_pairs(data_dir, 200)
    return hypotheses, [(one,) for one in references]


def agrees(metric, hypotheses, references):
    found = lexical.score(resolve(metric)[1], hypotheses, references)
    assert found.pooled is not None and len(found.pooled.statistics) == len(hypotheses)
    rng = np.random.default_rng(1)
    draws = [
        np.arange(len(hypotheses)),
        *(rng.integers(0, len(hypotheses), len(hypotheses)) for _ in range(5)),
    ]
    sums = np.stack([found.pooled.statistics[rows].sum(0) for rows in draws])
    theirs = [
        THEIRS[metric]
        .corpus_score(
            [hypotheses[k] for k in rows], list(zip(*(references[k] for k in rows), strict=True))
        )
        .score
        for rows in draws
    ]
    assert found.pooled.of(sums) == pytest.approx(np.array(theirs), abs=1e-9)
    assert found.pooled.of(sums.reshape(2, 3, -1)) == pytest.approx(
        np.array(theirs).reshape(2, 3), abs=1e-9
    )
    assert corpus(found) == pytest.approx(theirs[0], abs=1e-9)
    assert len(set(theirs)) > 3, "resamples differ"


def corpus(found):
    """The score of all segments together."""
    return (
        found.segments.mean()
        if found.pooled is None
        else found.pooled.of(found.pooled.statistics.sum(0))
    )


@pytest.mark.parametrize("metric", THEIRS)
def test_resampled_corpus_scores_of_the_example_are_sacrebleu_s(metric):
    agrees(metric, *example())


@pytest.mark.parametrize("metric", THEIRS)
def test_resampled_corpus_scores_of_judged_pairs_are_sacrebleu_s(metric, data_dir):
    agrees(metric, *judged(data_dir))


@pytest.mark.parametrize("metric", ["sentbleu", "rouge1", "meteor", "cider"])
def test_means_pool_nothing(metric):
    found = lexical.score(resolve(metric)[1], *example())
    assert found.pooled is None and corpus(found) == found.segments.mean()


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_a_thousand_resamples_take_about_a_second_and_the_formula_can_be_sent_to_another_process(
    metric,
):
    pooled = lexical.score(resolve(metric)[1], *example()).pooled
    many = np.resize(pooled.statistics, (3000, pooled.statistics.shape[1]))
    drawn = (
        np.random.default_rng(2)
        .multinomial(3000, np.full(3000, 1 / 3000), size=1000)
        .astype(np.float64)
    )
    start = time.perf_counter()
    scores = pooled.of(drawn @ many)
    assert scores.shape == (1000,) and scores.std() > 0
    assert time.perf_counter() - start < 3
    assert np.array_equal(
        pickle.loads(pickle.dumps(pooled)).of(pooled.statistics), pooled.of(pooled.statistics)
    )
