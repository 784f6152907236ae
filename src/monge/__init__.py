"""monge: evaluate generated text by optimal transport, and get the same number tomorrow.

Names are imported when they are first asked for, so that `import monge` and `monge --help` are
quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monge.api import (
        Corpora,
        Metric,
        MetricPlugin,
        Results,
        explain,
        fit,
        load,
        load_stats,
        register,
        save_stats,
        score,
        score_segments,
        show,
        unregister,
    )
    from monge.cluster import score_dataset
    from monge.errors import MongeError
    from monge.evaluation.agreement import Resampling
    from monge.evaluation.calls import compare, evaluate
    from monge.evaluation.task import Task
    from monge.evaluation.variants import Setup
    from monge.probing.study import probe
    from monge.recommendation.recommend import recommend
    from monge.types import CorpusStats, Explanation, Result, Segment, Signature

    __version__: str

_HOMES = {
    "monge.api": (
        "Corpora", "Metric", "MetricPlugin", "Results", "explain", "fit", "load", "load_stats",
        "register", "save_stats", "score", "score_segments",
        "show", "unregister",
    ),
    "monge.cluster": ("score_dataset",),
    "monge.errors": ("MongeError",),
    "monge.evaluation": ("Resampling", "Setup", "Task", "compare", "evaluate"),
    "monge.probing.study": ("probe",),
    "monge.recommendation.recommend": ("recommend",),
    "monge.types": ("CorpusStats", "Explanation", "Result", "Segment", "Signature"),
}  # fmt: skip
_HOME = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [
    "Corpora", "CorpusStats", "Explanation", "Metric", "MetricPlugin", "MongeError", "Resampling",
    "Result", "Results", "Segment",
    "Setup", "Signature", "Task", "__version__", "compare", "evaluate", "explain", "fit", "load",
    "load_stats", "probe",
    "recommend", "register", "save_stats", "score", "score_dataset", "score_segments", "show",
    "unregister",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A public name, imported from its home."""
    if name == "__version__":
        from importlib.metadata import version

        return version("monge")
    if name not in _HOME:
        raise AttributeError(f"module 'monge' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
