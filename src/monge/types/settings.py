"""Settings of a metric: kinds of values (parsed, written, checked) and choices of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite, isnan
from typing import Any
from urllib.parse import quote, unquote


@dataclass(frozen=True)
class Choice:
    """A choice on an axis of a metric, selected by `name` ('' where it is the only one)."""

    name: str


@dataclass(frozen=True)
class Kind:
    """A kind of value: `read` parses a text or raises ValueError, `accepts` says what it takes.

    `options` are the accepted words, where the kind is a fixed list of words.
    """

    accepts: str
    read: Callable[[str], Any]
    show: Callable[[Any], str] = str
    options: tuple[str, ...] = ()


def setting(default: Any, kind: Kind) -> Any:
    """Declare a dataclass field that users can set as text."""
    return field(default=default, metadata={"kind": kind})


def _read_checked(
    convert: Callable[[str], Any], good: Callable[[Any], bool]
) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = convert(text)
        if not good(value):
            raise ValueError(text)
        return value

    return read


def number(value: float) -> str:
    """Return the shortest text that reads back as the same float."""
    if isfinite(value) and value == int(value) and abs(value) < 1e15:
        return repr(int(value))
    return repr(float(value))


def one_of(*names: str) -> Kind:
    """Return the kind of value that is one of these words."""
    return Kind(
        "one of " + ", ".join(names),
        _read_checked(str, lambda value: value in names),
        options=names,
    )


POSITIVE = Kind(
    "a positive finite number", _read_checked(float, lambda v: isfinite(v) and v > 0), number
)
SMALL = Kind(
    "a finite number of at least 0", _read_checked(float, lambda v: isfinite(v) and v >= 0), number
)
EXPONENT = Kind("a number from 1 to 10", _read_checked(float, lambda v: 1 <= v <= 10), number)
UNIT = Kind("a number from 0 to 1", _read_checked(float, lambda v: 0 <= v <= 1), number)
CEILING = Kind(
    "a positive number, or inf", _read_checked(float, lambda v: not isnan(v) and v > 0), number
)
COUNT = Kind("a whole number of at least 1", _read_checked(int, lambda v: v >= 1))
WHOLE = Kind("a whole number of at least 0", _read_checked(int, lambda v: v >= 0))


def optional(kind: Kind) -> Kind:
    """Return the same kind of value, with `none` accepted too."""
    return Kind(
        f"{kind.accepts}, or none",
        lambda text: None if text == "none" else kind.read(text),
        lambda value: "none" if value is None else kind.show(value),
    )


def _read_switch(text: str) -> bool:
    words = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


SWITCH = Kind("yes or no", _read_switch, lambda value: "yes" if value else "no", ("yes", "no"))


def _count_or(word: str) -> Kind:
    def read(text: str) -> int:
        if text == word:
            return 0
        value = int(text)
        if value < 1:
            raise ValueError(text)
        return value

    return Kind(
        f"a whole number of at least 1, or {word}",
        read,
        lambda value: word if value == 0 else str(value),
    )


NGRAM = _count_or("sentence")
SWEEPS = _count_or("converged")
LENGTH = _count_or("auto")


def _read_slack(text: str) -> tuple[float, float]:
    values = tuple(float(part) for part in text.replace("/", ",").split(","))
    if len(values) != 2 or any(isnan(value) or value < 0 for value in values):
        raise ValueError(text)
    return values[0], values[1]


SLACK = Kind(
    "two numbers of at least 0 (inf allowed), hypothesis/reference",
    _read_slack,
    lambda pair: "/".join(number(value) for value in pair),
)
RIGID = (inf, inf)


def _read_positive_numbers(text: str) -> tuple[float, ...]:
    values = tuple(float(part) for part in text.replace(",", "/").split("/"))
    if any(not isfinite(value) or value <= 0 for value in values):
        raise ValueError(text)
    return values


TEMPERATURES = Kind(
    "positive numbers joined by /",
    _read_positive_numbers,
    lambda values: "/".join(number(value) for value in values),
)

NAME = Kind("a name or a file", _read_checked(str, bool))
TEXT = Kind("any text", unquote, lambda text: quote(text, safe=":"))
