"""Studies: metrics against people, systems against each other, settings against data."""

from monge.study.evaluate import Testing, assess, evaluate
from monge.study.evaluation import Agreement, Evaluation, Figure, Order
from monge.study.sweep import Curve, Sweep, sweep

__all__ = ["Agreement", "Curve", "Evaluation", "Figure", "Order", "Sweep", "Testing", "assess", "evaluate", "sweep"]
