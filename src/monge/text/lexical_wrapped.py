"""The lexical metrics that sacrebleu and rouge-score compute (extra `lexical`, imported late)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from monge.errors import InvalidSetting
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


def _bleu(options: Options, *, effective_order: bool) -> Any:
    scorer = library("sacrebleu.metrics.bleu").BLEU
    return scorer(
        lowercase=options["lowercase"],
        tokenize=choice("bleu", options, "tokenize", list(scorer.TOKENIZERS)),
        smooth_method=choice("bleu", options, "smooth", list(scorer.SMOOTH_DEFAULTS)),
        smooth_value=options["smooth_value"],
        effective_order=effective_order,
        force=True,
    )


def bleu(hypotheses: Texts, references: References, options: Options) -> Scored:
    """Corpus BLEU; segments are sentence BLEU."""
    pooled, single = _bleu(options, effective_order=False), _bleu(options, effective_order=True)
    segments, corpus = _segments(single, hypotheses, references), _corpus(pooled, hypotheses, references)
    return Scored(segments, _signed(pooled, references, {"segments": "sentence-bleu-eff-yes"}), corpus)


def sentence_bleu(hypotheses: Texts, references: References, options: Options) -> Scored:
    """Sentence BLEU; the corpus score is their mean."""
    single = _bleu(options, effective_order=True)
    segments = _segments(single, hypotheses, references)
    return Scored(segments, _signed(single, references, {"corpus": "mean-of-segments"}))


def chrf(hypotheses: Texts, references: References, options: Options) -> Scored:
    """ChrF and, with word n-grams, chrF++; white space does not count unless `whitespace`.

    `remove` says what is taken out: all white space, as sacrebleu does, or spaces (U+0020) alone, which leaves the
    no-break spaces that some systems write.
    """
    scorer, prepared = _chrf(options)
    hypotheses = [prepared(text) for text in hypotheses]
    references = [[prepared(text) for text in some] for some in references]
    extra = {"beta": options["beta"], **({"removed": "U+0020"} if options["remove"] == "spaces" else {})}
    segments, corpus = _segments(scorer, hypotheses, references), _corpus(scorer, hypotheses, references)
    return Scored(segments, _signed(scorer, references, extra), corpus)


def _chrf(options: Options) -> tuple[Any, Callable[[str], str]]:
    """The scorer, and what is done to a text before it sees it."""
    at_least("chrf", options, char_order=1, word_order=0, beta=1)
    spaces = choice("chrf", options, "remove", ("whitespace", "spaces")) == "spaces"
    if spaces and (options["whitespace"] or options["word_order"]):
        raise InvalidSetting(
            "chrf: remove=spaces leaves no words and no spaces to count: set word_order=0, whitespace=no"
        )
    settings = {name: value for name, value in options.items() if name != "remove"}
    scorer = library("sacrebleu.metrics.chrf").CHRF(**settings | ({"whitespace": True} if spaces else {}))
    return scorer, _without_spaces if spaces else str


def _without_spaces(text: str) -> str:
    return text.replace(" ", "")


def ter(hypotheses: Texts, references: References, options: Options) -> Scored:
    """Translation edit rate: edits per 100 reference words, lower is better."""
    scorer = library("sacrebleu.metrics.ter").TER(**options)
    segments, corpus = _segments(scorer, hypotheses, references), _corpus(scorer, hypotheses, references)
    return Scored(segments, _signed(scorer, references, {}), corpus)


def _segments(scorer: Any, hypotheses: Texts, references: References) -> list[float]:
    pairs = zip(hypotheses, references, strict=True)
    return [float(scorer.sentence_score(hypothesis, list(some)).score) for hypothesis, some in pairs]


def _corpus(scorer: Any, hypotheses: Texts, references: References) -> float:
    """The pooled score; sacrebleu wants one stream a reference, with None where an item has fewer."""
    most = max(map(len, references))
    streams = [[some[k] if k < len(some) else None for some in references] for k in range(most)]
    return float(scorer.corpus_score(list(hypotheses), streams).score)


def _signed(scorer: Any, references: References, extra: Options) -> str:
    facts = dict(pair.split(":", 1) for pair in str(scorer.get_signature()).split("|"))
    return signature("sacrebleu", {**facts, "nrefs": reference_count(references), **extra})


class _UnicodeWords:
    """Words for rouge-score in any script: its own tokenizer keeps ASCII letters and digits only."""

    def __init__(self, stem: Callable[[str], str] | None) -> None:
        """Stem words of more than three letters, as rouge-score does, or none."""
        self.stem = stem

    def tokenize(self, text: str) -> list[str]:
        """Runs of letters, digits and marks."""
        kept = "".join(one if unicodedata.category(one)[0] in "LMN" else " " for one in text.lower())
        return [self.stem(word) if self.stem and len(word) > 3 else word for word in kept.split()]


def rouge(kind: str) -> Callable[[Texts, References, Options], Scored]:
    """ROUGE-N or ROUGE-L: F1 with the reference that gives the highest."""

    def score(hypotheses: Texts, references: References, options: Options) -> Scored:
        module = library("rouge_score.rouge_scorer")
        tokenize = choice(kind, options, "tokenize", ("rouge-score", "unicode"))
        words = _UnicodeWords(porter() if options["stem"] else None) if tokenize == "unicode" else None
        scorer = module.RougeScorer([kind], use_stemmer=options["stem"], tokenizer=words)
        pairs = zip(hypotheses, references, strict=True)
        found = [scorer.score_multi(list(some), hypothesis)[kind] for hypothesis, some in pairs]
        facts = {"nrefs": reference_count(references), "multi": "max", "tok": tokenize, "stem": options["stem"]}
        return Scored(
            [one.fmeasure for one in found],
            signature("rouge-score", {**facts, "version": version("rouge-score")}),
            parts={"precision": [one.precision for one in found], "recall": [one.recall for one in found]},
        )

    return score
