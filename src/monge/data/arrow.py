"""Rows of Arrow files, and of a directory that Hugging Face `datasets` saved: in batches, never all at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from monge.data.lines import STDIN, is_there, open_bytes, read_lines, shown
from monge.errors import MissingExtra, Unreadable

BATCH = 4096
_STATE, _SPLITS = "state.json", "dataset_dict.json"


def is_saved_dataset(path: str) -> bool:
    """Whether a directory is one that `Dataset.save_to_disk` or `DatasetDict.save_to_disk` wrote."""
    return any(is_there(Path(path) / name) for name in (_STATE, _SPLITS))


def arrow_rows(path: str) -> Iterator[dict[str, Any]]:
    """The rows of an Arrow file, stream or Feather file, or of the shards of a saved dataset, one after another."""
    for file in _shards(Path(path)) if is_there(path, folder=True) else [path]:
        with _pyarrow(file) as pyarrow, open_bytes(file) as stream:
            for batch in _batches(pyarrow, stream):
                for start in range(0, batch.num_rows, BATCH):
                    yield from batch.slice(start, BATCH).to_pylist()


@contextmanager
def _pyarrow(path: str) -> Iterator[Any]:
    """The library; what it cannot read becomes one line."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise MissingExtra("Arrow", "parquet") from None
    if path == STDIN:
        raise Unreadable("Arrow cannot be read from standard input; give a file")
    try:
        yield pyarrow
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise Unreadable(f"{shown(path)}: not Arrow ({str(error).splitlines()[0]})") from None


def _batches(pyarrow: Any, stream: Any) -> Iterator[Any]:
    """The record batches of a file that begins as an Arrow file does, else of a stream."""
    if stream.peek(6)[:6] == b"ARROW1":
        reader = pyarrow.ipc.open_file(stream)
        yield from (reader.get_batch(k) for k in range(reader.num_record_batches))
    else:
        yield from pyarrow.ipc.open_stream(stream)


def _shards(folder: Path) -> list[str]:
    """The Arrow files of a saved dataset, in order."""
    if is_there(folder / _SPLITS):
        splits = _said(folder / _SPLITS).get("splits", [])
        raise Unreadable(f"{folder} holds several splits: give one, {' or '.join(str(folder / one) for one in splits)}")
    said = _said(folder / _STATE)
    if said.get("_indices_data_files"):
        raise Unreadable(f"{folder}: a selection of another dataset; save it after flatten_indices()")
    return [str(folder / one["filename"]) for one in said.get("_data_files", [])]


def _said(path: Path) -> dict[str, Any]:
    try:
        found = json.loads("\n".join(read_lines(path)))
    except ValueError as error:
        raise Unreadable(f"{path}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{path}: expected an object, as datasets writes it")
    return found
