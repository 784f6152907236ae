"""`monge.compat.sacrebleu`: a metric among those of sacrebleu."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

import monge
from monge.compat import sacrebleu as ours
from monge.compat.sacrebleu import MongeMetric


def test_a_list_of_metrics_holds_ours(pairs):
    hypotheses, references = pairs
    metrics = [
        BLEU(),
        CHRF(),
        MongeMetric("twmd"),
        MongeMetric("bleu"),
        MongeMetric("bertscore[weights=idf]"),
    ]
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
    assert (
        metric.corpus_score(hypotheses, None).score
        == metric.corpus_score(hypotheses, streams).score
    )
    assert metric.num_refs == -1
    sentence = metric.sentence_score(hypotheses[0], [references[0]])
    assert sentence.score == pytest.approx(
        CHRF().sentence_score(hypotheses[0], [references[0]]).score, abs=1e-9
    )
    around = metric.corpus_score(hypotheses, [references], n_bootstrap=100)
    assert "μ = " in str(around)
    assert "bs:100" in str(metric.get_signature())


def test_paired_tests_of_sacrebleu_take_it(pairs):
    hypotheses, references = pairs
    worse = [text[: len(text) // 2] for text in hypotheses]
    metric = MongeMetric("twmd")
    test = PairedTest(
        [("all", hypotheses), ("half", worse)], {"twmd": metric}, [references], "bs", 200
    )
    signatures, scores = test()
    assert [round(one.score, 6) for one in scores["twmd"]] == [
        round(monge.score(texts, references, metric="twmd").score, 6)
        for texts in (hypotheses, worse)
    ]
    assert scores["twmd"][1].p_value < 0.05
    assert "bs:200" in str(signatures["twmd"])


def test_references_the_wrong_way_round_are_refused(pairs):
    hypotheses, references = pairs
    transposed = [[one] for one in references]
    assert (
        BLEU(effective_order=True).corpus_score([references[0], *hypotheses[1:]], transposed).score
        > 99
    )
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


@pytest.mark.parametrize("theirs", [BLEU, CHRF, TER])
def test_sacrebleus_own_metrics_keep_their_numbers(theirs, pairs):
    hypotheses, references = pairs
    mine = getattr(ours, theirs.__name__)
    streams = [references, [*references[1:], None]]
    both = [kind() for kind in (mine, theirs)]
    for texts in (
        hypotheses,
        references,
        hypotheses[::-1],
    ):  # one after another: references are counted once
        found = [str(metric.corpus_score(list(texts), streams)) for metric in both]
        assert found[0] == found[1]
    found = [metric.corpus_score(hypotheses, [references], n_bootstrap=50) for metric in both]
    assert str(found[0]) == str(found[1])
    assert str(both[0].get_signature()) == str(both[1].get_signature())
    kept = [
        kind(references=[references]).corpus_score(hypotheses, None).score
        for kind in (mine, theirs)
    ]
    assert kept[0] == kept[1]
    sentence = [
        metric.sentence_score(hypotheses[0], [references[0], references[1]]).score
        for metric in both
    ]
    assert sentence[0] == sentence[1]


def test_sacrebleus_own_metrics_refuse_what_it_cuts(pairs):
    hypotheses, references = pairs
    with pytest.raises(ValueError, match=r"8 hypotheses, but references\[0\] has 1"):
        ours.BLEU().corpus_score(hypotheses, [[one] for one in references])
    with pytest.raises(ValueError, match="7 hypotheses, but references have 8"):
        ours.TER(references=[references]).corpus_score(hypotheses[1:], None)
    for wrong in ([*hypotheses[1:], None], [*hypotheses[1:], 3]):
        with pytest.raises(TypeError):
            ours.CHRF().corpus_score(wrong, [references])
        with pytest.raises(TypeError):
            MongeMetric("chrf").corpus_score(wrong, [references])


@pytest.mark.parametrize("metric", [ours.BLEU(), ours.TER(), MongeMetric("chrf")])
def test_nothing_to_score_is_said(metric):
    with pytest.raises(ValueError, match="nothing to score"):
        metric.corpus_score([], [[]])
    with pytest.raises(ValueError, match="nothing to compare with"):
        metric.sentence_score("a text", [])
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="list of texts"):
            metric.corpus_score(["a text"], [wrong])


def test_its_import_costs_nothing_but_sacrebleus():
    """A script that scores in a tenth of a second must not wait for what it does not use."""
    program = (
        "import sys, monge.compat.sacrebleu as m; m.BLEU(); print([k for k in sys.modules "
        "if 'monge' in k])"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert "monge.api" not in said
    assert said.count("monge") <= 7
