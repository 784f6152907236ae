"""Hidden states of ModernBERT on CPU, without work on padding.

Texts are laid end to end as in `packed.py`. A block normalises before each of its parts:

    h <- h + W_o attention(R W_qkv LN(h))        h <- h + W_down (gelu(W_up LN(h)) * W_gate LN(h))

R turns queries and keys by their position; the first block has no norm before its attention, and
the last layer is normalised. A block looks at all pieces, or at those within its reach to each
side. Long texts attend a slice of queries at a time, so that memory grows with their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from monge.encoders.body import MIX, Body
from monge.encoders.packed import Bucket, PackedEncoder, PrepackedLinear
from monge.errors import InvalidSetting

_QUERIES = 512
"""Pieces of a text whose attention is computed at a time."""


class Rotation:
    """The rotation of pieces by position and the reach of a block's attention."""

    def __init__(self, theta: float, head: int, reach: int | None) -> None:
        self._rates = theta ** -(torch.arange(0, head, 2, dtype=torch.float32) / head)
        self._cos = self._sin = torch.zeros(0, head)
        self.reach = reach

    def rotate(self, x: Tensor) -> Tensor:
        """Return queries or keys ``[..., width, head]`` turned by their positions."""
        width = x.shape[-2]
        if width > len(self._cos):
            angles = torch.arange(width, dtype=torch.float32)[:, None] * self._rates
            angles = torch.cat([angles, angles], -1)
            self._cos, self._sin = angles.cos(), angles.sin()
        first, second = x.float().chunk(2, -1)
        turned = torch.cat([-second, first], -1)
        return (x * self._cos[:width] + turned * self._sin[:width]).to(x.dtype)


class RotaryBucket(Bucket):
    """Texts of one width whose queries and keys are turned by position."""

    def attend(self, qkv: Tensor, context: Tensor, rotation: Rotation | None = None) -> None:
        """Write ``softmax(R q (R k)ᵀ + bias) v`` into the rows of ``context [tokens, d]``."""
        assert rotation is not None
        _, texts, heads, width, head = self._qkv.shape
        first = 0
        for row, count, length in self._runs:
            rows = qkv[row : row + count * length].view(count, length, 3, heads, head)
            self._qkv[:, first : first + count, :, :length].copy_(rows.permute(2, 0, 3, 1, 4))
            first += count
        query, key, value = self._qkv.view(3, texts * heads, width, head)
        mixed = self._mix(rotation.rotate(query), rotation.rotate(key), value, rotation.reach)
        mixed = mixed.view(texts, heads, width, head)
        first = 0
        for row, count, length in self._runs:
            rows = context[row : row + count * length].view(count, length, heads, head)
            rows.copy_(mixed[first : first + count, :, :length].transpose(1, 2))
            first += count

    def _mix(self, query: Tensor, key: Tensor, value: Tensor, reach: int | None) -> Tensor:
        """Return the values ``[texts * heads, width, head]`` that every query attends to."""
        texts, width = self._qkv.shape[1], query.shape[1]
        mixed = torch.empty_like(value)
        for first in range(0, width, _QUERIES):
            last = min(first + _QUERIES, width)
            start, end = 0, width
            if reach is not None:
                start, end = max(0, first - reach), min(width, last + reach)
            scores = torch.bmm(query[:, first:last], key[:, start:end].transpose(1, 2))
            scores = scores.view(texts, -1, last - first, end - start)
            if self._absent is not None:
                scores += self._absent[..., start:end]
            if reach is not None:
                scores.masked_fill_(_beyond(first, last, start, end, reach), -torch.inf)
            # a row of padding may have no piece within reach
            weights = torch.softmax(scores, -1).nan_to_num_(0.0)
            weights = weights.view(-1, last - first, end - start)
            mixed[:, first:last] = torch.bmm(weights, value[:, start:end])
        return mixed


def _beyond(first: int, last: int, start: int, end: int, reach: int) -> Tensor:
    """Return which keys ``start..end`` queries ``first..last`` do not see, ``[queries, keys]``."""
    return (torch.arange(first, last)[:, None] - torch.arange(start, end)).abs() > reach


