"""Plans in few bytes: what a report carries of every pair, to be drawn when it is asked for.

A pair is a list: where the units of the hypothesis and of the reference stand (`places`), what each
unit lost (`LOST` steps of the third number), that number, the largest cost, the largest mass, and
for every plan its moves. Small whole numbers are written as characters; `render/assets/report.js`
reads them.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import numpy as np

from monge.render.explanation_page import located
from monge.types import Array, Side, Transported
from monge.types.explanation import SIDES

DIGITS = "".join(chr(code) for code in range(35, 127) if code not in (60, 62, 92))
"""A character for each of the numbers from 0; no backslash, no mark of a tag."""
LOST, STEPS = 20, 8
"""Steps of what a unit lost, and of a mass and a cost, which share a character."""
_SLICE = 500
# of a unit's mass: smaller moves are left out, and so are more than so many
_LEAST, _MOST = 0.15, 2


def coded(number: int) -> str:
    """Return a whole number from 0 as a character, or as `!` and two where it is large."""
    base = len(DIGITS)
    if number < base:
        return DIGITS[number]
    number = min(number, base * base - 1)
    return f"!{DIGITS[number // base]}{DIGITS[number % base]}"


def compact(transported: Transported) -> list[Any]:
    """Return a pair as a report carries it."""
    most, dear = transported.most_lost, float(transported.cost.max())
    heaviest = max(float(plan.max()) for plan in transported.plans.values())
    sides = [_places(getattr(transported, name)) for name in SIDES]
    lost = [
        "".join(coded(_step(value, most, LOST)) for value in transported.lost(name).tolist())
        for name in SIDES
    ]
    return [
        *sides,
        *lost,
        *(float(f"{value:.3g}") for value in (most, dear, heaviest)),
        *(
            _moves(plan, transported.cost, dear, heaviest, by_column=name == "recall")
            for name, plan in transported.plans.items()
        ),
    ]


def _step(value: float, top: float, steps: int) -> int:
    return min(max(round(steps * value / top), 0), steps) if top > 0 else 0


def _places(side: Side) -> str | list[str]:
    """Return each unit's distance from the one before and its length, for compact JSON."""
    spans = located(side)
    if spans is None:
        return list(side.units)
    places, before = [], 0
    for start, end in spans:
        places += [coded(_utf16(side.text[before:start])), coded(_utf16(side.text[start:end]))]
        before = end
    return "".join(places)


def _utf16(text: str) -> int:
    """Return the length of a text as a browser counts it."""
    return len(text) + sum(ord(char) > 0xFFFF for char in text)


def _moves(plan: Array, cost: Array, dear: float, heaviest: float, *, by_column: bool) -> str:
    """Return the largest moves per row (column for recall): count, places, mass and cost."""
    masses, costs = (plan.T, cost.T) if by_column else (plan, cost)
    rows, columns = masses.shape
    moves = []
    for i in range(rows):
        row = masses[i]
        floor = max(_LEAST * float(row.sum()), 1e-9)
        best = [int(j) for j in np.argsort(-row, kind="stable")[:_MOST] if row[j] > floor]
        moves.append(coded(len(best)))
        for j in best:
            apart = j - i * columns // rows
            moves.append(coded(2 * apart if apart >= 0 else -2 * apart - 1))
            mass = _step(float(row[j]), heaviest, STEPS)
            price = _step(float(costs[i, j]), dear, STEPS)
            moves.append(coded((STEPS + 1) * mass + price))
    return "".join(moves)


def packed(data: Any) -> str:
    """Pack data for a page: JSON, deflated, in base 64.

    Long lists are written in slices, so that other threads are not kept waiting.
    """
    deflating = zlib.compressobj(9)
    parts = [deflating.compress(piece.encode("utf-8", "replace")) for piece in _pieces(data)]
    return b64encode(b"".join([*parts, deflating.flush()])).decode()


def _pieces(data: Any) -> Iterator[str]:
    """Yield the JSON text of data, piece by piece."""
    if isinstance(data, dict) and data:
        for k, (name, value) in enumerate(data.items()):
            yield f"{',' if k else '{'}{_plain(name)}:"
            yield from _pieces(value)
        yield "}"
    elif isinstance(data, list) and (
        len(data) > _SLICE or any(isinstance(element, list) for element in data)
    ):
        for start in range(0, len(data), _SLICE):
            part = data[start : start + _SLICE]
            yield "," if start else "["
            if len(data) > _SLICE:
                yield _plain(part)[1:-1]
            else:
                for k, value in enumerate(part):
                    yield "," * (k > 0)
                    yield from _pieces(value)
        yield "]"
    else:
        yield _plain(data)


def _plain(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
