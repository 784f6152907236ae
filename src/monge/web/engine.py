"""The one thread that owns the models, and the encoding passes that waiting requests share.

Small requests (`monge.web.lots`) are handed over whole and answered here. Every other request is a run of its own
(`monge.scoring.run`), in a thread of its own; the distinct texts of its windows are handed over a slice at a time, and
waited for. While the engine is busy, both gather; it then takes what needs the same vectors together, up to `PASS`
characters, and encodes the distinct texts once. A large request has one slice waiting at a time, so that it takes turns
with small ones.

Who shared a pass cannot be seen in an answer: the packed encoder gives a text the same vectors to the bit whatever
stands beside it, and what is behind the vectors is done for each request by itself, or together to the same bits.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Condition, Event, Thread, get_ident
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from monge.errors import MongeError
from monge.scoring.scorer import Scores, StatsBySystem, WindowScorer
from monge.scoring.windows import Window, distinct
from monge.web.counters import Counters
from monge.web.lots import FEW, Brief, answered
from monge.web.ticket import Gone as Gone
from monge.web.ticket import Ticket as Ticket

if TYPE_CHECKING:
    from monge.encode.protocol import Request
    from monge.scoring.encoding import Encoding, Read
    from monge.scoring.reader import Reader
    from monge.scoring.transport import TransportMetric
    from monge.types import Tokens

SLICE_TEXTS, SLICE = 128, 8_000
"""Distinct texts, and characters of them, that a request has in a pass, at the most (one text may be longer)."""
PASS = 24_000
"""Characters of a pass, at the most."""
KEPT = 3
"""Encodings, with the vectors of recent texts, that are kept: one for every set of layers that is asked for."""
GATHER = 0.004
"""Seconds that a pass waits for company after one that was shared."""
GATHERED = 32
"""Slices that are company enough."""
STOPPING = 3.0
"""Seconds that the engine has to end what it does when the service stops."""

T = TypeVar("T")
Kind = frozenset["tuple[Reader, Request]"]
"""Which vectors a slice needs."""


@dataclass
class _Work:
    """Something that waits for the engine: a call to be made alone, texts whose vectors are wanted, a small request."""

    ticket: Ticket
    call: Callable[[], Any] | None = None
    kind: Kind = frozenset()
    metrics: Sequence[TransportMetric] = ()
    texts: Sequence[str] = ()
    pieces: Mapping[Reader, Mapping[str, Tokens]] = field(default_factory=dict)
    brief: Brief | None = None
    since: float = field(default_factory=time.perf_counter)
    done: Future[Any] = field(default_factory=Future)

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))


class _Given:
    """Texts that have been read: what a window asks instead of an encoding."""

    def __init__(self, read: Mapping[Reader, Read]) -> None:
        self._read = read

    def read(self, texts: Sequence[str], reader: Reader, pieces: object = None) -> Read:
        """Pieces and vectors of texts."""
        return self._read[reader]


class SlicedEncoding:
    """Reads texts for a run of its own in slices that take turns with those of requests: what a window asks."""

    def __init__(self, engine: Engine, metrics: Sequence[TransportMetric], ticket: Ticket) -> None:
        self._engine, self._metrics, self._ticket = engine, metrics, ticket

    def read(self, texts: Sequence[str], reader: Reader, pieces: object = None) -> Read:
        """Pieces and vectors of texts."""
        return self._engine.read_texts(self._metrics, texts, self._ticket)[reader]


class Engine:
    """Encodes texts, one pass after another, in a thread of its own; `share` off gives every slice its own pass."""

    def __init__(self, counters: Counters, *, share: bool = True) -> None:
        self._counters, self._share = counters, share
        self._waiting: deque[_Work] = deque()
        self._changed, self._stopped = Condition(), Event()
        self._encodings: OrderedDict[Hashable, Encoding] = OrderedDict()
        self._company = False
        self._begun: dict[int, float] = {}  # when each thread began what it does for a request
        many = max(1, (os.cpu_count() or 1) // 2)
        names = ("quick", "slow", "quick words", "slow words", "job")
        self._solvers = {name: ThreadPoolExecutor(many, f"solver {name}") for name in names}
        self._thread = Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # --- what the threads of requests call --------------------------------------------------------------------------

    def alone(self, call: Callable[[], T], ticket: Ticket) -> T:
        """What a call gives that needs the models, made when its turn comes."""
        return cast(T, self._wait(_Work(ticket, call)))

    def brief(self, one: Brief, ticket: Ticket) -> Future[bytes]:
        """The answer of a small request, when it is there."""
        kind = frozenset((scorer.reader, scorer.request) for scorer in one.scorers)
        work = _Work(ticket, None, kind, one.scorers, one.texts, brief=one)
        self._put(work)
        return work.done

    def shared(self, ticket: Ticket, pace: str = "quick") -> Callable[..., list[Scores]]:
        """What scores the windows of a run, encoding their texts together with those of other runs.

        `pace` is quick, slow or job: each is solved by threads of its own, so that the quick wait for nobody else.
        Few threads solve, which is faster, and words by others than vectors.
        """

        def score(metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window) -> list[Scores]:
            reading = [cast("TransportMetric", metric) for metric in metrics if metric.reads]
            if reading:
                window = Window(window.rows, cast("Encoding", _Given(self._read(reading, window, ticket))))
            found = []
            mine = pace if pace != "quick" or len(window.rows) <= FEW else "slow"
            for metric, one in zip(metrics, stats, strict=True):
                ticket.check()
                solvers = self._solvers[mine if metric.reads or mine == "job" else f"{mine} words"]
                work = partial(metric.score, window, one)
                found.append(solvers.submit(self._timed, work, ticket, watched=mine != "job").result())
            return found

        return score

    def _timed(self, work: Callable[[], Scores], ticket: Ticket, *, watched: bool) -> Scores:
        started = time.perf_counter()
        found = self._worked(work, ticket) if watched else ticket.run(work)
        self._counters.stage("transport", time.perf_counter() - started)
        return found

    def _worked(self, work: Callable[[], T], ticket: Ticket) -> T:
        """What the work of a request gives; its thread is one that must come to an end."""
        self._begun[get_ident()] = time.monotonic()
        try:
            return ticket.run(work)
        finally:
            self._begun.pop(get_ident(), None)

    @property
    def longest(self) -> float:
        """Seconds that the engine, or a thread that solves for a request, has been at what it does now."""
        now = time.monotonic()
        return max((now - begun for begun in list(self._begun.values())), default=0.0)

    def _read(self, metrics: Sequence[TransportMetric], window: Window, ticket: Ticket) -> dict[Reader, dict[str, Any]]:
        """Pieces and vectors of the texts of a window, slice by slice."""
        return self.read_texts(metrics, distinct(window.rows), ticket, window.pieces)

    def read_texts(
        self,
        metrics: Sequence[TransportMetric],
        texts: Sequence[str],
        ticket: Ticket,
        known_pieces: Mapping[Reader, Mapping[str, Tokens]] = MappingProxyType({}),
    ) -> dict[Reader, dict[str, Any]]:
        """Pieces and vectors of distinct texts, slice by slice; `known_pieces` of those that have been cut."""
        kind = frozenset((metric.reader, metric.request) for metric in metrics)
        found: dict[Reader, dict[str, Any]] = {reader: {} for reader, _ in kind}
        for part in _slices(texts):
            pieces = {reader: {text: mine[text] for text in part} for reader, mine in known_pieces.items()}
            read = self._wait(_Work(ticket, None, kind, metrics, part, pieces))
            for reader in found:
                found[reader].update((text, read[reader][text]) for text in part)
        return found

    def _wait(self, work: _Work) -> Any:
        self._put(work)
        return work.done.result()

    def _put(self, work: _Work) -> None:
        work.ticket.check()
        work.done.set_running_or_notify_cancel()  # only its ticket cancels it: its answer can always be put in
        with self._changed:
            if self._stopped.is_set():
                raise Gone
            self._waiting.append(work)
            self._changed.notify()

    @property
    def alive(self) -> bool:
        """Whether what waits will be done."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the thread; what still waits is told that it is gone."""
        with self._changed:
            self._stopped.set()
            self._changed.notify()
        self._thread.join(STOPPING)
        for solvers in self._solvers.values():
            solvers.shutdown(wait=False, cancel_futures=True)

    # --- the engine's own thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped.is_set())
                if self._company and self._waiting and self._waiting[0].call is None:
                    self._changed.wait_for(lambda: len(self._waiting) >= GATHERED or self._stopped.is_set(), GATHER)
                if self._stopped.is_set():
                    for work in self._waiting:
                        work.done.set_exception(Gone())
                    return
                taken = self._taken()
                left = len(self._waiting)
            self._counters.queue.set(left)
            live = [work for work in taken if not work.ticket.cancelled]
            for work in taken:
                if work.ticket.cancelled:
                    work.done.set_exception(Gone())
            if live:
                self._begun[get_ident()] = time.monotonic()
                try:
                    self._serve(live)
                finally:
                    self._begun.pop(get_ident(), None)

    def _taken(self) -> list[_Work]:
        """The first that waits and, if it may share, others that need the same vectors, up to PASS characters."""
        first = self._waiting.popleft()
        if first.call is not None or not self._share:
            return [first]
        taken, left, size = [first], deque[_Work](), first.size
        for work in self._waiting:
            if work.call is None and work.kind == first.kind and size + work.size <= PASS:
                taken.append(work)
                size += work.size
            else:
                left.append(work)
        self._waiting = left
        return taken

    def _serve(self, taken: Sequence[_Work]) -> None:
        started, first = time.perf_counter(), taken[0]
        self._company = len(taken) > 1
        try:
            found = self._encoded(taken) if first.call is None else first.ticket.run(first.call)
        except MongeError as error:
            if len(taken) == 1:
                first.done.set_exception(error)
            for work in taken if len(taken) > 1 else ():  # one of them is at fault: each by itself
                self._serve([work])
            return
        except BaseException as error:  # noqa: BLE001 - the answer of those who asked, not the end of the service
            for work in taken:
                work.done.set_exception(error)
            return
        self._counters.stage("alone" if first.call is not None else "encode", time.perf_counter() - started)
        small = [work for work in taken if work.brief is not None]
        for work in taken:
            if work.brief is None:
                work.done.set_result(found)
        while small:  # those that ask for the same metrics together
            mine = [work for work in small if work.metrics == small[0].metrics]
            small = [work for work in small if work.metrics != mine[0].metrics]
            self._answer(mine)

    def _answer(self, taken: Sequence[_Work]) -> None:
        """Answer small requests that ask for the same metrics; their texts have been read."""
        started = time.perf_counter()
        try:
            found = answered([cast(Brief, work.brief) for work in taken], self._encoding(taken[0]))
        except BaseException as error:  # noqa: BLE001 - the answer of those who asked, not the end of the service
            if len(taken) == 1 or not isinstance(error, MongeError):
                for work in taken:
                    work.done.set_exception(error)
            else:
                for work in taken:  # one of them is at fault: each by itself
                    self._answer([work])
            return
        ended = time.perf_counter()
        self._counters.stage("transport", ended - started)
        for work, one in zip(taken, found, strict=True):
            self._counters.stage("request", ended - work.since)
            if isinstance(one, MongeError):
                work.done.set_exception(one)
            else:
                work.done.set_result(one)

    def _encoded(self, taken: Sequence[_Work]) -> dict[Reader, Read]:
        """Pieces and vectors of all texts, each distinct one read once."""
        encoding = self._encoding(taken[0])
        before, texts = replace(encoding.counters), list(dict.fromkeys(text for work in taken for text in work.texts))
        found = {}
        for reader in {reader for reader, _ in taken[0].kind}:
            pieces = {text: one for work in taken for text, one in work.pieces.get(reader, {}).items()}
            found[reader] = encoding.read(texts, reader, pieces if len(pieces) == len(texts) else None)
        self._counters.passed(len(texts), len(taken), encoding.counters.encoded - before.encoded)
        return found

    def _encoding(self, work: _Work) -> Encoding:
        """The encoding of a kind of slice, which remembers recent texts."""
        from monge.scoring.encoding import Encoding

        if work.kind not in self._encodings:
            self._encodings[work.kind] = Encoding(work.metrics)
            while len(self._encodings) > KEPT:
                self._encodings.popitem(last=False)
        self._encodings.move_to_end(work.kind)
        return self._encodings[work.kind]


def _slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, cut into slices."""
    taken: list[str] = []
    size = 0
    for text in texts:
        if taken and (len(taken) == SLICE_TEXTS or size + len(text) > SLICE):
            yield taken
            taken, size = [], 0
        taken.append(text)
        size += len(text)
    if taken:
        yield taken
