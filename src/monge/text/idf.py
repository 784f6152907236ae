"""Inverse document frequency: how rare a piece is in a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from math import log, log2

from monge.errors import DataError
from monge.types import DIGEST_SPACE, DocumentCounts


def text_key(text: str) -> int:
    """Return the number of a text; keys of several texts are added, so order is irrelevant."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())


def count_documents(texts: Iterable[tuple[str, Sequence[int]]]) -> DocumentCounts:
    """Count the texts that each piece occurs in, from (text, ids of all its pieces)."""
    df: Counter[int] = Counter()
    n, keys = 0, 0
    for text, ids in texts:
        df.update(set(ids))
        n += 1
        keys += text_key(text)
    return DocumentCounts(n, dict(df), keys % DIGEST_SPACE)


def idf_weight(counts: DocumentCounts, kind: str) -> Callable[[int], float]:
    """Return the weight: `idf` ln((N+1)/(df+1)), `idf-yisi` log2(1 + (N+1)/(df+1))."""
    top, df = counts.n + 1, counts.df
    table: dict[int, float] = {}

    def of(piece: int) -> float:
        if piece not in table:
            ratio = top / (df.get(piece, 0) + 1)
            table[piece] = log(ratio) if kind == "idf" else log2(1 + ratio)
        return table[piece]

    return of


def check_counts(metric: str, kind: str, counts: DocumentCounts, side: str) -> None:
    """Raise where the texts of a side give no idf: there are none, or all have the same words."""
    if counts.n == 0:
        raise DataError(f"{metric}: no {side} to fit idf from")
    if kind == "idf" and all(df == counts.n for df in counts.df.values()):
        size = "1 text" if counts.n == 1 else f"{counts.n} equal texts"
        raise DataError(
            f"{metric}: idf from {size} of the {side} is 0 for every word: give more texts, "
            "--idf-corpus FILE, --stats FILE, or --set weights=uniform"
        )
