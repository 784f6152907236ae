"""The one thread that owns the models, and the passes that waiting requests share.

Every request is a run of its own (`monge.scoring.run`), in a thread of its own, cut into windows of a few segments. A
window is handed over here and waited for. While the engine is busy, windows of other requests gather; it then takes
those that need the same vectors together, up to `ROWS` segments, encodes their distinct texts once and gives every
request its scores. A large request has one window waiting at a time, so that it takes turns with small ones.

What a window gets never depends on who shared its pass: segments are told apart by request, and metrics that take
statistics from a request's own texts, or depend on neighbours, are scored by themselves.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar, cast

from monge.errors import MongeError
from monge.scoring.scorer import Scores, StatsBySystem, WindowScorer, score_window
from monge.scoring.windows import Window, distinct
from monge.types import Segment
from monge.web.counters import Counters

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding
    from monge.scoring.transport import TransportMetric

SLICE = 32
"""Segments that a request has in a pass, at the most."""
ROWS = 128
"""Segments of a pass, at the most."""
KEPT = 3
"""Encodings, with the vectors of recent texts, that are kept: one for every set of layers that is asked for."""
GATHER = 0.004
"""Seconds that a pass waits for company after one that was shared."""

T = TypeVar("T")


class Gone(Exception):  # noqa: N818
    """Nobody waits for the answer any more."""


@dataclass
class Ticket:
    """A request on its way; once it is cancelled, whatever works for it stops at the next window."""

    cancelled: bool = False

    def check(self) -> None:
        """Raise where nobody waits any more."""
        if self.cancelled:
            raise Gone


@dataclass
class _Work:
    """Something that waits for the engine: a call to be made alone, or a window that may share its pass."""

    ticket: Ticket
    call: Callable[[], Any] | None = None
    metrics: Sequence[TransportMetric] = ()
    stats: Sequence[StatsBySystem] = ()
    window: Window | None = None
    kind: Hashable = None
    done: Future[Any] = field(default_factory=Future)

    @property
    def rows(self) -> Sequence[Segment]:
        assert self.window is not None
        return self.window.rows


class Engine:
    """Scores windows, one pass after another, in a thread of its own; `share` off gives every window its own pass."""

    def __init__(self, counters: Counters, *, share: bool = True) -> None:
        self._counters, self._share = counters, share
        self._waiting: deque[_Work] = deque()
        self._changed, self._stopped = Condition(), Event()
        self._encodings: OrderedDict[Hashable, Encoding] = OrderedDict()
        self._company = False
        self._thread = Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # --- what the threads of requests call --------------------------------------------------------------------------

    def alone(self, call: Callable[[], T], ticket: Ticket) -> T:
        """What a call gives that needs the models, made when its turn comes."""
        return cast(T, self._wait(_Work(ticket, call)))

    def taking_turns(self, ticket: Ticket) -> Callable[..., list[Scores]]:
        """What scores the windows of a run as they are, in turn with those of others."""

        def score(metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window) -> list[Scores]:
            return self.alone(lambda: score_window(metrics, stats, window), ticket)

        return score

    def shared(self, ticket: Ticket) -> Callable[..., list[Scores]]:
        """What scores the windows of a run together with those of others; metrics of words are scored on the spot."""

        def score(metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window) -> list[Scores]:
            ticket.check()
            reading = [k for k, metric in enumerate(metrics) if metric.reads]
            found: dict[int, Scores] = {}
            if reading:
                mine = [cast("TransportMetric", metrics[k]) for k in reading]
                kind = frozenset((metric.reader, metric.request) for metric in mine)
                work = _Work(ticket, None, mine, [stats[k] for k in reading], window, kind)
                found = dict(zip(reading, self._wait(work), strict=True))
            for k, metric in enumerate(metrics):
                if k not in found:
                    found[k] = metric.score(window, stats[k])
            return [found[k] for k in range(len(metrics))]

        return score

    def _wait(self, work: _Work) -> Any:
        work.ticket.check()
        with self._changed:
            if self._stopped.is_set():
                raise Gone
            self._waiting.append(work)
            self._changed.notify()
        return work.done.result()

    @property
    def waiting(self) -> int:
        """Windows and calls that wait."""
        return len(self._waiting)

    def stop(self) -> None:
        """End the thread; what still waits is told that it is gone."""
        with self._changed:
            self._stopped.set()
            self._changed.notify()
        self._thread.join()

    # --- the engine's own thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped.is_set())
                if self._stopped.is_set():
                    for work in self._waiting:
                        work.done.set_exception(Gone())
                    return
                if self._company and self._waiting[0].call is None:
                    self._changed.wait_for(lambda: len(self._waiting) >= SLICE or self._stopped.is_set(), GATHER)
                taken = self._taken()
            self._counters.queue.set(len(self._waiting))
            live = [work for work in taken if not work.ticket.cancelled]
            for work in taken:
                if work.ticket.cancelled:
                    work.done.set_exception(Gone())
            if live:
                self._serve(live)

    def _taken(self) -> list[_Work]:
        """The first that waits and, if it may share, all others that need the same vectors, up to ROWS segments."""
        first = self._waiting.popleft()
        if first.call is not None or not self._share:
            return [first]
        taken, left, rows = [first], deque[_Work](), len(first.rows)
        while self._waiting:
            work = self._waiting.popleft()
            if work.call is None and work.kind == first.kind and rows + len(work.rows) <= ROWS:
                taken.append(work)
                rows += len(work.rows)
            else:
                left.append(work)
        self._waiting = left
        return taken

    def _serve(self, taken: Sequence[_Work]) -> None:
        started = time.perf_counter()
        first = taken[0]
        self._company = len(taken) > 1
        try:
            found = [first.call()] if first.call is not None else self._passed(taken)
        except MongeError as error:
            if len(taken) == 1:
                first.done.set_exception(error)
                return
            for work in taken:  # one of them is at fault: each by itself
                self._serve([work])
            return
        except BaseException as error:  # noqa: BLE001 - a defect is the request's answer, not the end of the service
            for work in taken:
                work.done.set_exception(error)
            return
        self._counters.stage("alone" if first.call is not None else "pass", time.perf_counter() - started)
        for work, scores in zip(taken, found, strict=True):
            work.done.set_result(scores)

    def _passed(self, taken: Sequence[_Work]) -> list[list[Scores]]:
        """For each window, the scores of its metrics, from one encoding pass over the texts of all."""
        rows = [
            [replace(row, system=f"{k}/{row.system}") for row in work.rows] if len(taken) > 1 else work.rows
            for k, work in enumerate(taken)
        ]
        encoding = self._encoding(taken[0])
        before = replace(encoding.counters)
        pieces = _merged([cast(Window, work.window) for work in taken])
        every = Window([row for mine in rows for row in mine], encoding, pieces)
        groups: dict[Hashable, list[tuple[int, int]]] = {}
        for k, work in enumerate(taken):
            for place, metric in enumerate(work.metrics):
                groups.setdefault(_company_of(metric, work, place, k), []).append((k, place))
        windows = {tuple(range(len(taken))): every}
        for reader in {metric.reader for work in taken for metric in work.metrics}:
            every.read(reader)
        found: list[list[Scores | None]] = [[None] * len(work.metrics) for work in taken]
        for members in groups.values():
            among = tuple(k for k, _ in members)
            if among not in windows:
                windows[among] = Window([row for k in among for row in rows[k]], encoding, pieces)
            one = taken[members[0][0]]
            stats = {
                (f"{k}/{system}" if len(taken) > 1 else system): each
                for k, place in members
                for system, each in taken[k].stats[place].items()
            }
            scores = one.metrics[members[0][1]].score(windows[among], stats)
            start = 0
            for k, place in members:
                end = start + len(rows[k])
                found[k][place] = scores if len(members) == 1 else scores.at(range(start, end))
                start = end
        self._count(encoding, before, len(every.rows), len(taken), len(distinct(every.rows)))
        return cast("list[list[Scores]]", found)

    def _count(self, encoding: Encoding, before: Any, rows: int, requests: int, texts: int) -> None:
        now = encoding.counters
        self._counters.passed(rows, requests, texts, now.encoded - before.encoded)

    def _encoding(self, work: _Work) -> Encoding:
        """The encoding of a kind of window, which remembers recent texts."""
        from monge.scoring.encoding import Encoding

        if work.kind not in self._encodings:
            self._encodings[work.kind] = Encoding(work.metrics)
            while len(self._encodings) > KEPT:
                self._encodings.popitem(last=False)
        self._encodings.move_to_end(work.kind)
        return self._encodings[work.kind]


def _company_of(metric: TransportMetric, work: _Work, place: int, k: int) -> Hashable:
    """Windows with an equal key are scored by one call: the same metric, with the same statistics or with none."""
    if metric.block != 1:
        return k, place
    if metric.fits or metric.needs_given:
        return id(metric), tuple(sorted({id(one) for one in work.stats[place].values()}))
    return id(metric)


def _merged(windows: Sequence[Window]) -> Mapping[Any, Any]:
    """The pieces of the texts of several windows, by reader."""
    found: dict[Any, dict[str, Any]] = {}
    for window in windows:
        for reader, pieces in window.pieces.items():
            found.setdefault(reader, {}).update(pieces)
    return found
