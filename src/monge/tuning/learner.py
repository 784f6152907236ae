"""A trainable encoder: hidden states with gradients, with the tokenizer of the base model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from monge.encoders.batching import make_batches, pool_layers
from monge.encoders.models import ModelFiles, find_model
from monge.encoders.packed import position_ids
from monge.encoders.transformer import TransformerEncoder, read_body
from monge.errors import InvalidSetting
from monge.tuning.adapted_blocks import Blocks, Method

if TYPE_CHECKING:
    from monge.encoders.protocol import Encoder, Request
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Read, Reader
    from monge.types import Tokens

PIECES = 4096
"""Pieces per batch that goes through the model."""
KEPT_BYTES = 4 << 30
"""The most bytes of cached vectors below the first trained block; others are recomputed."""
_Ids = tuple[int, ...]


class Learner(TransformerEncoder):
    """A base model with trainable weights, which `begin` chooses."""

    def __init__(self, model: str) -> None:
        files = find_model(model)
        super().__init__(files, precision="fp32", device="cpu")
        self.files: ModelFiles = files
        body = read_body(files)
        if body is None:
            raise InvalidSetting(
                f"{files.name} cannot be tuned: its family is not among those that monge runs "
                "itself"
            )
        self._body = body
        self._blocks: Blocks | None = None
        self._below: dict[
            _Ids, Tensor
        ] = {}  # vectors of the layer below the first block that learns
        self._room = KEPT_BYTES

    def begin(self, top: int, method: Method, seed: int) -> None:
        """Make the weights that a method names trainable, up to layer `top`."""
        self._blocks = Blocks(self._body, top, method, seed)

    @property
    def blocks(self) -> Blocks:
        """The blocks that run with gradients."""
        assert self._blocks is not None, "begin says what learns"
        return self._blocks

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The trained parameters."""
        return self.blocks.parameters

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return [total pieces, d] float32 per requested layer, with gradients."""
        if self._blocks is None:
            return super().hidden(ids, layers)
        texts = [tuple(text) for text in ids]
        by_layer = dict(self._blocks.run(self._start(texts), [len(text) for text in texts]))
        lower = [layer for layer in layers if layer not in by_layer]
        if lower:
            by_layer.update(zip(lower, super().hidden(texts, lower), strict=True))
        return [by_layer[layer] for layer in layers]

    def _start(self, texts: Sequence[_Ids]) -> Tensor:
        """Return the layer below the first trained block; cached if blocks ran for it."""
        if self.blocks.first == 0:
            flat = torch.tensor([i for text in texts for i in text])
            return self.blocks.embed(
                flat, torch.cat([position_ids(text, self._body.pad) for text in texts])
            )
        new = [text for text in dict.fromkeys(texts) if text not in self._below]
        computed: dict[_Ids, Tensor] = {}
        for batch in make_batches(new, PIECES):
            h = super().hidden(batch, [self.blocks.first])[0].clone()
            computed.update(
                zip(
                    batch,
                    (vectors.clone() for vectors in torch.split(h, [len(text) for text in batch])),
                    strict=True,
                )
            )
        for text, vectors in computed.items():
            if self._room > 0:
                self._below[text] = vectors
                self._room -= vectors.nbytes
        return torch.cat(
            [self._below[text] if text in self._below else computed[text] for text in texts]
        )


class LiveEncoding:
    """The encoding of a window during training: it caches pieces, but no vectors."""

    def __init__(self, encoder: Encoder, request: Request) -> None:
        self._encoder, self._request = encoder, request
        self._pieces: dict[str, Tokens] = {}

    def read(
        self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None
    ) -> Read:
        """Return pieces and vectors of distinct texts, with gradients."""
        new = [text for text in texts if text not in self._pieces]
        self._pieces.update(zip(new, reader.read(new), strict=True) if new else ())
        distinct_ids = list(dict.fromkeys(self._pieces[text].ids for text in texts))
        vectors_of_ids: dict[tuple[int, ...], Tensor] = {}
        for batch in make_batches(distinct_ids, PIECES):
            layers = sorted(set(self._request.layers))
            hidden = dict(zip(layers, self._encoder.hidden(batch, layers), strict=True))
            split = torch.split(pool_layers(hidden, self._request), [len(ids) for ids in batch])
            vectors_of_ids.update(zip(batch, split, strict=True))
        return {
            text: (self._pieces[text], {self._request: vectors_of_ids[self._pieces[text].ids]})
            for text in texts
        }

    def size(self, text: str, reader: Reader) -> int:
        """Return the number of pieces of a text."""
        if text not in self._pieces:
            self._pieces[text] = reader.read([text])[0]
        return len(self._pieces[text].ids)


def sentence_vectors(metric: BoundMetric, live: LiveEncoding, texts: Sequence[str]) -> Tensor:
    """Return the mean vector over the pieces of each text, without special pieces [n, d]."""
    means = {}
    for text, (tokens, vectors) in live.read(list(dict.fromkeys(texts)), metric.reader).items():
        inner = [k for k, special in enumerate(tokens.special) if not special] or list(
            range(len(tokens.ids))
        )
        means[text] = vectors[metric.request][inner].mean(0)
    return torch.stack([means[text] for text in texts])
