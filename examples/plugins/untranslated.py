"""A metric without references: the share of words that were copied from the source."""

from monge import MetricPlugin


def measure_copied(hypothesis: str, source: str) -> float:
    """Return the share of the words of a text that stand in its source."""
    words, copied = hypothesis.split(), set(source.split())
    return sum(word in copied for word in words) / max(len(words), 1)


metric = MetricPlugin(measure_copied, low=0, high=1, higher_is_better=False)
