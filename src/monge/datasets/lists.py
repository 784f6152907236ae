"""Lists of texts from Python -> segments, every bad item named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from monge.datasets.lines import check_text
from monge.errors import DataError, Misaligned, UsageError
from monge.types import Segment


def segments_of(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    sources: Iterable[str] | None = None,
) -> list[Segment]:
    """Make segments of parallel lists and check them; without references they have sources only."""
    texts = check_texts(hypotheses, "hypotheses")
    if not texts:
        raise DataError("there is nothing to score: hypotheses is empty")
    source = check_texts(sources, "sources") if sources is not None else None
    if references is None and source is None:
        raise UsageError("neither references nor sources were given")
    rows = reference_lists(references, len(texts)) if references is not None else [()] * len(texts)
    for name, values in (("references", rows), ("sources", source)):
        if values is not None and len(values) != len(texts):
            raise Misaligned(f"{len(texts)} hypotheses but {len(values)} {name}")
    return [
        Segment(str(number + 1), text, row, source[number] if source else None)
        for number, (text, row) in enumerate(zip(texts, rows, strict=True))
    ]


def _to_list(values: object, name: str) -> list[Any]:
    if isinstance(values, str | bytes):
        kind = type(values).__name__
        raise UsageError(
            f"{name}: expected a list of texts, got one {kind}; put it in a list: [{values[:20]!r}]"
        )
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"{name}: expected a list of texts, got {type(values).__name__}")
    # a frame or a matrix: iterating over a frame gives its column names
    if len(getattr(values, "shape", ())) == 2:
        return _frame_rows(values, name)
    if hasattr(values, "to_pylist"):  # a pyarrow column, whose items are no texts yet
        return list(values.to_pylist())
    return list(values)


def _frame_rows(table: Any, name: str) -> list[Any]:
    """Return the rows of a frame or matrix without missing cells."""
    if name == "references":
        cells = table.to_numpy().tolist() if hasattr(table, "to_numpy") else table.tolist()
        texts = [[text for text in row if not (text is None or text != text)] for row in cells]
        empty = next((index for index, row in enumerate(texts) if not row), None)
        if empty is not None:
            raise DataError(f"references[{empty}]: row {empty} of the frame has no reference")
        return texts
    names = [str(column) for column in getattr(table, "columns", ())]
    example = f": frame[{names[0]!r}]" if names else ""
    raise UsageError(
        f"{name}: expected one text per segment, got a table of {table.shape[1]} columns; name the "
        f"column{example}"
    )


def check_texts(values: object, name: str) -> list[str]:
    """Return a list of texts after checking each."""
    texts = _to_list(values, name)
    try:
        "".join(texts).encode()  # all together, which is fast
    except (TypeError, UnicodeEncodeError):
        for index, text in enumerate(texts):
            check_text(text, f"{name}[{index}]")
    return texts


def reference_lists(values: object, count: int | None) -> list[tuple[str, ...]]:
    """Return one tuple of references per hypothesis, from a list of texts or of lists of texts."""
    rows = _to_list(values, "references")
    nested = [not isinstance(row, str) for row in rows]
    if not any(nested):
        return [(text,) for text in check_texts(rows, "references")]
    for index, row in enumerate(rows):
        if not isinstance(row, Iterable) or isinstance(row, bytes | Mapping):
            check_text(row, f"references[{index}]")
    if not all(nested):
        raise UsageError(
            f"references: item {nested.index(False)} is a text, others are lists; give one form "
            "for all"
        )
    lists = [_to_list(row, f"references[{index}]") for index, row in enumerate(rows)]
    if (
        count is not None
        and len(lists) != count
        and lists
        and all(len(row) == count for row in lists)
    ):
        raise Misaligned(
            f"references look transposed: {len(lists)} lists of {count}; expected {count} lists, "
            "one per hypothesis: list(zip(*references))"
        )
    empty = next((index for index, row in enumerate(lists) if not row), None)
    if empty is not None:
        raise DataError(f"references[{empty}]: no reference for this hypothesis")
    return [
        tuple(check_text(text, f"references[{i}][{j}]") for j, text in enumerate(row))
        for i, row in enumerate(lists)
    ]
