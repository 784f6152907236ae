"""An evaluator for sentence-transformers: agreement with people of the model in training.

    evaluator = MetricEvaluator(hypotheses, references, human_scores, metric="bertscore")
    trainer = SentenceTransformerTrainer(model, args, train_dataset=…, loss=…, evaluator=evaluator)

Each call writes the model to a temporary directory and loads it from there, so that the numbers are
those of the saved model.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from sentence_transformers.evaluation import SentenceEvaluator

from monge.api import Options, changes_of, load, segments_of
from monge.compat.peers import PeerValueError, raise_as
from monge.errors import DataError, Misaligned
from monge.metrics.presets import resolve
from monge.stats import pearson, spearman


class MetricEvaluator(SentenceEvaluator):  # type: ignore[misc]
    """The correlation with human scores of a metric on the vectors of the model in training."""

    def __init__(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]],
        human_scores: Sequence[float],
        *,
        metric: str = "bertscore",
        name: str = "",
        **options: Unpack[Options],
    ) -> None:
        """Check the arguments; `options` are those of `monge.load`, without model."""
        super().__init__()
        with raise_as(PeerValueError):
            if not len(hypotheses) == len(references) == len(human_scores):
                raise Misaligned(
                    f"{len(hypotheses)} hypotheses, {len(references)} references, "
                    f"{len(human_scores)} human scores"
                )
            segments_of(hypotheses, references)
            self.human = [_number(k, human_score) for k, human_score in enumerate(human_scores)]
            resolve(metric, changes_of(options), options.get("lang"))
        self.texts = hypotheses, references
        self.metric, self.name, self.options = metric, name, options
        self.primary_metric = f"{metric}_pearson"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return Pearson's and Spearman's correlation; higher is better for every metric."""
        with TemporaryDirectory() as folder, raise_as(PeerValueError):
            model.save_pretrained(folder, create_model_card=False)
            options: Options = {**self.options, "model": folder}
            result = load(self.metric, **options).score(*self.texts)
        sign = 1.0 if result.higher_is_better else -1.0
        correlations = {
            f"{self.metric}_{name}": sign * float(correlate(self.human, result.segments))
            for name, correlate in (("pearson", pearson), ("spearman", spearman))
        }
        metrics: dict[str, float] = self.prefix_name_to_metrics(correlations, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """Return the entry of the evaluator in the model card."""
        return {"metric": self.metric, "texts": len(self.human)}


def _number(place: int, human_score: Any) -> float:
    """Return a human score as a finite float."""
    try:
        number = float(human_score)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise DataError(f"human score {place} is no number: {human_score!r}")
    return number
