"""Surface: what a score loses where two texts differ in form.

    score = transport - case * (1 - compare_case) - digits * (1 - compare_digits)
                      - order * (1 - compare_order) - negation * (1 - compare_negations)

and plus all of it for a distance. Every reference is compared by itself, before the rule over
references. A pair with an empty text loses nothing, so that its score stays the declared one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from monge.metrics.axes import Form
from monge.metrics.metric import MetricSpec
from monge.metrics.rules import raw_bounds
from monge.text.surface import (
    compare_case,
    compare_digits,
    compare_negations,
    compare_order,
)
from monge.types.text import is_blank
from monge.types.transport import Parts

COMPARISONS: Mapping[str, Callable[[str, str], float]] = {
    "case": compare_case,
    "digits": compare_digits,
    "order": compare_order,
    "negation": compare_negations,
}
"""Settings of `surface=form` -> how alike two texts are, from 0 to 1."""


def take_surface(parts: Parts, spec: MetricSpec, texts: Sequence[tuple[str, str]]) -> Parts:
    """Take the cost of differences in form from the score of every pair of texts, and add `surface`
    [pairs], which is that cost, and `transport` [pairs], the score without it, to the parts.
    """
    choice = spec.surface
    assert isinstance(choice, Form)
    weights = [(compare, getattr(choice, name)) for name, compare in COMPARISONS.items()]
    used = [(compare, weight) for compare, weight in weights if weight]
    costs = torch.tensor([_cost_of_pair(pair, used) for pair in texts], dtype=torch.float64)
    sign = 1.0 if raw_bounds(spec).higher_is_better else -1.0
    score = parts["score"]
    return {"transport": score, **parts, "score": score - sign * costs, "surface": costs}


def _cost_of_pair(
    pair: tuple[str, str], used: Sequence[tuple[Callable[[str, str], float], float]]
) -> float:
    if any(map(is_blank, pair)):
        return 0.0
    return float(sum(weight * (1 - compare(*pair)) for compare, weight in used))
