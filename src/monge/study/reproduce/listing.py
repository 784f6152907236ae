"""The list of published tables: what is in them, and what can be computed with the data at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monge.data import dataset_names, describe
from monge.data.files import Files
from monge.errors import UsageError
from monge.study.reproduce.tables import ILLEGIBLE, LOG, LOG_FILE, PublishedRow, PublishedTable, logged, tables
from monge.study.variants import check_names


def listed(data: str | None) -> list[dict[str, Any]]:
    """One row a table; with data also whether its data sets are there."""
    files = Files(data) if data is not None else None
    every = list(tables().values())
    if files is not None and any(files.match((LOG_FILE,))):
        every.append(logged(data))
    return [_row(table, files) for table in every]


def _row(table: PublishedTable, files: Files | None) -> dict[str, Any]:
    missing = [name for name in table.datasets if files is not None and not present(name, files)]
    computable = 0 if table.listed else sum(not _why(row) for row in table.rows)
    everything = bool(missing) and len(missing) == len(table.datasets)
    return {
        "table": table.name,
        "paper": table.paper,
        "number": table.number,
        "caption": table.caption,
        "rows": len(table.rows),
        "figures": len(table.figures),
        "illegible": sum(value == ILLEGIBLE for value in table.figures),
        "computable": 0 if everything else computable,
        "why": table.listed or _needs(table, missing, files),
    }


def _needs(table: PublishedTable, missing: list[str], files: Files | None) -> str:
    if missing:
        return f"data not here: {', '.join(missing)}"
    return f"{'has' if files is not None else 'needs'} {', '.join(table.datasets)}" if not table.metrics else ""


def _why(row: PublishedRow) -> str:
    """Why a row is never computed with any model but its own, or nothing."""
    if row.unavailable or not (row.metric or row.hypothesis):
        return row.unavailable or "metric not here"
    try:
        if row.metric:
            check_names([row.metric])
    except UsageError as error:
        return str(error)
    return ""


def present(dataset: str, files: Files) -> bool:
    """Whether the judgements of a data set seem to be there, by the names of its files."""
    if dataset in ("pair", LOG):
        return True
    if dataset not in dataset_names():
        return False
    found = describe(dataset)
    roles: Mapping[str, tuple[str, ...]] = found.files
    judgements = [role for role in roles if role not in ("outputs", "references", "sources", "systems")] or list(roles)
    return any(True for role in judgements for _ in files.match(roles[role], found.year))
