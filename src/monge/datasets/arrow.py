"""Rows of Arrow files and of directories saved by Hugging Face `datasets`, in batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from monge.datasets.lines import STDIN, is_there, open_bytes, read_lines, shown
from monge.errors import MissingExtra, Unreadable

BATCH = 4096
_STATE, _SPLITS = "state.json", "dataset_dict.json"


def is_saved_dataset(path: str) -> bool:
    """Return whether a directory was written by `save_to_disk` of Hugging Face datasets."""
    return any(is_there(Path(path) / name) for name in (_STATE, _SPLITS))


def read_arrow(path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of an Arrow file, stream or Feather file, or of a saved dataset."""
    for file in _shards(Path(path)) if is_there(path, folder=True) else [path]:
        with _import_pyarrow(file) as pyarrow, open_bytes(file) as stream:
            for batch in _batches(pyarrow, stream):
                for start in range(0, batch.num_rows, BATCH):
                    yield from batch.slice(start, BATCH).to_pylist()


@contextmanager
def _import_pyarrow(path: str) -> Iterator[Any]:
    """Yield pyarrow, and turn its read errors into a one-line `Unreadable`."""
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
    """Yield the record batches of an Arrow file, or else of a stream."""
    if stream.peek(6)[:6] == b"ARROW1":
        reader = pyarrow.ipc.open_file(stream)
        yield from (reader.get_batch(k) for k in range(reader.num_record_batches))
    else:
        yield from pyarrow.ipc.open_stream(stream)


def _shards(folder: Path) -> list[str]:
    """Return the Arrow files of a saved dataset, in order."""
    if is_there(folder / _SPLITS):
        splits = _read_settings(folder / _SPLITS).get("splits", [])
        raise Unreadable(
            f"{folder} holds several splits: give one, "
            f"{' or '.join(str(folder / split) for split in splits)}"
        )
    state = _read_settings(folder / _STATE)
    if state.get("_indices_data_files"):
        raise Unreadable(
            f"{folder}: a selection of another dataset; save it after flatten_indices()"
        )
    return [str(folder / data_file["filename"]) for data_file in state.get("_data_files", [])]


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads("\n".join(read_lines(path)))
    except ValueError as error:
        raise Unreadable(f"{path}: not JSON ({error})") from None
    if not isinstance(settings, dict):
        raise Unreadable(f"{path}: expected an object, as datasets writes it")
    return settings
