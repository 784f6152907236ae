"""The cards of models and adapters: what each is, what it learned from, and under which licences.

Read from the adapters' `card.json` and from `LICENCES.toml`, the list of every file of the package.
Needs no torch.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from monge.encoders.digests import read_json
from monge.encoders.packaged import (
    PACKAGED,
    SHIPPED,
    STATIC,
    Packaged,
    base_and_adapter,
    packaged,
    static_directory,
)
from monge.errors import ModelError
from monge.types.table import Cell, Listing, Sheet, facts_sheet

CARD = "card.json"
NOT_STATED = "not stated"


@cache
def read_licences() -> list[dict[str, Any]]:
    """Return the entries of LICENCES.toml."""
    entries: list[dict[str, Any]] = tomllib.loads(
        (files("monge") / "LICENCES.toml").read_text("utf-8")
    )["files"]
    return entries


def match_licences(path: str) -> list[dict[str, Any]]:
    """Return the entries of LICENCES.toml that match a path below the package."""
    return [
        entry
        for entry in read_licences()
        if any(fnmatchcase(path, pattern) for pattern in entry["paths"])
    ]


def model_names() -> list[str]:
    """Return the names of the models that have a card without a path."""
    return [STATIC, *SHIPPED, *(name for row in PACKAGED for name in (row.name, *row.short))]


def has_card(name: str) -> bool:
    """Return whether a name is that of a packaged model, or has the form of an adapter's."""
    _, adapter = base_and_adapter(name)
    if adapter:
        return True
    return name in model_names() or (Path(name).expanduser() / CARD).is_file()


def describe_model(name: str) -> Listing:
    """Return the card of a model: a name of `model_names`, BASE+ADAPTER, or an adapter's directory.

    A shipped adapter without a base has a card for each of its bases.
    """
    if name == STATIC:
        return _describe_static()
    base, adapter = base_and_adapter(name)
    if not adapter and not (Path(name).expanduser() / CARD).is_file():
        row = packaged(name)
        if row is None:
            raise ModelError(f"{name}: no model inside a package, and no adapter with a {CARD}")
        return _describe_packaged(row)
    folders = _list_folders(name, base, adapter)
    cards = [_summarise_card(adapter or name, folder) for folder in folders]
    data = {"model": name, "about": SHIPPED.get(adapter, ""), "adapters": cards}
    return Listing(data, [sheet for card in cards for sheet in _card_sheets(card)])


def _list_folders(name: str, base: str, adapter: str) -> list[Path]:
    """Return the directories of an adapter; of a shipped one, one per base unless one is named."""
    if adapter not in SHIPPED:
        folder = Path(adapter or name).expanduser()
        if not (folder / CARD).is_file():
            raise ModelError(
                f"{adapter or name!r} is no adapter: neither a directory with a {CARD} nor one of "
                f"{', '.join(SHIPPED)}"
            )
        return [folder]
    folders = sorted(Path(str(files("monge.encoders") / "adapters" / adapter)).iterdir())
    if name == adapter:
        return folders
    row = packaged(base)
    base_name = row.name if row is not None else Path(base).name
    matching = [folder for folder in folders if folder.name == base_name]
    if not matching:
        bases = ", ".join(folder.name for folder in folders)
        raise ModelError(f"no adapter {adapter} for {base}: there is one for {bases}")
    return matching


def _describe_packaged(row: Packaged) -> Listing:
    """Return the card of a model inside a Python package."""
    facts = {
        "model": row.name,
        "other names": ", ".join(row.short),
        "package": f"{row.distribution} {row.version}",
        "installed": "yes" if row.path is not None else f"no: {row.how_to_install}",
        "licence": f"{row.licence} (weights; not part of monge)",
        "sha256": row.sha256,
        "languages": ", ".join(sorted(row.languages)),
    }
    data = {**facts, "installed": row.path is not None, "licence": row.licence}
    data |= {"other names": list(row.short), "languages": sorted(row.languages)}
    return Listing(
        {key.replace(" ", "_"): value for key, value in data.items()}, [facts_sheet("", facts)]
    )


