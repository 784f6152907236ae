"""CIDEr-D: ten times the tf-idf cosine of n-grams, with clipped counts and a length penalty.

    g_n(x)_w  = count of n-gram w in x  *  ln(N / max(1, df(w)))
    s_n(h, r) = exp(-(|h| - |r|)^2 / (2 sigma^2))  sum_w min(g_n(h)_w, g_n(r)_w) g_n(r)_w  /
    (|g_n(h)| |g_n(r)|)
    score     = 10 * mean over references r and orders n = 1..4 of s_n(h, r)

N is the number of items whose references the idf comes from, df(w) in how many items some reference
has w. Lengths are counted in bigrams, as in the published code.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Ngram = tuple[str, ...]
Weights = list[dict[Ngram, float]]  # one table per order


def ngrams(tokens: Sequence[str], orders: int) -> list[Counter[Ngram]]:
    """Count the n-grams of each order 1..orders."""
    return [
        Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
        for n in range(1, orders + 1)
    ]


@dataclass(frozen=True, slots=True)
class DocumentFrequency:
    """How many items of a corpus of reference sets have an n-gram; `digest` names the corpus."""

    items: int
    counts: Counter[Ngram]
    orders: int
    digest: str

    @classmethod
    def of(cls, corpus: Sequence[Sequence[Sequence[str]]], orders: int) -> DocumentFrequency:
        """Count over items, each a list of tokenised references."""
        counts: Counter[Ngram] = Counter()
        hasher = hashlib.sha256()
        for references in corpus:
            counts.update(
                {
                    gram
                    for reference in references
                    for table in ngrams(reference, orders)
                    for gram in table
                }
            )
            hasher.update(
                "".join(" ".join(reference) + "\n" for reference in references).encode(
                    "utf-8", "surrogatepass"
                )
                + b"\0"
            )
        return cls(len(corpus), counts, orders, hasher.hexdigest())

    def idf(self, gram: Ngram) -> float:
        """Return ln(N / max(1, df)); it is 0 for an n-gram that every item has."""
        return math.log(self.items / max(1, self.counts[gram]))

    def weigh(self, tokens: Sequence[str]) -> Weights:
        """Return the tf-idf vector of a text, one table per order."""
        return [
            {gram: count * self.idf(gram) for gram, count in table.items()}
            for table in ngrams(tokens, self.orders)
        ]


def cider(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    frequency: DocumentFrequency,
    *,
    sigma: float,
) -> float:
    """Score one item, from 0 to 10."""
    weights = frequency.weigh(hypothesis)
    total = 0.0
    for reference in references:
        gap = max(0, len(hypothesis) - 1) - max(0, len(reference) - 1)
        likeness = sum(map(_clipped_cosine, weights, frequency.weigh(reference)))
        total += likeness * math.exp(-(gap**2) / (2 * sigma**2))
    return 10 * total / (frequency.orders * len(references))


def _clipped_cosine(hypothesis: dict[Ngram, float], reference: dict[Ngram, float]) -> float:
    norms = _norm(hypothesis) * _norm(reference)
    if norms == 0:
        return 0.0
    return (
        sum(
            min(weight, reference[g]) * reference[g]
            for g, weight in hypothesis.items()
            if g in reference
        )
        / norms
    )


def _norm(weights: dict[Ngram, float]) -> float:
    return math.sqrt(sum(weight**2 for weight in weights.values()))
