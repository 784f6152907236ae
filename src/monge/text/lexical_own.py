"""The lexical metrics of our own: METEOR and CIDEr-D, on the tokenizers of sacrebleu."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import version

from monge.errors import DataError, ModelError
from monge.text.cider import DocumentFrequency
from monge.text.cider import cider as cider_of
from monge.text.lexical_base import (
    Options,
    References,
    Scored,
    Texts,
    at_least,
    choice,
    library,
    porter,
    reference_count,
    signature,
)
from monge.text.meteor import MeteorScorer


def _wordnet() -> Callable[[str], frozenset[str]]:
    corpus = library("nltk.corpus").wordnet
    try:
        corpus.ensure_loaded()
    except LookupError as error:
        raise ModelError("meteor: synonyms=wordnet needs nltk's wordnet data, which are not installed") from error

    def synonyms(word: str) -> frozenset[str]:
        names = (lemma.name() for synset in corpus.synsets(word) for lemma in synset.lemmas())
        return frozenset(name for name in names if "_" not in name)

    return cache(synonyms)


def _words(metric: str, options: Options) -> Callable[[str], list[str]]:
    """A sacrebleu tokenizer, lower-casing if asked."""
    scorer = library("sacrebleu.metrics.bleu").BLEU
    tokenizer = scorer(tokenize=choice(metric, options, "tokenize", list(scorer.TOKENIZERS)), force=True).tokenizer
    return lambda text: str(tokenizer(text.lower() if options["lowercase"] else text)).split()


def _own(references: References, facts: Options) -> str:
    versions = {"tok-version": version("sacrebleu"), "version": version("monge")}
    return signature("monge", {"nrefs": reference_count(references), **facts, **versions})


def meteor(hypotheses: Texts, references: References, options: Options) -> Scored:
    """METEOR, with the reference that gives the highest score."""
    at_least("meteor", options, alpha=0, beta=0, gamma=0)
    words = _words("meteor", options)
    synonyms = choice("meteor", options, "synonyms", ("none", "wordnet"))
    scorer = MeteorScorer(
        porter() if options["stem"] else str,
        _wordnet() if synonyms == "wordnet" else None,
        options["alpha"],
        options["beta"],
        options["gamma"],
        choice("meteor", options, "alignment", ("fewest-chunks", "greedy")),
    )
    found = []
    for hypothesis, some in zip(hypotheses, references, strict=True):
        ours = words(hypothesis)
        found.append(max((scorer.score(ours, words(one)) for one in some), key=lambda one: one.score))
    shown = {"tok": options["tokenize"], "case": "lc" if options["lowercase"] else "mixed"}
    stem = f"porter-nltk{version('nltk')}" if options["stem"] else "no"
    plain = {name: options[name] for name in ("alpha", "beta", "gamma", "synonyms", "alignment")}
    return Scored(
        [one.score for one in found],
        _own(references, {"multi": "max", **shown, "stem": stem, **plain}),
        parts={name: [float(getattr(one, name)) for one in found] for name in ("precision", "recall", "chunks")},
    )


def cider(hypotheses: Texts, references: References, options: Options) -> Scored:
    """CIDEr-D; idf from the given references, or from `corpus`, a list of lists of references."""
    at_least("cider", options, orders=1, sigma=1e-6)
    cut = _words("cider", options)
    drop = choice("cider", options, "punctuation", ("drop", "keep")) == "drop"

    def words(text: str) -> list[str]:
        return [one for one in cut(text) if not drop or any(character.isalnum() for character in one)]

    tokenised = [[words(one) for one in some] for some in references]
    corpus = options["corpus"]
    fitted = tokenised if corpus is None else [[words(one) for one in some] for some in corpus]
    if len(fitted) < 2:
        raise DataError(f"cider: idf from {len(fitted)} item is 0 for every word: give more segments, or a corpus")
    frequency = DocumentFrequency.of(fitted, options["orders"])
    pairs = zip(hypotheses, tokenised, strict=True)
    segments = [cider_of(words(one), some, frequency, sigma=options["sigma"]) for one, some in pairs]
    facts = {
        "multi": "mean",
        "tok": options["tokenize"],
        "case": "lc" if options["lowercase"] else "mixed",
        "punct": options["punctuation"],
        "orders": options["orders"],
        "sigma": options["sigma"],
        "idf": "references" if corpus is None else "corpus",
        "items": frequency.items,
        "idf-digest": frequency.digest[:8],
    }
    return Scored(segments, _own(references, facts))
