"""The encoding pass that the metrics of a run share: each distinct text of a window is encoded once
for all metrics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from monge.encoders.batching import EncodingCounters, Vectors
from monge.encoders.protocol import Request
from monge.scoring.windows import distinct
from monge.types import Segment, Tokens

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric
    from monge.scoring.windows import Pieces

Read = Mapping[str, tuple[Tokens, Mapping[Request, Tensor]]]
CACHED_CHARACTERS = 1 << 16
"""Characters of texts whose pieces are cached per reader, so that texts that are checked before
scoring are tokenised once. Pieces take about 50 bytes per character."""


class Encoding:
    """Pieces and vectors of texts, for every reader of some metrics; vectors of recent texts are
    cached.

    `cache_size` is the number of characters of texts whose pieces are cached too.
    """

    def __init__(
        self,
        metrics: Sequence[TransportMetric],
        store: Store | None = None,
        cache_size: int = CACHED_CHARACTERS,
    ) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            reader_requests = requests.setdefault(metric.reader, [])
            if metric.request not in reader_requests:
                reader_requests.append(metric.request)
        self._vectors = {
            reader: Vectors(reader.encoder, reader_requests, longest=reader.longest, store=store)
            for reader, reader_requests in requests.items()
        }
        self._cache_size = cache_size
        self._cut: dict[Reader, tuple[int, dict[str, Tokens]]] = {
            reader: (0, {}) for reader in requests
        }

    def cut(self, texts: Sequence[str], reader: Reader) -> list[Tokens]:
        """Return the pieces of texts; those of recent texts are cached."""
        size, cached = self._cut[reader]  # replaced, never changed: another thread cuts windows
        fresh = [text for text in dict.fromkeys(texts) if text not in cached]
        if not fresh:
            return [cached[text] for text in texts]
        pieces, more = dict(zip(fresh, reader.read(fresh), strict=True)), sum(map(len, fresh))
        room = size + more <= self._cache_size
        self._cut[reader] = (size + more, {**cached, **pieces}) if room else (more, pieces)
        return [pieces[text] if text in pieces else cached[text] for text in texts]

    def pieces(self, rows: Sequence[Segment]) -> Pieces:
        """Return the pieces of the distinct texts of some segments, for every reader."""
        texts = distinct(rows)
        return {
            reader: dict(zip(texts, self.cut(texts, reader), strict=True))
            for reader in self._vectors
        }

    def read(
        self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None
    ) -> Read:
        """Return pieces and vectors of distinct texts; `pieces` has their pieces where they have
        been cut already.
        """
        tokens = self.cut(texts, reader) if pieces is None else [pieces[text] for text in texts]
        vectors = self._vectors[reader].of(tokens)
        return dict(zip(texts, zip(tokens, vectors, strict=True), strict=True))

    def forget(self) -> None:
        """Release the vectors of all texts."""
        for vectors in self._vectors.values():
            vectors.forget()

    @property
    def counters(self) -> EncodingCounters:
        """The work done so far, summed over all readers."""
        counters = [vectors.counters for vectors in self._vectors.values()]
        return EncodingCounters(
            *(
                sum(getattr(counter, name) for counter in counters)
                for name in ("texts", "encoded", "pieces")
            )
        )
