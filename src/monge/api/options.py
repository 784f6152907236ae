"""The keyword options of a metric and its model, and the values that each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from monge.errors import UnknownName, UsageError
from monge.types import CorpusStats


class Options(TypedDict, total=False):
    """The options of a metric and its model.

    model: a packaged name, a directory, or (with `online`) a name on the hub; layers: a number, a
    fraction, `last`, `last5:mean` …; precision: fp32, bf16, int8; device: auto, cpu, cuda, mps;
    lang: the language of the texts, such as `de`, which may have settings of its own and chooses a
    model that knows it if none is named; settings: `AXIS=VALUE` texts or a mapping; cache: a
    directory for vectors and scores.
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


def check_stats(stats: object) -> None:
    """Raise if `stats` is neither None nor CorpusStats, for example the name of a file."""
    if stats is not None and not isinstance(stats, CorpusStats):
        raise UsageError(
            f"stats: expected CorpusStats (of monge.fit, or monge.load_stats(FILE)), got "
            f"{type(stats).__name__}"
        )


def check_options(options: Mapping[str, object]) -> None:
    """Raise if an option does not exist or has a value of a wrong type."""
    for name, value in options.items():
        if name not in _TAKES:
            raise UnknownName("option", name, _TAKES)
        kinds, accepts = _TAKES[name]
        if not isinstance(value, kinds):
            raise UsageError(
                f"{name}: expected {accepts}, got {type(value).__name__} {str(value)[:40]!r}"
            )


def changes_of(options: Options) -> tuple[str, ...]:
    """Return the changes that options make to a metric, as AXIS=VALUE texts."""
    settings = options.get("settings", ())
    changes = (
        [f"{key}={value}" for key, value in settings.items()]
        if isinstance(settings, Mapping)
        else list(settings)
    )
    short = {"layers": options.get("layers"), "encoder.precision": options.get("precision")}
    return (*changes, *(f"{key}={value}" for key, value in short.items() if value is not None))
