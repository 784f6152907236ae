"""Prepared idf: the dictionaries of bert-score's and MoverScore's `get_idf_dict`, made and read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from hashlib import blake2b
from math import exp, log

from monge.errors import UsageError
from monge.types import DIGEST_SPACE, CorpusStats, DocumentCounts

_CLOSE = 1e-6
"""How far a prepared idf may be from that of whole counts: dictionaries that went through float32 are read too."""


class IdfTable(defaultdict[int, float]):
    """The idf of every piece, ln((N+1)/(df+1)), as bert-score and MoverScore write it, and the counts it is made of."""

    def __init__(self, counts: DocumentCounts) -> None:
        """The weights of the pieces that were seen; others weigh ln(N+1)."""
        super().__init__(lambda: log(counts.n + 1))
        self.counts = counts
        self.update({piece: log((counts.n + 1) / (df + 1)) for piece, df in counts.df.items()})


def document_counts(table: Mapping[int, float]) -> DocumentCounts:
    """The counts behind an idf dictionary ln((N+1)/(df+1)) by piece, as bert-score and MoverScore make them.

    What the dictionary gives for pieces it does not hold, ln(N+1), tells the number of texts N.
    """
    make = getattr(table, "default_factory", None)
    if make is None:
        raise UsageError(
            f"idf: expected True, False, monge's CorpusStats, or the dictionary of get_idf_dict, which knows the "
            f"number of its texts; got {type(table).__name__}"
        )
    n = round(exp(make())) - 1
    df = {int(piece): round((n + 1) / exp(value)) - 1 for piece, value in table.items()}
    for piece, value in table.items():
        if n < 1 or df[int(piece)] < 0 or abs(log((n + 1) / (df[int(piece)] + 1)) - value) > _CLOSE:
            raise UsageError(
                f"idf: {value!r} of piece {piece} is not ln((N+1)/(df+1)) for whole numbers (N={n} by the default of "
                "the dictionary); take idf=True, or idf_sents"
            )
    seen = {piece: count for piece, count in sorted(df.items()) if count}
    known = getattr(table, "counts", None)
    if known is not None and (known.n, dict(known.df)) == (n, seen):
        return known  # type: ignore[no-any-return]
    key = blake2b(repr((n, list(seen.items()))).encode(), digest_size=16).digest()
    return DocumentCounts(n, seen, int.from_bytes(key) % DIGEST_SPACE)


def prepared(reader: str, **sides: Mapping[int, float]) -> CorpusStats:
    """Corpus statistics of idf dictionaries, one a side; `reader` is the key of what reads the texts."""
    return CorpusStats(reader, {side: document_counts(table) for side, table in sides.items()})
