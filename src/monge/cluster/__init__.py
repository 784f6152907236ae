"""The same run by many workers: blocks of the input go to Ray, parts and sums come back."""

from monge.cluster.blocks import Input
from monge.cluster.calls import score_dataset
from monge.cluster.engine import Engine, check_ray
from monge.cluster.job import Recipe
from monge.cluster.passes import passes_on_ray
from monge.cluster.request import SUFFIXES, Outcome, Request, Watch
from monge.cluster.score import score
from monge.cluster.sources import Files, Tables, beside, fetched

__all__ = [
    "SUFFIXES", "Engine", "Files", "Input", "Outcome", "Recipe", "Request", "Tables", "Watch", "beside", "check_ray",
    "fetched", "passes_on_ray", "score", "score_dataset",
]  # fmt: skip
