"""The cosine of the tf-idf vectors of two texts, of n-grams of one order.

    v(x)_w = count of n-gram w in x * ln(N / max(1, df(w))),   score = <v(h), v(r)> / |v(h)| |v(r)|

N is the number of segments, df(w) in how many of them some reference has w. Texts that share every
n-gram score 1, texts without an n-gram of that order, or of n-grams that weigh 0, score 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from monge.text.cider import DocumentFrequency


def tfidf_cosine(
    hypothesis: Sequence[str], reference: Sequence[str], frequency: DocumentFrequency
) -> float:
    """Compute the cosine of n-grams of the highest order of `frequency`, from 0 to 1."""
    hypothesis_weights, reference_weights = (
        frequency.weigh(hypothesis)[-1],
        frequency.weigh(reference)[-1],
    )
    norms = sqrt(sum(value**2 for value in hypothesis_weights.values())) * sqrt(
        sum(value**2 for value in reference_weights.values())
    )
    product = sum(
        weight * reference_weights[gram]
        for gram, weight in hypothesis_weights.items()
        if gram in reference_weights
    )
    return min(product / norms, 1.0) if norms else 0.0
