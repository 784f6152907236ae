"""A cross-encoder (package sentence-transformers) that rates how alike two sentences are."""

from functools import cache

from sentence_transformers import CrossEncoder

from monge import MetricPlugin

NAME, load_encoder = "cross-encoder/stsb-roberta-base", cache(CrossEncoder)


def score(hypotheses: list[str], references: list[str]) -> list[float]:
    """Return the ratings of the cross-encoder."""
    return load_encoder(NAME).predict(list(zip(hypotheses, references, strict=True)))


metric = MetricPlugin(score, identity=NAME)
