"""Studies: metrics against people, systems against each other, settings against data.

Four nouns: a `Task` (which judgements, which question), variants (metric settings to compare), a
score book (their scores, computed once) and an agreement table (values, draws, tests). Every study
is a short sentence in them.
"""

from monge.evaluation.agreement import Resampling
from monge.evaluation.calls import compare, evaluate
from monge.evaluation.compare import (
    aligned,
    compare_results,
    compare_scores,
    compare_segments,
)
from monge.evaluation.comparison import Comparison
from monge.evaluation.evaluate import assess, evaluate_task
from monge.evaluation.evaluation_result import Agreement, Evaluation, Figure
from monge.evaluation.protocol import Protocol, load_protocol
from monge.evaluation.protocol_result import ProtocolResult
from monge.evaluation.protocol_run import ProtocolMetrics, run_protocol
from monge.evaluation.protocol_tasks import ProtocolTests
from monge.evaluation.score_book import Run, ScoreBook
from monge.evaluation.sensitivity import Design, Sensitivity, sensitivity
from monge.evaluation.sweep import Curve, Sweep, sweep
from monge.evaluation.task import Task
from monge.evaluation.variants import Setup, Variant, load_variants

__all__ = [
    "Agreement", "Comparison", "Curve", "Design", "Evaluation", "Figure", "Protocol",
    "ProtocolMetrics",
    "ProtocolResult", "ProtocolTests", "Resampling", "Run",
    "ScoreBook",
    "Sensitivity", "Setup", "Sweep", "Task", "Variant", "aligned", "assess", "compare",
    "compare_results",
    "compare_scores", "compare_segments", "evaluate", "evaluate_task", "load_protocol",
    "load_variants",
    "run_protocol", "sensitivity", "sweep",
]  # fmt: skip
