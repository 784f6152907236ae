"""Studies: metrics against people, systems against each other, settings against data."""

from monge.study.evaluate import Testing, assess, evaluate
from monge.study.evaluation import Agreement, Evaluation, Figure, Order

__all__ = ["Agreement", "Evaluation", "Figure", "Order", "Testing", "assess", "evaluate"]
