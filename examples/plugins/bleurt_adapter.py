"""BLEURT (package bleurt), with a checkpoint in the directory BLEURT-20."""

from functools import cache

from bleurt.score import BleurtScorer

from monge import MetricPlugin

NAME, load_scorer = "BLEURT-20", cache(BleurtScorer)


def score(hypotheses: list[str], references: list[str]) -> list[float]:
    """Return the scores of BLEURT."""
    return load_scorer(NAME).score(references=references, candidates=hypotheses)


metric = MetricPlugin(score, identity=NAME)
