"""Results and explanations to render: plain, hostile, small and large."""

from collections.abc import Sequence

import numpy as np

from monge.types import Explanation, Move, Result, Side, Signature

HOSTILE = (
    '<script>alert("x")</script>\'"><img src=x onerror=alert(1)> & </svg></style>\x00\x1b[31m\ud800'
)


def result(
    metric: str = "twmd",
    system: str = "system-a.txt",
    score: float = 0.75,
    *,
    higher_is_better: bool = True,
    parts: Sequence[str] = ("precision", "recall", "f1"),
    ids: Sequence[str] = ("1", "2"),
    flags: Sequence[tuple[str, ...]] = ((), ()),
    interval: tuple[float, float] | None = None,
    truncated: int = 0,
) -> Result:
    spread = np.linspace(-0.05, 0.05, len(ids))
    counts = {flag: sum(flag in some for some in flags) for some in flags for flag in some}
    return Result(
        metric=metric,
        system=system,
        score=score,
        segments=score + spread,
        parts={name: score + spread + 0.01 * k for k, name in enumerate(parts)},
        ids=tuple(ids),
        higher_is_better=higher_is_better,
        signature=Signature((("metric", metric), ("layers", "last5:mean"), ("version", "0.1.0"))),
        references=np.zeros(len(ids), dtype=np.int64),
        flags=tuple(flags),
        run={"truncated": truncated, "flagged": counts},
        interval=interval,
    )


def explanation(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    plans: Sequence[str] = ("plan",),
    metric: str = "wmd",
    share_of: str = "cost",
    flags: tuple[str, ...] = (),
    text: str | None = None,
) -> Explanation:
    n, m = len(hypothesis), len(reference)
    similarity = np.cos(np.add.outer(np.arange(n) * 0.7, -np.arange(m) * 0.9))
    cost = 1 - similarity
    coupling = np.exp(8 * similarity)
    coupling = coupling / coupling.sum() if coupling.size else coupling
    moved = coupling * cost
    moves = tuple(
        Move(
            name,
            i,
            j,
            float(coupling[i, j]),
            float(cost[i, j]),
            float(similarity[i, j]),
            float(moved[i, j]),
        )
        for name in plans
        for i in range(n)
        for j in range(m)
        if coupling[i, j] > 1e-3
    )
    return Explanation(
        metric=metric,
        score=float(moved.sum()),
        parts={"precision": 0.5, "recall": 0.25} if len(plans) > 1 else {},
        higher_is_better=share_of != "cost",
        signature=Signature((("metric", metric), ("version", "0.1.0"))),
        hypothesis=Side(
            " ".join(hypothesis) if text is None else text,
            tuple(hypothesis),
            coupling.sum(1),
            moved.sum(1),
        ),
        reference=Side(" ".join(reference), tuple(reference), coupling.sum(0), moved.sum(0)),
        cost=cost,
        similarity=similarity,
        plans=dict.fromkeys(plans, coupling),
        moves=moves,
        share_of=share_of,
        flags=flags,
    )
