"""`monge.compat.sacrebleu`: a metric among those of sacrebleu."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.significance import PairedTest

import monge
from monge.compat.sacrebleu import MongeMetric


def test_a_list_of_metrics_holds_ours(pairs):
    hypotheses, references = pairs
    metrics = [BLEU(), CHRF(), MongeMetric("twmd"), MongeMetric("bleu"), MongeMetric("bertscore[weights=idf]")]
    scores = [metric.corpus_score(hypotheses, [references]) for metric in metrics]
    assert scores[3].score == pytest.approx(scores[0].score, abs=1e-9)
    assert [one.name for one in scores[2:]] == ["twmd", "bleu", "bertscore"]
    expected = monge.score(hypotheses, references, metric="twmd")
    assert scores[2].score == pytest.approx(expected.score, abs=1e-6)
    assert str(scores[2]) == f"twmd = {expected.score:.4f}"
    assert str(metrics[2].get_signature()) == str(expected.signature)
    assert metrics[2].get_signature().format(short=True).startswith("twmd")
    said = json.loads(scores[2].format(signature=str(metrics[2].get_signature()), is_json=True))
    assert said["signature"] == str(expected.signature)


def test_sentences_several_references_and_intervals(pairs):
    hypotheses, references = pairs
    metric = MongeMetric("chrf", references=[references])
    streams = [references, [None, *references[1:]]]
    assert metric.corpus_score(hypotheses, None).score == metric.corpus_score(hypotheses, streams).score
    assert metric.num_refs == -1
    sentence = metric.sentence_score(hypotheses[0], [references[0]])
    assert sentence.score == pytest.approx(CHRF().sentence_score(hypotheses[0], [references[0]]).score, abs=1e-9)
    around = metric.corpus_score(hypotheses, [references], n_bootstrap=100)
    assert "μ = " in str(around)
    assert "bs:100" in str(metric.get_signature())


def test_paired_tests_of_sacrebleu_take_it(pairs):
    hypotheses, references = pairs
    worse = [text[: len(text) // 2] for text in hypotheses]
    metric = MongeMetric("twmd")
    test = PairedTest([("all", hypotheses), ("half", worse)], {"twmd": metric}, [references], "bs", 200)
    signatures, scores = test()
    assert [round(one.score, 6) for one in scores["twmd"]] == [
        round(monge.score(texts, references, metric="twmd").score, 6) for texts in (hypotheses, worse)
    ]
    assert scores["twmd"][1].p_value < 0.05
    assert "bs:200" in str(signatures["twmd"])


def test_v8_references_the_wrong_way_round_are_refused(pairs):
    hypotheses, references = pairs
    transposed = [[one] for one in references]
    assert BLEU(effective_order=True).corpus_score([references[0], *hypotheses[1:]], transposed).score > 99
    with pytest.raises(ValueError, match=r"8 hypotheses, but references\[0\] has 1"):
        MongeMetric("twmd").corpus_score(hypotheses, transposed)


def test_errors(pairs):
    metric = MongeMetric("chrf")
    with pytest.raises(ValueError, match="evaluate the metric first"):
        metric.get_signature()
    with pytest.raises(RuntimeError, match="No references"):
        metric.corpus_score(pairs[0], None)
    with pytest.raises(TypeError):
        metric.corpus_score(pairs[0], pairs[1])
    with pytest.raises(ValueError, match="did you mean twmd"):
        MongeMetric("twdm")
    assert np.isfinite(metric.corpus_score(pairs[0], [pairs[1]]).score)
