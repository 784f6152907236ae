"""Surface: what a score loses where two texts differ in form.

    score = transport - case * (1 - compare_case) - digits * (1 - compare_digits)
                      - order * (1 - compare_order) - negation * (1 - compare_negations)

and plus all of it for a distance. With several references, what the closest of them in form costs
counts (references=first: the first; mean: the mean). A pair with an empty text loses nothing, so
that its score stays the declared one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from monge.metrics.axes import Form
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import raw_bounds
from monge.text.surface import (
    compare_case,
    compare_digits,
    compare_negations,
    compare_order,
)
from monge.types import Array, Segment
from monge.types.text import is_blank

COMPARISONS: Mapping[str, Callable[[str, str], float]] = {
    "case": compare_case,
    "digits": compare_digits,
    "order": compare_order,
    "negation": compare_negations,
}
"""Settings of `surface=form` -> how alike two texts are, from 0 to 1."""


def add_surface(
    parts: Mapping[str, Array], spec: MetricSpec, rows: Sequence[Segment]
) -> dict[str, Array]:
    """Take the cost of differences in form from the score [n], and add `surface` [n], which is that
    cost, and `transport` [n], the score without it, to the parts.
    """
    choice = spec.surface
    assert isinstance(choice, Form)
    costs = np.array([_combine(_list_costs(row, choice), spec.references.name) for row in rows])
    sign = 1.0 if raw_bounds(spec).higher_is_better else -1.0
    score = parts["score"]
    return {"transport": score, **parts, "score": score - sign * costs, "surface": costs}


def _list_costs(row: Segment, choice: Form) -> list[float]:
    """Return what differences in form cost a hypothesis against each reference."""
    hypothesis = row.hypothesis
    if is_blank(hypothesis):
        return [0.0]
    weights = [(compare, getattr(choice, name)) for name, compare in COMPARISONS.items()]
    used = [(compare, weight) for compare, weight in weights if weight]
    return [
        sum(weight * (1 - compare(hypothesis, reference)) for compare, weight in used)
        for reference in (row.references[place] for place in row.worded_references)
        if not is_blank(reference)
    ] or [0.0]


def _combine(costs: Sequence[float], rule: str) -> float:
    """Return the cost of a segment by the rule over references."""
    if rule == "first":
        return costs[0]
    return sum(costs) / len(costs) if rule == "mean" else min(costs)
