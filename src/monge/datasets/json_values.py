"""Read JSON strictly: objects without duplicate keys, columns and lists by system as rows."""

from __future__ import annotations

import json
from typing import Any

from monge.errors import Unreadable


def read_json_object(text: str, location: str) -> dict[str, Any]:
    """Parse a text that must be a JSON object."""
    return check_json_object(read_json_text(text, location), location)


def read_json_text(text: str, location: str) -> Any:
    """Parse a JSON text; errors name the location."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Unreadable(f"{location}: JSON nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"{location}: not JSON ({error})") from None


def is_json_object(text: str) -> bool:
    """Return whether a line is a JSON object by itself."""
    try:
        return isinstance(_DECODER.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def check_json_object(value: Any, location: str) -> dict[str, Any]:
    """Return the value if it is an object; raise otherwise."""
    if not isinstance(value, dict):
        raise Unreadable(
            f"{location}: expected a JSON object with named fields, got {type(value).__name__}"
        )
    return value


def is_object_of_lists(value: Any) -> bool:
    """Return whether a JSON value is an object whose values are all lists."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(items, list) for items in value.values())
    )


def rows_by_system(lists: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Turn lists of objects by system, as `comet-score --to_json` writes them, into rows.

    A row has the system and the number of the item from 1, unless the item says others.
    """
    return [
        {"system": system, "id": str(number), **item}
        for system, items in lists.items()
        for number, item in enumerate(items, 1)
    ]


def transpose_columns(columns: dict[str, list[Any]], name: str) -> list[dict[str, Any]]:
    """Turn equally long lists by name into one object per item."""
    (first, first_values), *other_columns = columns.items()
    uneven = next(
        (column for column, values in other_columns if len(values) != len(first_values)), None
    )
    if uneven is not None:
        raise Unreadable(
            f"{name}: {len(first_values)} items in {first!r} but {len(columns[uneven])} in "
            f"{uneven!r}"
        )
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"field {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_reject_duplicates)
