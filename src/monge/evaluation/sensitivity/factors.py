"""Factors of preprocessing: what each may be set to, and what a setting changes in a metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from monge.errors import InvalidSetting, UnknownName
from monge.evaluation.variants import variation
from monge.metrics.axes import AXES, Idf
from monge.metrics.metric import MetricSpec
from monge.metrics.signature import named_corpus
from monge.text import stopwords

USUAL = ("stopwords", "idf", "subwords", "punctuation")
OFF, NONE, LANGUAGE = "off", "none", "lang"
AGGREGATION = "transport"
RANDOM, TEXTS = 4, 2000
"""The random corpora of the reproducibility study: four, of 2,000 texts each."""
_USUAL_VALUES = {
    "subwords": ("first", "all", "mean"),
    "punctuation": ("keep", "drop"),
    AGGREGATION: ("onesided", "exact"),
    "idf": (OFF, "references", f"random:{RANDOM}x{TEXTS}"),
}
_UNITS = ("stopwords", "subwords", "punctuation", "specials", "ngram")
_RANDOM = re.compile(r"random:(\d+)x(\d+)")


@dataclass(frozen=True)
class Draw:
    """The number and size of random corpora; `usual` ones may be smaller if texts are few."""

    corpora: int
    texts: int
    usual: bool = False


@dataclass(frozen=True)
class Factor:
    """A factor and its settings by name; a joint one is `a+b` with settings `x+y`."""

    name: str
    settings: tuple[str, ...]
    draw: Draw | None = None

    @property
    def parts(self) -> list[str]:
        """The factors that a joint one is made of."""
        return self.name.split("+")

    def split(self, setting: str) -> dict[str, str]:
        """Return a setting as one of each part."""
        parts = self.parts
        if len(parts) > 1:
            return dict(zip(parts, setting.split("+"), strict=True))
        return {self.name: setting}


def factors(texts: Sequence[str], languages: Sequence[str]) -> tuple[Factor, ...]:
    """Return the factors of `stopwords,idf`, `layers=6,8` or `subwords+punctuation`."""
    factor_list: list[Factor] = []
    for text in texts or [",".join(USUAL)]:
        if "=" in text:
            varied = variation(text)
            factor_list.append(_make_factor(varied.target, varied.values, languages=languages))
        else:
            factor_list += [
                _usual_factor(name.strip(), languages) for name in text.split(",") if name.strip()
            ]
    names = [factor.name for factor in factor_list]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise InvalidSetting(
            f"the factor {duplicate} was given twice; give all its settings at once"
        )
    if not factor_list:
        raise InvalidSetting("no factor was given; expected --factor NAME or NAME=VALUE,VALUE")
    return tuple(factor_list)


def _usual_factor(name: str, languages: Sequence[str]) -> Factor:
    if "+" in name:
        parts = [_usual_factor(part_name.strip(), languages) for part_name in name.split("+")]
        if any(part.draw for part in parts):
            raise InvalidSetting(
                f"{name}: a joint factor cannot include idf; vary idf alone, or cross it (--cross)"
            )
        settings = tuple(
            "+".join(combination) for combination in product(*(part.settings for part in parts))
        )
        return Factor("+".join(part.name for part in parts), settings)
    if name == "stopwords":
        return _make_factor(name, _usual_stopwords(languages))
    if name in _USUAL_VALUES:
        return _make_factor(name, _USUAL_VALUES[name], usual=True)
    if name in AXES or "." in name:
        raise InvalidSetting(f"the factor {name} needs its settings: --factor {name}=VALUE,VALUE")
    raise UnknownName(
        "factor", name, {*USUAL, AGGREGATION}, "(or an axis with its settings: layers=4,5,6)"
    )


def _usual_stopwords(languages: Sequence[str]) -> tuple[str, ...]:
    missing = [language for language in languages if language not in stopwords.names()]
    if missing:
        raise InvalidSetting(
            f"no stopword list ships for {', '.join(missing)}: give a file (--factor "
            "stopwords=none,FILE)"
        )
    if len(languages) > 1:
        return NONE, LANGUAGE
    return (NONE, "moverscore", "en") if languages[0] == "en" else (NONE, languages[0])


def _make_factor(
    name: str, values: Sequence[str], *, usual: bool = False, languages: Sequence[str] = ()
) -> Factor:
    if name != "idf":
        return Factor(name, tuple(values))
    settings: list[str] = []
    draw = None
    for value in values:
        match = _RANDOM.fullmatch(value)
        if match is None:
            paths = [Path(list_of(value, language)) for language in languages or ("",)]
            is_there = all(path.is_file() for path in paths)
            if value != OFF and not named_corpus(value) and not is_there:
                raise InvalidSetting(
                    "idf takes off, references, each-side, both-sides, sources, random:KxN or a "
                    f"file of texts, got {value!r}"
                )
            settings.append(value)
            continue
        if draw is not None:
            raise InvalidSetting("idf: random corpora were asked for twice")
        draw = Draw(int(match[1]), int(match[2]), usual)
        if draw.corpora < 1 or draw.texts < 2:
            raise InvalidSetting(f"{value}: expected one corpus or more, of two texts or more")
        settings += [random_name(number) for number in range(draw.corpora)]
    if len(settings) < 2:
        raise InvalidSetting(f"idf needs two settings or more, got {', '.join(values)}")
    return Factor(name, tuple(settings), draw)


def random_name(number: int) -> str:
    """Return the name of a random corpus by its number (from 0)."""
    return f"random-{number + 1}"


def list_of(setting: str, language: str) -> str:
    """The list or corpus of a setting: `lang` the language's own, `{lang}` in a path its code."""
    return language if setting == LANGUAGE else setting.replace("{lang}", language)


def shown(setting: str) -> str:
    """Return a setting as tables show it: of a file its name."""
    if setting.endswith(".txt") or ("/" in setting and Path(setting).is_file()):
        return Path(setting).name
    return setting


def changes(factor: str, setting: str, spec: MetricSpec, language: str) -> tuple[str, ...]:
    """Return what a setting changes in a metric: `AXIS=VALUE` or `AXIS.FIELD=VALUE`, in order.

    idf keeps the metric's own formula where it has one; `off` is uniform weights, or the metric's
    own if those are not idf.
    """
    parts = factor.split("+")
    if len(parts) > 1:
        part_settings = zip(parts, setting.split("+"), strict=True)
        return tuple(
            change
            for name, part_setting in part_settings
            for change in changes(name, part_setting, spec, language)
        )
    if factor == "idf":
        weighs = isinstance(spec.weights, Idf)
        if setting == OFF:
            return ("weights=uniform",) if weighs else ()
        return (
            *(() if weighs else ("weights=idf",)),
            f"weights.corpus={list_of(setting, language)}",
        )
    if factor == "stopwords":
        return (f"units.stopwords={list_of(setting, language)}",)
    return (f"units.{factor}={setting}",) if factor in _UNITS else (f"{factor}={setting}",)
