"""Metrics that compare words and characters: the scorers behind the table `LEXICAL`.

    bleu sentbleu chrf chrf++        sacrebleu                 0..100
    ter                              sacrebleu, `text.ter`     0..
    bleu-1 .. bleu-4                 sacrebleu                 0..100
    nist                             `text.nist`               0..
    rouge1 rouge2 rougeL             rouge-score               0..1
    rougeSU4 rougeW                  `text.rouge`              0..1
    tfidf-1 tfidf-2                  `text.tfidf`              0..1
    meteor                           `text.meteor`             0..1
    cider                            `text.cider` (CIDEr-D)    0..10

Scales and corpus scores are those that people quote: corpus BLEU, NIST, chrF and TER pool counts
over segments, the others are means of segments. Segments of `bleu` are sentence BLEU with the same
smoothing and effective order. An empty hypothesis with an empty reference gets the metric's best
score, an empty one against text its worst, as declared in the table; corpus scores that pool counts
stay the library's own. Libraries (extra `lexical`) are imported late.
"""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np

from monge.errors import DataError, InvalidSetting, Misaligned, MissingExtra, ModelError, UsageError
from monge.metrics.lexical import LexicalSpec
from monge.text.cider import DocumentFrequency
from monge.text.cider import cider as cider_of
from monge.text.meteor import MeteorScorer
from monge.text.nist import Information, nist_of_sums, nist_statistics
from monge.text.rouge import Rouge, rouge_su, rouge_w
from monge.text.ter import segment_statistics as ter_counts
from monge.text.tfidf import tfidf_cosine
from monge.types import Array, Pooled
from monge.types.text import is_blank

Texts = Sequence[str]
References = Sequence[Sequence[str]]


@dataclass(frozen=True)
class LexicalScores:
    """Segment scores [n] in input order, facts for the signature, and further values per segment.

    `pooled` is None where the corpus score is the mean of the segments.
    """

    segments: Array
    facts: Mapping[str, object]
    parts: Mapping[str, Array] = field(default_factory=dict)
    pooled: Pooled | None = None


