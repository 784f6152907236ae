"""The lexical table: values by hand, values of the wrapped libraries, empty texts, many references,
settings.
"""

import itertools
import math
import random
import sys
import time
from importlib.metadata import version

import numpy as np
import pytest

from monge.errors import (
    DataError,
    InvalidSetting,
    Misaligned,
    MissingExtra,
    ModelError,
    UnknownName,
    UsageError,
)
from monge.metrics.lexical import LEXICAL, TOKENIZERS, LexicalSpec
from monge.metrics.presets import resolve
from monge.text import lexical
from monge.text.cider import DocumentFrequency, cider
from monge.text.lexical import porter_stemmer
from monge.text.meteor import MeteorScorer, count_chunks
from monge.types import Signature

sacrebleu = pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")

HYPOTHESES = [
    "The cat sat on the mat.",
    "A dog barks loudly!",
    "nothing in common",
    "Er läuft schnell nach Hause.",
]
REFERENCES = [
    ["The cat is sitting on the mat."],
    ["The dog barked.", "A dog barks."],
    ["Zebra"],
    ["Er rennt schnell nach Hause."],
]


def score(name, hypotheses, references, **options):
    return lexical.score(LexicalSpec(name, options), hypotheses, references)


def corpus(found):
    """The score of all segments together."""
    return (
        found.segments.mean()
        if found.pooled is None
        else found.pooled.of(found.pooled.statistics.sum(0))
    )


def signed(found):
    return lexical.format_signature(found.facts, "var")


@pytest.mark.parametrize("name", LEXICAL)
def test_every_metric_keeps_its_word(name):
    found, bounds = score(name, HYPOTHESES, REFERENCES), LEXICAL[name].bounds
    low, high = bounds.low, bounds.high
    assert found.segments.shape == (4,) and found.segments.dtype == np.float64
    assert np.isfinite(found.segments).all() and math.isfinite(corpus(found))
    assert ((found.segments >= low) & (found.segments <= high)).all()
    assert all(
        values.shape == (4,) and np.isfinite(values).all() for values in found.parts.values()
    )
    better = found.segments[0] > found.segments[2]
    assert better == bounds.higher_is_better
    signature = Signature.parse(signed(found))
    assert signature["nrefs"] == "var" and signature["version"]


@pytest.mark.parametrize("name", [name for name in LEXICAL if name != "nist"])  # it has no best
def test_a_perfect_hypothesis_is_best(name):
    texts = ["The quick brown fox jumps over it.", "Eine ganz andere Sache steht hier heute."]
    best = 1 - 0.5 / 8**3 if name == "meteor" else LEXICAL[name].bounds.best
    assert score(name, texts, [[one] for one in texts]).segments == pytest.approx([best, best])
    if name not in ("cider", "tfidf-1", "tfidf-2"):  # which take the mean over references
        assert score(name, texts, [["else", one] for one in texts]).segments == pytest.approx(
            [best, best]
        )


@pytest.mark.parametrize("name", LEXICAL)
def test_empty_texts_have_defined_scores(name):
    bounds = LEXICAL[name].bounds
    found = score(
        name,
        ["", " ", "word", "", "word here"],
        [[""], ["text"], [" "], ["text", ""], ["word here", ""]],
    )
    assert found.segments[:4].tolist() == [bounds.best, bounds.worst, bounds.worst, bounds.best]
    assert np.isfinite(found.segments).all() and math.isfinite(corpus(found))
    assert math.isfinite(corpus(score(name, ["", ""], [[""], [""]])))
    assert math.isfinite(corpus(score(name, ["", ""], [["a"], ["b"]])))


