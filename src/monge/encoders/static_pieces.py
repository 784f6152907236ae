"""Static vectors of a tokenizer's pieces: directories of model2vec, and of sentence-transformers'
StaticEmbedding.

    vector(piece) = embeddings[mapping[id]] * weights[id]

where `mapping` and `weights` may be missing. The unknown piece has no vector, as in model2vec;
`encoder.unknown` decides what becomes of it. A text has no special pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer, processors
from torch import Tensor

from monge.encoders import digests
from monge.encoders.cutting import UNBOUNDED, last_id
from monge.encoders.model_files import check_content
from monge.encoders.pieces import tokenizer_family, unknown_id
from monge.encoders.sentence_pooling import MEAN
from monge.encoders.static import Unknown
from monge.encoders.static_files import TOKENIZER, WEIGHTS, StaticFiles
from monge.encoders.transformer import TransformerEncoder
from monge.errors import DataError, InvalidSetting, ModelError
from monge.types import Tokens

_TABLES = ("embeddings", "embedding.weight")


class StaticPieceEncoder(TransformerEncoder):
    """A table of vectors by piece; the way texts are cut is that of all models with a tokenizer."""

    looks_up = True

    def __init__(self, files: StaticFiles, *, unknown: str) -> None:
        if unknown not in get_args(Unknown):
            raise InvalidSetting(
                f"unknown={unknown!r}: words without a vector can be {', '.join(get_args(Unknown))}"
            )
        self._backend = _read_tokenizer(files.layer / TOKENIZER)
        self._table = _read_table(files.layer / WEIGHTS, last_id(self._backend) + 1)
        self.name, self.precision, self.depth, self.longest = files.name, "fp32", 0, UNBOUNDED
        self.device, self.tuning, self.pooling = "cpu", None, MEAN
        self.weights_digest = digests.of_file(files.layer / WEIGHTS)
        self.tokenizer_digest = digests.of_tokenizer(files.layer)
        self.config_digest = digests.of_facts("static-pieces", unknown)
        self._family = tokenizer_family(self._backend)
        self._unknown_piece = unknown_id(self._backend)
        self.frame, self.unknown, self._policy = ((), ()), None, unknown

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Cut each text into pieces; the policy decides about unknown ones."""
        return [self._apply_policy(tokens) for tokens in super().tokenise(texts, prefix=prefix)]

    def _apply_policy(self, tokens: Tokens) -> Tokens:
        unknown = [piece == self._unknown_piece for piece in tokens.ids]
        words = len(tokens.ids) - sum(tokens.continues)
        tokens_with_counts = replace(tokens, words=words, unknown=sum(unknown))
        if not any(unknown):
            return tokens_with_counts
        if self._policy == "error":
            start, end = tokens.spans[unknown.index(True)]
            raise DataError(
                f"no vector for {tokens.text[start:end]!r} (character {start + 1}) in {self.name}"
            )
        if self._policy == "zero":
            ids = (-1 if flag else i for i, flag in zip(tokens.ids, unknown, strict=True))
            return replace(tokens_with_counts, ids=tuple(ids))
        numbers = [k for k, flag in enumerate(unknown) if not flag]
        columns = ("ids", "pieces", "spans", "special", "continues")
        chosen: dict[str, Any] = {
            name: tuple(getattr(tokens, name)[k] for k in numbers) for name in columns
        }
        return replace(tokens_with_counts, **chosen)

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return one matrix [total pieces, d] per requested layer; id -1 has the zero vector."""
        flat = torch.tensor([i for text in ids for i in text], dtype=torch.long)
        vectors = self._table[flat.clamp(min=0)] * (flat >= 0)[:, None]
        return [vectors for _ in layers]


def open_static_pieces(files: StaticFiles, *, precision: str, unknown: str) -> StaticPieceEncoder:
    """Open static vectors of pieces, which have one precision."""
    if precision != "fp32":
        raise InvalidSetting(
            f"precision {precision} is not there for static vectors: {files.name} has fp32"
        )
    return StaticPieceEncoder(files, unknown=unknown)


def _read_tokenizer(path: Path) -> Tokenizer:
    """Read a tokenizer that adds no special pieces."""
    if not path.is_file():
        raise ModelError(f"{path.parent}: no tokenizer (looked for {TOKENIZER})")
    check_content(path, "a tokenizer")
    try:
        backend = Tokenizer.from_file(str(path))
    # tokenizers raises nothing narrower
    except Exception as error:  # noqa: BLE001
        raise ModelError(f"{path}: not readable as a tokenizer ({error})") from None
    backend.no_truncation()
    backend.no_padding()
    backend.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    backend.encode_special_tokens = True  # a literal [SEP] in a text is text
    return backend


def _read_table(path: Path, pieces: int) -> Tensor:
    """Return the vectors of all pieces, ``[pieces, d]`` float32."""
    if not path.is_file():
        raise ModelError(f"{path.parent}: no weights (looked for {WEIGHTS})")
    check_content(path)
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{path}: cannot be read as safetensors ({error})") from None
    table = next((tensors[name] for name in _TABLES if name in tensors), None)
    if table is None or table.ndim != 2:
        raise ModelError(
            f"{path}: no table of vectors ({' or '.join(_TABLES)}), it has {', '.join(tensors)}"
        )
    mapping, weights = tensors.get("mapping"), tensors.get("weights")
    if mapping is not None:
        if mapping.numel() and not 0 <= int(mapping.min()) <= int(mapping.max()) < len(table):
            raise ModelError(f"{path}: its mapping names rows beyond the {len(table)} there are")
        table = table[mapping.long()]
    if len(table) < pieces or (weights is not None and len(weights) != len(table)):
        raise ModelError(
            f"{path}: the tokenizer has {pieces} pieces, the table {len(table)} vectors and "
            f"{len(table) if weights is None else len(weights)} weights: they do not match"
        )
    table = table.float() if weights is None else table.float() * weights.float()[:, None]
    if not bool(torch.isfinite(table).all()):
        raise ModelError(f"{path}: NaN or infinite number among its vectors")
    return table
