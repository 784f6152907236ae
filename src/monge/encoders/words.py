"""Word vectors as encoders: static vectors (one layer, numbered 0) and ELMo (its layers, 0 =
characters alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from monge.encoders import digests
from monge.encoders.elmo import Elmo
from monge.encoders.protocol import Tuning
from monge.encoders.static import StaticVectors, Unknown, word_spans
from monge.errors import InvalidSetting, ModelError
from monge.types import Tokens

_RULE = "word-spans-1"  # of `static.word_spans`: another rule gives other words
_UNBOUNDED = 1 << 20
Frame = tuple[tuple[int, ...], tuple[int, ...]]


class StaticEncoder:
    """The vectors of a file; the id of a piece is its row, -1 for a word without one."""

    looks_up = True
    device = "cpu"
    pooling = ""
    tuning: Tuning | None = None
    unknown: int | None = None  # of words without a vector the setting `encoder.unknown` decides

    def __init__(self, path: Path, *, unknown: Unknown, cache: Path | None = None) -> None:
        self.words = StaticVectors.open(path, unknown=unknown, cache=cache)
        self.policy = unknown
        self.name, self.precision, self.depth, self.longest = (
            self.words.path.name,
            "fp32",
            0,
            _UNBOUNDED,
        )
        self.weights_digest = self.words.digest
        self.tokenizer_digest = digests.of_facts(_RULE, unknown, self.words.digest)
        self.config_digest = digests.of_facts("static", _RULE, unknown)
        self.frame: Frame = ((), ())

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Make one piece per word; the policy decides about words without a vector."""
        _refuse_prefix(self.name, prefix)
        return [self.words.tokenise(text) for text in texts]

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return one matrix [total words, d] per requested layer."""
        flat = torch.from_numpy(self.words.vector([index for text in ids for index in text]))
        return [flat for _ in layers]


class ElmoEncoder:
    """An ELMo model; it reads characters, so the id of a piece is a hash of its word."""

    looks_up = False
    device = "cpu"
    pooling = ""
    tuning: Tuning | None = None
    unknown: int | None = None

    def __init__(self, directory: Path) -> None:
        self.model = Elmo.open(directory)
        self.name, self.precision, self.longest = directory.resolve().name, "fp32", _UNBOUNDED
        self.depth = self.model.layers - 1
        self.weights_digest, self.tokenizer_digest = self.model.digest, digests.of_facts(_RULE)
        self.config_digest = self.model.options_digest
        self.frame: Frame = ((), ())
        self._words: dict[int, str] = {}

    def tokenise(self, texts: Sequence[str], *, prefix: str = "") -> list[Tokens]:
        """Make one piece per word or mark, with its case."""
        _refuse_prefix(self.name, prefix)
        return [self._tokens(text) for text in texts]

    def _tokens(self, text: str) -> Tokens:
        spans = tuple(word_spans(text))
        words = tuple(text[start:end] for start, end in spans)
        no = (False,) * len(words)
        return Tokens(text, tuple(map(self._id, words)), words, spans, no, no)

    def _id(self, word: str) -> int:
        key = (
            int.from_bytes(
                blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
            )
            >> 1
        )
        if self._words.setdefault(key, word) != word:
            raise ModelError(
                f"{self.name}: the words {word!r} and {self._words[key]!r} have one hash"
            )
        return key

    def hidden(self, ids: Sequence[Sequence[int]], layers: Sequence[int]) -> list[Tensor]:
        """Return one matrix [total words, d] per requested layer."""
        layers_of = self.model.hidden([[self._words[word_id] for word_id in text] for text in ids])
        return [torch.cat([text[layer] for text in layers_of]) for layer in layers]


def is_vector_file(path: Path) -> bool:
    """Return whether a path holds word vectors: a file, or a directory that is no other kind of
    model.
    """
    if path.is_file():
        return True
    is_other_model = any(
        next(path.glob(name), None) for name in ("config.json", "tokenizer.json", "*.safetensors")
    )
    return path.is_dir() and not is_other_model and not is_elmo(path)


def is_elmo(path: Path) -> bool:
    """Return whether a directory holds the two files of a published ELMo model."""
    return (
        path.is_dir()
        and bool(list(path.glob("*options.json")))
        and bool(list(path.glob("*weights.hdf5")))
    )


def open_words(
    path: Path, *, precision: str, unknown: str, cache: Path | None
) -> StaticEncoder | ElmoEncoder:
    """Open the word vectors of a file or directory, which have one precision."""
    if precision != "fp32":
        raise InvalidSetting(
            f"precision {precision} is not there for word vectors: {path.name} has fp32"
        )
    if is_elmo(path):
        return ElmoEncoder(path)
    # checked on opening
    return StaticEncoder(path, unknown=unknown, cache=cache)  # type: ignore[arg-type]


def _refuse_prefix(name: str, prefix: str) -> None:
    if prefix:
        raise InvalidSetting(
            f"encoder.prefix={prefix!r}: {name} reads words alone, a prefix would change nothing"
        )
