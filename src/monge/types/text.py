"""Texts before encoding: segments and one scan over them, their pieces and their units."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monge.types.flags import FlagKind

BLANK = "␣"
"""The label of a piece that is only the marker of the beginning of a word."""
_MARKS = frozenset({"▁", "Ġ"})
_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
FIRST_SEGMENTS = 64
"""Segments at the beginning of a run whose texts are checked before anything is scored."""


def is_blank(text: str) -> bool:
    """Return whether a text has only white space, control and format characters."""
    return all(
        character.isspace() or unicodedata.category(character) in _INVISIBLE for character in text
    )


@dataclass(frozen=True, slots=True)
class Segment:
    """One text to be scored: a system's hypothesis for an item, with its references and source.

    Examples:
        >>> segment = monge.Segment("1", "a hypothesis", ("a reference",), source="ein Text")
        >>> segment.references
        ('a reference',)
    """

    id: str
    hypothesis: str
    references: tuple[str, ...] = ()
    source: str | None = None
    system: str = ""

    @property
    def worded_references(self) -> tuple[int, ...]:
        """The indices of the references to use: blank ones are left out unless all are blank."""
        worded = tuple(place for place, text in enumerate(self.references) if not is_blank(text))
        return worded or tuple(range(len(self.references)))


@dataclass(frozen=True)
class InputSummary:
    """Facts about the segments of a run, from one scan.

    systems: their names in input order; sides: the sides that any segment has, each with the first
    segment that lacks it, None where all have it; first: the first segments.
    """

    systems: Sequence[str]
    sides: Mapping[str, Segment | None]
    first: Sequence[Segment]


def scan_input(segments: Iterable[Segment]) -> InputSummary:
    """Go through the segments once."""
    first: list[Segment] = []
    systems: dict[str, None] = {}
    present: set[str] = set()
    lacking: dict[str, Segment] = {}
    for row in segments:
        systems[row.system] = None
        if len(first) < FIRST_SEGMENTS:
            first.append(row)
        has_sides = {"references": bool(row.references), "source": row.source is not None}
        for side, has_side in has_sides.items():
            if has_side:
                present.add(side)
            else:
                lacking.setdefault(side, row)
    sides = [side for side in ("references", "source") if side in present]
    return InputSummary(list(systems), {side: lacking.get(side) for side in sides}, first)


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenised text: what the encoder reads, and where each piece stands in the text.

    `ids`, `pieces`, `spans`, `special`, `continues` have one entry per piece. `spans` are character
    offsets into `text`; `continues[i]` says that piece i goes on with the word of piece i-1.
    `truncated` counts the pieces that were cut off. Where vectors are looked up word by word,
    `words` counts the words of the text and `unknown` those among them that have no vector.
    """

    text: str
    ids: tuple[int, ...]
    pieces: Sequence[str]
    spans: Sequence[tuple[int, int]]
    special: Sequence[bool]
    continues: Sequence[bool]
    truncated: int = 0
    words: int = 0
    unknown: int = 0

    def surface(self, positions: Sequence[int]) -> str:
        """Return the text that the pieces cover, or the first piece if they cover none."""
        covered_text = self.text[
            max(self.spans[positions[0]][0], 0) : max(self.spans[positions[-1]][1], 0)
        ].strip()
        return covered_text or self.pieces[positions[0]].removeprefix("##").removeprefix(
            "▁"
        ).removeprefix("Ġ")


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a text that are compared: groups of pieces.

    Unit u is the mean of the vectors at positions `groups[u]`; `special[u]` marks a unit made of
    special pieces; `words` says that a unit stands for a whole word; `flags` name what was unusual.
    """

    tokens: Tokens
    groups: tuple[tuple[int, ...], ...]
    special: tuple[bool, ...]
    words: bool = False
    flags: tuple[FlagKind, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each unit for people: its word or piece, or the name of a special piece."""
        return tuple(self._label(group) for group in self.groups)

    def _label(self, group: tuple[int, ...]) -> str:
        if self.tokens.special[group[0]]:
            return self.tokens.pieces[group[0]]
        if not self.words:
            bare = all(self.tokens.pieces[place] in _MARKS for place in group)
            return BLANK if bare else self.tokens.surface(group)
        end = group[-1]
        while end + 1 < len(self.tokens.ids) and self.tokens.continues[end + 1]:
            end += 1
        return self.tokens.surface((group[0], end))
