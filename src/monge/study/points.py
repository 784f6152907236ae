"""Metrics at points of a design: every setting of every factor, scored in one encoding pass a group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from monge.data import Group, Judged, describe
from monge.errors import DataError, UsageError
from monge.spec.metric import MetricSpec
from monge.spec.presets import resolve
from monge.spec.rules import check
from monge.study import metrics as asking
from monge.study.agreement import signed_scores
from monge.study.factors import Draw, changes, random_name
from monge.study.scores import Scored, rows_of, score_judged
from monge.types import Array

_PAIR = re.compile(r"[a-z]{2,3}-([a-z]{2,3})")


@dataclass(frozen=True)
class Point:
    """A metric with some factors set, as (factor, setting) pairs; with none it is the metric as asked for."""

    metric: str
    settings: tuple[tuple[str, str], ...] = ()

    def changes(self, spec: MetricSpec, language: str) -> tuple[str, ...]:
        """What is changed in the metric's own spec."""
        return tuple(one for factor, setting in self.settings for one in changes(factor, setting, spec, language))


@dataclass(frozen=True)
class Seen:
    """A point as it was scored, a part a language."""

    parts: tuple[Scored, ...]

    @property
    def specs(self) -> list[object]:
        """The spec in every language."""
        return [one.asked.metric.spec for one in self.parts]

    @property
    def signatures(self) -> tuple[str, ...]:
        """The distinct signatures."""
        return tuple(dict.fromkeys(one.signature for one in self.parts))

    @property
    def flagged(self) -> dict[str, int]:
        """The fallbacks that were taken, counted over all groups."""
        total: Counter[str] = Counter()
        for one in self.parts:
            total.update(one.flagged)
        return dict(sorted(total.items()))

    def part(self, name: str) -> Scored:
        """The scores that hold a group."""
        return next(one for one in self.parts if name in one.groups)

    def signed(self, name: str, group: Group) -> Array:
        """Scores of a group, higher for better."""
        one = self.part(name)
        better = one.asked.higher_is_better
        return signed_scores(group, one.groups[name], one.systems[name], higher_is_better=better)


@dataclass(frozen=True)
class Corpus:
    """An idf corpus that was drawn: how many texts, and a digest of them."""

    name: str
    language: str
    texts: int
    digest: str


@dataclass(frozen=True)
class Run:
    """How the points are scored: settings of all metrics, the model, and what is drawn at random."""

    settings: tuple[str, ...] = ()
    lang: str | None = None
    where: asking.Where = asking.NOWHERE
    draw: Draw | None = None
    seed: int = 0
    cache: str | Path | None = None
    progress: Callable[[int], None] | None = None


def languages(judged: Judged, lang: str | None) -> dict[str, list[str]]:
    """Groups by the language of their texts: the given one, the target of a pair, or English."""
    found: dict[str, list[str]] = {}
    by_language = describe(judged.dataset).groups == "language"
    for name in judged.groups:
        pair = _PAIR.fullmatch(name)
        guess = pair[1] if pair else name[:2] if by_language else "en"
        found.setdefault(lang or guess, []).append(name)
    return found


def check_points(points: Sequence[Point], language: str, run: Run) -> None:
    """Raise where a point cannot be, before a model is loaded."""
    for point in points:
        spec = resolve(point.metric, run.settings, run.lang)[1]
        if not isinstance(spec, MetricSpec):
            raise UsageError(f"{point.metric} is no transport metric: it has none of these factors")
        check(spec.changed(point.changes(spec, language)))


def score_points(
    points: Sequence[Point], judged: Judged, run: Run
) -> tuple[dict[Point, Seen], list[Corpus], dict[str, int]]:
    """Every point scored; the corpora that were drawn; what the encoding passes cost. Equal specs are scored once."""
    by_language = languages(judged, run.lang)
    for language in by_language:
        check_points(points, language, run)
    parts: dict[Point, list[Scored]] = {point: [] for point in points}
    drawn: list[Corpus] = []
    work: Counter[str] = Counter()
    for language, names in by_language.items():
        some = replace(judged, groups={name: judged.groups[name] for name in names})
        corpora = random_corpora(some, run.draw, run.seed) if run.draw is not None else {}
        drawn += [Corpus(name, language, len(texts), _digest(texts)) for name, texts in corpora.items()]
        places, asked = _asked(points, language, judged.references, run)
        scored = score_judged(asked, some, progress=run.progress, cache=run.cache, corpora=corpora)
        work.update(scored[0].work)
        for point in points:
            parts[point].append(scored[places[point]])
    return {point: Seen(tuple(found)) for point, found in parts.items()}, drawn, dict(work)


def _asked(points: Sequence[Point], language: str, rule: str, run: Run) -> tuple[dict[Point, int], list[asking.Asked]]:
    """The distinct metrics, and which of them each point is."""
    known: dict[tuple[str, object], int] = {}
    asked: list[asking.Asked] = []
    places = {}
    for point in points:
        spec = resolve(point.metric, run.settings, run.lang)[1]
        last = point.changes(spec, language) if isinstance(spec, MetricSpec) else ()
        one = asking.ask([point.metric], changes=run.settings, lang=run.lang, where=run.where, rule=rule, last=last)[0]
        key = point.metric, one.metric.spec
        if key not in known:
            known[key] = len(asked)
            asked.append(one)
        places[point] = known[key]
    return places, asked


def random_corpora(judged: Judged, draw: Draw, seed: int) -> dict[str, list[str]]:
    """Random idf corpora by name: texts drawn without replacement from the distinct references of all groups."""
    pool = list(dict.fromkeys(text for rows in rows_of(judged).values() for row in rows for text in row.references))
    wanted = min(draw.texts, len(pool) // 2) if draw.usual else draw.texts
    if wanted > len(pool) or wanted < 2:
        raise DataError(
            f"idf=random:{draw.corpora}x{draw.texts}: there are {len(pool)} distinct references to draw from"
        )
    found = {}
    for number in range(draw.corpora):
        chosen = np.random.default_rng([seed, number]).choice(len(pool), size=wanted, replace=False)
        found[random_name(number)] = [pool[index] for index in sorted(chosen.tolist())]
    return found


def _digest(texts: Sequence[str]) -> str:
    return blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


Scores = Mapping[Point, Seen]
