"""Studies: metrics against people, systems against each other, settings against data."""

from monge.study.assess import assess
from monge.study.compare import compare, compare_scores, compare_segments
from monge.study.comparison import Comparison, Standings, SystemScore, Versus
from monge.study.evaluate import evaluate
from monge.study.evaluation import Agreement, Evaluation, Figure, Order
from monge.study.resampling import Resampling
from monge.study.sensitivity import Sensitivity, sensitivity
from monge.study.sweep import Curve, Sweep, sweep

__all__ = [
    "Agreement",
    "Comparison",
    "Curve",
    "Evaluation",
    "Figure",
    "Order",
    "Resampling",
    "Sensitivity",
    "Standings",
    "Sweep",
    "SystemScore",
    "Versus",
    "assess",
    "compare",
    "compare_scores",
    "compare_segments",
    "evaluate",
    "sensitivity",
    "sweep",
]
