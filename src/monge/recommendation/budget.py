"""The most that a metric may cost: time per pair and memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monge.errors import InvalidSetting
from monge.recommendation.kept_results import Cost

_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|ms|mb|gb)?\s*", re.IGNORECASE)
_UNITS = {
    "s": ("seconds", 1.0),
    "ms": ("seconds", 0.001),
    "mb": ("megabytes", 1.0),
    "gb": ("megabytes", 1024.0),
}


@dataclass(frozen=True)
class Budget:
    """The most that may be spent: seconds per 1,000 pairs on one thread, megabytes of memory."""

    seconds: float | None = None
    megabytes: float | None = None

    @classmethod
    def read(cls, text: str | None) -> Budget:
        """Parse `5s`, `800MB`, or `5s,800MB`; a number alone is seconds."""
        limits: dict[str, float] = {}
        for part in (text or "").split(","):
            if not part.strip():
                continue
            match = _BUDGET.fullmatch(part)
            if match is None or float(match[1]) <= 0:
                raise InvalidSetting(
                    f"budget {part.strip()!r}: expected seconds a 1,000 pairs or memory, such as "
                    "5s, 800MB or 5s,800MB"
                )
            name, factor = _UNITS[(match[2] or "s").lower()]
            limits[name] = float(match[1]) * factor
        return cls(**limits)

    def holds(self, cost: Cost | None) -> bool:
        """Return whether a cost is within the budget; an unknown one only without limits."""
        if cost is None:
            return self == Budget()
        return all(
            limit is None or getattr(cost, name) <= limit for name, limit in vars(self).items()
        )

    def __str__(self) -> str:
        limits = [] if self.seconds is None else [f"{self.seconds:g} s a 1,000 pairs"]
        return " and ".join(
            [*limits, *([] if self.megabytes is None else [f"{self.megabytes:g} MB"])]
        )
