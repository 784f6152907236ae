"""A lexical metric: a function of two texts."""

from monge import MetricPlugin


def measure_f1(hypothesis: str, reference: str) -> float:
    """Return F1 of the distinct words of two texts."""
    words, reference_words = set(hypothesis.lower().split()), set(reference.lower().split())
    return 2 * len(words & reference_words) / max(len(words) + len(reference_words), 1)


metric = MetricPlugin(measure_f1, low=0, high=1, title="F1 of distinct words")
