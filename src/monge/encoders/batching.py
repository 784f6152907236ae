"""Pooled vectors of texts: each distinct text is encoded once, in batches by piece count.

Vectors of recent texts stay in a bounded memory. They lie in slabs: blocks larger than malloc keeps
for itself (32 MiB), so that a slab that is released returns to the system, and long-lived vectors
leave no holes. Beside them a text has only its ids as bytes and the place of its vectors.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from math import inf
from threading import Lock

import torch
from torch import Tensor

from monge.cache import VECTORS, Store, code_digest, key_of
from monge.encoders.numerics import own_numerics
from monge.encoders.protocol import Encoder, Request, identify
from monge.encoders.workers import open_workers
from monge.errors import DataError
from monge.transport.pooling import power_means, routing, unit
from monge.types import Tokens

Ids = tuple[int, ...]
Group = dict[Ids, tuple[Tensor, ...]]

SLAB = 12 << 20  # float32 entries: 48 MiB
TEXTS = 16384  # of a slab: their ids, places and the tables of both take about 5 MB beside it
BATCH_PIECES = 2048
MEMORY_BYTES = 256 * 2**20
STORED_TEXTS = 512  # texts looked up, or written, at a time


@dataclass
class EncodingCounters:
    """Numbers of texts requested, texts encoded and pieces encoded in a run."""

    texts: int = 0
    encoded: int = 0
    pieces: int = 0


class Vectors:
    """Pooled vectors of texts, through a bounded memory of the most recent ones.

    `requests` are all the poolings that the metrics of a run need; every distinct id sequence is
    encoded once for all of them. Vectors come back as [pieces, d] float32.
    """

    def __init__(
        self,
        encoder: Encoder,
        requests: Sequence[Request],
        *,
        longest: int = 0,
        batch_pieces: int = BATCH_PIECES,
        store: Store | None = None,
        counters: EncodingCounters | None = None,
    ) -> None:
        self.encoder, self.requests, self.batch_pieces = encoder, tuple(requests), batch_pieces
        self.longest = min(longest or encoder.longest, encoder.longest)
        self.counters = counters or EncodingCounters()
        self._store = store
        self.memory = Memory(MEMORY_BYTES)
        self._side_by_side: bool = getattr(encoder, "encodes_side_by_side", False)
        self._counting = Lock()

    def of(self, texts: Sequence[Tokens]) -> list[dict[Request, Tensor]]:
        """Return the vectors of each text for each request, in input order."""
        distinct = list(dict.fromkeys(tokens.ids for tokens in texts))
        self.counters.texts += len(texts)
        vectors_of = {
            ids: vectors for ids in distinct if (vectors := self.memory.get(ids)) is not None
        }
        missing = [ids for ids in distinct if ids not in vectors_of]
        with own_numerics():
            if self._store is not None:
                for group in self._load(missing):
                    vectors_of.update(self.memory.keep(group))
                missing = [ids for ids in missing if ids not in vectors_of]
            threads = torch.get_num_threads() if self._side_by_side else 1
            budget = self.batch_pieces if threads == 1 else max(self.batch_pieces // 2, 1)
            batches = list(make_batches(missing, budget, self.longest))
            results: Iterator[list[tuple[Tensor, ...]]] = map(self._encode_batch, batches)
            if threads > 1 and len(batches) > 1:
                results = open_workers(threads).map(self._encode_batch, batches)
            for batch, batch_vectors in zip(batches, results, strict=True):
                fresh = dict(zip(batch, batch_vectors, strict=True))
                if self._store is not None:
                    self._save(fresh, self._store)
                vectors_of.update(self.memory.keep(fresh))
        return [dict(zip(self.requests, vectors_of[tokens.ids], strict=True)) for tokens in texts]

    def _load(self, texts: Sequence[Ids]) -> Iterator[Group]:
        """Yield the vectors of texts that the store has, some texts at a time."""
        assert self._store is not None
        for start in range(0, len(texts), STORED_TEXTS):
            keys = {
                ids: [self._key(ids, request) for request in self.requests]
                for ids in texts[start:][:STORED_TEXTS]
            }
            stored = self._store.get([key for text_keys in keys.values() for key in text_keys])
            yield {
                ids: tuple(_from_bytes(stored[key]) for key in text_keys)
                for ids, text_keys in keys.items()
                if all(key in stored for key in text_keys)
            }

    def _save(self, group: Group, store: Store) -> None:
        """Write the vectors of texts to the store."""
        entries = (
            (self._key(ids, request), _to_bytes(tensor))
            for ids, vectors in group.items()
            for request, tensor in zip(self.requests, vectors, strict=True)
        )
        store.put(VECTORS, entries)

    def _key(self, ids: Ids, request: Request) -> bytes:
        made_by = code_digest(), identify(self.encoder).key, self.longest, request
        return key_of(VECTORS, *made_by, array("q", ids).tobytes())

    def _encode_batch(self, batch: Sequence[Ids]) -> list[tuple[Tensor, ...]]:
        """Encode the texts of a batch; the vectors of each are views of one tensor per request."""
        if len(batch[0]) > self.longest:
            return [self._encode_in_slices(ids) for ids in batch]
        with self._counting:
            self.counters.encoded += len(batch)
            self.counters.pieces += sum(map(len, batch))
        layers = sorted({layer for request in self.requests for layer in request.layers})
        hidden = dict(zip(layers, self.encoder.hidden(batch, layers), strict=True))
        lengths = [len(ids) for ids in batch]
        return list(
            zip(
                *(torch.split(pool_layers(hidden, request), lengths) for request in self.requests),
                strict=True,
            )
        )

    def _encode_in_slices(self, ids: Ids) -> tuple[Tensor, ...]:
        """Encode a text longer than the model reads, from overlapping slices of it.

        Every slice is framed by the special pieces; each piece of the text is taken from the slice
        in which it is farthest from an inner edge.
        """
        lead, tail = self.encoder.frame
        body = ids[len(lead) : len(ids) - len(tail)]
        plan = plan_slices(len(body), self.longest - len(lead) - len(tail))
        parts = [
            self._encode_batch([(*lead, *body[start:end], *tail)])[0] for start, end, _, _ in plan
        ]
        slices = []
        for number, (vectors, (start, _, first, last)) in enumerate(zip(parts, plan, strict=True)):
            low = 0 if number == 0 else len(lead) + first - start
            high = len(vectors[0]) if number == len(plan) - 1 else len(lead) + last - start
            slices.append(tuple(tensor[low:high] for tensor in vectors))
        return tuple(torch.cat(pieces) for pieces in zip(*slices, strict=True))


class Slab:
    """Room for `size` float32 entries, filled from the front with the vectors of texts."""

    def __init__(self, size: int) -> None:
        self.texts: list[bytes] = []
        self.size, self._room = size, torch.empty(size)
        self._filled = 0

    def has_room(self, entries: int) -> bool:
        """Return whether this many entries fit; a slab is also full once it has `TEXTS` texts."""
        return self._filled + entries <= self.size and len(self.texts) < TEXTS

    def append(self, text: bytes, vectors: Sequence[Tensor]) -> int:
        """Keep the vectors of a text, [pieces, d] each; return where they begin."""
        start = self._filled
        for vector in vectors:
            assert vector.dtype == torch.float32
            end = self._filled + vector.numel()
            self._room[self._filled : end].view(vector.shape).copy_(vector)
            self._filled = end
        self.texts.append(text)
        return start

    def view(self, start: int, pieces: int, widths: Sequence[int]) -> tuple[Tensor, ...]:
        """Return the vectors that begin at `start`, [pieces, width] each, without copying."""
        ends = accumulate((pieces * width for width in widths), initial=start)
        return tuple(
            self._room[low:high].view(pieces, width)
            for (low, high), width in zip(pairwise(ends), widths, strict=True)
        )


class Memory:
    """Vectors of texts in slabs of at most `limit` bytes (or one slab), least recently used first.

    Every text has the same number of vectors, of the same widths.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slabs: OrderedDict[int, Slab] = OrderedDict()
        self._places: dict[bytes, tuple[int, int, int]] = {}  # slab, start, pieces
        self._widths: tuple[int, ...] = ()
        self._last = 0

    def get(self, ids: Ids) -> tuple[Tensor, ...] | None:
        """Return the vectors of a text, or None if they are not in memory."""
        place = self._places.get(array("q", ids).tobytes())
        if place is None:
            return None
        slab, start, pieces = place
        self._slabs.move_to_end(slab)
        return self._slabs[slab].view(start, pieces, self._widths)

    def keep(self, group: Group) -> Group:
        """Keep the vectors of texts; return them as views of memory."""
        entries = sum(vector.numel() for vectors in group.values() for vector in vectors)
        if self._last not in self._slabs or not self._slabs[self._last].has_room(entries):
            self._last += 1
            self._slabs[self._last] = Slab(max(entries, SLAB))
        slab, stored = self._slabs[self._last], {}
        for ids, vectors in group.items():
            self._widths = tuple(vector.shape[1] for vector in vectors)
            text, pieces = array("q", ids).tobytes(), len(vectors[0])
            start = slab.append(text, vectors)
            self._places[text] = self._last, start, pieces
            stored[ids] = slab.view(start, pieces, self._widths)
        while (
            len(self._slabs) > 1
            and sum(4 * slab.size for slab in self._slabs.values()) > self._limit
        ):
            for text in self._slabs.popitem(last=False)[1].texts:
                del self._places[text]
        return stored


