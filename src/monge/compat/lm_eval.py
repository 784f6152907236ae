"""Metrics of monge for lm-evaluation-harness, for tasks that generate text.

    from monge.compat.lm_eval import register
    register("twmd")                      # before tasks are loaded: in the module that a task's
                                          YAML names, or a script

Then a task's YAML says `metric_list: [{metric: monge_twmd, aggregation: monge_twmd,
higher_is_better: true}]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from monge.api import Options, load, score

Pair = tuple[tuple[str, ...], str]


def register(
    metric: str,
    *,
    name: str | None = None,
    higher_is_better: bool | None = None,
    **options: Unpack[Options],
) -> str:
    """Register a metric and its aggregation with the harness, and return their name.

    Args:
        metric: A name, as `monge.load` takes it.
        name: The name that tasks use; by default `monge_` and the metric.
        higher_is_better: By default the direction of the metric.
        options: Those of `monge.load`.
    """
    from lm_eval.api.registry import register_aggregation, register_metric

    registered_name = name or f"monge_{metric}"
    better = (
        load(metric, **options).scorer.bounds.higher_is_better
        if higher_is_better is None
        else higher_is_better
    )

    def aggregate(items: Sequence[Pair]) -> float:
        """Return the score of all documents of a task."""
        references, predictions = [list(pair[0]) for pair in items], [pair[1] for pair in items]
        return float(score(predictions, references, metric=metric, **options).score)

    register_aggregation(registered_name)(aggregate)
    register_metric(
        metric=registered_name,
        higher_is_better=better,
        output_type="generate_until",
        aggregation=registered_name,
    )(keep_pair)
    return registered_name


def keep_pair(references: Sequence[Any], predictions: Sequence[str], **_: object) -> Pair:
    """Return the references and the prediction of a document, which are scored at the end."""
    rows = [text for row in references for text in ([row] if isinstance(row, str) else row)]
    return tuple(rows), str(predictions[0])
