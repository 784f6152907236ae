"""What may be shown: finite numbers only, and JSON that any reader can parse."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from monge.errors import DataError, InvalidProblem
from monge.types import Explanation, Result

# Line separators that `str.splitlines` obeys, and lone surrogates, which UTF-8 cannot carry.
_FRAGILE = re.compile("[\x7f\x85\u2028\u2029\ud800-\udfff]")


def checked(results: Sequence[Result]) -> Sequence[Result]:
    """Return the results, if there are any and every number in them is finite."""
    if not results:
        raise DataError("there are no results to show")
    for result in results:
        place = f"{result.metric} of {result.system or 'the system'}"
        if result.n == 0:
            raise DataError(f"{place}: there are no segments to show")
        _finite(place, "score", result.score)
        _finite(place, "interval", result.interval or ())
        for name, values in {"segments": result.segments, **result.parts}.items():
            _finite(place, name, values)
    return results


def checked_explanation(e: Explanation) -> Explanation:
    """Return the explanation, if every number in it is finite."""
    numbers: Mapping[str, Any] = {
        "score": e.score,
        **e.parts,
        "cost": e.cost,
        "similarity": e.similarity,
        **e.plans,
        "hypothesis weights": e.hypothesis.weights,
        "hypothesis shares": e.hypothesis.shares,
        "reference weights": e.reference.weights,
        "reference shares": e.reference.shares,
        "moves": [(move.mass, move.cost, move.similarity, move.share) for move in e.moves],
    }
    for name, values in numbers.items():
        _finite(e.metric, name, values)
    return e


def _finite(place: str, name: str, values: Any) -> None:
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        bad = next(float(value) for value in values.flat if not isfinite(value))
        raise InvalidProblem(
            f"{place}: {name} holds {bad}, which is not a score; nothing was written"
        )


def dumps(data: Mapping[str, Any]) -> str:
    """Return one line of JSON: no NaN, no characters that break lines, other letters as is."""
    try:
        line = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InvalidProblem(
            f"a number that JSON cannot hold: {error}; nothing was written"
        ) from error
    return _FRAGILE.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
