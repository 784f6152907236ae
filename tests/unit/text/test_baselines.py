"""The baselines of the papers' tables: BLEU-n and NIST against nltk, ROUGE-W and ROUGE-SU against
the worked examples of Lin (2004), TF*IDF and the rest by hand.
"""

from math import exp, log, log2, sqrt

import numpy as np
import pytest

import monge
from monge.errors import DataError, InvalidSetting
from monge.metrics.lexical import LexicalSpec
from monge.metrics.presets import resolve
from monge.text import lexical
from monge.text.rouge import rouge_su, rouge_w, weighted_lcs

pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")

HYPOTHESES = ["the cat sat on the mat today", "a dog barks at the cat", "it is a small red house"]
REFERENCES = ["the cat is sitting on the mat", "a dog barks at a cat", "it was a small house"]


def score(name, hypotheses, references, **options):
    return lexical.score(LexicalSpec(name, options), hypotheses, references)


def corpus(scored):
    return float(scored.pooled.of(scored.pooled.statistics.sum(0)))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_bleu_of_an_order_is_that_of_nltk(order):
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    theirs = bleu_score.corpus_bleu(
        [[text.split()] for text in REFERENCES],
        [text.split() for text in HYPOTHESES],
        weights=(1 / order,) * order,
    )
    references = [[text] for text in REFERENCES]
    for name, options in ((f"bleu-{order}", {}), ("bleu", {"order": order})):
        ours = score(name, HYPOTHESES, references, smooth="none", **options)
        assert corpus(ours) == pytest.approx(100 * theirs, abs=1e-9)
    assert len({corpus(score("bleu", HYPOTHESES, references, order=k)) for k in (1, 2, 3)}) == 3


def test_bleu_1_by_hand():
    """Two of three words match; the hypothesis is a word shorter: 2/3 exp(1 - 4/3)."""
    scored = score("bleu-1", ["a b x"], [["a b c d"]])
    assert scored.segments[0] == pytest.approx(100 * 2 / 3 * exp(1 - 4 / 3), abs=1e-9)


@pytest.mark.parametrize("order", [1, 3, 5])
def test_nist_is_that_of_nltk_with_one_reference(order):
    nist_score = pytest.importorskip("nltk.translate.nist_score")
    theirs = nist_score.corpus_nist(
        [[text.split()] for text in REFERENCES], [text.split() for text in HYPOTHESES], order
    )
    ours = score("nist", HYPOTHESES, [[text] for text in REFERENCES], order=order)
    assert corpus(ours) == pytest.approx(theirs, abs=1e-9)
    assert corpus(ours) > 0.5


def test_nist_by_hand_with_two_references():
    """References "a b" and "a c d", the hypothesis "a b": 5 words, of which a stands twice.

    info(a) = log2(5/2), info(b) = log2(5/1), info(a b) = log2(2/1). The mean length is 2.5, so the
    penalty is that of the ratio 2/2.5.
    """
    scored = score("nist", ["a b"], [["a b", "a c d"]], order=2)
    precision = (log2(5 / 2) + log2(5)) / 2 + log2(2)
    penalty = exp(log(0.5) / log(1.5) ** 2 * log(0.8) ** 2)
    assert scored.segments[0] == pytest.approx(precision * penalty, abs=1e-12)
    half = score("nist", ["a b"], [["a b c"]], order=1).segments[0]
    assert half == pytest.approx(0.5 * log2(3), abs=1e-12)  # 2/3 of the length: half the score


def test_nist_of_a_corpus_sums_counts_over_segments():
    scored = score("nist", HYPOTHESES, [[text] for text in REFERENCES])
    assert corpus(scored) != pytest.approx(scored.segments.mean(), abs=1e-3)
    assert corpus(scored) == pytest.approx(
        monge.score(HYPOTHESES, REFERENCES, metric="nist").score, abs=1e-12
    )


def test_weighted_subsequence_is_that_of_the_paper():
    """Lin (2004), section 4: A B C D E F G against two candidates, f(k) = k^2."""
    reference = list("ABCDEFG")
    for candidate, value in (("ABCDHIK", 4 / 7), ("AHBKCID", 2 / 7)):
        scored = rouge_w(list(candidate), reference, 2.0)
        assert (scored.precision, scored.recall, scored.f1) == pytest.approx((value,) * 3)
    assert round(4 / 7, 3) == 0.571 and round(2 / 7, 3) == 0.286  # as printed there
    assert weighted_lcs(list("AB"), list("AXB"), 1.2) == pytest.approx(2.0)
    assert weighted_lcs(list("AB"), list("ABX"), 1.2) == pytest.approx(2**1.2)


def test_rouge_w_of_weight_1_is_rouge_l():
    references = [[text] for text in REFERENCES]
    ours = score("rougeW", HYPOTHESES, references, weight=1.0)
    theirs = score("rougeL", HYPOTHESES, references)
    assert ours.segments == pytest.approx(theirs.segments, abs=1e-12)
    assert ours.parts["recall"] == pytest.approx(theirs.parts["recall"], abs=1e-12)
    assert (score("rougeW", HYPOTHESES, references).segments < theirs.segments).any()


POLICE = "police killed the gunman"


