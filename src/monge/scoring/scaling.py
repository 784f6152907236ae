"""How raw scores become the scores that are given out: raw, from 0 to 1, above a baseline, or as
human z scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from monge.encoders.protocol import Encoder
from monge.errors import StatisticsMismatch
from monge.metrics.axes import Baseline, Idf, Uniform
from monge.metrics.baselines import find_packaged, find_published
from monge.metrics.codec import show_choice
from monge.metrics.rules import in_unit, raw_bounds
from monge.scoring.identity import Identity
from monge.types import Array, CorpusStats
from monge.types.sums import hash_of

SCORES = ("score", "precision", "recall", "f1", "f")
"""The parts that are scores themselves, so that a scale applies to them."""
NOT_TUNED = ("encoder", "adapter", "scale", "surface")
"""Axes that may differ from those a model was tuned with: they do not move what the human scale
means (surface only by what form costs).
"""


@dataclass(frozen=True)
class ScoreScaling:
    """The scale of a metric's scores, with the encoder whose tuning or baseline it rests on."""

    identity: Identity
    encoder: Encoder

    @property
    def needs_baseline(self) -> bool:
        """Whether the scale rests on the scores of random pairs."""
        return isinstance(self.identity.spec.scale, Baseline)

    def apply(self, parts: dict[str, Array], stats: CorpusStats) -> dict[str, Array]:
        """Return the parts [n] as they are given out."""
        spec = self.identity.spec
        if spec.scale.name == "raw":
            return parts
        if spec.scale.name == "human":
            return {**parts, "score": self._human(parts["score"])}
        baseline = self.baseline(stats) if self.needs_baseline else None
        if baseline is not None:
            scaled = {
                name: (parts[name] - at) / (1.0 - at)
                for name, at in baseline.items()
                if name in parts
            }
            return {**parts, **scaled}
        limits = raw_bounds(spec)
        scores = [name for name in SCORES if name in parts]
        return {
            **parts,
            **{
                name: np.array([in_unit(x, limits) for x in parts[name].tolist()])
                for name in scores
            },
        }

    def _human(self, scores: Array) -> Array:
        """Return human z scores for raw scores [n], as learned in tuning, where larger was
        better.
        """
        tuning = self.encoder.tuning
        assert tuning is not None and tuning.slope is not None
        sign = 1.0 if raw_bounds(self.identity.spec).higher_is_better else -1.0
        return sign * tuning.slope * scores + tuning.intercept

    def baseline(self, stats: CorpusStats) -> Mapping[str, float] | None:
        """Return the mean of random pairs in each part: fitted, or known for this model; None where
        it is unknown.

        Baselines are fitted without idf, as the published ones, and serve the metric with idf too.
        """
        identity, spec = self.identity, self.identity.spec
        if isinstance(spec.weights, Idf):
            identity = replace(identity, spec=replace(spec, weights=Uniform("uniform")))
        if identity.pair in stats.baselines:
            fitted = stats.baselines[identity.pair]
            return {name: fitted.mean(name) for name in fitted.totals}
        return find_published(spec, self.encoder.name) or find_packaged(
            identity.metric, spec, self.encoder.weights_digest
        )

    def check(self, stats: CorpusStats) -> None:
        """Raise where the baseline or the tuning that the scale needs is missing."""
        name, spec = self.identity.metric, self.identity.spec
        if isinstance(spec.scale, Baseline) and self.baseline(stats) is None:
            raise StatisticsMismatch(
                f"{name}: no baseline for {self.encoder.name} with these settings "
                f"(layers={show_choice(spec.layers)}, language {spec.scale.lang}): fit one with "
                "monge fit --baseline CORPUS and give it with --stats"
            )
        if spec.scale.name == "human":
            self._check_tuned()

    def _check_tuned(self) -> None:
        """Raise where the model was not tuned to give human z scores through this very metric."""
        name, tuning = self.identity.metric, self.encoder.tuning
        if tuning is None or tuning.slope is None:
            raise StatisticsMismatch(
                f"{name}: scale=human needs a model that was tuned on human scores, "
                f"{self.encoder.name} was not: use --model mt, or tune one with monge tune"
            )
        settings = {
            axis: text
            for axis, text in self.identity.spec.written().items()
            if axis not in NOT_TUNED
        }
        differing = next(
            (axis for axis, text in settings.items() if tuning.settings.get(axis) != text), None
        )
        if differing is not None:
            raise StatisticsMismatch(
                f"{name}: {self.encoder.name} was tuned with "
                f"{differing}={tuning.settings.get(differing)}, not "
                f"{settings[differing]}: its scores have no human scale with that"
            )

    def digests(self, stats: CorpusStats | None = None) -> dict[str, str]:
        """Return the digests of what the scale takes from other texts: a baseline, or the line to
        human scores.
        """
        tuning = self.encoder.tuning
        if self.identity.spec.scale.name == "human" and tuning is not None:
            return {"human": hash_of(tuning.slope, tuning.intercept)}
        baseline = self.baseline(stats) if stats is not None and self.needs_baseline else None
        return {} if baseline is None else {"baseline": hash_of(sorted(baseline.items()))}
