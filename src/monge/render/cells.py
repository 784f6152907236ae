"""Numbers as people read them, and text in columns: display width, padding, line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby, zip_longest
from math import ceil, floor, log10
from unicodedata import category, combining, east_asian_width

from monge.types.table import Cell

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_BIDI = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_INVISIBLE = frozenset({"Mn", "Me", "Cf"})
_HANGUL_ENDS = frozenset(map(chr, range(0x1160, 0x1200)))
"""The middle and the end of a Hangul syllable, which stand in the columns of its beginning."""
_CODES = {"bold": "1", "dim": "2", "good": "32", "bad": "33"}
_WIDE_MARK, _JOINER = "\ufe0f", "\u200d"
GAP, DASH = "  ", "–"
NARROWEST = 8
"""Columns of words are not made narrower than this."""


MOST_DIGITS = 4
"""The decimals of a score where no interval says how many it supports."""


_fixed_digits: ContextVar[int | None] = ContextVar("fixed_digits", default=None)


@contextmanager
def fixed_digits(digits: int) -> Iterator[None]:
    """Show every score, agreement and difference with so many decimals in the block."""
    token = _fixed_digits.set(digits)
    try:
        yield
    finally:
        _fixed_digits.reset(token)


def choose_digits(usual: int) -> int:
    """Return the decimals that are fixed, or the usual ones."""
    fixed = _fixed_digits.get()
    return usual if fixed is None else fixed


def decimals(value: float, digits: int | None = None) -> str:
    """Return a number as tables print it, without a negative zero; three decimals by default."""
    digits = choose_digits(3) if digits is None else digits
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def number(value: float) -> str:
    """Return a score: four decimals, if no other number is fixed."""
    return decimals(value, choose_digits(MOST_DIGITS))


MINUS = "−"
_HYPHEN = re.compile(r"(?<![^\s\[(±+/])-(?=\.?\d)")


def with_minus(text: str) -> str:
    """Return the numbers of a cell with a minus sign instead of a hyphen."""
    return _HYPHEN.sub(MINUS, text)


def supported_digits(intervals: Iterable[tuple[float, float] | None]) -> int:
    """Return the decimals that intervals support: two digits of the narrowest, at most four.

    An interval without width says nothing, and a column without any other has four.
    """
    ends = [interval for interval in intervals if interval is not None]
    widths = [high - low for low, high in ends if high > low]
    supported = min(max(1 - floor(log10(min(widths))), 0), MOST_DIGITS) if widths else MOST_DIGITS
    return choose_digits(supported)


def p_value(value: float, *, bound: bool = False) -> str:
    """Return a p-value in three decimals without leading zero; a smaller one with one digit.

    `bound`: it is the smallest that so many random draws can give, and the true one is at most
    that.
    """
    digits = 3 if value >= 1e-3 or value <= 0 else -floor(log10(value))
    rounded = ceil(round(value * 10**digits, 6)) / 10**digits if bound else value
    text = decimals(rounded, digits)
    text = text[:5] + text[5:].rstrip("0")
    return ("≤ " if bound else "") + (text[1:] if text.startswith("0.") else text)


def dashed(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where it is undefined."""
    return DASH if value is None else decimals(value, digits)


def span(low: float | None, high: float | None, digits: int | None = None) -> str:
    """Return an interval, or nothing."""
    if low is None or high is None:
        return ""
    return f"[{decimals(low, digits)}, {decimals(high, digits)}]"


def number_cell(
    value: float,
    low: float | None = None,
    high: float | None = None,
    *,
    digits: int,
    mark: str = "",
) -> Cell:
    """Return a number with its interval as a cell: people read `digits` decimals, records all."""
    ends = None if low is None or high is None else (low, high)
    digits = choose_digits(digits)
    text, detail = decimals(value, digits), span(low, high, digits)
    return Cell(text, detail, mark, value=value, ends=ends)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Join names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def printable(text: str) -> str:
    """Return the text with control, direction and lone surrogate characters as escapes.

    A system name or a hypothesis can hold anything; a terminal must not obey it.
    """
    return "".join(
        char.encode("unicode_escape").decode()
        if char in _BIDI or category(char) in _UNPRINTABLE
        else char
        for char in text
    )


def display_width(text: str) -> int:
    """Return the terminal columns of a text: wide characters and emoji 2, marks 0."""
    plain = _STYLE.sub("", text)
    return len(plain) if plain.isascii() else sum(width for _, width in _columns(plain))


def _columns(text: str) -> Iterator[tuple[str, int]]:
    """Yield characters with the columns they add: none if joined to an emoji."""
    before, is_joined = 0, False
    for char in text:
        if char == _WIDE_MARK:
            width = 1 if before == 1 else 0
        elif is_joined or combining(char) or category(char) in _INVISIBLE or char in _HANGUL_ENDS:
            width = 0
        else:
            width = 2 if east_asian_width(char) in "WF" else 1
        before, is_joined = (width or before), char == _JOINER
        yield char, width


def pad(text: str, width: int, side: str = "l") -> str:
    """Return the text padded to a display width; side "l" or "r" says where the text is."""
    space = " " * max(0, width - display_width(text))
    return space + text if side == "r" else text + space


def clip(text: str, width: int) -> str:
    """Return the text cut to a display width, the cut shown by an ellipsis."""
    if display_width(text) <= width:
        return text
    used, characters = 1, []
    for char, columns in _columns(text):
        used += columns
        if used > width:
            break
        characters.append(char)
    return "".join(characters) + "…"


