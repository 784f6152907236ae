"""Typed records of what people marked in judged outputs: spans, raters, documents, domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["hypothesis", "source"]


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """An error that a rater marked.

    Attributes:
        severity: As the file writes it, such as `Major` or `minor`.
        category: As the file writes it, such as `Fluency/Punctuation`; empty where there are none.
        side: The text that holds the span: the output, or the source for what is left out.
        start: The first character of the span; None where the whole of it is missing in the output.
        end: The character after the span; None likewise.
    """

    severity: str
    category: str = ""
    side: Side = "hypothesis"
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RaterAnnotation:
    """What one rater marked in one output; without errors it was rated as free of them.

    Attributes:
        rater: The name of the rater in the file.
        errors: The marked errors, in the order of the file.
        score: The rater's score: given by the rater, or computed from the errors.
        wave: The wave of the campaign, where the files tell it.
    """

    rater: str
    errors: tuple[ErrorSpan, ...] = ()
    score: float | None = None
    wave: str = ""


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """What is known of a judged output beside its texts and its score."""

    document: str = ""
    domain: str = ""
    annotations: tuple[RaterAnnotation, ...] = ()
