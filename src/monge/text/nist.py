"""NIST (Doddington 2002): n-grams that match, each weighing its information.

    info(w_1..w_n) = log2(count(w_1..w_n-1) / count(w_1..w_n))      counts over all references
    score = sum over n of (sum of info of matched n-grams / n-grams of the hypothesis) * penalty
    penalty = exp(beta * ln(min(1, L_hypothesis / L_reference)) ** 2),  .5 where the ratio is 2/3

For n = 1 the numerator of info is the number of words of the references. An n-gram matches as often
as the reference that has it most has it, and L_reference is the mean length of the references of a
segment, as in NIST's mteval. The counts of segments are summed for the score of a corpus.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2

import numpy as np

from monge.text.cider import Ngram, ngrams
from monge.types import Array

BETA = log(0.5) / log(1.5) ** 2


@dataclass(frozen=True, slots=True)
class Information:
    """The counts of n-grams in a corpus of references; `digest` names the corpus."""

    counts: Counter[Ngram]
    words: int
    digest: str

    @classmethod
    def of(cls, corpus: Sequence[Sequence[Sequence[str]]], orders: int) -> Information:
        """Count over items, each a list of tokenised references."""
        counts: Counter[Ngram] = Counter()
        hasher, words = hashlib.sha256(), 0
        for references in corpus:
            for reference in references:
                for table in ngrams(reference, orders):
                    counts.update(table)
                words += len(reference)
                hasher.update((" ".join(reference) + "\n").encode("utf-8", "surrogatepass"))
            hasher.update(b"\0")
        return cls(counts, words, hasher.hexdigest())

    def __getitem__(self, gram: Ngram) -> float:
        """Return the information of an n-gram of the references, in bits."""
        return log2((self.counts[gram[:-1]] if len(gram) > 1 else self.words) / self.counts[gram])


def nist_statistics(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    information: Information,
    orders: int,
) -> list[float]:
    """Return what is summed: both lengths, then per order matched information and n-grams."""
    tables = [ngrams(reference, orders) for reference in references]
    mean_length = sum(map(len, references)) / len(references)
    statistics = [float(len(hypothesis)), mean_length]
    for order, grams in enumerate(ngrams(hypothesis, orders)):
        most: Counter[Ngram] = Counter()
        for table in tables:
            most |= table[order]
        matched = sorted((grams & most).items())
        statistics += [sum(information[gram] * count for gram, count in matched), grams.total()]
    return statistics


def nist_of_sums(sums: Array) -> Array:
    """Compute the score of summed statistics [..., 2 + 2 * orders] -> [...]."""
    sums = np.asarray(sums, dtype=np.float64)
    matched, total = sums[..., 2::2], sums[..., 3::2]
    precision: Array = np.divide(matched, total, out=np.zeros_like(matched), where=total > 0).sum(
        -1
    )
    lengths, means = sums[..., 0], sums[..., 1]
    has_words = (lengths > 0) & (means > 0)
    ratio = np.divide(lengths, means, out=np.ones_like(lengths), where=has_words)
    penalty = np.exp(BETA * np.log(np.minimum(ratio, 1.0)) ** 2)
    return np.where(has_words, precision * penalty, 0.0)