def score(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Score each hypothesis against its list of references."""
    _check_texts(hypotheses, references)
    scored = _SCORERS[spec.preset.scorer](spec, hypotheses, references)
    empty = np.array([is_blank(text) for text in hypotheses], dtype=bool)
    blank = np.array([sum(map(is_blank, texts)) for texts in references])
    reference_counts = np.array([len(texts) for texts in references])
    best, worst = spec.bounds.best, spec.bounds.worst
    assert worst is not None  # in every row of the table
    both_empty = empty & (blank > 0)
    mismatch = (empty & (blank == 0)) | (~empty & (blank == reference_counts))
    segments = np.where(mismatch, worst, np.where(both_empty, best, scored.segments)).astype(
        np.float64
    )
    shares = {name: np.where(mismatch, 0.0, np.where(both_empty, 1.0, scored.parts[name]))
              for name in ("precision", "recall") if name in scored.parts}  # fmt: skip
    return replace(scored, segments=segments, parts={**scored.parts, **shares})


def _check_texts(hypotheses: Texts, references: References) -> None:
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise UsageError("hypotheses and references must be lists, got a string")
    if not hypotheses:
        raise UsageError("there is nothing to score: no hypotheses")
    if len(hypotheses) != len(references):
        raise Misaligned(f"{len(hypotheses)} hypotheses but {len(references)} lists of references")
    for number, texts in enumerate(references, start=1):
        if isinstance(texts, str) or not texts:
            raise UsageError(
                f"segment {number}: references must be a list with at least one text, got {texts!r}"
            )


def import_library(name: str) -> Any:
    """Import a module of the extra `lexical`, or raise where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("a lexical metric", "lexical") from error


def porter_stemmer() -> Callable[[str], str]:
    """Return nltk's Porter stemmer, which rouge-score needs too, with a cache."""
    stemmer = import_library("nltk.stem.porter").PorterStemmer()
    return cache(lambda word: str(stemmer.stem(word)))


def format_signature(facts: Mapping[str, object], references: str) -> str:
    """Join `key:value` pairs with `|` as sacrebleu does: library, references, settings."""
    first, *rest = facts.items()
    pairs = dict([first, ("nrefs", references), *rest])
    yes_no = {True: "yes", False: "no"}
    return "|".join(
        f"{key}:{yes_no[value] if isinstance(value, bool) else value}"
        for key, value in pairs.items()
    )


# BLEU, chrF, TER: sacrebleu's counts of each segment, kept once; every score is a formula of summed
# counts.


def _bleu_scorer(spec: LexicalSpec, *, effective_order: bool) -> Any:
    options = spec.options
    module = import_library("sacrebleu.metrics.bleu")
    try:
        return module.BLEU(
            lowercase=options["lowercase"],
            tokenize=options["tokenize"],
            smooth_method=options.get("smooth", "exp"),
            smooth_value=options.get("smooth_value"),
            max_ngram_order=options.get("order", 4),
            effective_order=effective_order,
            force=True,
        )
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidSetting(
            f"{spec.name}: tokenize={options['tokenize']} cannot be used here: {reason}"
        ) from None


def bleu(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute corpus BLEU, with sentence BLEU for the segments."""
    scorer = _bleu_scorer(spec, effective_order=False)
    sentence_scorer = _bleu_scorer(spec, effective_order=True)
    scored = _score_pooled(scorer, hypotheses, references, {"segments": "sentence-bleu-eff-yes"})
    assert scored.pooled is not None
    return replace(scored, segments=_score_sums(sentence_scorer, scored.pooled.statistics))


def sentence_bleu(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute sentence BLEU; the corpus score is the mean of the segments."""
    scorer = _bleu_scorer(spec, effective_order=True)
    return replace(
        _score_pooled(scorer, hypotheses, references, {"corpus": "mean-of-segments"}), pooled=None
    )


def chrf(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute chrF and, with word n-grams, chrF++; white space does not count unless `whitespace`.

    `remove` says what is taken out: all white space, as sacrebleu does, or spaces (U+0020) alone,
    which leaves the no-break spaces that some systems write.
    """
    settings = dict(spec.options)
    extra = {"beta": settings["beta"]}
    if settings.pop("remove") == "spaces":
        if settings["whitespace"] or settings["word_order"]:
            raise InvalidSetting(
                f"{spec.name}: remove=spaces leaves no words and no spaces to count: set "
                "word_order=0, whitespace=no"
            )
        settings["whitespace"], extra["removed"] = True, "U+0020"
        hypotheses = [text.replace(" ", "") for text in hypotheses]
        references = [[text.replace(" ", "") for text in texts] for texts in references]
    return _score_pooled(
        import_library("sacrebleu.metrics.chrf").CHRF(**settings), hypotheses, references, extra
    )


def ter(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute the translation edit rate: edits per 100 reference words, lower is better."""
    scorer = import_library("sacrebleu.metrics.ter").TER(**spec.options)
    scorer._compute_segment_statistics = _count_edits
    scored = _score_pooled(scorer, hypotheses, references, {})
    own = {"lib": "monge", "tok-version": version("sacrebleu"), "version": version("monge")}
    return replace(scored, facts={**scored.facts, **own})


def _count_edits(text: str, references: Mapping[str, Any]) -> Any:
    """Return the TER statistics of a text for sacrebleu; a function that can be pickled."""
    return ter_counts(text, references["ref_words"])


def _score_pooled(
    scorer: Any, hypotheses: Texts, references: References, extra: Mapping[str, object]
) -> LexicalScores:
    """Score each segment with sacrebleu and keep its counts, which the corpus score pools.

    Sacrebleu takes one stream per reference, with None where a segment has fewer references.
    """
    most = max(map(len, references))
    streams = [[texts[k] if k < len(texts) else None for texts in references] for k in range(most)]
    statistics = np.array(
        scorer._extract_corpus_statistics(list(hypotheses), streams), dtype=np.float64
    )
    of = partial(_score_sums, scorer)
    facts = dict(pair.split(":", 1) for pair in str(scorer.get_signature()).split("|"))
    facts.pop("nrefs")
    return LexicalScores(
        of(statistics), {"lib": "sacrebleu", **facts, **extra}, {}, Pooled(statistics, of)
    )


def _score_sums(scorer: Any, sums: Array) -> Array:
    """Compute sacrebleu's scores of summed counts [..., k] -> [...], 10 microseconds each."""
    rows = sums.reshape(-1, sums.shape[-1]).tolist()
    scores = [scorer._compute_score_from_stats(row).score for row in rows]
    return np.array(scores, dtype=np.float64).reshape(sums.shape[:-1])


class _UnicodeWords:
    """Words of any script for rouge-score, whose own tokenizer keeps only ASCII."""

    def __init__(self, stem: Callable[[str], str] | None) -> None:
        """Stem words of more than three letters, as rouge-score does, or none."""
        self.stem = stem

    def tokenize(self, text: str) -> list[str]:
        """Split a text into runs of letters, digits and marks."""
        cleaned = "".join(
            character if unicodedata.category(character)[0] in "LMN" else " "
            for character in text.lower()
        )
        return [
            self.stem(word) if self.stem and len(word) > 3 else word for word in cleaned.split()
        ]


def rouge(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute ROUGE-N or ROUGE-L: F1 with the reference that gives the highest."""
    kind, stem, tokenize = spec.name, spec.options["stem"], spec.options["tokenize"]
    module = import_library("rouge_score.rouge_scorer")
    words = _UnicodeWords(porter_stemmer() if stem else None) if tokenize == "unicode" else None
    scorer = module.RougeScorer([kind], use_stemmer=stem, tokenizer=words)
    scores = [
        scorer.score_multi(list(texts), hypothesis)[kind]
        for hypothesis, texts in zip(hypotheses, references, strict=True)
    ]
    stemmer = f"porter-nltk{version('nltk')}" if stem else "no"
    facts = {
        "lib": "rouge-score",
        "multi": "max",
        "tok": tokenize,
        "stem": stemmer,
        "version": version("rouge-score"),
    }
    parts = {
        name: np.array([getattr(score, name) for score in scores])
        for name in ("precision", "recall")
    }
    return LexicalScores(np.array([score.fmeasure for score in scores]), facts, parts)


def _rouge_words(spec: LexicalSpec) -> Callable[[str], list[str]]:
    """Return the tokenizer of rouge-score, or that of words of any script."""
    stem = porter_stemmer() if spec.options["stem"] else None
    if spec.options["tokenize"] == "unicode":
        return _UnicodeWords(stem).tokenize
    tokenizer = import_library("rouge_score.tokenizers").DefaultTokenizer(stem is not None)
    return lambda text: list(tokenizer.tokenize(text))


def _score_rouge(
    spec: LexicalSpec, hypotheses: Texts, references: References, compare: Callable[..., Rouge]
) -> LexicalScores:
    """Score with the reference that gives the highest F1."""
    words, scores = _rouge_words(spec), []
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        hypothesis_words = words(hypothesis)
        pairs = [compare(hypothesis_words, words(text)) for text in texts]
        scores.append(max(pairs, key=lambda pair: pair.f1))
    parts = {
        name: np.array([getattr(score, name) for score in scores])
        for name in ("precision", "recall")
    }
    facts = {
        "lib": "monge",
        "multi": "max",
        "tok": spec.options["tokenize"],
        "stem": f"porter-nltk{version('nltk')}" if spec.options["stem"] else "no",
        "tok-version": version("rouge-score"),
        "version": version("monge"),
    }
    return LexicalScores(np.array([score.f1 for score in scores]), facts, parts)


def skip_bigram_rouge(
    spec: LexicalSpec, hypotheses: Texts, references: References
) -> LexicalScores:
    """Compute ROUGE-SU: F1 of skip-bigrams and words."""
    skip, unigrams = spec.options["skip"], spec.options["unigrams"]
    return _score_rouge(
        spec, hypotheses, references, partial(rouge_su, skip=skip, unigrams=unigrams)
    )


def weighted_rouge(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute ROUGE-W: F1 of the weighted longest common subsequence."""
    return _score_rouge(
        spec, hypotheses, references, partial(rouge_w, weight=spec.options["weight"])
    )


def _word_tokenizer(spec: LexicalSpec) -> Callable[[str], list[str]]:
    """Return a sacrebleu tokenizer that lower-cases where the options say so."""
    tokenizer = _bleu_scorer(spec, effective_order=False).tokenizer
    return lambda text: str(tokenizer(text.lower() if spec.options["lowercase"] else text)).split()


def _own_facts(spec: LexicalSpec, combined: str, facts: Mapping[str, object]) -> dict[str, object]:
    read = {"tok": spec.options["tokenize"], "case": "lc" if spec.options["lowercase"] else "mixed"}
    versions = {"tok-version": version("sacrebleu"), "version": version("monge")}
    return {"lib": "monge", "multi": combined, **read, **facts, **versions}


def _wordnet_synonyms() -> Callable[[str], frozenset[str]]:
    corpus = import_library("nltk.corpus").wordnet
    try:
        corpus.ensure_loaded()
    except LookupError as error:
        raise ModelError(
            "meteor: synonyms=wordnet needs nltk's wordnet data, which are not installed "
            "(python -m nltk.downloader wordnet)"
        ) from error

    def synonyms(word: str) -> frozenset[str]:
        names = (lemma.name() for synset in corpus.synsets(word) for lemma in synset.lemmas())
        return frozenset(name for name in names if "_" not in name)

    return cache(synonyms)


@cache
def _wordnet_version() -> str:
    """Name WordNet's version and the hash of its files, which nltk lets users replace."""
    corpus = import_library("nltk.corpus").wordnet
    hasher = sha256()
    for name in sorted(corpus.fileids()):
        with corpus.open(name) as stream:
            hasher.update(f"{name} {stream.read()}".encode())
    return f"wordnet-{corpus.get_version()}#{hasher.hexdigest()[:8]}"


def meteor(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute METEOR with the reference that gives the highest score."""
    words, options = _word_tokenizer(spec), spec.options
    plain = {name: options[name] for name in ("alpha", "beta", "gamma")}
    scorer = MeteorScorer(
        porter_stemmer() if options["stem"] else str,
        _wordnet_synonyms() if options["synonyms"] == "wordnet" else None,
        **plain,
        alignment=options["alignment"],
    )
    scores = []
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        hypothesis_words = words(hypothesis)
        scores.append(
            max(
                (scorer.score(hypothesis_words, words(text)) for text in texts),
                key=lambda score: score.score,
            )
        )
    stem = f"porter-nltk{version('nltk')}" if options["stem"] else "no"
    synonyms = _wordnet_version() if options["synonyms"] == "wordnet" else options["synonyms"]
    facts = {"stem": stem, **plain, "synonyms": synonyms, "alignment": options["alignment"]}
    parts = {
        name: np.array([float(getattr(score, name)) for score in scores])
        for name in ("precision", "recall", "chunks")
    }
    return LexicalScores(
        np.array([score.score for score in scores]), _own_facts(spec, "max", facts), parts
    )


def _content_words(spec: LexicalSpec) -> Callable[[str], list[str]]:
    """Return a tokenizer that drops punctuation where the options say so."""
    cut = _word_tokenizer(spec)
    if spec.options["punctuation"] == "keep":
        return cut
    return lambda text: [token for token in cut(text) if any(map(str.isalnum, token))]


def _count_documents(
    spec: LexicalSpec, references: References, orders: int
) -> tuple[list[list[list[str]]], DocumentFrequency]:
    """Return the words of all references, and in how many segments their n-grams are."""
    words = _content_words(spec)
    if len(references) < 2:
        raise DataError(f"{spec.name}: idf from 1 segment is 0 for every word: give more segments")
    tokenised = [[words(text) for text in texts] for texts in references]
    return tokenised, DocumentFrequency.of(tokenised, orders)


def _idf_facts(frequency: DocumentFrequency) -> dict[str, object]:
    return {
        "idf": "references",
        "items": frequency.items,
        "idf-digest": frequency.digest[:8],
    }


def cider(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute CIDEr-D, with idf from the given references."""
    words, options = _content_words(spec), spec.options
    tokenised, frequency = _count_documents(spec, references, options["orders"])
    pairs = zip(hypotheses, tokenised, strict=True)
    segments = [
        cider_of(words(hypothesis), reference_words, frequency, sigma=options["sigma"])
        for hypothesis, reference_words in pairs
    ]
    facts = {
        "punct": options["punctuation"],
        "orders": options["orders"],
        "sigma": options["sigma"],
        **_idf_facts(frequency),
    }
    return LexicalScores(np.array(segments), _own_facts(spec, "mean", facts))


def tfidf(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute cosines of tf-idf vectors, with idf from the given references; their mean."""
    words, options = _content_words(spec), spec.options
    tokenised, frequency = _count_documents(spec, references, options["order"])
    segments = []
    for hypothesis, texts in zip(hypotheses, tokenised, strict=True):
        hypothesis_words = words(hypothesis)
        cosines = [tfidf_cosine(hypothesis_words, text, frequency) for text in texts]
        segments.append(sum(cosines) / len(cosines))
    facts = {
        "punct": options["punctuation"],
        "order": options["order"],
        **_idf_facts(frequency),
    }
    return LexicalScores(np.array(segments), _own_facts(spec, "mean", facts))


def nist(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
    """Compute NIST, with the information of n-grams from the given references."""
    words, orders = _word_tokenizer(spec), spec.options["order"]
    tokenised = [[words(text) for text in texts] for texts in references]
    information = Information.of(tokenised, orders)
    pairs = zip(hypotheses, tokenised, strict=True)
    statistics = np.array(
        [
            nist_statistics(words(hypothesis), texts, information, orders)
            for hypothesis, texts in pairs
        ]
    )
    facts = {
        "order": orders,
        "info": "references",
        "items": len(references),
        "info-digest": information.digest[:8],
    }
    return LexicalScores(
        nist_of_sums(statistics),
        _own_facts(spec, "clip", facts),
        {},
        Pooled(statistics, nist_of_sums),
    )


_SCORERS: Mapping[str, Callable[[LexicalSpec, Texts, References], LexicalScores]] = {
    "bleu": bleu,
    "sentence_bleu": sentence_bleu,
    "chrf": chrf,
    "ter": ter,
    "rouge": rouge,
    "rouge_su": skip_bigram_rouge,
    "rouge_w": weighted_rouge,
    "nist": nist,
    "tfidf": tfidf,
    "meteor": meteor,
    "cider": cider,
}
