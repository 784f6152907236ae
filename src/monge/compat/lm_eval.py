"""lm-evaluation-harness: metrics of monge by its public hooks, for tasks that generate text.

    from monge.compat.lm_eval import register
    register("twmd")                      # before tasks are loaded: in the module that a task's YAML names, or a script

Then a task's YAML says `metric_list: [{metric: monge_twmd, aggregation: monge_twmd, higher_is_better: true}]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from monge.api import Options, load, score

Pair = tuple[tuple[str, ...], str]


def register(
    metric: str, *, name: str | None = None, higher_is_better: bool | None = None, **options: Unpack[Options]
) -> str:
    """Register a metric and its aggregation with the harness; their name, by default `monge_` and the metric's.

    Args:
        metric: As `monge.load` takes it.
        name: What a task calls it.
        higher_is_better: By default what the metric says.
        options: model, layers, precision, device, lang, settings, online, cache: as `monge.load` takes them.
    """
    from lm_eval.api.registry import register_aggregation, register_metric

    called = name or f"monge_{metric}"
    better = load(metric, **options).scorer.bounds.higher_is_better if higher_is_better is None else higher_is_better

    def aggregated(items: Sequence[Pair]) -> float:
        """The score of all documents of a task."""
        references, predictions = [list(one[0]) for one in items], [one[1] for one in items]
        return float(score(predictions, references, metric=metric, **options).score)

    register_aggregation(called)(aggregated)
    register_metric(metric=called, higher_is_better=better, output_type="generate_until", aggregation=called)(kept)
    return called


def kept(references: Sequence[Any], predictions: Sequence[str], **_: object) -> Pair:
    """What the harness keeps of a document: its references and its prediction, to be scored together at the end."""
    rows = [one for row in references for one in ([row] if isinstance(row, str) else row)]
    return tuple(rows), str(predictions[0])
