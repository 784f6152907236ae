"""A distance: lower is better."""

from difflib import SequenceMatcher

from monge import MetricPlugin


def measure_distance(hypothesis: str, reference: str) -> float:
    """Return the share of characters outside of matching blocks."""
    return 1 - SequenceMatcher(None, hypothesis, reference, autojunk=False).ratio()


metric = MetricPlugin(measure_distance, low=0, high=1, higher_is_better=False)
