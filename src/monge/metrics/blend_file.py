"""Files of fitted blends: a blend and its card in one JSON file, which `monge tune blend` writes.

The name of such a file ends in .json, and `-m FILE.json` is a metric like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from monge.errors import InvalidSetting, MongeError, UnknownName, Unreadable
from monge.metrics.blend import BlendSpec, LinearSum, LinearTerm, MemberSpec
from monge.metrics.lexical import LEXICAL, LexicalSpec

FORMAT = 1
ENDING = ".json"
CONSTANTS = ("weight", "mean", "deviation")
DIGESTS = ("weights", "tokenizer", "config")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+@_-]*")
"""The names of members: without a dot, which stands behind them in settings and signatures."""
_BLEND_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+@_.-]*")


@dataclass(frozen=True)
class BlendFile:
    """A fitted blend that was read from a file: its name, its settings, and the whole card."""

    name: str
    spec: BlendSpec
    card: Mapping[str, Any]


def is_blend_file(name: str) -> bool:
    """Return whether the name of a metric is that of a file with a blend."""
    return name.endswith(ENDING)


def is_blend_name(name: str) -> bool:
    """Return whether a blend can have this name: letters, digits and + @ _ . - only."""
    return _BLEND_NAME.fullmatch(name) is not None


def read_blend(path: str) -> BlendFile:
    """Read a fitted blend; raise Unreadable where the file is not there or holds anything else."""
    try:
        card = json.loads(Path(path).expanduser().read_text("utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise Unreadable(
            f"{path}: the file of a blend cannot be read ({error.strerror or error}); monge tune "
            "blend writes one"
        ) from None
    except ValueError as error:
        raise Unreadable(f"{path}: not the file of a blend, not JSON ({error})") from None
    try:
        return parse_blend(card)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise Unreadable(
            f"{path}: not the file of a blend that monge tune blend wrote: {reason}"
        ) from None
    except MongeError as error:
        raise Unreadable(f"{path}: the blend cannot be used: {error}") from None


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is not a number that a blend can have")


def parse_blend(card: Any) -> BlendFile:
    """Return the blend that a card describes; raise ValueError, KeyError or TypeError."""
    if not isinstance(card, dict) or "monge_blend" not in card:
        raise ValueError("it has no field monge_blend")
    if card["monge_blend"] != FORMAT:
        raise ValueError(f"format {card['monge_blend']!r}; this version reads {FORMAT}")
    name = card["name"]
    if not isinstance(name, str) or not is_blend_name(name):
        raise ValueError(f"{name!r} is not the name of a blend")
    records = card["members"]
    if not isinstance(records, dict) or len(records) < 2:
        raise ValueError("a blend has two members or more")
    members: dict[str, MemberSpec] = {}
    terms = {}
    for member, record in records.items():
        if not _NAME.fullmatch(member):
            raise ValueError(f"{member!r} is not the name of a member")
        members[member] = _read_member(member, record)
        terms[member] = _read_term(member, record)
    return BlendFile(name, BlendSpec(members, LinearSum(terms)), card)


def _read_member(member: str, record: Mapping[str, Any]) -> MemberSpec:
    """Return the settings of a member: those of the row of its metric, changed as the card says."""
    from monge.metrics.presets import find_preset

    metric, settings = record["metric"], record["settings"]
    changes = [f"{setting}={text}" for setting, text in settings.items()]
    if metric in LEXICAL:
        return LexicalSpec(metric).changed(changes)
    spec = find_preset(metric).spec
    unknown = next((axis for axis in settings if axis not in spec.written()), None)
    if unknown is not None:
        raise UnknownName(f"axis of {member}", unknown, spec.written())
    return spec.changed(changes)


def _read_term(member: str, record: Mapping[str, Any]) -> LinearTerm:
    """Return the constants of a member; raise ValueError where they are not usable."""
    constants = [record[key] for key in CONSTANTS]
    for key, value in zip(CONSTANTS, constants, strict=True):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not isfinite(value) or (key == "deviation" and value <= 0):
            raise ValueError(f"{key} of {member} is {value!r}, not a usable number")
    model = record["model"]
    digests = "" if model is None else "-".join(str(model[key]) for key in DIGESTS)
    weight, mean, deviation = map(float, constants)
    return LinearTerm(record["metric"], weight, mean, deviation, digests)


def name_members(metrics: list[str]) -> list[str]:
    """Return a name for each member from the name of its metric; equal ones are numbered."""
    names: list[str] = []
    for metric in metrics:
        bare = re.sub(r"[^A-Za-z0-9+@_-]", "-", metric)
        same = sum(1 for name in names if name == bare or name.startswith(f"{bare}-no"))
        names.append(bare if not same else f"{bare}-no{same + 1}")
    return names


def check_blend_path(path: str | Path) -> str:
    """Return the name of the blend that a file is to hold; raise where it cannot be one."""
    name = Path(path).name.removesuffix(ENDING)
    if not is_blend_file(str(path)) or not is_blend_name(name):
        raise InvalidSetting(
            f"-o {path}: the file of a blend ends in {ENDING}, and its name has letters, digits "
            "and + @ _ . - only, such as my-blend.json"
        )
    return name
