"""Any model of the transformers family as an encoder: safetensors only, no remote code, no pooling head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from monge.encode.loading import chosen_device, load_encoder
from monge.encode.models import ModelFiles, find
from monge.encode.packed import OFFSET_POSITIONS, PackedEncoder
from monge.encode.pieces import continues, family, hide_specials, is_blank, unknown_id
from monge.errors import InvalidSetting, ModelError
from monge.types import Tokens

_UNBOUNDED = 1 << 20  # tokenizers without a limit declare something like 1e30


class TransformerEncoder:
    """A loaded model and its tokenizer."""

    looks_up = False

    def __init__(self, files: ModelFiles, *, precision: str = "fp32", device: str = "cpu") -> None:
        self.name, self.precision = files.name, precision
        self.weights_digest, self.tokenizer_digest = files.weights_digest, files.tokenizer_digest
        self.config_digest = files.config_digest
        self._device = torch.device(device)
        model, tokenizer = load_encoder(files)
        self.depth = int(_config(model, "num_hidden_layers", "n_layers", "num_layers"))
        self.longest = _longest(model, tokenizer)
        self._pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._backend = tokenizer.backend_tokenizer
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True  # a literal [SEP] in a text is text
        hide_specials(self._backend, tokenizer.all_special_tokens)
        self._family, self.unknown = family(self._backend), unknown_id(self._backend)
        self._model, self._packed = _prepared(model, precision, self._device)
        self.frame = self._frame()

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Pieces of each text, never cut; the pieces of `prefix` count as special.

        A text without a visible character has no pieces but special ones, whatever the tokenizer would make of it.
        """
        lead = prefix if prefix else (" " if self._family == "bytes" else "")
        stripped = ["" if is_blank(text) else text.strip() for text in texts]
        encodings = self._backend.encode_batch([lead + text if text or prefix else "" for text in stripped])
        return [self._tokens(text, encoding, len(lead)) for text, encoding in zip(stripped, encodings, strict=True)]

    def _tokens(self, text: str, encoding: Any, lead: int) -> Tokens:
        pieces, spans = encoding.tokens, encoding.offsets
        special = [flag == 1 for flag in encoding.special_tokens_mask]
        if self._family == "wordpiece" and not lead:
            goes_on = [piece.startswith("##") for piece in pieces]
            return Tokens(text, tuple(encoding.ids), pieces, spans, special, goes_on)
        if lead:
            spans = [(start - lead, end - lead) for start, end in spans]
            special = [
                flag or end < 0 or (end == 0 and lead > 1) for flag, (_, end) in zip(special, spans, strict=True)
            ]
        spans = [(0, 0) if flag else _trimmed(text, span) for flag, span in zip(special, spans, strict=True)]
        goes_on, before = [], None
        for piece, span, is_special in zip(pieces, spans, special, strict=True):
            goes_on.append(not is_special and continues(self._family, piece, text, span, before))
            before = None if is_special else span
        return Tokens(text, tuple(encoding.ids), pieces, spans, special, goes_on)

    def _frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The special ids that stand before and after every text."""
        encoding = self._backend.encode("a")
        marks, ids = encoding.special_tokens_mask, encoding.ids
        first = marks.index(0) if 0 in marks else len(ids)
        last = len(marks) - marks[::-1].index(0) if 0 in marks else len(ids)
        return tuple(ids[:first]), tuple(ids[last:])

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """For each layer asked for, [total pieces, d] float32 on the CPU, texts one after another."""
        if self._packed is not None:
            return self._packed.hidden(ids, layers)
        longest = max(map(len, ids))
        padded = torch.tensor([[*text, *[self._pad] * (longest - len(text))] for text in ids])
        present = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in ids])
        if self._device.type == "cuda":
            padded, present = padded.pin_memory(), present.pin_memory()
        with torch.inference_mode():
            out = self._model(
                input_ids=padded.to(self._device, non_blocking=True),
                attention_mask=present.to(self._device, non_blocking=True),
                output_hidden_states=True,
            )
        keep = present.bool()
        return [out.hidden_states[layer].float().to("cpu")[keep] for layer in layers]


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span without the white space it begins with."""
    start, end = max(span[0], 0), span[1]
    while start < end and text[start].isspace():
        start += 1
    return start, end


def open_encoder(
    model: str, *, precision: str = "fp32", device: str = "auto", online: bool = False
) -> TransformerEncoder:
    """Load `auto`, a directory or a hub name."""
    return TransformerEncoder(find(model, online=online), precision=precision, device=chosen_device(device))


def _prepared(model: Any, precision: str, device: torch.device) -> tuple[Any, PackedEncoder | None]:
    """The model as it runs: packed on the CPU where its family is known, otherwise as loaded."""
    if device.type == "cpu" and PackedEncoder.supports(model):
        return None, PackedEncoder(model, precision)  # type: ignore[arg-type]
    if precision == "int8":
        raise InvalidSetting(
            f"precision int8 is not there for {type(model).__name__} on {device.type}: use fp32 or bf16"
        )
    return model.to(device, torch.bfloat16 if precision == "bf16" else torch.float32), None


def _config(model: Any, *names: str) -> Any:
    for name in names:
        value = getattr(model.config, name, None)
        if value is not None:
            return value
    raise ModelError(f"{type(model).__name__}: the configuration has none of {', '.join(names)}")


def _longest(model: Any, tokenizer: Any) -> int:
    """Pieces the model reads: the smaller of what the tokenizer declares and the position table."""
    declared = min(int(tokenizer.model_max_length), _UNBOUNDED)
    table = getattr(model.config, "max_position_embeddings", None)
    if not table or table < 0:
        return declared
    if model.config.model_type in OFFSET_POSITIONS:
        table -= (model.config.pad_token_id or 0) + 1
    return min(declared, int(table))
