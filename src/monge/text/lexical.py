"""Metrics that compare words and characters: the scorers behind the table `spec.lexical.LEXICAL`.

    bleu sentbleu chrf chrf++        sacrebleu                 0..100
    ter                              sacrebleu, `text.ter`     0..
    rouge1 rouge2 rougeL             rouge-score               0..1
    meteor                           `text.meteor`             0..1
    cider                            `text.cider` (CIDEr-D)    0..10

Scales and corpus scores are those that people quote: corpus BLEU, chrF and TER pool counts over segments, the others
are means of segments. Segments of `bleu` are sentence BLEU with the same smoothing and effective order. An empty
hypothesis with an empty reference gets the metric's best score, an empty one against text its worst, as declared in
the table; corpus scores that pool counts stay the library's own. Libraries (extra `lexical`) are imported late.
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
from monge.spec.lexical import LexicalSpec
from monge.text.cider import DocumentFrequency
from monge.text.cider import cider as cider_of
from monge.text.meteor import MeteorScorer
from monge.text.ter import counts as ter_counts
from monge.types import Array, Pooled
from monge.types.text import is_blank

Texts = Sequence[str]
References = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Scored:
    """Segment scores [n] in input order, what computed them and how, and further numbers of each segment.

    `pooled` is None where the corpus score is the mean of the segments.
    """

    segments: Array
    facts: Mapping[str, object]
    parts: Mapping[str, Array] = field(default_factory=dict)
    pooled: Pooled | None = None


def score(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """Score each hypothesis against its list of references."""
    _check(hypotheses, references)
    scored = _SCORERS[spec.preset.scorer](spec, hypotheses, references)
    empty = np.array([is_blank(one) for one in hypotheses], dtype=bool)
    blank = np.array([sum(map(is_blank, some)) for some in references])
    every = np.array([len(some) for some in references])
    best, worst = spec.bounds.best, spec.bounds.worst
    assert worst is not None  # in every row of the table
    same, other = empty & (blank > 0), (empty & (blank == 0)) | (~empty & (blank == every))
    segments = np.where(other, worst, np.where(same, best, scored.segments)).astype(np.float64)
    shares = {name: np.where(other, 0.0, np.where(same, 1.0, scored.parts[name]))
              for name in ("precision", "recall") if name in scored.parts}  # fmt: skip
    return replace(scored, segments=segments, parts={**scored.parts, **shares})


def _check(hypotheses: Texts, references: References) -> None:
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise UsageError("hypotheses and references must be lists, got a string")
    if not hypotheses:
        raise UsageError("there is nothing to score: no hypotheses")
    if len(hypotheses) != len(references):
        raise Misaligned(f"{len(hypotheses)} hypotheses but {len(references)} lists of references")
    for number, some in enumerate(references, start=1):
        if isinstance(some, str) or not some:
            raise UsageError(f"segment {number}: references must be a list with at least one text, got {some!r}")


def library(name: str) -> Any:
    """A module of the extra `lexical`, imported when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("a lexical metric", "lexical") from error


def porter() -> Callable[[str], str]:
    """Porter's stemmer of nltk, which rouge-score needs too."""
    stemmer = library("nltk.stem.porter").PorterStemmer()
    return cache(lambda word: str(stemmer.stem(word)))


def signature(facts: Mapping[str, object], references: str) -> str:
    """`key:value` joined by `|`, like sacrebleu's: who did the work, how many references there are, the settings."""
    first, *rest = facts.items()
    pairs = dict([first, ("nrefs", references), *rest])
    shown = {True: "yes", False: "no"}
    return "|".join(f"{key}:{shown[value] if isinstance(value, bool) else value}" for key, value in pairs.items())


# BLEU, chrF, TER: sacrebleu's counts of each segment, kept once; every score is a formula of summed counts.


