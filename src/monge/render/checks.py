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
        numbers = {"score": result.score, "interval": result.interval or ()}
        _check_finite(place, {**numbers, "segments": result.segments, **result.parts})
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
    _check_finite(e.metric, numbers)
    return e


def _check_finite(place: str, numbers: Mapping[str, Any]) -> None:
    """Raise where one of the named numbers, or of the named arrays, is not finite."""
    for name, values in numbers.items():
        array = np.asarray(values, dtype=np.float64)
        if not np.isfinite(array).all():
            bad = next(float(value) for value in array.flat if not isfinite(value))
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
