"""sentence-transformers: how well a metric on the vectors of a model in training agrees with people.

    evaluator = MetricEvaluator(hypotheses, references, human_scores, metric="bertscore")
    trainer = SentenceTransformerTrainer(model, args, train_dataset=…, loss=…, evaluator=evaluator)

At each call the model is written to a temporary directory and read as any other, so that the numbers are those which
the saved model will give.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from sentence_transformers.evaluation import SentenceEvaluator

from monge.api import Options, changes_of, load, segments_of
from monge.compat.peers import PeerValueError, raising
from monge.errors import DataError, Misaligned
from monge.spec.presets import resolve
from monge.stats import pearson, spearman


class MetricEvaluator(SentenceEvaluator):  # type: ignore[misc]
    """The correlation of a metric, on the vectors of the model in training, with human scores of texts."""

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
        """Checks what is given before hours of training; `options` are those of `monge.load`, without model."""
        super().__init__()
        with raising(PeerValueError):
            if not len(hypotheses) == len(references) == len(human_scores):
                raise Misaligned(
                    f"{len(hypotheses)} hypotheses, {len(references)} references, {len(human_scores)} human scores"
                )
            segments_of(hypotheses, references)
            self.human = [_number(k, one) for k, one in enumerate(human_scores)]
            resolve(metric, changes_of(options), options.get("lang"))
        self.texts = hypotheses, references
        self.metric, self.name, self.options = metric, name, options
        self.primary_metric = f"{metric}_pearson"

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Pearson's and Spearman's correlation, higher is better whatever the metric's direction."""
        with TemporaryDirectory() as folder, raising(PeerValueError):
            model.save_pretrained(folder, create_model_card=False)
            options: Options = {**self.options, "model": folder}
            result = load(self.metric, **options).score(*self.texts)
        sign = 1.0 if result.higher_is_better else -1.0
        found = {
            f"{self.metric}_{called}": sign * float(of(self.human, result.segments))
            for called, of in (("pearson", pearson), ("spearman", spearman))
        }
        named: dict[str, float] = self.prefix_name_to_metrics(found, self.name)
        self.store_metrics_in_model_card_data(model, named, epoch, steps)
        return named

    def get_config_dict(self) -> dict[str, Any]:
        """What the model card says of it."""
        return {"metric": self.metric, "texts": len(self.human)}


def _number(place: int, given: Any) -> float:
    """A human score."""
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = float("nan")
    if not isfinite(found):
        raise DataError(f"human score {place} is no number: {given!r}")
    return found
