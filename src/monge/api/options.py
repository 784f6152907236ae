"""The keywords by which a metric is set and its model is chosen, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from monge.errors import UnknownName, UsageError
from monge.types import CorpusStats


class Options(TypedDict, total=False):
    """How a metric is set and where its model runs.

    model: a packaged name, a directory, or (with `online`) a name on the hub; layers: a number, a fraction, `last`,
    `last5:mean` …; precision: fp32, bf16, int8; device: auto, cpu, cuda, mps; lang: the language of the texts, `de`,
    which may have settings of its own, and for which a model that knows it is taken where none is named; settings:
    `AXIS=VALUE` texts or a mapping; cache: a directory in which vectors and scores are kept.
    """

    model: str | Path
    layers: int | float | str | None
    precision: str | None
    device: str
    lang: str | None
    settings: Sequence[str] | Mapping[str, object]
    online: bool
    cache: str | Path | None


_TAKES: dict[str, tuple[tuple[type, ...], str]] = {
    "metric": ((str,), "a name such as 'twmd'"),
    "model": ((str, Path), "a name or a directory"),
    "layers": ((int, float, str, type(None)), "a number or a text such as 'last5:mean'"),
    "precision": ((str, type(None)), "'fp32', 'bf16' or 'int8'"),
    "device": ((str,), "'auto', 'cpu', 'cuda' or 'mps'"),
    "lang": ((str, type(None)), "a language code such as 'de'"),
    "settings": ((list, tuple, Mapping), "a list of 'AXIS=VALUE' texts, or a mapping"),
    "online": ((bool,), "True or False"),
    "cache": ((str, Path, type(None)), "a directory"),
}


def check_stats(given: object) -> None:
    """Raise where statistics are something else, such as the name of their file."""
    if given is not None and not isinstance(given, CorpusStats):
        raise UsageError(
            f"stats: expected CorpusStats (of monge.fit, or monge.load_stats(FILE)), got {type(given).__name__}"
        )


def check_options(given: Mapping[str, object]) -> None:
    """Raise where an option does not exist or has a value of a wrong type, naming it."""
    for name, value in given.items():
        if name not in _TAKES:
            raise UnknownName("option", name, _TAKES)
        kinds, accepts = _TAKES[name]
        if not isinstance(value, kinds):
            raise UsageError(f"{name}: expected {accepts}, got {type(value).__name__} {str(value)[:40]!r}")
