"""Which side metrics compare with: the references or the source."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from monge.errors import DataError, Unused
from monge.scoring.scorer import Scorer
from monge.scoring.windows import REFERENCES, SOURCE
from monge.types import Segment


def bind_side(metric: Scorer, sides: Mapping[str, Segment | None]) -> Scorer:
    """Bind the metric to references or sources, falling back to the other side if its own is
    missing.
    """
    side = metric.against if metric.against in sides else next(iter(sides), None)
    if side is None:
        raise DataError("there is nothing to compare with: no segment has a reference or a source")
    lacking = sides[side]
    if lacking is not None:
        system = f" of {lacking.system}" if lacking.system else ""
        raise DataError(
            f"{metric.name} compares with the {side}: segment {lacking.id}{system} has none, "
            f"others have; "
            "every segment needs it"
        )
    return metric.with_side(side)


def warn_unused_references(metrics: Sequence[Scorer], sides: Mapping[str, Segment | None]) -> None:
    """Warn where metrics were given references and compare with the source."""
    names = dict.fromkeys(
        metric.name for metric in metrics if metric.against == SOURCE and REFERENCES in sides
    )
    if names:
        verb = "compares" if len(names) == 1 else "compare"
        message = f"{', '.join(names)} {verb} with the source: the references were not used"
        warnings.warn(message, Unused, stacklevel=3)
