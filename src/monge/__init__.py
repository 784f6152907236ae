"""monge: evaluate generated text by optimal transport, and get the same number tomorrow."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from monge.api import Metric, explain, fit, load, load_stats, save_stats, score, score_segments
from monge.errors import MongeError
from monge.types import CorpusStats, Explanation, Result, Segment, Signature

if TYPE_CHECKING:
    from monge.study import compare, evaluate

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
    "compare",
    "evaluate",
    "explain",
    "fit",
    "load",
    "load_stats",
    "save_stats",
    "score",
    "score_segments",
]


def __getattr__(name: str) -> Any:
    """`compare` and `evaluate`, imported when they are first asked for."""
    if name in ("compare", "evaluate"):
        from monge import study

        return getattr(study, name)
    raise AttributeError(f"module 'monge' has no attribute {name!r}")
