"""A black box: lists of texts in, a list of scores out."""

from re import findall

from monge import MetricPlugin


def score(hypotheses: list[str], references: list[str]) -> list[bool]:
    """Return for each pair whether the same numbers stand in both texts."""
    pairs = zip(hypotheses, references, strict=True)
    return [sorted(findall(r"\d+", a)) == sorted(findall(r"\d+", b)) for a, b in pairs]


metric = MetricPlugin(score, low=0, high=1, references="mean")
