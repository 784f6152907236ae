"""monge: evaluate generated text by optimal transport, and get the same number tomorrow."""

from importlib.metadata import version

from monge.api import Metric, explain, fit, load, load_stats, save_stats, score, score_segments
from monge.errors import MongeError
from monge.types import CorpusStats, Explanation, Result, Segment, Signature

__version__ = version("monge")
__all__ = [
    "CorpusStats",
    "Explanation",
    "Metric",
    "MongeError",
    "Result",
    "Segment",
    "Signature",
    "__version__",
    "explain",
    "fit",
    "load",
    "load_stats",
    "save_stats",
    "score",
    "score_segments",
]
