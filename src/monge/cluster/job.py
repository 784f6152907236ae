"""What every worker of a run is told, and the metrics that it makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from monge import api
from monge.errors import ModelError, UsageError
from monge.scoring.scan import InputSummary, bind_side
from monge.spec.labels import labels
from monge.spec.presets import Spec
from monge.store import code_digest
from monge.types import CorpusStats, DocumentCounts

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer, StatsBySystem
    from monge.scoring.transport import TransportMetric


@dataclass(frozen=True)
class Recipe:
    """How a worker makes the metrics of a run: by name and settings, with a model that it loads itself.

    identities: what each metric must turn out to be, the digests of its model included; corpora: names of texts that
    idf is fitted on, other than those of the run; idf: whether one of them replaces the corpus of every metric.
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

    def bound(self) -> list[Scorer]:
        """The metrics with their models; raises where they are not what the driver has."""
        where = {"model": self.model, "lang": self.lang, "device": self.device, "online": self.online}
        made = [api.bind(name, spec, **where) for name, spec in self.metrics]  # type: ignore[arg-type]
        found = [api.with_corpus(one.scorer, self.given)[0] for one in made]
        for one, wanted in zip(found, self.identities, strict=False):
            if identity(one) != wanted:
                raise ModelError(f"{one.name}: this worker has another model, library or version than the driver")
        return found

    @property
    def given(self) -> api.Corpora:
        """Where statistics come from; the texts themselves stay with the driver."""
        return api.Corpora(self.stats, dict.fromkeys(self.corpora, ()), () if self.idf else None)

    @property
    def labels(self) -> list[str]:
        """What tells the metrics apart in the results."""
        return list(labels(self.metrics))


@dataclass(frozen=True)
class Job:
    """A pass over the blocks of a run.

    name: of this pass of this start of the run; what: one of `folder.PASSES`; names: the files of the input; counts:
    what weighs units while vectors are summed; fitted: for each member that reads vectors the statistics of every
    system; form: the format of the parts; seed: of the interval, None without one; tolerant: whether bad rows are
    counted; threads: of a worker.
    """

    name: str
    recipe: Recipe
    folder: str
    what: str
    looked: InputSummary
    names: Sequence[str]
    form: str
    texts: bool = False
    seed: int | None = None
    tolerant: bool = False
    threads: int = 1
    counts: Sequence[DocumentCounts] = ()
    fitted: Sequence[StatsBySystem] = field(default=())


def readers(metrics: Sequence[Scorer]) -> list[TransportMetric]:
    """The members of metrics that compare vectors, in the order in which a run has them."""
    return [cast("TransportMetric", one) for metric in metrics for one in metric.members.values() if one.reads]


def faced_metrics(metrics: Sequence[Scorer], given: Mapping[str, Any]) -> list[Scorer]:
    """The metrics as they face an input that has these sides."""
    return [bind_side(one, given) for one in metrics]


def identity(metric: Scorer) -> str:
    """Everything that a score depends on besides texts and statistics: settings, model, libraries, code."""
    fingerprints = [
        cast("TransportMetric", member).identity.fingerprint if member.reads else member.fingerprint(CorpusStats(""))
        for member in metric.members.values()
    ]
    return repr((version("monge"), code_digest(), metric.name, fingerprints))


def check_scalable(metrics: Sequence[Scorer]) -> None:
    """Raise where a metric needs all segments, or neighbours, in one place."""
    for metric in metrics:
        for member in metric.members.values():
            if member.block != 1:
                needs = "all segments of a system" if member.block == 0 else f"{member.block} neighbours"
                raise UsageError(f"{metric.name} scores {needs} together: run it without --engine ray")
