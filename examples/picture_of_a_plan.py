"""Draw a transport plan that was computed elsewhere, as text, SVG or a page.

    python examples/picture_of_a_plan.py text
    python examples/picture_of_a_plan.py svg > plan.svg

Nothing here needs a model: similarity and plan are numbers that you bring.
"""

import sys

import numpy as np

from monge.render import render_explanation
from monge.types import Explanation, Move, Side, Signature

HYPOTHESIS = ("a", "dog", "jumps", "after", "balls")
REFERENCE = ("a", "dog", "chases", "balls")

similarity = np.array(
    [
        [1.0, 0.2, 0.1, 0.1],
        [0.2, 1.0, 0.3, 0.2],
        [0.1, 0.3, 0.6, 0.2],
        [0.2, 0.1, 0.5, 0.1],
        [0.1, 0.2, 0.3, 1.0],
    ]
)
plan = np.array(
    [
        [0.20, 0.00, 0.00, 0.00],
        [0.00, 0.20, 0.00, 0.00],
        [0.00, 0.05, 0.10, 0.05],
        [0.05, 0.00, 0.15, 0.00],
        [0.00, 0.00, 0.00, 0.20],
    ]
)
cost = 1 - similarity
share = plan * cost

explanation = Explanation(
    metric="by-hand",
    score=float(share.sum()),
    parts={},
    higher_is_better=False,
    signature=Signature((("metric", "by-hand"),)),
    hypothesis=Side("A dog jumps after balls.", HYPOTHESIS, plan.sum(axis=1), share.sum(axis=1)),
    reference=Side("A dog chases balls.", REFERENCE, plan.sum(axis=0), share.sum(axis=0)),
    cost=cost,
    similarity=similarity,
    plans={"plan": plan},
    moves=tuple(
        Move(
            "plan",
            int(i),
            int(j),
            float(plan[i, j]),
            float(cost[i, j]),
            float(similarity[i, j]),
            float(share[i, j]),
        )
        for i, j in np.argwhere(plan)
    ),
    share_of="cost",
)

if __name__ == "__main__":
    sys.stdout.write(render_explanation(explanation, sys.argv[1] if len(sys.argv) > 1 else "text"))
