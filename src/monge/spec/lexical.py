"""Metrics of words and characters as data: names, settings and ranges. `text.lexical` computes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType
from typing import Any

from monge.errors import InvalidSetting, UnknownName
from monge.spec.fields import SWITCH, Kind, number


@dataclass(frozen=True)
class LexicalRow:
    """A lexical metric's line: `limits` are the lowest and highest score, `options` its settings with their values."""

    title: str
    cites: str
    options: Mapping[str, Any]
    limits: tuple[float, float] = (0, 1)
    best: float = 1
    worst: float = 0
    higher_is_better: bool = True


_BLEU = {"lowercase": False, "tokenize": "13a", "smooth": "exp", "smooth_value": None}
_CHRF = {
    "char_order": 6,
    "word_order": 0,
    "beta": 2,
    "lowercase": False,
    "whitespace": False,
    "eps_smoothing": False,
    "remove": "whitespace",
}
_TER = {"normalized": False, "no_punct": False, "asian_support": False, "case_sensitive": False}
_ROUGE = {"stem": False, "tokenize": "rouge-score"}
_METEOR = {
    "alpha": 0.9,
    "beta": 3.0,
    "gamma": 0.5,
    "stem": True,
    "synonyms": "none",
    "alignment": "fewest-chunks",
    "lowercase": True,
    "tokenize": "13a",
}
_CIDER = {"orders": 4, "sigma": 6.0, "lowercase": True, "punctuation": "drop", "tokenize": "13a", "corpus": None}
_PERCENT: dict[str, Any] = {"limits": (0, 100), "best": 100}

LEXICAL: Mapping[str, LexicalRow] = {
    "bleu": LexicalRow("n-gram precision of the corpus; segments: sentence BLEU", "Papineni 2002", _BLEU, **_PERCENT),
    "sentbleu": LexicalRow("sentence BLEU; the score is the mean of segments", "Papineni 2002", _BLEU, **_PERCENT),
    "chrf": LexicalRow("character n-gram F of the corpus", "Popović 2015", _CHRF, **_PERCENT),
    "chrf++": LexicalRow(
        "character and word n-gram F of the corpus", "Popović 2017", {**_CHRF, "word_order": 2}, **_PERCENT
    ),
    "ter": LexicalRow(
        "translation edit rate of the corpus", "Snover et al. 2006", _TER, (0, inf), 0, 100, higher_is_better=False
    ),
    "rouge1": LexicalRow("F1 of words", "Lin 2004", _ROUGE),
    "rouge2": LexicalRow("F1 of word pairs", "Lin 2004", _ROUGE),
    "rougeL": LexicalRow("F1 of the longest common subsequence", "Lin 2004", _ROUGE),
    "meteor": LexicalRow("aligned words and stems, fewest chunks", "Denkowski and Lavie 2014", _METEOR),
    "cider": LexicalRow("CIDEr-D: cosine of tf-idf n-grams", "Vedantam et al. 2015", _CIDER, (0, 10), 10),
}
_WHOLE = Kind("a whole number", int)
_NUMBER = Kind("a number", float, number)
_WORD = Kind("a name", str)
_KINDS: Mapping[type, Kind] = {bool: SWITCH, int: _WHOLE, float: _NUMBER, str: _WORD}
_OPTIONAL: Mapping[str, Kind] = {"smooth_value": Kind("a number, or none", float, number)}
NONE = "none"


@dataclass(frozen=True)
class LexicalSpec:
    """A lexical metric with its settings; settings of the row stand where none is named."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType({**LEXICAL[self.name].options, **self.options}))

    def changed(self, changes: Iterable[str]) -> LexicalSpec:
        """The spec after `OPTION=VALUE` changes."""
        found = dict(self.options)
        for change in changes:
            option, equals, text = change.partition("=")
            if not equals:
                raise InvalidSetting(f"{self.name}: expected OPTION=VALUE, got {change!r}")
            kind = self._kind(option)
            try:
                found[option] = None if option in _OPTIONAL and text == NONE else kind.read(text)
            except ValueError:
                raise InvalidSetting(f"{self.name}: {option} takes {kind.accepts}, got {text!r}") from None
        return replace(self, options=found)

    @property
    def _usual(self) -> Mapping[str, Any]:
        """The settings of the row that texts can name."""
        usual = LEXICAL[self.name].options
        return {name: value for name, value in usual.items() if value is not None or name in _OPTIONAL}

    def _kind(self, option: str) -> Kind:
        if option not in self._usual:
            raise UnknownName(f"{self.name} option", option, self._usual)
        return _OPTIONAL[option] if option in _OPTIONAL else _KINDS[type(self._usual[option])]

    def written(self) -> dict[str, str]:
        """Every setting that texts can name, as text."""
        values = {name: self.options[name] for name in self._usual}
        return {name: NONE if value is None else self._kind(name).show(value) for name, value in values.items()}