def pool_layers(hidden: dict[int, Tensor], request: Request) -> Tensor:
    """Pool the layers of each piece into one vector: [pieces, d] each -> [pieces, d or d *
    exponents].

    A barycentre is of a whole text and its weights: its layers stay side by side, [pieces, layers *
    d].
    """
    chosen = [
        unit(hidden[layer]) if request.unit_layers else hidden[layer] for layer in request.layers
    ]
    if request.pool == "single":
        return chosen[0]
    if request.pool == "barycentre":
        return torch.cat(chosen, dim=-1)
    stacked = torch.stack(chosen)
    if request.pool == "pmeans":
        return power_means(stacked, request.exponents)
    if request.pool == "routing":
        return routing(unit(stacked), **asdict(request.routing))
    return stacked.mean(0)


def make_batches(texts: Sequence[Ids], budget: int, longest: float = inf) -> Iterator[list[Ids]]:
    """Yield texts, longest first (stable), in batches of at most `budget` pieces (at least one
    text).

    A text longer than `longest` is a batch by itself; those come first.
    """
    batch: list[Ids] = []
    pieces = 0
    for ids in sorted(texts, key=len, reverse=True):
        if batch and (pieces + len(ids) > budget or len(batch[0]) > longest):
            yield batch
            batch, pieces = [], 0
        batch.append(ids)
        pieces += len(ids)
    if batch:
        yield batch


