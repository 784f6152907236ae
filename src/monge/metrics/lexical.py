"""Lexical metrics (of words and characters), one row each; `text.lexical` computes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.rules import Bounds
from monge.types.settings import (
    COUNT,
    EXPONENT,
    POSITIVE,
    SMALL,
    SWITCH,
    WHOLE,
    Kind,
    one_of,
    optional,
)

Options = Mapping[str, tuple[Any, Kind]]
_SHARE = Bounds(0, 1, 1, 0, True)


@dataclass(frozen=True)
class LexicalPreset:
    """The row of a lexical metric: its options with defaults, its range, and its scorer.

    `bounds.best` is the score of an empty hypothesis with an empty reference, `bounds.worst` of one
    empty side. `lacks` maps a law that the metric does not keep to the reason, `languages` a target
    language to the changes it needs. `later` are options that came after the first signatures: a
    signature leaves them out where they have their defaults, so that older ones replay.
    """

    title: str
    cites: str
    scorer: str
    options: Options
    bounds: Bounds = _SHARE
    lacks: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    later: tuple[str, ...] = ()


TOKENIZERS = one_of(
    *(
        "none",
        "zh",
        "13a",
        "intl",
        "char",
        "ja-mecab",
        "ko-mecab",
        "spm",
        "flores101",
        "flores200",
        "spBLEU-1K",
    )
)
ORDERS = range(1, 21)
"""The longest n-grams that word metrics take."""
ORDER = Kind("a whole number from 1 to 20", lambda text: ORDERS[ORDERS.index(int(text))])
_BLEU: Options = {
    "order": (4, ORDER),
    "lowercase": (False, SWITCH),
    "tokenize": ("13a", TOKENIZERS),
    "smooth": ("exp", one_of("none", "floor", "add-k", "exp")),
    "smooth_value": (None, optional(SMALL)),
}
_CHRF: Options = {
    "char_order": (6, COUNT),
    "word_order": (0, WHOLE),
    "beta": (2, COUNT),
    "lowercase": (False, SWITCH),
    "whitespace": (False, SWITCH),
    "eps_smoothing": (False, SWITCH),
    "remove": ("whitespace", one_of("whitespace", "spaces")),
}
_TER: Options = dict.fromkeys(
    ("normalized", "no_punct", "asian_support", "case_sensitive"), (False, SWITCH)
)
_ROUGE: Options = {
    "stem": (False, SWITCH),
    "tokenize": ("rouge-score", one_of("rouge-score", "unicode")),
}
_ROUGE_SU: Options = {"skip": (4, WHOLE), "unigrams": (True, SWITCH), **_ROUGE}
_ROUGE_W: Options = {"weight": (1.2, EXPONENT), **_ROUGE}
_METEOR: Options = {
    "alpha": (0.9, SMALL),
    "beta": (3.0, SMALL),
    "gamma": (0.5, SMALL),
    "stem": (True, SWITCH),
    "synonyms": ("none", one_of("none", "wordnet")),
    "alignment": ("fewest-chunks", one_of("fewest-chunks", "greedy")),
    "lowercase": (True, SWITCH),
    "tokenize": ("13a", TOKENIZERS),
}
_CIDER: Options = {
    "orders": (4, COUNT),
    "sigma": (6.0, POSITIVE),
    "lowercase": (True, SWITCH),
    "punctuation": ("drop", one_of("drop", "keep")),
    "tokenize": ("13a", TOKENIZERS),
}
_WORDS: Options = {"lowercase": (True, SWITCH), "tokenize": ("13a", TOKENIZERS)}
_NIST: Options = {"order": (5, ORDER), **_WORDS}
_TFIDF: Options = {
    "order": (1, ORDER),
    "punctuation": ("drop", one_of("drop", "keep")),
    **_WORDS,
}
_PERCENT = Bounds(0, 100, 100, 0, True)
_RATE = Bounds(0, inf, 0, 100, False)
_TEN = Bounds(0, 10, 10, 0, True)
_BITS = Bounds(0, inf, 0, 0, True, "bits: a text and itself score the information of its n-grams")
_LIN, _PAPINENI = "Lin 2004", "Papineni 2002"
_SPACELESS = {"zh": ("tokenize=zh",), "ja": ("tokenize=ja-mecab",), "ko": ("tokenize=ko-mecab",)}
"""The tokenizers that sacrebleu chooses for a target language; it chooses 13a for every other."""

_IDF = {
    "neighbours": "the idf of its n-grams comes from the references of all segments, by definition"
}
_INFORMATION = {
    "neighbours": "the information of n-grams is counted in the references of all segments, by "
    "definition"
}


def _bleu_of_order(order: int) -> LexicalPreset:
    return LexicalPreset(
        f"BLEU of n-grams of up to {order} word{'s' if order > 1 else ''}",
        _PAPINENI,
        "bleu",
        {**_BLEU, "order": (order, ORDER)},
        _PERCENT,
        languages=_SPACELESS,
    )


def _tfidf_of_order(order: int) -> LexicalPreset:
    grams = "words" if order == 1 else "word pairs"
    return LexicalPreset(
        f"cosine of tf-idf vectors of {grams}",
        "Peyrard et al. 2017",
        "tfidf",
        {**_TFIDF, "order": (order, ORDER)},
        lacks=_IDF,
    )


LEXICAL: Mapping[str, LexicalPreset] = {
    "bleu": LexicalPreset(
        *(
            "n-gram precision of the corpus; segments: sentence BLEU",
            _PAPINENI,
            "bleu",
            _BLEU,
            _PERCENT,
        ),
        languages=_SPACELESS,
        later=("order",),
    ),
    "sentbleu": LexicalPreset(
        *(
            "sentence BLEU; the score is the mean of segments",
            _PAPINENI,
            "sentence_bleu",
            _BLEU,
            _PERCENT,
        ),
        languages=_SPACELESS,
        later=("order",),
    ),
    **{f"bleu-{order}": _bleu_of_order(order) for order in (1, 2, 3, 4)},
    "nist": LexicalPreset(
        "matched n-grams, each weighing its information in bits",
        "Doddington 2002",
        "nist",
        _NIST,
        _BITS,
        _INFORMATION,
    ),
    "chrf": LexicalPreset(
        "character n-gram F of the corpus", "Popović 2015", "chrf", _CHRF, _PERCENT
    ),
    "chrf++": LexicalPreset(
        *("character and word n-gram F of the corpus", "Popović 2017", "chrf"),
        {**_CHRF, "word_order": (2, WHOLE)},
        _PERCENT,
    ),
    "ter": LexicalPreset(
        "translation edit rate of the corpus", "Snover et al. 2006", "ter", _TER, _RATE
    ),
    "rouge1": LexicalPreset("F1 of words", _LIN, "rouge", _ROUGE),
    "rouge2": LexicalPreset("F1 of word pairs", _LIN, "rouge", _ROUGE),
    "rougeL": LexicalPreset("F1 of the longest common subsequence", _LIN, "rouge", _ROUGE),
    "rougeSU4": LexicalPreset(
        "F1 of words and of word pairs at most 4 words apart", _LIN, "rouge_su", _ROUGE_SU
    ),
    "rougeW": LexicalPreset(
        "F1 of the longest common subsequence, runs weigh more", _LIN, "rouge_w", _ROUGE_W
    ),
    **{f"tfidf-{order}": _tfidf_of_order(order) for order in (1, 2)},
    "meteor": LexicalPreset(
        "aligned words and stems, fewest chunks", "Denkowski and Lavie 2014", "meteor", _METEOR
    ),
    "cider": LexicalPreset(
        "CIDEr-D: cosine of tf-idf n-grams", "Vedantam et al. 2015", "cider", _CIDER, _TEN, _IDF
    ),
}


@dataclass(frozen=True)
class LexicalSpec:
    """A lexical metric with its settings; options that are not given have the defaults of the row.

    `against` is the side that hypotheses are compared with: references, or source.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    against: str = "references"

    def __post_init__(self) -> None:
        usual = {option: value for option, (value, _) in self.preset.options.items()}
        unknown = next((option for option in self.options if option not in usual), None)
        if unknown is not None:
            raise UnknownName(f"{self.name} option", unknown, usual)
        object.__setattr__(self, "options", MappingProxyType({**usual, **self.options}))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings as a plain dictionary."""
        return LexicalSpec, (self.name, dict(self.options), self.against)

    @property
    def preset(self) -> LexicalPreset:
        """The row of the metric in the table."""
        return LEXICAL[self.name]

    @property
    def bounds(self) -> Bounds:
        """The range of the metric's scores."""
        return self.preset.bounds

    def with_side(self, side: str) -> LexicalSpec:
        """Return the spec with hypotheses compared with another side."""
        if side not in ("references", "source"):
            raise UnknownName("side", side, ("references", "source"))
        return replace(self, against=side)

    def changed(self, changes: Iterable[str]) -> LexicalSpec:
        """Return the spec after `OPTION=VALUE` changes."""
        options = dict(self.options)
        for change in changes:
            option, equals, text = change.partition("=")
            if not equals:
                raise InvalidSetting(f"{self.name}: expected OPTION=VALUE, got {change!r}")
            if option not in options:
                raise UnknownName(f"{self.name} option", option, options)
            kind = self.preset.options[option][1]
            try:
                options[option] = kind.read(text)
            except ValueError:
                raise InvalidSetting(
                    f"{self.name}: {option} takes {kind.accepts}, got {text!r}"
                ) from None
        return replace(self, options=options)

    def written(self) -> dict[str, str]:
        """Return every setting as text."""
        return {
            name: kind.show(self.options[name]) for name, (_, kind) in self.preset.options.items()
        }
