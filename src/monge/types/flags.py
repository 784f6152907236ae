"""Flags that mark an unusual text of a segment: a kind, each with its sentence, and a side.

To add a kind, add a member to `FlagKind`; whatever writes, reads or describes flags follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum


class FlagSide(StrEnum):
    """The side of a segment that a flag is about; a source counts as the reference."""

    HYPOTHESIS = "hypothesis"
    REFERENCE = "reference"


class FlagKind(Enum):
    """What is unusual about a text: the name of the kind, and what a sentence says of the text."""

    EMPTY = ("empty", "is empty")
    TRUNCATED = ("truncated", "was longer than the model reads, and was cut")
    UNKNOWN = ("unknown", "has pieces that the model does not know")
    NO_MASS = ("no-mass", "had no word with weight, so all its words count the same")
    CENTRE_VANISHED = (
        "centre-vanished",
        "is nothing but the mean that is subtracted, so nothing was subtracted",
    )
    ALL_FILTERED = (
        "all-filtered",
        "had no word left after filtering, so all its words were kept",
    )

    def __init__(self, label: str, sentence: str) -> None:
        self.label, self.sentence = label, sentence


class Flag(str):
    """A flag of a segment; as a string it is KIND-SIDE, such as `truncated-hypothesis`."""

    __slots__ = ("kind", "side")
    kind: FlagKind
    side: FlagSide

    def __new__(cls, kind: FlagKind, side: FlagSide) -> Flag:
        """Make the flag of a kind for a side."""
        flag = super().__new__(cls, f"{kind.label}-{side}")
        flag.kind, flag.side = kind, side
        return flag

    def __getnewargs__(self) -> tuple[FlagKind, FlagSide]:  # type: ignore[override]
        return self.kind, self.side

    @property
    def sentence(self) -> str:
        """What the flag says, as a sentence."""
        return f"The {self.side} {self.kind.sentence}."


FLAGS: Mapping[str, Flag] = {
    str(flag): flag for flag in (Flag(kind, side) for kind in FlagKind for side in FlagSide)
}
"""Every flag by its written form, which is how a written flag is parsed."""


def describe_flag(written: str) -> str:
    """Describe a written flag in a sentence; one of another program is returned as it is."""
    flag = FLAGS.get(written)
    return f"{written}." if flag is None else flag.sentence


def has_kind(written_flags: Iterable[str], kind: FlagKind) -> bool:
    """Return whether one of these flags is of a kind, whatever its side."""
    flags = (FLAGS.get(written) for written in written_flags)
    return any(flag is not None and flag.kind is kind for flag in flags)
