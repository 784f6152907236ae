"""Which units the texts of a window have, found once for all metrics that take the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from monge.scoring.prepared import Prepared
from monge.text.select import select
from monge.types import Tokens, Units

Select = Callable[[Tokens], Units]


class Selections:
    """Remembers the units of texts for the metrics that share a selection; those of one metric alone are not kept."""

    def __init__(self, metrics: Sequence[Prepared]) -> None:
        many = Counter(metric.selection for metric in metrics)
        self._kept: dict[object, dict[str, Units]] = {one: {} for one, count in many.items() if count > 1}

    def by(self, metric: Prepared) -> Select:
        """What selects the units of a text for a metric."""
        kept = self._kept.get(metric.selection)

        def selected(tokens: Tokens) -> Units:
            if kept is None:
                return select(tokens, metric.spec.units, metric.stopwords)
            if tokens.text not in kept:
                kept[tokens.text] = select(tokens, metric.spec.units, metric.stopwords)
            return kept[tokens.text]

        return selected