@pytest.mark.parametrize(
    "name", [name for name in LEXICAL if "neighbours" not in LEXICAL[name].lacks]
)
def test_a_segment_does_not_depend_on_the_others(name):
    together = score(name, HYPOTHESES, REFERENCES).segments
    alone = [score(name, [h], [r]).segments[0] for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
    assert together.tolist() == alone


def test_sacrebleu_values_are_its_own():
    streams = [
        [some[0] for some in REFERENCES],
        [some[1] if len(some) > 1 else None for some in REFERENCES],
    ]
    bleu, chrf, ter = sacrebleu.BLEU(), sacrebleu.CHRF(), sacrebleu.TER()
    for name, theirs in (
        ("bleu", bleu),
        ("chrf", chrf),
        ("chrf++", sacrebleu.CHRF(word_order=2)),
        ("ter", ter),
    ):
        found = score(name, HYPOTHESES, REFERENCES)
        assert corpus(found) == theirs.corpus_score(HYPOTHESES, streams).score
        single = sacrebleu.BLEU(effective_order=True) if name == "bleu" else theirs
        pairs = zip(HYPOTHESES, REFERENCES, strict=True)
        assert found.segments.tolist() == [single.sentence_score(h, r).score for h, r in pairs]
        said = Signature.parse(signed(found))
        computed_by = (
            ("monge", version("monge")) if name == "ter" else ("sacrebleu", sacrebleu.__version__)
        )
        assert (said["lib"], said["version"]) == computed_by
        assert name != "ter" or said["tok-version"] == sacrebleu.__version__
    sentences = score("sentbleu", HYPOTHESES, REFERENCES)
    assert corpus(sentences) == pytest.approx(score("bleu", HYPOTHESES, REFERENCES).segments.mean())
    assert "eff:yes" in signed(sentences)
    assert "eff:no" in signed(score("bleu", HYPOTHESES, REFERENCES))


def test_chrf_leaves_spaces_out_unless_asked():
    pair = ["a bc d"], [["ab cd"]]
    assert score("chrf", *pair).segments[0] == pytest.approx(100)
    spaced = score("chrf", *pair, whitespace=True)
    assert spaced.segments[0] < 90 and "space:yes" in signed(spaced)


def test_chrf_can_leave_out_plain_spaces_only():
    pair = ["a b\u00a0c d e f g h"], [["a b c d e f g h"]]
    assert score("chrf", *pair).segments[0] == pytest.approx(100), (
        "sacrebleu takes out all white space"
    )
    found = score("chrf", *pair, remove="spaces")
    assert found.segments[0] == pytest.approx(
        sacrebleu.CHRF().sentence_score("abxcdefgh", ["abcdefgh"]).score
    )
    assert "removed:U+0020" in signed(found)
    assert score("chrf", ["a b c d"], [["ab cd"]], remove="spaces").segments[0] == pytest.approx(
        100
    )
    for wrong in ({"word_order": 2}, {"whitespace": True}):
        with pytest.raises(InvalidSetting, match="remove=spaces leaves no words"):
            score("chrf", *pair, remove="spaces", **wrong)


def test_rouge_by_hand():
    """hypothesis: the cat sat (3 words), reference: the cat is here (4 words)."""
    pair = ["the cat sat"], [["zzz", "the cat is here"]]
    one = score("rouge1", *pair)
    assert one.parts["precision"][0] == pytest.approx(2 / 3) and one.parts["recall"][
        0
    ] == pytest.approx(2 / 4)
    assert one.segments[0] == pytest.approx(4 / 7)
    assert score("rouge2", *pair).segments[0] == pytest.approx(2 * (1 / 2) * (1 / 3) / (5 / 6))
    assert score("rougeL", *pair).segments[0] == pytest.approx(4 / 7)


def test_rouge_in_other_scripts():
    pair = ["Привет мир"], [["Привет друг"]]
    assert score("rouge1", *pair).segments[0] == 0
    found = score("rouge1", *pair, tokenize="unicode")
    assert found.segments[0] == pytest.approx(0.5) and "tok:unicode" in signed(found)
    plain = ["Some cats were running."], [["A cat runs, some say."]]
    for stem in (False, True):
        kinds = [
            score("rouge1", *plain, tokenize=t, stem=stem).segments
            for t in ("rouge-score", "unicode")
        ]
        assert kinds[0] == kinds[1]


def meteor(hypothesis, reference, **options):
    return score("meteor", [hypothesis], [[reference]], **options)


def test_meteor_by_hand():
    same = "the cat sat on the mat"
    assert meteor(same, same).segments[0] == pytest.approx(1 - 0.5 / 6**3)
    turned = meteor("on the mat sat the cat", same)
    assert turned.parts["chunks"][0] == 3 and turned.segments[0] == pytest.approx(
        1 - 0.5 * (3 / 6) ** 3
    )
    half = meteor("the dogs", "the cat")
    assert half.segments[0] == pytest.approx(0.5 * (1 - 0.5))
    short = meteor("cat", "the cat sat on")
    assert short.segments[0] == pytest.approx(0.25 / (0.9 + 0.1 * 0.25) * 0.5)
    assert meteor("cats", "cat").segments[0] == pytest.approx(0.5)
    assert meteor("cats", "cat", stem=False).segments[0] == 0
    assert meteor("Cat", "cat", lowercase=False, stem=False).segments[0] == 0


def brute(hypothesis, reference, stem):
    """(exact matches, matches, -chunks) of the best alignment, by trying all."""
    options = [
        [None, *(j for j, r in enumerate(reference) if stem(r) == stem(h))] for h in hypothesis
    ]
    ranks = []
    for picks in itertools.product(*options):
        used = [j for j in picks if j is not None]
        if len(used) == len(set(used)):
            matches = [(i, j) for i, j in enumerate(picks) if j is not None]
            exact = sum(hypothesis[i] == reference[j] for i, j in matches)
            ranks.append((exact, len(matches), -count_chunks(matches)))
    return max(ranks)


def test_meteor_finds_the_fewest_chunks():
    draw, stem = random.Random(0), porter_stemmer()
    words = ["run", "runs", "running", "cat", "cats", "the"]
    scorer = MeteorScorer(stem)
    for _ in range(150):
        hypothesis = [draw.choice(words) for _ in range(draw.randint(1, 6))]
        reference = [draw.choice(words) for _ in range(draw.randint(1, 6))]
        matches = scorer.align(hypothesis, reference)
        exact = sum(hypothesis[i] == reference[j] for i, j in matches)
        assert (exact, len(matches), -count_chunks(matches)) == brute(hypothesis, reference, stem)


def test_meteor_of_long_repetitive_texts_is_quick():
    scorer, start = MeteorScorer(str), time.perf_counter()
    found = scorer.score(["a", "b"] * 100, ["b", "a", "c"] * 75)
    assert found.matches == 150
    assert time.perf_counter() - start < 10


def test_meteor_synonyms():
    same = {"car": frozenset({"automobile"})}
    scorer = MeteorScorer(str, lambda word: same.get(word, frozenset()))
    assert scorer.align(["a", "car"], ["an", "automobile"]) == [(1, 1)]
    assert MeteorScorer(str).align(["a", "car"], ["an", "automobile"]) == []
    assert "synonyms:none" in signed(meteor("a", "b"))


def test_meteor_says_when_wordnet_is_not_there(monkeypatch):
    corpus = pytest.importorskip("nltk.corpus")

    class Absent:
        def ensure_loaded(self):
            raise LookupError("many\nlines")

    monkeypatch.setattr(corpus, "wordnet", Absent())
    with pytest.raises(ModelError, match="wordnet data, which are not installed"):
        meteor("a", "b", synonyms="wordnet")


def test_cider_by_hand():
    """Two items: every reference has a (idf 0); b, c and the bigrams are in one item each (idf ln
    2).
    """
    frequency = DocumentFrequency.of([[["a", "b"]], [["a", "c"]]], 2)
    assert frequency.idf(("a",)) == 0
    assert frequency.idf(("b",)) == frequency.idf(("unseen",)) == pytest.approx(math.log(2))
    assert cider(["a", "b"], [["a", "b"]], frequency, sigma=6) == pytest.approx(10)
    # unigram b: min(2, 1) * 1 / (2 * 1) = .5; no common bigram
    assert cider(["b", "b"], [["a", "b"]], frequency, sigma=6) == pytest.approx(10 * 0.5 / 2)
    # lengths in bigrams: 0 and 1
    assert cider(["b"], [["a", "b"]], frequency, sigma=6) == pytest.approx(
        10 * 0.5 * math.exp(-1 / 72)
    )
    # the mean over references
    assert cider(["a", "b"], [["a", "b"], ["a", "c"]], frequency, sigma=6) == pytest.approx(5)
    assert cider([], [["a", "b"]], frequency, sigma=6) == 0


def test_cider_through_the_table():
    found = score("cider", ["B b!", "a c"], [["a b"], ["a c"]], orders=2)
    assert found.segments == pytest.approx([2.5, 10])
    assert corpus(found) == pytest.approx(6.25)
    assert "idf:references|items:2" in signed(found)
    with pytest.raises(DataError, match="idf from 1 segment"):
        score("cider", ["a"], [["a"]])


@pytest.mark.parametrize(
    ("metric", "error", "message"),
    [
        ("ter[temperature=1]", UnknownName, "unknown ter option 'temperature'"),
        ("bleu[lowercase=7]", InvalidSetting, "lowercase takes yes or no, got '7'"),
        (
            "bleu[tokenize=klingon]",
            InvalidSetting,
            "tokenize takes one of none, zh, 13a.*, got 'klingon'",
        ),
        (
            "bleu[smooth=much]",
            InvalidSetting,
            "smooth takes one of none, floor, add-k, exp, got 'much'",
        ),
        (
            "chrf[char_order=0]",
            InvalidSetting,
            "char_order takes a whole number of at least 1, got '0'",
        ),
        ("chrf[beta=yes]", InvalidSetting, "beta takes a whole number of at least 1, got 'yes'"),
        ("rouge1[tokenize=x]", InvalidSetting, "one of rouge-score, unicode, got 'x'"),
        ("meteor[alignment=best]", InvalidSetting, "one of fewest-chunks, greedy, got 'best'"),
        ("meteor[alpha=-1]", InvalidSetting, "alpha takes a finite number of at least 0, got '-1'"),
        ("cider[sigma=0]", InvalidSetting, "sigma takes a positive finite number, got '0'"),
        ("cider[punctuation=some]", InvalidSetting, "one of drop, keep, got 'some'"),
    ],
)
def test_settings_that_do_not_exist_are_refused_before_scoring(metric, error, message):
    with pytest.raises(error, match=message):
        resolve(metric)


def test_options_do_not_change_the_table():
    changed = LexicalSpec("meteor").changed(["alpha=1"])
    assert changed.options["alpha"] == 1 and LexicalSpec("meteor").options["alpha"] == 0.9
    with pytest.raises(TypeError):
        changed.options["alpha"] = 2
    with pytest.raises(UnknownName, match=r"unknown meteor option 'alfa'.*alpha"):
        LexicalSpec("meteor", {"alfa": 1})


@pytest.mark.parametrize("name", LEXICAL)
def test_written_options_read_back(name):
    spec = LexicalSpec(name)
    assert spec.changed(f"{option}={text}" for option, text in spec.written().items()) == spec


def test_the_tokenizers_are_those_of_sacrebleu():
    assert TOKENIZERS.accepts == "one of " + ", ".join(sacrebleu.BLEU.TOKENIZERS)


@pytest.mark.parametrize("name", ["none", "zh", "13a", "intl", "char"])
def test_bleu_cuts_words_as_asked(name):
    texts = (
        ["猫坐在垫子上。", "Die Katze (grau) saß."],
        [["那只猫坐在垫子上。"], ["Die Katze (grau) sitzt."]],
    )
    theirs = (
        sacrebleu.BLEU(tokenize=name).corpus_score(texts[0], [[one[0] for one in texts[1]]]).score
    )
    found = score("bleu", *texts, tokenize=name)
    assert corpus(found) == theirs and f"|tok:{name}|" in signed(found)


def test_a_tokenizer_whose_package_is_missing_is_a_clear_error(monkeypatch):
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_ja_mecab")
    monkeypatch.setattr(module, "MeCab", None)
    with pytest.raises(
        InvalidSetting, match="bleu: tokenize=ja-mecab cannot be used here: Japanese tokenization"
    ):
        score("bleu", ["a"], [["a"]], tokenize="ja-mecab")


def test_inputs_that_do_not_fit():
    with pytest.raises(Misaligned, match="2 hypotheses but 1 lists"):
        score("chrf", ["a", "b"], [["a"]])
    with pytest.raises(UsageError, match="no hypotheses"):
        score("chrf", [], [])
    with pytest.raises(UsageError, match="must be lists"):
        score("chrf", "a", ["a"])
    with pytest.raises(UsageError, match="segment 2: references must be a list"):
        score("chrf", ["a", "b"], [["a"], "b"])
    with pytest.raises(UsageError, match="segment 1: references must be a list with at least one"):
        score("chrf", ["a"], [[]])


@pytest.mark.parametrize(
    ("name", "module"), [("bleu", "sacrebleu.metrics.bleu"), ("rougeL", "rouge_score.rouge_scorer")]
)
def test_without_the_extra(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"monge\[lexical\]"):
        score(name, ["a"], [["a"]])