class _Block:
    """One block: ``h [tokens, d] -> qkv [tokens, 3d]``, then ``h, context -> h [tokens, d]``."""

    def __init__(self, body: Body, number: int, dtype: torch.dtype) -> None:
        place, settings = f"layers.{number}", body.settings
        head = settings["hidden_size"] // settings["num_attention_heads"]
        scale = torch.ones(3 * settings["hidden_size"])
        scale[: settings["hidden_size"]] = head**-0.5
        weight, bias = _map(body, f"{place}.attn.Wqkv")
        self._qkv = PrepackedLinear(weight * scale[:, None], bias * scale, dtype)
        self._out = PrepackedLinear(*_map(body, f"{place}.attn.Wo"), dtype)
        weight, bias = _map(body, f"{place}.mlp.Wi")
        up, gate = (
            PrepackedLinear(*part, dtype)
            for part in zip(weight.chunk(2), bias.chunk(2), strict=True)
        )
        self._feed = up, gate, PrepackedLinear(*_map(body, f"{place}.mlp.Wo"), dtype)
        self._norm = _norm(body, f"{place}.attn_norm", dtype) if number else None
        self._middle_norm = _norm(body, f"{place}.mlp_norm", dtype)
        is_last = number == body.depth - 1
        self._last_norm = _norm(body, "final_norm", dtype) if is_last else None
        self._eps: float = settings["layer_norm_eps"]
        self.rotation = Rotation(settings["thetas"][number], head, settings["reaches"][number])

    def qkv(self, h: Tensor) -> Tensor:
        """Return queries, keys and values of the block's input."""
        return self._qkv(self._normalise(h, self._norm))

    def finish(self, h: Tensor, context: Tensor) -> Tensor:
        """Return the block's output ``[tokens, d]`` from its input and its attention's output."""
        up, gate, down = self._feed
        h = self._out(context, residual=h)
        x = self._normalise(h, self._middle_norm)
        h = down(up(x, activation="gelu").mul_(gate(x)), residual=h)
        return self._normalise(h, self._last_norm)

    def _normalise(self, h: Tensor, norm: tuple[Tensor, Tensor | None] | None) -> Tensor:
        return h if norm is None else F.layer_norm(h, h.shape[-1:], *norm, self._eps)


def _map(body: Body, name: str) -> tuple[Tensor, Tensor]:
    """Return weight and bias of a linear map; a bias that the model does not have is zero."""
    weight = body.tensors[f"{name}.weight"]
    return weight, body.tensors.get(f"{name}.bias", torch.zeros(len(weight)))


def _norm(body: Body, name: str, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """Return weight and bias of a norm; None for a bias that the model does not have."""
    bias = body.tensors.get(f"{name}.bias")
    return body.tensors[f"{name}.weight"].to(dtype), None if bias is None else bias.to(dtype)


class ModernEncoder(PackedEncoder):
    """The hidden states of a ModernBERT body, for texts of token ids laid end to end."""

    _bucket = RotaryBucket

    def __init__(self, body: Body, precision: str = "fp32") -> None:
        """Copy the weights of ``body`` into packed form."""
        if precision not in ("fp32", "bf16"):
            raise InvalidSetting(
                f"precision {precision} is not there for ModernBERT: use fp32 or bf16"
            )
        self._width = 16 if precision == "fp32" else 32
        self._dtype = torch.float32 if precision == "fp32" else torch.bfloat16
        self._heads = body.settings["num_attention_heads"]
        self._relative = None
        self._mix = body.tensors.get(MIX)
        self._blocks = [_Block(body, number, self._dtype) for number in range(body.depth)]
        self._embedding = _norm(body, "embeddings.norm", torch.float32)
        self._body = replace(body, tensors={})  # the rest is packed: let it go

    def _embed(self, texts: list[Sequence[int]]) -> Tensor:
        """Return ``LN(word)`` of all tokens, ``[tokens, d]``."""
        settings = self._body.settings
        room, longest = settings["max_position_embeddings"], max(map(len, texts), default=0)
        if longest > room:
            raise InvalidSetting(f"a text of {longest} tokens: this model has {room} positions")
        h = self._body.words(torch.tensor([i for text in texts for i in text], dtype=torch.long))
        return F.layer_norm(h, h.shape[-1:], *self._embedding, settings["layer_norm_eps"])
