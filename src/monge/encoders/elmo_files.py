"""The two published files of an ELMo model: settings (JSON) and weights (HDF5), checked as they are
read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from monge.errors import MissingExtra, ModelError

if TYPE_CHECKING:
    from typing import Self

    from torch import Tensor


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """What `options.json` says. A clip of None does not clip."""

    character_dimension: int
    filters: tuple[tuple[int, int], ...]
    n_highway: int
    max_characters: int
    activation: str
    projection: int
    cells: int
    n_layers: int
    cell_clip: float | None
    projection_clip: float | None
    skip_connections: bool

    @property
    def n_filters(self) -> int:
        """Width of the token representation before its projection."""
        return sum(count for _, count in self.filters)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the settings of a file; raises where it is not an options file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: not an ELMo options file: {error}") from error
        try:
            options = cls._from(data["char_cnn"], data["lstm"])
        except KeyError as error:
            raise ModelError(f"{path}: not an ELMo options file: no {error} setting") from error
        except (TypeError, ValueError) as error:
            raise ModelError(f"{path}: not an ELMo options file: {error}") from error
        if options.activation not in ("relu", "tanh"):
            raise ModelError(
                f"{path}: unknown activation {options.activation!r} (known: relu, tanh)"
            )
        widest = max((span for span, _ in options.filters), default=0)
        if not 1 <= widest <= options.max_characters or options.max_characters < 3:
            raise ModelError(
                f"{path}: filters of width {widest} do not fit {options.max_characters} characters "
                f"a token"
            )
        return options

    @classmethod
    def _from(cls, characters: dict[str, Any], lstm: dict[str, Any]) -> Self:
        clips = [
            None if not lstm.get(name) else float(lstm[name]) for name in ("cell_clip", "proj_clip")
        ]
        return cls(
            character_dimension=int(characters["embedding"]["dim"]),
            filters=tuple((int(span), int(count)) for span, count in characters["filters"]),
            n_highway=int(characters.get("n_highway", 0)),
            max_characters=int(characters["max_characters_per_token"]),
            activation=str(characters["activation"]),
            projection=int(lstm["projection_dim"]),
            cells=int(lstm["dim"]),
            n_layers=int(lstm["n_layers"]),
            cell_clip=clips[0],
            projection_clip=clips[1],
            skip_connections=bool(lstm.get("use_skip_connections", False)),
        )


class ElmoWeights:
    """An open weights file: a context manager whose `take` checks shape and values."""

    def __init__(self, path: Path) -> None:
        """Open the file, or say why it is none."""
        try:
            import h5py
        except ImportError as error:
            raise MissingExtra("reading ELMo weights", "elmo") from error
        self.path = path
        try:
            self._file: Any = h5py.File(path, "r")
        except OSError as error:
            raise ModelError(
                f"{path}: not an HDF5 file, or cut short: {str(error).splitlines()[0]}"
            ) from error

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def has(self, name: str) -> bool:
        """Return whether the file has a group or data set."""
        return name in self._file

    def take(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return a float32 data set of exactly this shape."""
        if name not in self._file or not hasattr(self._file[name], "shape"):
            raise ModelError(
                f"{self.path}: no data set {name!r}: not ELMo weights, or not of these options"
            )
        try:
            values = np.asarray(self._file[name][...], dtype=np.float32)
        except (OSError, ValueError, TypeError) as error:
            raise ModelError(
                f"{self.path}: {name}: cannot be read: {str(error).splitlines()[0]}"
            ) from error
        if values.shape != shape:
            raise ModelError(
                f"{self.path}: {name} has shape {values.shape}, the options ask for {shape}"
            )
        if not np.isfinite(values).all():
            raise ModelError(f"{self.path}: {name} holds NaN or infinite values")
        return torch.from_numpy(values)


def find_elmo_files(path: Path, weights: Path | None) -> tuple[Path, Path]:
    """Return the options and the weights file of a directory, or the two files as given."""
    if weights is not None:
        return path, weights
    if not path.is_dir():
        raise ModelError(
            f"{path}: not a directory with ELMo files (give a directory, or options and weights)"
        )
    return _find_single(path, "*options.json"), _find_single(path, "*weights.hdf5")


def _find_single(directory: Path, pattern: str) -> Path:
    paths = sorted(directory.glob(pattern))
    if len(paths) != 1:
        names = ", ".join(path.name for path in paths) or "none"
        raise ModelError(f"{directory}: needs exactly one {pattern}, found {names}")
    return paths[0]
