"""Make and read the idf dictionaries of `get_idf_dict` of bert-score and MoverScore."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from math import exp, log

from monge.errors import UsageError
from monge.types import DIGEST_SPACE, CorpusStats, DocumentCounts

_CLOSE = 1e-6
"""Tolerance between an idf and that of whole counts, so that dictionaries in float32 are
accepted.
"""


class IdfTable(defaultdict[int, float]):
    """The idf of every piece, ln((N+1)/(df+1)), with the counts that it is made of."""

    def __init__(self, counts: DocumentCounts) -> None:
        """Compute the idf of the counted pieces; other pieces get ln(N+1)."""
        super().__init__(lambda: log(counts.n + 1))
        self.counts = counts
        self.update({piece: log((counts.n + 1) / (df + 1)) for piece, df in counts.df.items()})


def document_counts(table: Mapping[int, float]) -> DocumentCounts:
    """Recover the document counts from an idf dictionary ln((N+1)/(df+1)) of a peer.

    The number of texts N follows from the default of the dictionary, ln(N+1).
    """
    make = getattr(table, "default_factory", None)
    if make is None:
        raise UsageError(
            "idf: expected True, False, monge's CorpusStats, or the dictionary of get_idf_dict, "
            f"which knows the number of its texts; got {type(table).__name__}"
        )
    n = round(exp(make())) - 1
    df = {int(piece): round((n + 1) / exp(value)) - 1 for piece, value in table.items()}
    for piece, value in table.items():
        if n < 1 or df[int(piece)] < 0 or abs(log((n + 1) / (df[int(piece)] + 1)) - value) > _CLOSE:
            raise UsageError(
                f"idf: {value!r} of piece {piece} is not ln((N+1)/(df+1)) for whole numbers (N={n} "
                "by the default of the dictionary); take idf=True, or idf_sents"
            )
    positive_df = {piece: count for piece, count in sorted(df.items()) if count}
    counts = getattr(table, "counts", None)
    if counts is not None and (counts.n, dict(counts.df)) == (n, positive_df):
        return counts  # type: ignore[no-any-return]
    key = blake2b(repr((n, list(positive_df.items()))).encode(), digest_size=16).digest()
    return DocumentCounts(n, positive_df, int.from_bytes(key) % DIGEST_SPACE)


def prepare_idf(reader: str, **sides: Mapping[int, float]) -> CorpusStats:
    """Return corpus statistics from one idf dictionary per side; `reader` is the reader's key."""
    return CorpusStats(reader, {side: document_counts(table) for side, table in sides.items()})