def _describe_static() -> Listing:
    """Return the card of the static vectors inside this package."""
    card: Any = read_json(static_directory() / CARD)
    facts = {key.replace("_", " "): str(value) for key, value in card.items()}
    return Listing(card, [facts_sheet("", facts)])


def _summarise_card(name: str, folder: Path) -> dict[str, Any]:
    """Return what people ask of an adapter: base, licences, lessons, agreement, signature."""
    card: Any = read_json(folder / CARD)
    wanted_keys = ("base", "metric", "parameters", "learned_from", "held_out", "signature")
    if isinstance(card, dict) and "origin" in card:
        base = card["base"]["name"]
        return {"adapter": name, "base": base, **card["origin"], "parameters": card["parameters"]}
    lacks = [key for key in wanted_keys if not isinstance(card, dict) or key not in card]
    if lacks:
        raise ModelError(f"{folder / CARD}: not the card of an adapter, it lacks {lacks[0]!r}")
    package = Path(str(files("monge")))
    is_shipped = folder.is_relative_to(package)
    path = folder.relative_to(package).as_posix() if is_shipped else ""
    entry = match_licences(f"{path}/{CARD}")[0] if is_shipped else {}
    base_licences = {row.name: row.licence for row in PACKAGED}
    base_licence = base_licences.get(card["base"]["name"], NOT_STATED)
    before = [point["agreement"] for point in card.get("curve", ()) if point["step"] == 0]
    teacher = (card.get("plan") or {}).get("teacher")
    return {
        "adapter": name,
        "base": card["base"]["name"],
        "base_licence": entry.get("base_licence", base_licence),
        "licence": entry.get("licence", NOT_STATED),
        "metric": card["metric"],
        "layers": card.get("layers") or [],
        "parameters": card["parameters"],
        "learned_from": card["learned_from"],
        "teacher": f"{teacher['metric']} of {Path(teacher['model']).name}" if teacher else None,
        "held_out": {**card["held_out"], "before": before[0] if before else None},
        "signature": card["signature"],
    }


def _card_sheets(card: Mapping[str, Any]) -> list[Sheet]:
    """Return the tables of a card: its facts, and what the adapter learned from."""
    if "form" in card:
        facts = {key: str(value) for key, value in card.items()}
        return [facts_sheet(f"{card['adapter']} for {card['base']}", facts)]
    held_out = card["held_out"]
    before = "" if held_out["before"] is None else f"{held_out['before']:.4f} before, "
    facts = {
        "adapter": card["adapter"],
        "licence": card["licence"],
        "base model": f"{card['base']} (licence: {card['base_licence']}; not part of monge)",
        "tuned through": f"{card['metric']}, layer {', '.join(map(str, card['layers']))}",
        "parameters": f"{card['parameters']:,}",
        "held out": f"{held_out['data']}, {held_out['judgements']:,} judgements: "
        f"{held_out.get('statistic', 'agreement')} {before}{held_out['agreement']:.4f} after",
    }
    facts |= {"teacher": card["teacher"]} if card["teacher"] else {}
    title = f"{card['adapter']} for {card['base']}"
    return [
        facts_sheet(title, facts, ("", "")),
        _lessons_sheet(card["learned_from"], card["signature"]),
    ]


def _lessons_sheet(lessons: Sequence[Mapping[str, Any]], signature: str) -> Sheet:
    """Return the table of what an adapter learned from, with the terms of the data."""
    rows = tuple(
        (
            Cell(lesson["data"]),
            Cell(f"{lesson['judgements']:,}"),
            Cell(lesson["licence"] or NOT_STATED),
        )
        for lesson in lessons
    )
    return Sheet(
        "", ("learned from", "judgements", "terms of the data"), rows, words_behind=1,
        signatures=(signature,),
    )  # fmt: skip
