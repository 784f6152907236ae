"""Try a setting at many values: chosen on development data, reported on test data, never the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from monge.data import Judged, open_dataset
from monge.data.lines import StrPath
from monge.errors import UsageError
from monge.spec.presets import resolve
from monge.stats import higher_is_better
from monge.study import metrics as asking
from monge.study.agreement import named
from monge.study.assess import assess
from monge.study.evaluation import Agreement
from monge.study.resampling import USUAL, Resampling
from monge.study.scores import score_judged
from monge.study.vary import Variation, joined, points, variation


@dataclass(frozen=True)
class Curve:
    """One metric at every point on the development data, the chosen point, and its agreement on the test data."""

    metric: str
    points: tuple[Agreement, ...]
    chosen: int
    test: Agreement | None = None


@dataclass(frozen=True)
class Sweep:
    """A curve a metric over points of `TARGET=VALUE` changes; `together` has the best mean over all metrics."""

    variations: tuple[Variation, ...]
    points: tuple[tuple[str, ...], ...]
    curves: tuple[Curve, ...]
    development: str
    test: str | None
    seed: int
    resamples: int
    alpha: float
    warnings: tuple[str, ...] = ()

    @property
    def means(self) -> list[float]:
        """The mean over metrics of the agreement at every point."""
        return [
            sum(curve.points[k].mean.value for curve in self.curves) / len(self.curves) for k in range(len(self.points))
        ]

    @property
    def together(self) -> int:
        """The point that serves all metrics best."""
        return _best(self.means, self.curves[0].points[0].statistic)

    def named(self, index: int) -> str:
        """A point as people read it: the values alone where one thing varies."""
        changes = self.points[index]
        return changes[0].partition("=")[2] if len(changes) == 1 else ", ".join(changes)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "vary": {one.target: list(one.values) for one in self.variations},
            "development": self.development,
            "test": self.test,
            "seed": self.seed,
            "resamples": self.resamples,
            "together": {"point": list(self.points[self.together]), "mean": self.means[self.together]},
            "curves": [
                {
                    "metric": curve.metric,
                    "chosen": list(self.points[curve.chosen]),
                    "points": [
                        {"point": list(point), **one.to_dict()}
                        for point, one in zip(self.points, curve.points, strict=True)
                    ],
                    "test": curve.test.to_dict() if curve.test is not None else None,
                }
                for curve in self.curves
            ],
            "warnings": list(self.warnings),
        }


def sweep(
    development: str,
    data: StrPath,
    metrics: Sequence[str],
    vary: Sequence[str],
    *,
    test: str | None = None,
    test_data: StrPath | None = None,
    pairs: Sequence[str] | None = None,
    human: str | None = None,
    statistic: str | None = None,
    text: str = "raw",
    settings: Sequence[str] = (),
    lang: str | None = None,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    resampling: Resampling = USUAL,
    cache: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    opened: Callable[[Sequence[Judged]], None] | None = None,
) -> Sweep:
    """Agreement at every point of `vary`, from one encoding pass; the best on development data, tried on test data.

    `development` and `test` may join data sets: `wmt15+wmt16`. They may share none.
    """
    variations = tuple(variation(one) for one in vary)
    tried = points(variations)
    for changes in tried:
        asking.check(metrics, changes=(*settings, *changes), lang=lang)
    for name in metrics:
        _free(name, variations)
    sets, test_sets = development.split("+"), test.split("+") if test else []
    _apart(sets, test_sets, data, test_data)
    options: dict[str, Any] = {"pairs": pairs, "human": human, "text": text}
    dev = [open_dataset(name, data, **options) for name in sets]
    held = [open_dataset(name, test_data if test_data is not None else data, **options) for name in test_sets]
    if opened is not None:
        opened([*dev, *held])
    where = asking.Where(model, device, online)
    rule = dev[0].references

    def loaded(name: str, changes: Sequence[str]) -> asking.Asked:
        one = asking.ask([name], changes=(*settings, *changes), lang=lang, where=where, rule=rule)[0]
        return replace(one, label=f"{name} {', '.join(changes)}")

    asked = [loaded(name, changes) for name in metrics for changes in tried]
    judged, scored = joined([(one, score_judged(asked, one, progress=progress, cache=cache)) for one in dev])
    wanted = named(statistic or judged.statistic, judged.kind, errors=True)
    curves = []
    for k, name in enumerate(metrics):
        mine = scored[k * len(tried) : (k + 1) * len(tried)]
        found = assess([(judged, mine)], [[wanted]], resampling=resampling)
        curves.append(Curve(name, found.agreements, _best([one.mean.value for one in found.agreements], wanted)))
    if held:
        chosen = [loaded(curve.metric, tried[curve.chosen]) for curve in curves]
        apart, marks = joined([(one, score_judged(chosen, one, progress=progress, cache=cache)) for one in held])
        tried_by = named(statistic or apart.statistic, apart.kind, errors=True)
        final = assess([(apart, marks)], [[tried_by]], resampling=resampling)
        curves = [replace(curve, test=one) for curve, one in zip(curves, final.agreements, strict=True)]
    return Sweep(
        variations=variations,
        points=tuple(tried),
        curves=tuple(curves),
        development=judged.dataset,
        test=test,
        seed=resampling.seed,
        resamples=resampling.resamples,
        alpha=resampling.alpha,
        warnings=tuple(dict.fromkeys(line for one in (*dev, *held) for line in one.warnings)),
    )


def _best(values: Sequence[float], statistic: str) -> int:
    """The place of the best value by a statistic."""
    sign = 1 if higher_is_better(statistic) else -1
    return max(range(len(values)), key=lambda k: sign * values[k])


def _free(name: str, variations: Sequence[Variation]) -> None:
    """Refuse a metric whose bracket fixes what varies: the bracket would win."""
    inner = name.partition("[")[2]
    for one in variations:
        if inner.startswith(f"{one.target}=") or f",{one.target}=" in inner:
            raise UsageError(f"{name} fixes {one.target}, which varies; leave it out of the bracket")
    resolve(name)


def _apart(development: Sequence[str], test: Sequence[str], data: StrPath, test_data: StrPath | None) -> None:
    for name in test:
        elsewhere = name == "table" and test_data is not None and Path(test_data).resolve() != Path(data).resolve()
        if name in development and not elsewhere:
            raise UsageError(
                f"{name} is development data: a value chosen on it must be tried on other data (--test ANOTHER)"
            )
