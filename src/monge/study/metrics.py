"""The metrics of a study: what the user called each one, and what computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monge import api
from monge.errors import InvalidSetting
from monge.spec.metric import MetricSpec
from monge.spec.presets import resolve


@dataclass(frozen=True)
class Where:
    """Which model, and where it runs."""

    model: str = "auto"
    device: str = "auto"
    online: bool = False


NOWHERE = Where()


@dataclass(frozen=True)
class Asked:
    """A metric as it was asked for, bound to what computes it.

    `spread`: its references are scored one by one and the mean is taken, because it has no such rule of its own.
    """

    label: str
    metric: api.Metric
    spread: bool = False

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""
        return self.metric.name

    @property
    def higher_is_better(self) -> bool:
        """The direction of its scores."""
        return self.metric.prepared.bounds.higher_is_better


def check(names: Sequence[str], *, changes: Sequence[str] = (), lang: str | None = None) -> None:
    """Raise where a name or a setting is wrong, before anything is read or loaded."""
    if not names:
        raise InvalidSetting("no metric was asked for")
    seen: set[str] = set()
    for name in names:
        if name.strip() in seen:
            raise InvalidSetting(f"{name} was asked for twice")
        seen.add(name.strip())
        resolve(name, tuple(changes), lang)


def ask(
    names: Sequence[str],
    *,
    changes: Sequence[str] = (),
    lang: str | None = None,
    where: Where = NOWHERE,
    rule: str = "max",
    last: Sequence[str] = (),
) -> list[Asked]:
    """The metrics of a run, loaded.

    A data set whose `rule` is the mean over references overrides the metric's own; `last` are changes that
    win over everything else a metric of vectors says, its bracket included.
    """
    check(names, changes=changes, lang=lang)
    mean = ("references=mean",) if rule == "mean" else ()
    asked = []
    for label in names:
        name, spec = resolve(label, tuple(changes), lang)
        of_vectors = isinstance(spec, MetricSpec)
        if isinstance(spec, MetricSpec):
            spec = spec.changed([*mean, *last])
        metric = api.bind(name, spec, model=where.model, device=where.device, online=where.online)
        asked.append(Asked(label.strip(), metric, bool(mean) and not of_vectors))
    return asked
