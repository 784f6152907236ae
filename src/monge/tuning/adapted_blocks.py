"""The blocks of an encoder with gradients: the body of `encoders.packed`, trainable.

All texts of a batch are concatenated in one matrix ``h [pieces, d]``; only attention separates
texts. A low-rank change makes a linear map ``x (W + s B A)ᵀ + b`` with A [r, i] random and B [o, r]
zero at the start, s = 2 for every rank (alpha = 2 r elsewhere). This is not peft: peft needs
accelerate and a transformers module, which cannot start from cached vectors of a middle layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from monge.encoders.adapter import IN, OUT
from monge.encoders.body import ACTIVATIONS, FAMILIES, MIX, WORDS, Body
from monge.encoders.packed import packable
from monge.errors import InvalidSetting

SCALE = 2.0
METHODS = ("lora", "last", "all", "mix")
_START = 4.0  # logit of the layer that is read when a mix begins; the others have 0
_MAPS = (0, 1, 2, 3, 5, 6)  # of the eight modules of a block those that are no norm


@dataclass(frozen=True)
class Method:
    """Which weights of a model are trained.

    `lora`: low-rank changes of every linear map of the last `blocks` blocks in use (0: of all);
    `last`: all weights of the last `blocks` (0: 2); `all`: every weight; `mix`: the weights of the
    layers whose sum is read. With `bf16` linear maps compute in it; weights, norms and the metric
    stay in float32 and float64.
    """

    name: str = "lora"
    rank: int = 8
    blocks: int = 0
    precision: str = "fp32"

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise InvalidSetting(f"method takes {', '.join(METHODS)}, got {self.name!r}")
        if self.rank < 1 or self.blocks < 0:
            raise InvalidSetting(
                f"rank {self.rank} must be 1 or more, blocks {self.blocks} 0 (all) or more"
            )
        if self.precision not in ("fp32", "bf16"):
            raise InvalidSetting(f"tuning takes precision fp32 or bf16, got {self.precision!r}")
        if self.precision == "bf16" and not packable(torch.bfloat16):
            raise InvalidSetting(
                "precision bf16: this processor has no bf16 kernels, training would be slower: use "
                "fp32"
            )

    def first(self, top: int) -> int:
        """Return the first trained block below layer `top`; all blocks before it are frozen."""
        if self.name in ("all", "mix"):
            return 0
        return max(0, top - (self.blocks or (top if self.name == "lora" else 2)))


class Blocks:
    """The blocks `first` to `top` of a body, and its embeddings if they are trained too."""

    def __init__(self, body: Body, top: int, method: Method, seed: int) -> None:
        if not 1 <= top <= body.depth:
            raise InvalidSetting(
                f"layer {top} cannot be tuned: this model has blocks 1 to {body.depth}"
            )
        self.body, self.top, self.method, self.first = body, top, method, method.first(top)
        self._family = FAMILIES[body.kind]
        self._weights: dict[str, Tensor] = {
            name: nn.Parameter(tensor.clone()) if self._learns(name) else tensor
            for name, tensor in body.tensors.items()
        }
        if method.name == "all":
            self._weights[WORDS] = nn.Parameter(
                body.words(torch.arange(body.settings["vocab_size"])).clone()
            )
        self._low = self._low_rank(seed) if method.name == "lora" else {}
        self._logits = nn.Parameter(_START * F.one_hot(torch.tensor(top), top + 1).float())
        self._relative = body.relative(body.settings["max_position_embeddings"])

    def _learns(self, name: str) -> bool:
        block = self._block(name)
        if self.method.name == "all":
            return block is None or block < self.top
        return self.method.name == "last" and block is not None and self.first <= block < self.top

    def _block(self, name: str) -> int | None:
        prefix = f"{self._family.blocks}."
        return int(name.removeprefix(prefix).partition(".")[0]) if name.startswith(prefix) else None

    def _low_rank(self, seed: int) -> dict[str, tuple[nn.Parameter, nn.Parameter]]:
        """Return A [r, i] and B [o, r] of every trained linear map, by name."""
        generator, low_rank = torch.Generator().manual_seed(seed), {}
        for block in range(self.first, self.top):
            for name in (self._name(block, part) for part in _MAPS):
                outputs, inputs = self._weights[f"{name}.weight"].shape
                start = torch.empty(self.method.rank, inputs).uniform_(
                    -(inputs**-0.5), inputs**-0.5, generator=generator
                )
                low_rank[name] = (
                    nn.Parameter(start),
                    nn.Parameter(torch.zeros(outputs, self.method.rank)),
                )
        return low_rank

    def _name(self, block: int, part: int) -> str:
        return f"{self._family.blocks}.{block}.{self._family.parts[part]}"

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The trained parameters."""
        if self.method.name == "mix":
            return [self._logits]
        full_weights = [
            weight for weight in self._weights.values() if isinstance(weight, nn.Parameter)
        ]
        return [*full_weights, *(factor for pair in self._low.values() for factor in pair)]

    def adapter_tensors(self) -> dict[str, Tensor]:
        """Return the tensors of an adapter, as `encoders.adapter` reads them."""
        if self.method.name == "mix":
            return {MIX: self._mix().detach()}
        tensors = {
            name: weight.detach()
            for name, weight in self._weights.items()
            if isinstance(weight, nn.Parameter)
        }
        for name, (inwards, outwards) in self._low.items():
            tensors[f"{name}.weight{OUT}"] = SCALE * outwards.detach()
            tensors[f"{name}.weight{IN}"] = inwards.detach()
        return tensors

    def _mix(self) -> Tensor:
        return torch.softmax(self._logits, 0)

    def embed(self, ids: Tensor, positions: Tensor, types: Tensor | None = None) -> Tensor:
        """Return ``LN(word + type + position)`` of pieces at positions [pieces] -> [pieces, d].

        Pieces are of type 0 where no types are given, and where a model has one type only.
        """
        w = self._weights
        h = F.embedding(ids, w[WORDS]) if WORDS in w else self.body.words(ids)
        table = w.get("embeddings.token_type_embeddings.weight")
        if table is not None:
            h = h + (table[0] if types is None else table[types.clamp(max=len(table) - 1)])
        h = h + F.embedding(positions, w["embeddings.position_embeddings.weight"])
        h = self._norm(h, "embeddings.LayerNorm")
        return self._linear(h, "embeddings_project") if "embeddings_project.weight" in w else h

    def run(
        self, h: Tensor, lengths: Sequence[int], first: int | None = None
    ) -> Mapping[int, Tensor]:
        """Return the layers from `first` on, by number, from ``h [pieces, d]`` of that layer.

        Without `first`, it is the layer below the first block that learns.
        """
        first = self.first if first is None else first
        longest = max(lengths)
        starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        place = torch.arange(longest)
        absent = place >= torch.tensor(lengths)[:, None]
        rows = (starts[:, None] + place).masked_fill(absent, 0)
        bias = torch.zeros(len(lengths), 1, 1, longest).masked_fill(
            absent[:, None, None], -torch.inf
        )
        if self._relative is not None:
            bias = bias + self._relative[..., :longest, :longest]
        layers = {first: h}
        for block in range(first, self.top):
            h = self._run(block, h, rows, bias, ~absent)
            layers[block + 1] = h
        if self.method.name == "mix":
            stacked = torch.stack([layers[layer] for layer in range(self.top + 1)])
            layers[self.top] = torch.tensordot(self._mix(), stacked, dims=1)
        return layers

    def _run(self, block: int, h: Tensor, rows: Tensor, bias: Tensor, present: Tensor) -> Tensor:
        """Run one block on h [pieces, d]; rows [texts, longest] list the pieces of each text."""
        query, key, value, out, norm, up, down, norm_out = (
            self._name(block, part) for part in range(8)
        )
        heads = self.body.settings["num_attention_heads"]
        texts, longest = rows.shape

        def shared(name: str) -> Tensor:
            flat = self._linear(h, name)[rows.reshape(-1)]
            return flat.view(texts, longest, heads, -1).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            shared(query), shared(key), shared(value), attn_mask=bias
        )
        context = mixed.transpose(1, 2).reshape(texts, longest, -1)[present]
        h = self._norm(h + self._linear(context, out), norm)
        inner = ACTIVATIONS[self.body.settings["hidden_act"]](self._linear(h, up))
        return self._norm(h + self._linear(inner, down), norm_out)

    def _linear(self, x: Tensor, name: str) -> Tensor:
        """Return ``x (W + s B A)ᵀ + b``, in bf16 if requested (attention stays float32)."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.method.precision == "bf16"):
            y = F.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])
            if name in self._low:
                inwards, outwards = self._low[name]
                y = y + SCALE * F.linear(F.linear(x, inwards), outwards)
        return y.float()

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.body.settings["layer_norm_eps"])
