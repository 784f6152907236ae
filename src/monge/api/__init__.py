"""The Python interface: load a metric, score, fit, explain; and the calls that higher layers build
on.
"""

from monge.api.calls import explain, fit, score, show
from monge.api.metric import (
    BrokenMetrics,
    Metric,
    bind,
    encoder_for,
    keep_encoders,
    load,
    score_segments,
    suited,
    transported_segments,
    with_corpus,
    with_intervals,
)
from monge.api.notebook import NotebookExplanation, NotebookResult, Results, frame
from monge.api.options import Options, changes_of
from monge.api.plugins import register, unregister
from monge.api.replay import replay
from monge.api.statistics import load_stats, save_stats
from monge.api.usable import score_usable, warn_left_out
from monge.datasets.lists import segments_of
from monge.metrics.default import DEFAULT_METRIC
from monge.metrics.plugins import MetricPlugin
from monge.metrics.user_choices import TransportFunction
from monge.scoring.run import Watch
from monge.scoring.scorer import Corpora

__all__ = [
    "DEFAULT_METRIC", "BrokenMetrics", "Corpora", "Metric", "MetricPlugin", "NotebookExplanation",
    "NotebookResult", "Options", "Results", "TransportFunction", "Watch",
    "bind", "changes_of", "encoder_for", "explain", "fit", "frame", "keep_encoders", "load",
    "load_stats", "register", "replay",
    "save_stats", "score", "score_segments", "score_usable", "segments_of", "show", "suited",
    "transported_segments", "unregister", "warn_left_out",
    "with_corpus",
    "with_intervals",
]  # fmt: skip
