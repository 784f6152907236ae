"""Digests that identify a model on disk: sha256 of its files, JSON in one canonical form.

The canonical form of a JSON file is its parsed content with sorted keys and without white space,
less the keys of `LEFT_OUT`, which cannot move a vector. Every other key counts: a setting that is
not known to be harmless is not. Needs no transformers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import file_digest, sha256
from pathlib import Path

from monge.encoders.model_files import check_content
from monge.errors import ModelError

CONFIG = "config.json"
LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    CONFIG: {
        "_name_or_path": "where the author had it from",
        "transformers_version": "what wrote the file",
        "dtype": "weights are always read as float32",
        "torch_dtype": "weights are always read as float32",
        "architectures": "the head it was saved with; the body is chosen by model_type",
        "_attn_implementation_autoset": "how the author's attention ran",
    },
    "tokenizer_config.json": {
        "name_or_path": "where the author had it from",
        "tokenizer_file": "where the author had it from",
        "special_tokens_map_file": "where the author had it from",
        "chat_template": "texts are no conversations",
    },
}
TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "source.spm",
    "special_tokens_map.json",
    "spiece.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""Everything a tokenizer may be made of, in name order."""


_running: dict[Path, Future[str]] = {}


def start_hashing(path: Path) -> None:
    """Hash a file in a thread; the next call of `of_file` waits for the result.

    For the weights of a model while torch is imported, which takes longer and keeps one core busy.
    """
    aside = ThreadPoolExecutor(1)
    _running[path] = aside.submit(_hash_bytes_of, path)
    aside.shutdown(wait=False)


def of_file(path: Path) -> str:
    """Return the sha256 of the bytes of a file."""
    begun = _running.pop(path, None)
    return _hash_bytes_of(path) if begun is None else begun.result()


def _hash_bytes_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None


def of_bytes(content: bytes) -> str:
    """Return the sha256 of bytes."""
    return sha256(content).hexdigest()


def of_weights(paths: Iterable[Path]) -> str:
    """Return the sha256 of a single file, or of the sha256s of several, in name order."""
    digests = [of_file(path) for path in sorted(paths)]
    return digests[0] if len(digests) == 1 else of_facts("".join(digests))


def of_json(path: Path) -> str:
    """Return the sha256 of the canonical form of a JSON file."""
    settings = read_json(path)
    if isinstance(settings, dict):
        left_out = LEFT_OUT.get(path.name, {})
        settings = {key: value for key, value in settings.items() if key not in left_out}
    return of_facts(json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=True))


def of_tokenizer(directory: Path) -> str:
    """Return the sha256 of the names and digests of all files of a tokenizer."""
    paths = [path for name in TOKENIZER_FILES if (path := directory / name).is_file()]
    file_digests = [
        f"{path.name}={of_json(path) if path.suffix == '.json' else of_file(path)}"
        for path in paths
    ]
    return of_facts(*file_digests)


def of_facts(*facts: str) -> str:
    """Return the sha256 of words."""
    return sha256("/".join(facts).encode()).hexdigest()


def read_json(path: Path) -> object:
    """Read the content of a JSON file."""
    try:
        content: object = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        check_content(path, "JSON")
        raise ModelError(f"{path}: not readable as JSON ({error})") from None
    return content
