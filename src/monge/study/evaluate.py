"""Judge the judges: score a judged data set with several metrics and correlate with people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from monge.data import Judged, open_dataset
from monge.data.lines import StrPath
from monge.study import metrics as asking
from monge.study import systems
from monge.study.agreement import named
from monge.study.assess import assess
from monge.study.evaluation import Evaluation
from monge.study.resampling import USUAL, Resampling
from monge.study.scores import Scored, rows_of, score_judged

UNIFORM_UNITS = (
    "units.subwords=all",
    "units.punctuation=keep",
    "units.stopwords=none",
    "units.specials=drop",
    "weights=uniform",
)
"""What `uniform_units` gives to every metric of vectors: all pieces of a text, specials left out, equal weights."""


def evaluate(
    dataset: str,
    data: StrPath,
    metrics: Sequence[str] = ("twmd",),
    *,
    pairs: Sequence[str] | None = None,
    level: str = "segment",
    human: str | Sequence[str] | None = None,
    statistic: str | Sequence[str] | None = None,
    text: str = "raw",
    settings: Sequence[str] = (),
    lang: str | None = None,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    uniform_units: bool = False,
    resampling: Resampling = USUAL,
    switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    opened: Callable[[Sequence[Judged]], None] | None = None,
) -> Evaluation:
    """Agreement of metrics with human judgements: a result a metric, human column and statistic.

    Args:
        dataset: A data set's name, or `table` for a table of your own.
        data: The directory of the published files, or the table.
        metrics: NAME, NAME@PROFILE, 'NAME[axis.field=value]', or a lexical metric.
        pairs: The groups wanted; `*-en` works.
        level: `segment` or `system`.
        human: Human columns; the data set's own by default.
        statistic: Names of statistics; the data set's own by default.
        text: `raw` or `tokenised`.
        settings: AXIS=VALUE changes for every metric.
        lang: Target language, for metrics that declare something by language.
        model: Name or directory of the encoder.
        device: Where it runs.
        online: Whether a named model may be fetched.
        uniform_units: Give every metric the same units and weights, and tell whether that changes their order.
        resampling: Resamples, confidence, alpha and seed.
        switches: What else the data set's file lets one choose; several choices are several readings, a table each.
        cache: A directory that keeps vectors and scores.
        progress: Called with the number of segments done.
        opened: Called with what was read, before anything is scored.
    """
    asking.check(metrics, changes=settings, lang=lang)
    columns: Sequence[str | None] = [human] if human is None or isinstance(human, str) else human
    every = [
        replace(open_dataset(dataset, data, pairs=pairs, level=level, human=one, text=text, **chosen), reading=reading)
        for one in columns
        for reading, chosen in readings(switches)
    ]
    wanted = [statistic] if isinstance(statistic, str) else list(statistic or ())
    statistics = [
        list(dict.fromkeys(named(name, one.kind, errors=True, segments=True) for name in wanted or [one.statistic]))
        for one in every
    ]
    for one, names in zip(every, statistics, strict=True):
        systems.check(one, names)
    if opened is not None:
        opened(every)
    where = asking.Where(model, device, online)
    asked = asking.ask(metrics, changes=settings, lang=lang, where=where, rule=every[0].references)
    if uniform_units:
        asked += asking.ask(
            metrics, changes=settings, lang=lang, where=where, rule=every[0].references, last=UNIFORM_UNITS
        )
    pools = _scored(asked, every, progress, cache)
    return assess(pools, statistics, resampling=resampling, doubled=uniform_units)


def readings(switches: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> list[tuple[str, Mapping[str, Any]]]:
    """Each choice of switches with its name: what tells it from the others, nothing where there is one choice."""
    every = [switches or {}] if switches is None or isinstance(switches, Mapping) else list(switches)
    apart = [key for key in every[0] if any(one.get(key) != every[0][key] for one in every)]
    return [(", ".join(f"{key}={_word(one[key])}" for key in apart), one) for one in every]


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scored(
    asked: Sequence[asking.Asked],
    every: Sequence[Judged],
    progress: Callable[[int], None] | None,
    cache: str | Path | None,
) -> list[tuple[Judged, list[Scored]]]:
    """The scores for every human column; equal texts are scored once."""
    pools: list[tuple[Judged, list[Scored]]] = []
    for judged in every:
        rows = rows_of(judged)
        known = next((scored for other, scored in pools if rows_of(other) == rows), None)
        if known is None:
            known = score_judged(asked, judged, progress=progress, cache=cache)
        pools.append((judged, known))
    return pools