def styled(text: str, style: str, colour: bool) -> str:
    """Return the text in an ANSI style (bold, dim, good, bad), or as it is without colour."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour and text else text


def table(rows: Sequence[Sequence[str]], align: str, *, width: int | None = None) -> list[str]:
    """Lines of a table of printable cells whose columns line up.

    `align` has a letter a column, "l" or "r"; where the table is wider than `width`, columns to the
    left are clipped.
    """
    if not rows:
        return []
    wide = [max(display_width(row[column]) for row in rows) for column in range(len(align))]
    wide = _narrowed(wide, align, width)
    return [
        GAP.join(
            pad(cell if side == "r" else clip(cell, columns), columns, side)
            for cell, columns, side in zip(row, wide, align, strict=True)
        ).rstrip()
        for row in rows
    ]


def fold(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` columns, broken between words.

    A longer word is broken behind punctuation, or where the line ends. Every line begins with the
    spaces that the text begins with.
    """
    if display_width(text) <= width:
        return [text]
    margin = text[: len(text) - len(text.lstrip(" "))]
    lines, line = [], margin
    for word in text.split():
        begun = bool(line.strip())
        if not begun or display_width(line) + 1 + display_width(word) <= width:
            line += " " * begun + word
        else:
            lines.append(line)
            line = margin + word
        while display_width(line) > width > display_width(margin) + 1:
            line_part = _cut(line, width)
            lines.append(line[:line_part])
            line = margin + line[line_part:]
    return [*lines, line]


_BREAKS = re.compile(r"[-,;:|/_.=\]]|(?=\[)")


def _cut(text: str, width: int) -> int:
    """Return how many characters fit: up to the last punctuation in the second half, or all."""
    used, most = 0, 0
    for _, columns in _columns(text):
        used += columns
        if used > width:
            break
        most += 1
    breaks = [match.end() for match in _BREAKS.finditer(text, 0, most)]
    return breaks[-1] if breaks and breaks[-1] > most // 2 else max(most, 1)


def column_widths(
    rows: Sequence[Sequence[str]], align: str, width: int | None, least: int
) -> list[int]:
    """Return the widths of the columns of a table, the first row of which is its head.

    Where the table is wider than `width`, cells of words ("l") and heads are narrowed until they
    must be broken inside words, then down to `least`; numbers are never broken. The widest column
    loses first.
    """
    columns = list(zip(*rows, strict=True))
    wide = [max(map(display_width, column)) for column in columns]
    numbers = [
        max(map(display_width, column[1:]), default=1) if side == "r" else 1
        for column, side in zip(columns, align, strict=True)
    ]
    words = [
        max(
            (
                display_width(word)
                for cell in (column if side == "l" else column[:1])
                for word in cell.split()
            ),
            default=0,
        )
        for column, side in zip(columns, align, strict=True)
    ]
    widths = [max(pair) for pair in zip(words, numbers, strict=True)]
    broken = [max(min(word, least), number) for word, number in zip(words, numbers, strict=True)]
    for smallest in (widths, broken):
        while width is not None and total_width(wide) > width:
            candidates = [k for k in range(len(wide)) if wide[k] > smallest[k]]
            if not candidates:
                break
            wide[max(candidates, key=lambda k: wide[k])] -= 1
    return wide


def total_width(wide: Sequence[int]) -> int:
    """Return the width of a table with columns of these widths."""
    return sum(wide) + len(GAP) * (len(wide) - 1)


def folded_row(row: Sequence[str], align: str, wide: Sequence[int]) -> list[str]:
    """Return the lines of a row of a table: cells that are wider than their column are broken."""
    cells = [fold(cell, most) for cell, most in zip(row, wide, strict=True)]
    return [
        GAP.join(
            pad(cell, columns, side) for cell, columns, side in zip(line, wide, align, strict=True)
        ).rstrip()
        for line in zip_longest(*cells, fillvalue="")
    ]


def _narrowed(wide: list[int], align: str, width: int | None) -> list[int]:
    """Return the widths of columns, those of words narrowed until the table fits the width."""
    excess = 0 if width is None else sum(wide) + len(GAP) * (len(wide) - 1) - width
    wide = list(wide)
    while excess > 0:
        candidates = [
            column for column, side in enumerate(align) if side == "l" and wide[column] > NARROWEST
        ]
        if not candidates:
            break
        wide[max(candidates, key=lambda column: wide[column])] -= 1
        excess -= 1
    return wide


def gloss(pairs: Sequence[tuple[str, str]], *, width: int) -> list[str]:
    """Return an interlinear gloss: two-line blocks, each word over its annotation."""
    return [
        line
        for block in _blocks(pairs, width - len(GAP))
        for line in (*(GAP + row for row in table(block, "l" * len(block[0]))), "")
    ]


def _blocks(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[tuple[list[str], list[str]]]:
    line, used, numbered = 0, 0, []
    for pair in pairs:
        columns = max(map(display_width, pair)) + len(GAP)
        if used and used + columns > width:
            line, used = line + 1, 0
        used += columns
        numbered.append((line, pair))
    for _, group in groupby(numbered, key=lambda item: item[0]):
        block = [pair for _, pair in group]
        yield [above for above, _ in block], [below for _, below in block]