def plan_slices(length: int, longest: int) -> list[tuple[int, int, int, int]]:
    """Plan overlapping slices of `length` pieces: (start, end, first kept, end of kept); the kept
    cover all once.
    """
    if longest < 2:
        raise DataError(
            f"a model that reads {longest} piece(s) at a time cannot read a longer text in slices"
        )
    step = max(longest // 2, 1)
    starts = [*range(0, length - longest, step), length - longest]
    edges = [
        0,
        *((start + longest + next_start) // 2 for start, next_start in pairwise(starts)),
        length,
    ]
    return [
        (start, start + longest, first, last)
        for start, first, last in zip(starts, edges, edges[1:], strict=False)
    ]


def _to_bytes(vectors: Tensor) -> bytes:
    """Write vectors as bytes: the shape, then float32 entries."""
    shape = array("q", [vectors.dim(), *vectors.shape]).tobytes()
    return shape + vectors.contiguous().numpy().astype("<f4", copy=False).tobytes()


def _from_bytes(data: bytes) -> Tensor:
    """Read vectors back from `_to_bytes`."""
    (dims,) = array("q", data[:8])
    shape = array("q", data[8 : 8 * (dims + 1)]).tolist()
    return torch.frombuffer(bytearray(data), dtype=torch.float32, offset=8 * (dims + 1)).reshape(
        shape
    )
