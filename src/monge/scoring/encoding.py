"""How texts become pieces and vectors: the encoding pass that the metrics of a run share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from torch import Tensor

from monge.encoders.batching import MEMORY_BYTES, EncodingCounters, Memory, Vectors
from monge.encoders.protocol import Encoder, Request
from monge.errors import InvalidSetting
from monge.text.overlong import fit_length
from monge.types import Tokens

if TYPE_CHECKING:
    from monge.cache import Store

Pieces = Mapping["Reader", Mapping[str, Tokens]]
Read = Mapping[str, tuple[Tokens, Mapping[Request, Tensor]]]
CACHED_CHARACTERS = 1 << 16
"""Characters of texts whose pieces are cached per reader, so that texts that are checked before
scoring are tokenised once. Pieces take about 50 bytes per character."""


@dataclass(frozen=True)
class Reader:
    """How texts are tokenised: an encoder, a prefix, a length, and the handling of longer texts."""

    encoder: Encoder
    prefix: str
    longest: int
    overlong: str

    def __post_init__(self) -> None:
        """Raise where special pieces and the prefix leave no piece for a text."""
        if self.longest == self.encoder.longest and not self.prefix:
            return
        (tokens,) = self.encoder.tokenise(["a"], prefix=self.prefix)
        overhead = sum(tokens.special)
        if self.longest <= overhead:
            occupants = (
                "special pieces and the prefix take" if self.prefix else "special pieces take"
            )
            raise InvalidSetting(
                f"encoder.max_length={self.longest} leaves no piece of a text: {occupants} "
                f"{overhead} with {self.encoder.name}; give {overhead + 1} or more"
            )

    @cached_property
    def refuses(self) -> bool:
        """Whether some texts are errors: texts that are too long, or words without a vector."""
        return self.overlong == "error" or getattr(self.encoder, "policy", "") == "error"

    @cached_property
    def key(self) -> str:
        """The key of the pieces of a text: tokenizer, length, overlong rule and prefix."""
        tokenizer, prefix = self.encoder.tokenizer_digest[:8], quote(self.prefix, safe="")
        return f"{tokenizer}/{self.longest}/{self.overlong}/{prefix}"

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the pieces of each text, as the encoder gets them."""
        read = self.encoder.tokenise(texts, prefix=self.prefix)
        return [
            fit_length(tokens, self.longest, self.overlong, f"text {tokens.text[:30]!r}…")
            if len(tokens.ids) > self.longest else tokens
            for tokens in read
        ]  # fmt: skip


class ReadsTexts(Protocol):
    """A metric, as far as the encoding pass knows it."""

    @property
    def reader(self) -> Reader:
        """What cuts its texts into pieces."""

    @property
    def request(self) -> Request:
        """The layers it asks the encoder for, and how they are pooled."""


class Encoding:
    """Pieces and vectors of texts, for every reader of some metrics; recent vectors are cached.

    Each distinct text of a window is encoded once for all metrics.
    `cache_size` is the number of characters of texts whose pieces are cached too.
    """

    def __init__(
        self,
        metrics: Sequence[ReadsTexts],
        store: Store | None = None,
        cache_size: int = CACHED_CHARACTERS,
    ) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            reader_requests = requests.setdefault(metric.reader, [])
            if metric.request not in reader_requests:
                reader_requests.append(metric.request)
        self.counters = EncodingCounters()
        self._vectors = {
            reader: Vectors(
                reader.encoder,
                reader_requests,
                longest=reader.longest,
                store=store,
                counters=self.counters,
            )
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

    def pieces(self, texts: Sequence[str]) -> Pieces:
        """Return the pieces of distinct texts, for every reader."""
        return {
            reader: dict(zip(texts, self.cut(texts, reader), strict=True))
            for reader in self._vectors
        }

    def read(
        self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None
    ) -> Read:
        """Return pieces and vectors of distinct texts; `pieces` are those cut before, if any."""
        tokens = self.cut(texts, reader) if pieces is None else [pieces[text] for text in texts]
        vectors = self._vectors[reader].of(tokens)
        return dict(zip(texts, zip(tokens, vectors, strict=True), strict=True))

    def finish(self, *, release: bool) -> dict[str, int]:
        """Return the work that was done; `release` the vectors of all texts, which makes room."""
        if release:
            for vectors in self._vectors.values():
                vectors.memory = Memory(MEMORY_BYTES)
        return asdict(self.counters)
