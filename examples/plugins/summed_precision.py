"""A metric of counts: those of all segments are summed, as in BLEU."""

from types import SimpleNamespace

from monge import MetricPlugin


def count_words(hypothesis: str, reference: str) -> list[float]:
    """Return the number of distinct words that the reference has too, and of all."""
    return [len({*hypothesis.split()} & {*reference.split()}), len({*hypothesis.split()})]


precision = SimpleNamespace(count=count_words, score=lambda counts: counts[0] / max(counts[1], 1))
metric = MetricPlugin(precision, low=0, high=1, title="precision of distinct words")
