"""The description of a pass that every worker receives, and the metrics that it makes from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from monge import api
from monge.cache import code_digest
from monge.errors import ModelError, UsageError
from monge.metrics.labels import labels
from monge.metrics.presets import Spec
from monge.scoring.run import bind_side
from monge.types import CorpusStats, DocumentCounts
from monge.types.text import InputSummary

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer, StatsBySystem


@dataclass(frozen=True)
class Recipe:
    """How a worker makes the metrics of a run: names and settings, and a model that it loads.

    identities: the expected identity of each metric, with the digests of its model; corpora: names
    of texts that idf is fitted on, other than those of the run; idf: whether one of them replaces
    the corpus of every metric.
    """

    metrics: Sequence[tuple[str, Spec]]
    model: str = "auto"
    lang: str | None = None
    device: str = "auto"
    online: bool = False
    stats: CorpusStats | None = None
    corpora: Sequence[str] = ()
    idf: bool = False
    identities: Sequence[str] = ()

    def bind_metrics(self) -> list[Scorer]:
        """Load the metrics with their models; raise if they differ from those of the driver."""
        model_options = {
            "model": self.model,
            "lang": self.lang,
            "device": self.device,
            "online": self.online,
        }
        metrics = [api.bind(name, spec, **model_options) for name, spec in self.metrics]  # type: ignore[arg-type]
        scorers = [api.with_corpus(metric.scorer, self.worker_corpora)[0] for metric in metrics]
        for scorer, expected_identity in zip(scorers, self.identities, strict=False):
            if identity(scorer) != expected_identity:
                raise ModelError(
                    f"{scorer.name}: this worker has another model, library or version than the "
                    "driver"
                )
        return scorers

    @property
    def worker_corpora(self) -> api.Corpora:
        """The corpora as workers see them: names and ready-made statistics, without the texts."""
        return api.Corpora(self.stats, dict.fromkeys(self.corpora, ()), () if self.idf else None)

    @property
    def labels(self) -> list[str]:
        """The labels of the metrics in the results."""
        return list(labels(self.metrics))


@dataclass(frozen=True)
class PassJob:
    """A pass over the blocks of a run.

    pass_id: a unique name of this pass in this start of the run; kind: one of `folder.PASSES`;
    names: the files of the input; counts: the document counts that weigh units while vectors are
    summed; fitted: statistics by system for each member that compares vectors; form: the format of
    the parts; seed: of the interval, None without one; tolerant: whether bad rows are counted
    instead of ending the run; threads: per worker.
    """

    pass_id: str
    recipe: Recipe
    folder: str
    kind: str
    summary: InputSummary
    names: Sequence[str]
    form: str
    texts: bool = False
    seed: int | None = None
    tolerant: bool = False
    threads: int = 1
    counts: Sequence[DocumentCounts] = ()
    fitted: Sequence[StatsBySystem] = field(default=())


def bind_sides(metrics: Sequence[Scorer], sides: Mapping[str, Any]) -> list[Scorer]:
    """Bind every metric to the references or sources of an input that has these sides."""
    return [bind_side(metric, sides) for metric in metrics]


def identity(metric: Scorer) -> str:
    """Return what a score depends on besides texts and statistics, as one text."""
    fingerprints = [
        member.fingerprint(CorpusStats(""))
        if member.vector_metric is None
        else member.vector_metric.identity.fingerprint
        for member in metric.members.values()
    ]
    return repr((version("monge"), code_digest(), metric.name, fingerprints))


def check_scalable(metrics: Sequence[Scorer]) -> None:
    """Raise if a metric scores several segments together, which blocks would separate."""
    for metric in metrics:
        for member in metric.members.values():
            if member.block != 1:
                needs = "all segments of a system"
                if member.block != 0:
                    needs = f"{member.block} neighbours"
                raise UsageError(
                    f"{metric.name} scores {needs} together: run it without --engine ray"
                )
