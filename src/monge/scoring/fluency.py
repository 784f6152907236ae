"""What a language model adds to a score: how likely it finds the hypothesis, whatever the text it is compared with.

    score = transport + weight * fluency

fluency is the mean log-likelihood m of the hypothesis' pieces (`nll`: what XMoverScore's published numbers used), or
e^m, one over the perplexity (`probability`: (1 / e^NLL)^(1 / length), its later code). A text of fewer than two pieces
has nothing to be predicted: the authors give it 0, the best there is; here it gets what guessing would, m = -ln |V|.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import TYPE_CHECKING

from monge.scoring.prepared import Prepared
from monge.spec.axes import LanguageModel
from monge.spec.metric import MetricSpec

if TYPE_CHECKING:
    from monge.encode.causal import CausalModel


def language_model(spec: MetricSpec, *, device: str = "auto", online: bool = False) -> CausalModel | None:
    """The language model that a spec names, loaded; the last one stays loaded."""
    if not isinstance(spec.fluency, LanguageModel):
        return None
    from monge.encode.causal import open_causal

    return open_causal(spec.fluency.model, device=device, online=online)


def fluencies(metric: Prepared, hypotheses: Sequence[str]) -> dict[str, float]:
    """The fluency of every distinct hypothesis; nothing for a metric without a language model."""
    part, model = metric.spec.fluency, metric.language_model
    if not isinstance(part, LanguageModel) or model is None:
        return {}
    texts = list(dict.fromkeys(hypotheses))
    guess = -log(model.vocabulary)
    means = [guess if mean is None else mean for mean in model.mean_log_likelihoods(texts)]
    return {text: exp(mean) if part.form == "probability" else mean for text, mean in zip(texts, means, strict=True)}


def spoken(
    metric: Prepared, parts: dict[str, float], fluency: Mapping[str, float], hypothesis: str
) -> dict[str, float]:
    """The parts of a score with its language model's term, if it has one: `transport` and `fluency` beside it."""
    part = metric.spec.fluency
    if not isinstance(part, LanguageModel):
        return parts
    value = fluency[hypothesis]
    return {**parts, "score": parts["score"] + part.weight * value, "transport": parts["score"], "fluency": value}
