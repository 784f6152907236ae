"""Scoring by many workers: Ray scores blocks of the input, with one machine's results."""

from monge.cluster.blocks import SegmentInput
from monge.cluster.calls import score_dataset
from monge.cluster.engine import Engine, check_ray
from monge.cluster.job import Recipe
from monge.cluster.passes import passes_on_ray
from monge.cluster.request import SUFFIXES, ClusterProgress, ClusterRequest, Outcome
from monge.cluster.score import score
from monge.cluster.sources import ParallelFiles, Tables, beside, fetched

__all__ = [
    "SUFFIXES",
    "ClusterProgress",
    "ClusterRequest",
    "Engine",
    "Outcome",
    "ParallelFiles",
    "Recipe",
    "SegmentInput",
    "Tables",
    "beside",
    "check_ray",
    "fetched",
    "passes_on_ray",
    "score",
    "score_dataset",
]  # fmt: skip
