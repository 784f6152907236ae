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

import numpy as np

from monge.spec.axes import LanguageModel
from monge.spec.metric import MetricSpec
from monge.types import Array

if TYPE_CHECKING:
    from monge.encode.causal import CausalModel
    from monge.scoring.transport import TransportMetric


def language_model(spec: MetricSpec, *, device: str = "auto", online: bool = False) -> CausalModel | None:
    """The language model that a spec names, loaded; the last one stays loaded."""
    if not isinstance(spec.fluency, LanguageModel):
        return None
    from monge.encode.causal import open_causal

    return open_causal(spec.fluency.model, device=device, online=online)


def with_fluency(parts: Mapping[str, Array], metric: TransportMetric, hypotheses: Sequence[str]) -> dict[str, Array]:
    """The parts [n] with the language model's term in the score, and `transport` and `fluency` beside it.

    Parts of a metric without a language model come back as they are.
    """
    choice, model = metric.spec.fluency, metric.language_model
    if not isinstance(choice, LanguageModel) or model is None:
        return dict(parts)
    texts = list(dict.fromkeys(hypotheses))
    guess = -log(model.vocabulary)
    means = [guess if mean is None else mean for mean in model.mean_log_likelihoods(texts)]
    known = {text: exp(m) if choice.form == "probability" else m for text, m in zip(texts, means, strict=True)}
    value = np.array([known[text] for text in hypotheses])
    score = parts["score"]
    return {**parts, "score": score + choice.weight * value, "transport": score, "fluency": value}
