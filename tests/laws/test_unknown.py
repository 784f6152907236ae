"""Texts that a vocabulary lacks, under every default metric: strings match themselves, and nothing
else.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from law_bench import fit_of
from law_samples import CORPUS, OWN_CORPUS, R2, A, B, R

from monge.metrics.blend import BLENDS
from monge.metrics.presets import PRESETS
from monge.scoring.run import ScoringRun
from monge.scoring.scorer import Corpora
from monge.types import Segment

UNKNOWN = {
    "zh": [
        "厨师",
        "购买",
        "发现",
        "猫咪",
        "咖啡 跑步",
        "电脑",
        "邮局 敏捷",
        "狐狸 懒狗",
        "图书馆",
        "蛋糕 冰箱 窗户",
    ],
    "ja": [
        "鍋料理",
        "雰囲気",
        "寝坊",
        "掃除機",
        "喫茶店",
        "鍋料理 雰囲気 寝坊",
        "珈琲",
        "勉強 掃除",
        "勉強",
        "眠 駅",
    ],
    "fa": ["ژاله", "ژرف", "ژاکت", "ژن"],
    "emoji": [
        "🍕🍕",
        "🎉🚀",
        "😀",
        "🐱 🏖️",
        "🍕",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "❤ ☕ ✨",
        "😀 😀 😀",
        "🎉 🍕 🚀",
    ],
}
"""Texts none of whose pieces the embedded model has."""
DEFAULTS = [name for name in (*PRESETS, *BLENDS) if "@" not in name]


def scores(bench, name, pairs):
    """Scores of pairs, higher for better, with statistics of the sample corpus."""
    metric = bench.metric(name)
    stats = fit_of(metric, CORPUS, OWN_CORPUS) if metric.fits else None
    rows = [
        Segment(str(k), hypothesis, (reference,)) for k, (hypothesis, reference) in enumerate(pairs)
    ]
    result = ScoringRun([metric], rows, corpora=Corpora(stats)).results()[0]
    return result, result.segments if result.higher_is_better else -result.segments


def test_the_texts_are_unknown(bench):
    lacking = bench.encoder.unknown
    for tokens in bench.encoder.tokenise([text for texts in UNKNOWN.values() for text in texts]):
        assert {
            piece for piece, special in zip(tokens.ids, tokens.special, strict=True) if not special
        } == {lacking}


@pytest.mark.parametrize("name", DEFAULTS)
def test_no_two_unknown_texts_score_above_the_worst_related_pair(bench, name):
    related = [*zip(R2, R, strict=True), *zip(A, R, strict=True), *zip(B, R, strict=True)]
    unrelated = [
        pair
        for texts in UNKNOWN.values()
        for pair in combinations(texts, 2)
        if not {*pair[0]} & {*pair[1]}
    ]
    floor, unrelated_scores = (
        scores(bench, name, related)[1].min(),
        scores(bench, name, unrelated)[1],
    )
    worst = unrelated[int(unrelated_scores.argmax())]
    assert unrelated_scores.max() < floor, (
        f"{worst} score {unrelated_scores.max():.4f}, a related pair {floor:.4f}"
    )


@pytest.mark.parametrize(
    "name",
    [
        metric
        for metric in DEFAULTS
        if metric not in BLENDS and "identity" not in PRESETS[metric].lacks
    ],
)
def test_an_unknown_text_is_like_itself_and_unlike_others(bench, name):
    texts = [text for unknown_texts in UNKNOWN.values() for text in unknown_texts[:4]]
    result, all_scores = scores(
        bench, name, [(hypothesis, reference) for hypothesis in texts for reference in texts]
    )
    square = all_scores.reshape(len(texts), len(texts))
    best = bench.metric(name).bounds.best
    assert np.abs(np.diag(square)) == pytest.approx(abs(best), abs=1e-6)
    assert (square <= np.diag(square) + 1e-9).all()
    assert result.run["unknown"] == result.run["pieces"] > 0
    assert set(result.flags) == {("unknown-hypothesis", "unknown-reference")}


@pytest.mark.parametrize("name", ["bertscore", "twmd", "wmd", "sbert", "moverscore"])
def test_matching_unknown_pieces_is_what_it_was(bench, name):
    """`units.unknown=match`: any two of them are one word, and score as a text with itself."""
    metric = bench.metric(name, ("units.unknown=match",))
    stats = fit_of(metric, CORPUS, OWN_CORPUS) if metric.fits else None
    rows = [Segment("1", "厨师购", ("岁发现",)), Segment("2", "🍕🍕", ("🎉🚀",))]
    result = ScoringRun([metric], rows, corpora=Corpora(stats)).results()[0]
    assert result.segments == pytest.approx(metric.bounds.best, abs=1e-5)
