"""The encoding pass that the metrics of a run share: each distinct text of a window is read once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from monge.encode.batching import Counters, Vectors
from monge.encode.protocol import Request
from monge.scoring.windows import distinct
from monge.types import Segment, Tokens

if TYPE_CHECKING:
    from monge.scoring.transport import Reader, TransportMetric
    from monge.scoring.windows import Pieces
    from monge.store import Store

Read = Mapping[str, tuple[Tokens, Mapping[Request, Tensor]]]


class Encoding:
    """Pieces and vectors of texts, for every reader of some metrics; vectors of recent texts are kept."""

    def __init__(self, metrics: Sequence[TransportMetric], store: Store | None = None) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            wanted = requests.setdefault(metric.reader, [])
            if metric.request not in wanted:
                wanted.append(metric.request)
        self._vectors = {
            reader: Vectors(reader.encoder, wanted, longest=reader.longest, store=store)
            for reader, wanted in requests.items()
        }

    def pieces(self, rows: Sequence[Segment]) -> Pieces:
        """The pieces of the distinct texts of some segments, for every reader."""
        texts = distinct(rows)
        return {reader: dict(zip(texts, reader.read(texts), strict=True)) for reader in self._vectors}

    def read(self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None) -> Read:
        """Pieces and vectors of distinct texts; `pieces` where the texts have been cut already."""
        tokens = reader.read(texts) if pieces is None else [pieces[text] for text in texts]
        vectors = self._vectors[reader].of(tokens)
        return dict(zip(texts, zip(tokens, vectors, strict=True), strict=True))

    def forget(self) -> None:
        """Let go of the vectors of all texts."""
        for vectors in self._vectors.values():
            vectors.forget()

    @property
    def counters(self) -> Counters:
        """Work done so far, over all readers."""
        each = [vectors.counters for vectors in self._vectors.values()]
        return Counters(*(sum(getattr(one, name) for one in each) for name in ("texts", "encoded", "pieces")))