@pytest.mark.parametrize(
    ("candidate", "value"),
    [
        ("police kill the gunman", 3 / 6),
        ("the gunman kill police", 1 / 6),
        ("the gunman police killed", 2 / 6),
        ("gunman the killed police", 0),
    ],
)
def test_skip_bigrams_are_those_of_the_paper(candidate, value):
    """Lin (2004), section 5: ROUGE-S without a limit on the gap."""
    scored = rouge_su(candidate.split(), POLICE.split(), skip=10, unigrams=False)
    assert scored.f1 == pytest.approx(value)


def test_rouge_su_by_hand():
    """The reversed sentence has no pair, but four words: 4 of 6 + 4."""
    scored = score("rougeSU4", ["gunman the killed police"], [[POLICE]])
    assert scored.segments[0] == pytest.approx(4 / 10)
    far = score("rougeSU4", ["a x x x x x b"], [["a b"]], unigrams=False)
    assert far.segments[0] == 0  # five words between
    near = score("rougeSU4", ["a x x x x b"], [["a b"]], unigrams=False)
    assert near.parts["recall"][0] == 1
    words_alone = score("rouge2", HYPOTHESES, [[text] for text in REFERENCES])
    pairs = score("rougeSU4", HYPOTHESES, [[text] for text in REFERENCES], skip=0, unigrams=False)
    assert pairs.segments == pytest.approx(words_alone.segments, abs=1e-12)


def test_several_references_take_the_best():
    for name in ("rougeSU4", "rougeW"):
        both = score(name, ["a b c"], [["x y", "a b c"]])
        assert both.segments[0] == pytest.approx(1)
        assert both.parts["precision"][0] == pytest.approx(1)


def test_tfidf_by_hand():
    """Three segments: a is in two references, the other words in one each."""
    references = [["a b"], ["a c"], ["d e"]]
    common, rare = log(3 / 2), log(3)
    scored = score("tfidf-1", ["b b", "a d", "x y"], references)
    length = sqrt(common**2 + rare**2)
    first = 2 * rare * rare / (2 * rare * length)
    second = common * common / (length * length)
    assert scored.segments == pytest.approx([first, second, 0], abs=1e-12)
    pairs = score("tfidf-2", ["a b", "a c b", "d"], references)
    assert pairs.segments == pytest.approx([1, 1 / sqrt(2), 0], abs=1e-12)
    two = score("tfidf-1", ["b", "c"], [["b", "q"], ["c"]])
    assert two.segments == pytest.approx([0.5, 1])  # the mean over references


class StandInWordnet:
    """A thesaurus with the calls of nltk, which looks up stems: its words are their own stems."""

    SETS = (("big", "great"), ("car", "cab"), ("quick", "fast", "rapid"))

    def synsets(self, word):
        class Lemma:
            def __init__(self, name):
                self.name = lambda: name

        class Synset:
            def __init__(self, names):
                self.lemmas = lambda: [Lemma(name) for name in names]

        return [Synset(names) for names in self.SETS if word in names]

    def ensure_loaded(self):
        """There is nothing to load."""

    def fileids(self):
        return []

    def get_version(self):
        return "stand-in"


def test_meteor_with_synonyms_is_that_of_nltk(monkeypatch):
    theirs = pytest.importorskip("nltk.translate.meteor_score")
    corpus = pytest.importorskip("nltk.corpus")
    monkeypatch.setattr(corpus, "wordnet", StandInWordnet())
    lexical._wordnet_version.cache_clear()
    pairs = [
        ("a big car drives", "a great cab drives"),
        ("the quick fox ran", "the fast fox runs"),
        ("great cars are rapid", "a car that is quick and big"),
    ]
    hypotheses, references = [h for h, _ in pairs], [[r] for _, r in pairs]
    ours = score("meteor", hypotheses, references, synonyms="wordnet", alignment="greedy")
    expected = [
        theirs.single_meteor_score(r.split(), h.split(), wordnet=StandInWordnet()) for h, r in pairs
    ]
    assert ours.segments == pytest.approx(expected, abs=1e-12)
    assert (ours.segments > score("meteor", hypotheses, references).segments).any()
    assert "wordnet-stand-in" in str(ours.facts["synonyms"])
    lexical._wordnet_version.cache_clear()


def test_idf_of_one_segment_is_refused():
    with pytest.raises(DataError, match="tfidf-1: idf from 1 segment is 0"):
        score("tfidf-1", ["a"], [["a"]])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bleu[order=0]", "order takes a whole number from 1 to 20, got '0'"),
        ("nist[order=21]", "order takes a whole number from 1 to 20, got '21'"),
        ("rougeW[weight=0]", "weight takes a number from 1 to 10, got '0'"),
        ("rougeSU4[skip=-1]", "skip takes a whole number of at least 0, got '-1'"),
    ],
)
def test_wrong_options_are_refused_in_one_line(name, says):
    with pytest.raises(InvalidSetting, match=says.replace("(", r"\(")):
        resolve(name)


def test_options_are_in_the_signature():
    for name in ("bleu-2", "nist", "rougeSU4", "rougeW", "tfidf-2"):
        result = monge.score(HYPOTHESES, REFERENCES, metric=name)
        option = {"rougeSU4": "skip=4", "rougeW": "weight=1.2", "nist": "order=5"}.get(
            name, "order=2"
        )
        assert option in str(result.signature), name
        assert np.isfinite(result.segments).all()
