"""A run of several kinds of metrics: one encoding pass for those of vectors, none for those of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, TypeAlias

from monge.errors import DataError, StatisticsMismatch
from monge.scoring.blend import Blended
from monge.scoring.lexical import Lexical
from monge.spec.signature import library_fields
from monge.types import CorpusStats, Result, Segment

if TYPE_CHECKING:
    from monge.scoring.prepared import Prepared
    from monge.scoring.run import OnWindow
    from monge.store import Store

    Bound: TypeAlias = Prepared | Lexical | Blended

Expected = Sequence[Mapping[str, str]]


def run_mixed(
    metrics: Sequence[Bound],
    segments: Iterable[Segment],
    *,
    files: Mapping[str, Iterable[str]] | None = None,
    stats: CorpusStats | None = None,
    progress: Callable[[int], None] | None = None,
    expect: Expected | None = None,
    store: Store | None = None,
    on_window: OnWindow | None = None,
) -> list[Result]:
    """Score re-iterable segments with every metric: results system by system, metrics in the given order.

    `files` are idf corpora by name, `stats` ready-made statistics;
    `expect` has for each metric the digests (or fields of a library) that a replay must meet;
    `store` and `on_window` are those of `run`.
    """
    systems = list(dict.fromkeys(segment.system for segment in segments))
    if not systems:
        raise DataError("there is nothing to score: no segments")
    found: dict[tuple[str, int], Result] = {}
    vectors = [((k, part), one) for k, metric in enumerate(metrics) for part, one in _vector_parts(metric)]
    if vectors:
        from monge.scoring.run import Corpora, run

        wanted = {id(one): expect[k] for (k, part), one in vectors if not part} if expect else {}
        results = run(
            [one for _, one in vectors],
            segments,
            corpora=Corpora(files or {}, stats),
            progress=progress,
            expect=lambda metric, stats: _check_digests(metric, stats, wanted.get(id(metric))),
            store=store,
            on_window=on_window if all(not part for (_, part), _ in vectors) else None,
        )
        each = iter(results)
        parts = {(system, k, part): next(each) for system in systems for (k, part), _ in vectors}
        found.update({(system, k): one for (system, k, part), one in parts.items() if not part})
        for k, metric in enumerate(metrics):
            if isinstance(metric, Blended):
                mine = {system: {part: parts[system, k, part] for part in metric.members} for system in systems}
                own = stats if stats is not None else _ranges(metric, mine, segments)
                if expect:
                    _compare(metric.name, "statistics", expect[k], metric.digests(own))
                found.update({(system, k): metric.combined(one, own) for system, one in mine.items()})
    words = [(k, metric) for k, metric in enumerate(metrics) if isinstance(metric, Lexical)]
    for system in systems if words else ():
        rows = [segment for segment in segments if segment.system == system]
        for k, metric in words:
            found[system, k] = _met(metric.score(system, rows), expect[k] if expect else None)
        if progress is not None and not vectors:
            progress(len(rows))
    return [found[system, k] for system in systems for k in range(len(metrics))]


def _ranges(metric: Blended, mine: Mapping[str, Mapping[str, Result]], segments: Iterable[Segment]) -> CorpusStats:
    """The ranges of a blend over all pairs of the run: systems scaled by their own could not be compared."""
    each = [metric.ranges(parts, [row for row in segments if row.system == system]) for system, parts in mine.items()]
    return reduce(add, each)


def _vector_parts(metric: Bound) -> list[tuple[str, Prepared]]:
    """The metrics of vectors that a metric stands for: itself under '', or the parts of a blend."""
    if isinstance(metric, Lexical):
        return []
    return list(metric.members.items()) if isinstance(metric, Blended) else [("", metric)]


def _check_digests(metric: Prepared, stats: CorpusStats, wanted: Mapping[str, str] | None) -> None:
    from monge.scoring.run import stats_digests

    if wanted is not None:
        _compare(metric.name, "statistics", wanted, stats_digests(metric, stats))


def _met(result: Result, wanted: Mapping[str, str] | None) -> Result:
    if wanted is not None:
        _compare(result.metric, "library", wanted, library_fields(result.signature))
    return result


def _compare(name: str, what: str, wanted: Mapping[str, str], now: Mapping[str, str]) -> None:
    if dict(wanted) != dict(now):
        was, here = ({k: v for k, v in one.items() if wanted.get(k) != now.get(k)} for one in (wanted, now))
        told = " ".join(f"{key}={value}" for key, value in was.items()) or "none"
        given = " ".join(f"{key}={value}" for key, value in here.items()) or "none"
        raise StatisticsMismatch(
            f"{name}: the signature's {what} say {told}, this run gives {given}; "
            "give the same texts, --stats or --idf-corpus, or accept new ones with --refit"
        )
