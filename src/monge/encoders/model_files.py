"""Check the files of a model directory before they are opened: what is there instead of weights."""

from __future__ import annotations

from pathlib import Path

from monge.errors import ModelError

_POINTER = b"version https://git-lfs.github.com/spec/"
PEFT_CONFIG, PEFT_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


def check_content(path: Path, kind: str = "weights") -> None:
    """Raise where a file of weights, or of another kind, is a Git LFS pointer or empty."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(len(_POINTER))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    if start == _POINTER:
        raise ModelError(
            f"{path} is a Git LFS pointer ({size} bytes), not {kind}: run git lfs pull"
        )
    if not size:
        raise ModelError(f"{path}: empty file (0 bytes), not {kind}")


def check_directory(directory: Path) -> None:
    """Raise where a directory cannot be a model: it is empty, or holds an adapter of peft alone."""
    if not directory.is_dir():
        raise ModelError(f"{directory}: no such directory")
    try:
        is_empty = next(directory.iterdir(), None) is None
    except OSError as error:
        raise ModelError(f"{directory}: cannot be read ({error.strerror})") from None
    if is_empty:
        raise ModelError(f"{directory}: an empty directory, not a model")
    if (directory / PEFT_CONFIG).is_file():
        raise ModelError(
            f"{directory}: an adapter in the form of peft ({PEFT_CONFIG}), not a model; "
            f"monge adapter import makes it an adapter of monge"
        )