def _bleu(spec: LexicalSpec, *, effective_order: bool) -> Any:
    options = spec.options
    module = library("sacrebleu.metrics.bleu")
    try:
        return module.BLEU(
            lowercase=options["lowercase"],
            tokenize=options["tokenize"],
            smooth_method=options.get("smooth", "exp"),
            smooth_value=options.get("smooth_value"),
            effective_order=effective_order,
            force=True,
        )
    except (ImportError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise InvalidSetting(f"{spec.name}: tokenize={options['tokenize']} cannot be used here: {said}") from None


def bleu(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """Corpus BLEU; segments are sentence BLEU."""
    scorer, single = _bleu(spec, effective_order=False), _bleu(spec, effective_order=True)
    found = _pooled(scorer, hypotheses, references, {"segments": "sentence-bleu-eff-yes"})
    assert found.pooled is not None
    return replace(found, segments=_scores(single, found.pooled.statistics))


def sentence_bleu(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """Sentence BLEU; the corpus score is their mean."""
    single = _bleu(spec, effective_order=True)
    return replace(_pooled(single, hypotheses, references, {"corpus": "mean-of-segments"}), pooled=None)


def chrf(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """ChrF and, with word n-grams, chrF++; white space does not count unless `whitespace`.

    `remove` says what is taken out: all white space, as sacrebleu does, or spaces (U+0020) alone, which leaves the
    no-break spaces that some systems write.
    """
    settings = dict(spec.options)
    extra = {"beta": settings["beta"]}
    if settings.pop("remove") == "spaces":
        if settings["whitespace"] or settings["word_order"]:
            raise InvalidSetting(
                f"{spec.name}: remove=spaces leaves no words and no spaces to count: set word_order=0, whitespace=no"
            )
        settings["whitespace"], extra["removed"] = True, "U+0020"
        hypotheses = [text.replace(" ", "") for text in hypotheses]
        references = [[text.replace(" ", "") for text in some] for some in references]
    return _pooled(library("sacrebleu.metrics.chrf").CHRF(**settings), hypotheses, references, extra)


def ter(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """Translation edit rate: edits per 100 reference words, lower is better."""
    scorer = library("sacrebleu.metrics.ter").TER(**spec.options)
    scorer._compute_segment_statistics = _edits
    found = _pooled(scorer, hypotheses, references, {})
    own = {"lib": "monge", "tok-version": version("sacrebleu"), "version": version("monge")}
    return replace(found, facts={**found.facts, **own})


def _edits(text: str, known: Mapping[str, Any]) -> Any:
    """What sacrebleu's TER asks of a text and the words of its references; by name, so that a process can send it."""
    return ter_counts(text, known["ref_words"])


def _pooled(scorer: Any, hypotheses: Texts, references: References, extra: Mapping[str, object]) -> Scored:
    """Sacrebleu's counts of each segment, and the score of each.

    It wants one stream a reference, with None where a segment has fewer.
    """
    most = max(map(len, references))
    streams = [[some[k] if k < len(some) else None for some in references] for k in range(most)]
    statistics = np.array(scorer._extract_corpus_statistics(list(hypotheses), streams), dtype=np.float64)
    of = partial(_scores, scorer)
    facts = dict(pair.split(":", 1) for pair in str(scorer.get_signature()).split("|"))
    facts.pop("nrefs")
    return Scored(of(statistics), {"lib": "sacrebleu", **facts, **extra}, {}, Pooled(statistics, of))


def _scores(scorer: Any, sums: Array) -> Array:
    """Sacrebleu's scores of summed counts: [..., k] -> [...]. About 10 microseconds each."""
    rows = sums.reshape(-1, sums.shape[-1]).tolist()
    found = [scorer._compute_score_from_stats(row).score for row in rows]
    return np.array(found, dtype=np.float64).reshape(sums.shape[:-1])


class _UnicodeWords:
    """Words for rouge-score in any script: its own tokenizer keeps ASCII letters and digits only."""

    def __init__(self, stem: Callable[[str], str] | None) -> None:
        """Stem words of more than three letters, as rouge-score does, or none."""
        self.stem = stem

    def tokenize(self, text: str) -> list[str]:
        """Runs of letters, digits and marks."""
        kept = "".join(one if unicodedata.category(one)[0] in "LMN" else " " for one in text.lower())
        return [self.stem(word) if self.stem and len(word) > 3 else word for word in kept.split()]


def rouge(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """ROUGE-N or ROUGE-L: F1 with the reference that gives the highest."""
    kind, stem, tokenize = spec.name, spec.options["stem"], spec.options["tokenize"]
    module = library("rouge_score.rouge_scorer")
    words = _UnicodeWords(porter() if stem else None) if tokenize == "unicode" else None
    scorer = module.RougeScorer([kind], use_stemmer=stem, tokenizer=words)
    found = [scorer.score_multi(list(some), one)[kind] for one, some in zip(hypotheses, references, strict=True)]
    stemmer = f"porter-nltk{version('nltk')}" if stem else "no"
    facts = {"lib": "rouge-score", "multi": "max", "tok": tokenize, "stem": stemmer, "version": version("rouge-score")}
    parts = {name: np.array([getattr(one, name) for one in found]) for name in ("precision", "recall")}
    return Scored(np.array([one.fmeasure for one in found]), facts, parts)


def _words(spec: LexicalSpec) -> Callable[[str], list[str]]:
    """A sacrebleu tokenizer, lower-casing if asked."""
    tokenizer = _bleu(spec, effective_order=False).tokenizer
    return lambda text: str(tokenizer(text.lower() if spec.options["lowercase"] else text)).split()


def _own(spec: LexicalSpec, combined: str, facts: Mapping[str, object]) -> dict[str, object]:
    read = {"tok": spec.options["tokenize"], "case": "lc" if spec.options["lowercase"] else "mixed"}
    versions = {"tok-version": version("sacrebleu"), "version": version("monge")}
    return {"lib": "monge", "multi": combined, **read, **facts, **versions}


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


@cache
def _wordnet_version() -> str:
    """Name WordNet's version and the hash of its files, which nltk lets users replace."""
    corpus = library("nltk.corpus").wordnet
    hasher = sha256()
    for name in sorted(corpus.fileids()):
        with corpus.open(name) as stream:
            hasher.update(f"{name} {stream.read()}".encode())
    return f"wordnet-{corpus.get_version()}#{hasher.hexdigest()[:8]}"


def meteor(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """METEOR, with the reference that gives the highest score."""
    words, options = _words(spec), spec.options
    plain = {name: options[name] for name in ("alpha", "beta", "gamma")}
    scorer = MeteorScorer(
        porter() if options["stem"] else str,
        _wordnet() if options["synonyms"] == "wordnet" else None,
        **plain,
        alignment=options["alignment"],
    )
    found = []
    for hypothesis, some in zip(hypotheses, references, strict=True):
        ours = words(hypothesis)
        found.append(max((scorer.score(ours, words(one)) for one in some), key=lambda one: one.score))
    stem = f"porter-nltk{version('nltk')}" if options["stem"] else "no"
    synonyms = _wordnet_version() if options["synonyms"] == "wordnet" else options["synonyms"]
    facts = {"stem": stem, **plain, "synonyms": synonyms, "alignment": options["alignment"]}
    parts = {name: np.array([float(getattr(one, name)) for one in found]) for name in ("precision", "recall", "chunks")}
    return Scored(np.array([one.score for one in found]), _own(spec, "max", facts), parts)


def cider(spec: LexicalSpec, hypotheses: Texts, references: References) -> Scored:
    """CIDEr-D; idf from the given references."""
    cut, options = _words(spec), spec.options

    def words(text: str) -> list[str]:
        every = cut(text)
        return every if options["punctuation"] == "keep" else [one for one in every if any(map(str.isalnum, one))]

    if len(references) < 2:
        raise DataError("cider: idf from 1 segment is 0 for every word: give more segments")
    tokenised = [[words(one) for one in some] for some in references]
    frequency = DocumentFrequency.of(tokenised, options["orders"])
    pairs = zip(hypotheses, tokenised, strict=True)
    segments = [cider_of(words(one), some, frequency, sigma=options["sigma"]) for one, some in pairs]
    facts = {
        "punct": options["punctuation"],
        "orders": options["orders"],
        "sigma": options["sigma"],
        "idf": "references",
        "items": frequency.items,
        "idf-digest": frequency.digest[:8],
    }
    return Scored(np.array(segments), _own(spec, "mean", facts))


_SCORERS: Mapping[str, Callable[[LexicalSpec, Texts, References], Scored]] = {
    "bleu": bleu,
    "sentence_bleu": sentence_bleu,
    "chrf": chrf,
    "ter": ter,
    "rouge": rouge,
    "meteor": meteor,
    "cider": cider,
}
