"""A metric that takes all references of a segment at once."""

from monge import MetricPlugin


def measure_ratio(hypothesis: str, reference: list[str]) -> float:
    """Return the ratio of lengths, shorter over longer, to the reference of closest length."""
    lengths = [sorted((len(hypothesis) + 1, len(text) + 1)) for text in reference]
    return max(shorter / longer for shorter, longer in lengths)


metric = MetricPlugin(measure_ratio, low=0, high=1, references="all")
