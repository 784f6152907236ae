"""Fluency: the likelihood of the hypothesis under a language model, which is added to a score.

    score = transport + weight * fluency

fluency is the mean log-likelihood m of the hypothesis' pieces (`nll`: what XMoverScore's published
numbers used), or e^(m / length), length being the number of pieces (`probability`: its later code,
(1 / e^NLL)^(1 / length); since NLL is a mean already, this divides by the length twice). In a text
of fewer than two pieces there is nothing to predict: the authors give it 0, the best value under
nll; here it gets the value of guessing, m = -ln |V|, and length 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from monge.metrics.axes import LanguageModel
from monge.types import Array

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric


def add_fluency(
    parts: Mapping[str, Array], metric: BoundMetric, hypotheses: Sequence[str]
) -> dict[str, Array]:
    """Add the language model's term to the score, and add `transport` and `fluency` [n] to the
    parts.
    """
    choice, model = metric.spec.fluency, metric.language_model
    assert isinstance(choice, LanguageModel) and model is not None
    texts = list(dict.fromkeys(hypotheses))
    guess = -log(model.vocabulary)
    values = [guess if mean is None else mean for mean in model.mean_log_likelihoods(texts)]
    if choice.form == "probability":
        values = [
            exp(m / max(length, 1)) for m, length in zip(values, model.lengths(texts), strict=True)
        ]
    of_text = dict(zip(texts, values, strict=True))
    value = np.array([of_text[text] for text in hypotheses])
    score = parts["score"]
    sum_of_both = score + choice.weight * value
    return {"transport": score, **parts, "score": sum_of_both, "fluency": value}
