"""What the scorers of the lexical table share: their answer, their settings, their signature."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from monge.errors import InvalidSetting, MissingExtra

Texts = Sequence[str]
References = Sequence[Sequence[str]]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scored:
    """Segment scores; `corpus` None means their mean."""

    segments: Sequence[float]
    signature: str
    corpus: float | None = None
    parts: Mapping[str, Sequence[float]] = field(default_factory=dict)


def library(name: str) -> Any:
    """A module of the extra `lexical`, imported when it is needed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra("a lexical metric", "lexical") from error


def choice(metric: str, options: Options, option: str, known: Sequence[str]) -> str:
    """The value of an option that is one of a few names."""
    value = str(options[option])
    if value not in known:
        raise InvalidSetting(f"{metric}: {option}={value!r} is not one of {', '.join(known)}")
    return value


def at_least(metric: str, options: Options, **least: float) -> None:
    """Refuse options below their bound."""
    for name, bound in least.items():
        if not options[name] >= bound:
            raise InvalidSetting(f"{metric}: {name} must be at least {bound}, got {options[name]}")


def signature(worker: str, facts: Mapping[str, object]) -> str:
    """`key:value` joined by `|`, like sacrebleu's, starting with the library that did the work."""
    shown = {True: "yes", False: "no"}
    pairs = {"lib": worker, **facts}
    return "|".join(f"{key}:{shown[value] if isinstance(value, bool) else value}" for key, value in pairs.items())


def reference_count(references: References) -> str:
    """How many references a segment has, `var` where it varies."""
    counts = {len(some) for some in references}
    return str(counts.pop()) if len(counts) == 1 else "var"


def porter() -> Callable[[str], str]:
    """Porter's stemmer of nltk, which rouge-score needs too."""
    stemmer = library("nltk.stem.porter").PorterStemmer()
    return cache(lambda word: str(stemmer.stem(word)))
