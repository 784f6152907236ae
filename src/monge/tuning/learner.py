"""A trainable encoder: hidden states with gradients, with the tokenizer of the base model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from monge.encoders.batching import make_batches, pool_layers
from monge.encoders.models import ModelFiles, find_model
from monge.encoders.packed import position_ids
from monge.encoders.transformer import TransformerEncoder, read_body
from monge.errors import InvalidSetting
from monge.text.select import select
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


class JointPieces(NamedTuple):
    """The pieces of two sentences read together: ids, token types, and which are special."""

    ids: _Ids
    types: _Ids
    special: tuple[bool, ...]


def _frame_pair(pair: JointPieces, before: _Ids, after: _Ids) -> JointPieces:
    """Return the pieces with those that stand before and after a text: before a after b after."""
    first = pair.types.count(0)
    parts = (
        (before, 0, True),
        (pair.ids[:first], 0, False),
        (after, 0, True),
        (pair.ids[first:], 1, False),
        (after, 1, True),
    )
    return JointPieces(
        tuple(i for ids, _, _ in parts for i in ids),
        tuple(type_ for ids, type_, _ in parts for _ in ids),
        tuple(special for ids, _, special in parts for _ in ids),
    )


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

    def cut_pairs(self, pairs: Sequence[tuple[str, str]], prefix: str = "") -> list[JointPieces]:
        """Cut pairs of sentences as the tokenizer frames them: `[CLS] a [SEP] b [SEP]` for BERT.

        That is also the frame where a tokenizer has none for pairs. A pair that is too long for the
        model loses pieces at the end of its longer sentence.
        """
        lead = prefix or (" " if self._family == "bytes" else "")
        before, after = self.frame
        is_framed = any(self._backend.encode("a", "a").special_tokens_mask)
        room = self.longest - (0 if is_framed else len(before) + 2 * len(after))
        self._backend.enable_truncation(room, strategy="longest_first")
        try:
            encodings = self._backend.encode_batch(
                [(lead + first.strip(), lead + second.strip()) for first, second in pairs]
            )
        finally:
            self._backend.no_truncation()
        pieces = [
            JointPieces(
                tuple(encoding.ids),
                tuple(encoding.type_ids),
                tuple(flag == 1 for flag in encoding.special_tokens_mask),
            )
            for encoding in encodings
        ]
        return pieces if is_framed else [_frame_pair(pair, before, after) for pair in pieces]

    def hidden_of_pairs(self, pairs: Sequence[JointPieces]) -> Tensor:
        """Return the top layer [total pieces, d] of pairs read together, with gradients."""
        flat = torch.tensor([i for pair in pairs for i in pair.ids])
        types = torch.tensor([i for pair in pairs for i in pair.types])
        positions = torch.cat([position_ids(pair.ids, self._body.pad) for pair in pairs])
        h = self.blocks.embed(flat, positions, types)
        return self.blocks.run(h, [len(pair.ids) for pair in pairs], first=0)[self.blocks.top]

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


def joint_vectors(
    learner: Learner, pairs: Sequence[tuple[str, str]], pool: str, prefix: str = ""
) -> Tensor:
    """Return a vector [n, d] per pair read together: of its first piece, or the mean of others."""
    pieces = learner.cut_pairs(pairs, prefix)
    vectors: dict[JointPieces, Tensor] = {}
    cut = {pair.ids + pair.types: pair for pair in pieces}
    for batch in make_batches(list(cut), 2 * PIECES):
        of_batch = [cut[ids_and_types] for ids_and_types in batch]
        hidden = torch.split(
            learner.hidden_of_pairs(of_batch), [len(pair.ids) for pair in of_batch]
        )
        for pair, h in zip(of_batch, hidden, strict=True):
            inner = [k for k, special in enumerate(pair.special) if not special]
            vectors[pair] = h[0] if pool == "first" or not inner else h[inner].mean(0)
    return torch.stack([vectors[pair] for pair in pieces])


def sentence_vectors(metric: BoundMetric, live: LiveEncoding, texts: Sequence[str]) -> Tensor:
    """Return the mean vector [n, d] over the units of each text that the metric itself scores."""
    means = {}
    for text, (tokens, vectors) in live.read(list(dict.fromkeys(texts)), metric.reader).items():
        units = select(tokens, metric.spec.units, metric.stopwords).groups
        pieces = vectors[metric.request]
        points = [pieces[list(unit)].mean(0) for unit in units] if units else [*pieces]
        means[text] = torch.stack(points).mean(0)
    return torch.stack([means[text] for text in texts])
