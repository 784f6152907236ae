"""ROUGE-SU and ROUGE-W (Lin 2004), of which the package rouge-score has none.

    ROUGE-SU   skip-bigrams (two words in order, at most `skip` words between them) and words,
               matched by count
    ROUGE-W    the longest common subsequence, where a run of k words counts f(k) = k ** weight:
               recall = f^-1(WLCS / f(words of the reference)), precision the same of the hypothesis

F1 = 2 P R / (P + R), as rouge-score has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Rouge:
    """Precision, recall and F1 of a pair."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def skip_bigrams(words: Words, skip: int, *, unigrams: bool) -> Counter[tuple[str, ...]]:
    """Count pairs of words with at most `skip` words between them and, if asked, single words."""
    counts: Counter[tuple[str, ...]] = Counter(
        (word, later)
        for place, word in enumerate(words)
        for later in words[place + 1 : place + 2 + skip]
    )
    if unigrams:
        counts.update((word,) for word in words)
    return counts


def rouge_su(hypothesis: Words, reference: Words, *, skip: int, unigrams: bool) -> Rouge:
    """Compute ROUGE-SU, or ROUGE-S without `unigrams`."""
    hypothesis_counts = skip_bigrams(hypothesis, skip, unigrams=unigrams)
    reference_counts = skip_bigrams(reference, skip, unigrams=unigrams)
    matches = (hypothesis_counts & reference_counts).total()
    return Rouge(
        matches / max(hypothesis_counts.total(), 1), matches / max(reference_counts.total(), 1)
    )


def weighted_lcs(hypothesis: Words, reference: Words, weight: float) -> float:
    """Return the weighted length of the longest common subsequence: runs of k count k ** weight.

    Two rows of the table are kept: the best value up to each place, and the run that ends there.
    """
    gains = [(k + 1) ** weight - k**weight for k in range(min(len(hypothesis), len(reference)) + 1)]
    values, runs = [0.0] * (len(reference) + 1), [0] * (len(reference) + 1)
    for word in hypothesis:
        next_values, next_runs = [0.0], [0]
        for place, reference_word in enumerate(reference, start=1):
            if word == reference_word:
                run = runs[place - 1]
                next_values.append(values[place - 1] + gains[run])
                next_runs.append(run + 1)
            else:
                next_values.append(max(values[place], next_values[-1]))
                next_runs.append(0)
        values, runs = next_values, next_runs
    return values[-1]


def rouge_w(hypothesis: Words, reference: Words, weight: float) -> Rouge:
    """Compute ROUGE-W."""
    if not hypothesis or not reference:
        return Rouge(0.0, 0.0)
    root = weighted_lcs(hypothesis, reference, weight) ** (1 / weight)
    return Rouge(root / len(hypothesis), root / len(reference))
