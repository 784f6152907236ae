"""The encoding pass that the metrics of a run share: each distinct text of a window is read once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from monge.encode.batching import EncodingCounters, Vectors
from monge.encode.protocol import Request
from monge.scoring.windows import distinct
from monge.types import Segment, Tokens

if TYPE_CHECKING:
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric
    from monge.scoring.windows import Pieces
    from monge.store import Store

Read = Mapping[str, tuple[Tokens, Mapping[Request, Tensor]]]
KEPT = 1 << 16
"""Characters of texts whose pieces a reader keeps: what is looked at before it is scored is cut once. Pieces take some
50 bytes a character."""


class Encoding:
    """Pieces and vectors of texts, for every reader of some metrics; vectors of recent texts are kept.

    `kept` is the number of characters of texts whose pieces are kept too.
    """

    def __init__(self, metrics: Sequence[TransportMetric], store: Store | None = None, kept: int = KEPT) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            wanted = requests.setdefault(metric.reader, [])
            if metric.request not in wanted:
                wanted.append(metric.request)
        self._vectors = {
            reader: Vectors(reader.encoder, wanted, longest=reader.longest, store=store)
            for reader, wanted in requests.items()
        }
        self._kept = kept
        self._cut: dict[Reader, tuple[int, dict[str, Tokens]]] = {reader: (0, {}) for reader in requests}

    def cut(self, texts: Sequence[str], reader: Reader) -> list[Tokens]:
        """The pieces of texts; those of recent ones are kept."""
        size, known = self._cut[reader]  # replaced, never changed: windows are cut in a thread of their own
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if not fresh:
            return [known[text] for text in texts]
        found, more = dict(zip(fresh, reader.read(fresh), strict=True)), sum(map(len, fresh))
        room = size + more <= self._kept
        self._cut[reader] = (size + more, {**known, **found}) if room else (more, found)
        return [found[text] if text in found else known[text] for text in texts]

    def pieces(self, rows: Sequence[Segment]) -> Pieces:
        """The pieces of the distinct texts of some segments, for every reader."""
        texts = distinct(rows)
        return {reader: dict(zip(texts, self.cut(texts, reader), strict=True)) for reader in self._vectors}

    def read(self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None) -> Read:
        """Pieces and vectors of distinct texts; `pieces` where the texts have been cut already."""
        tokens = self.cut(texts, reader) if pieces is None else [pieces[text] for text in texts]
        vectors = self._vectors[reader].of(tokens)
        return dict(zip(texts, zip(tokens, vectors, strict=True), strict=True))

    def forget(self) -> None:
        """Let go of the vectors of all texts."""
        for vectors in self._vectors.values():
            vectors.forget()

    @property
    def counters(self) -> EncodingCounters:
        """Work done so far, over all readers."""
        each = [vectors.counters for vectors in self._vectors.values()]
        return EncodingCounters(*(sum(getattr(one, name) for one in each) for name in ("texts", "encoded", "pieces")))
