"""The interface of an encoder, and requests for its vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from monge.metrics.axes import ROUTING, Pool, Routing
from monge.metrics.signature import ModelIdentity
from monge.types import Tokens


@dataclass(frozen=True)
class Request:
    """Vectors that a metric wants of every piece: which layers, and how they are pooled."""

    layers: tuple[int, ...]
    pool: Pool = "single"
    exponents: tuple[float, ...] = ()
    unit_layers: bool = False
    routing: Routing = ROUTING


@dataclass(frozen=True)
class Tuning:
    """Facts about a tuned encoder: the layer and the metric it was tuned with, and the calibration
    that was learned.

    `settings` are those of the metric, as text; `prefix` was put before each text. slope * score +
    intercept gives human z scores, off by `error` (root mean square) on judgements that were held
    out. `card` is the adapter's whole card: what it learned from.
    """

    layer: int | None
    settings: Mapping[str, str]
    prefix: str = ""
    slope: float | None = None
    intercept: float = 0.0
    error: float = 0.0
    card: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


class Encoder(Protocol):
    """Texts -> pieces -> hidden layers. Identity is by digests: of weights, tokenizer and
    configuration.
    """

    name: str
    weights_digest: str
    tokenizer_digest: str
    config_digest: str
    precision: str
    device: str  # the type of device that computes the vectors: cpu, cuda, mps
    depth: int
    longest: int  # pieces of one text, specials included
    looks_up: bool  # whether a word may have no vector: static vectors
    # id of the piece that stands for what the vocabulary lacks, where it can lack something
    unknown: int | None
    tuning: Tuning | None  # where it was tuned on human judgements
    frame: tuple[tuple[int, ...], tuple[int, ...]]  # special ids before and after every text
    # how its directory says that a text becomes one vector: mean, first, another name, or nothing
    pooling: str

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Cut each text into pieces, never shortened."""

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return [total pieces, d] float32 per requested layer, texts one after another in the
        given order.
        """


def identify(encoder: Encoder) -> ModelIdentity:
    """Return the identity of an encoder: its name, and everything its vectors depend on."""
    digests = encoder.weights_digest, encoder.tokenizer_digest, encoder.config_digest
    return ModelIdentity(encoder.name, *digests, encoder.precision, encoder.device)
