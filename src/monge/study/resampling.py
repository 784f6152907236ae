"""How often a study draws again, and what it calls significant."""

from __future__ import annotations

from dataclasses import dataclass

from monge.errors import InvalidSetting
from monge.stats import RESAMPLES, SEED


@dataclass(frozen=True)
class Resampling:
    """How intervals are drawn and differences are tested; `test` is auto, williams, perm-both or bootstrap."""

    resamples: int = RESAMPLES
    confidence: float = 0.95
    alpha: float = 0.05
    seed: int = SEED
    test: str = "auto"

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.seed < 0:
            raise InvalidSetting(f"resamples {self.resamples} must be 1 or more, seed {self.seed} 0 or more")
        if not (0 < self.confidence < 1 and 0 < self.alpha < 1):
            raise InvalidSetting(f"confidence {self.confidence} and alpha {self.alpha} must be between 0 and 1")


USUAL = Resampling()
