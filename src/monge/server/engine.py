"""The one thread that owns the models, and the encoding passes that waiting requests share.

Small requests (`monge.server.request_batches`) are handed over whole and answered here. Every other
request is a run of its own (`monge.scoring.run`), in a thread of its own; the distinct texts of its
windows are handed over a slice at a time, and waited for. While the engine is busy, both gather; it
then takes what needs the same vectors together, up to `PASS` characters, and encodes the distinct
texts once. A large request has one slice waiting at a time, so that it takes turns with small ones.
Who shared a pass cannot be seen in an answer: the packed encoder gives a text the same vectors to
the bit whatever stands beside it, and what is behind the vectors is done for each request by
itself, or together to the same bits.
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
from monge.server.cancellation import Gone as Gone
from monge.server.cancellation import Ticket as Ticket
from monge.server.counters import ServiceCounters
from monge.server.request_batches import FEW, SmallRequest, answer_requests

if TYPE_CHECKING:
    from monge.encoders.protocol import Request
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Encoding, Read, Reader
    from monge.types import Tokens

SLICE_TEXTS, SLICE = 128, 8_000
"""The most distinct texts, and characters of them, that one request has in a pass (one text may be
longer).
"""
PASS = 24_000
"""The most characters of a pass."""
KEPT = 3
"""Encodings, with the vectors of recent texts, that are kept: one per set of layers."""
GATHER = 0.004
"""Seconds that a pass waits for further slices, after a pass that several requests shared."""
GATHERED = 32
"""Stop waiting for further slices once this many are queued."""
STOPPING = 3.0
"""Seconds that the engine has to finish when the service stops."""

T = TypeVar("T")
Kind = frozenset["tuple[Reader, Request]"]
"""Which vectors a slice needs."""


@dataclass
class _QueuedWork:
    """An entry of the engine's queue: a call to run alone, texts to encode, or a small request."""

    ticket: Ticket
    call: Callable[[], Any] | None = None
    kind: Kind = frozenset()
    metrics: Sequence[BoundMetric] = ()
    texts: Sequence[str] = ()
    pieces: Mapping[Reader, Mapping[str, Tokens]] = field(default_factory=dict)
    small_request: SmallRequest | None = None
    since: float = field(default_factory=time.perf_counter)
    done: Future[Any] = field(default_factory=Future)

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))


class _ReadTexts:
    """Texts that have been encoded; takes the place of an encoding in a window."""

    def __init__(self, read: Mapping[Reader, Read]) -> None:
        self._read = read

    def read(self, texts: Sequence[str], reader: Reader, pieces: object = None) -> Read:
        """Return pieces and vectors of texts."""
        return self._read[reader]


class SlicedEncoding:
    """An encoding that reads texts in slices, taking turns with requests; for windows of jobs."""

    def __init__(
        self, engine: BatchingEngine, metrics: Sequence[BoundMetric], ticket: Ticket
    ) -> None:
        self._engine, self._metrics, self._ticket = engine, metrics, ticket

    def read(self, texts: Sequence[str], reader: Reader, pieces: object = None) -> Read:
        """Return pieces and vectors of texts."""
        return self._engine.read_texts(self._metrics, texts, self._ticket)[reader]


class BatchingEngine:
    """Encodes texts in batches (passes) in its own thread; `share` joins requests in a pass."""

    def __init__(self, counters: ServiceCounters, *, share: bool = True) -> None:
        self._counters, self._share = counters, share
        self._waiting: deque[_QueuedWork] = deque()
        self._changed, self._stopped = Condition(), Event()
        self._encodings: OrderedDict[Hashable, Encoding] = OrderedDict()
        self._last_pass_shared = False
        self._busy_since: dict[int, float] = {}  # when each thread began what it does for a request
        threads = max(1, (os.cpu_count() or 1) // 2)
        names = ("quick", "slow", "quick words", "slow words", "job")
        self._solvers = {name: ThreadPoolExecutor(threads, f"solver {name}") for name in names}
        self._thread = Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # --- called by the threads of requests
    # ---------------------------------------------------------------------------

    def run_alone(self, call: Callable[[], T], ticket: Ticket) -> T:
        """Return the result of a call that needs the models, run alone in the engine's thread."""
        return cast(T, self._wait(_QueuedWork(ticket, call)))

    def submit_small(self, request: SmallRequest, ticket: Ticket) -> Future[bytes]:
        """Queue a small request; return the future of its answer."""
        kind = frozenset((scorer.reader, scorer.request) for scorer in request.scorers)
        work = _QueuedWork(
            ticket, None, kind, request.scorers, request.texts, small_request=request
        )
        self._put(work)
        return work.done

    def window_scorer(self, ticket: Ticket, pace: str = "quick") -> Callable[..., list[Scores]]:
        """Return a function that scores windows, encoding their texts together with other runs.

        `pace` is quick, slow or job: each is solved by threads of its own, so that the quick wait
        for nobody else. Few threads solve, which is faster, and words by others than vectors.
        """

        def score(
            metrics: Sequence[WindowScorer], stats: Sequence[StatsBySystem], window: Window
        ) -> list[Scores]:
            reading = [m.vector_metric for m in metrics if m.vector_metric is not None]
            if reading:
                window = Window(
                    window.rows, cast("Encoding", _ReadTexts(self._read(reading, window, ticket)))
                )
            scores = []
            solver_pace = pace if pace != "quick" or len(window.rows) <= FEW else "slow"
            for metric, metric_stats in zip(metrics, stats, strict=True):
                ticket.check()
                solvers = self._solvers[
                    f"{solver_pace} words"
                    if metric.vector_metric is None and solver_pace != "job"
                    else solver_pace
                ]
                work = partial(metric.score, window, metric_stats)
                scores.append(
                    solvers.submit(
                        self._run_timed, work, ticket, watched=solver_pace != "job"
                    ).result()
                )
            return scores

        return score

    def _run_timed(self, work: Callable[[], Scores], ticket: Ticket, *, watched: bool) -> Scores:
        started = time.perf_counter()
        scores = self._run_tracked(work, ticket) if watched else ticket.run(work)
        self._counters.count_stage("transport", time.perf_counter() - started)
        return scores

    def _run_tracked(self, work: Callable[[], T], ticket: Ticket) -> T:
        """Return the result of a request's work, noting since when its thread has been busy."""
        self._busy_since[get_ident()] = time.monotonic()
        try:
            return ticket.run(work)
        finally:
            self._busy_since.pop(get_ident(), None)

    @property
    def longest_seconds(self) -> float:
        """Seconds that the longest-busy thread has spent on its current task."""
        now = time.monotonic()
        return max((now - begun for begun in list(self._busy_since.values())), default=0.0)

    def _read(
        self, metrics: Sequence[BoundMetric], window: Window, ticket: Ticket
    ) -> dict[Reader, dict[str, Any]]:
        """Return pieces and vectors of the texts of a window, slice by slice."""
        return self.read_texts(metrics, distinct(window.rows), ticket, window.pieces)

    def read_texts(
        self,
        metrics: Sequence[BoundMetric],
        texts: Sequence[str],
        ticket: Ticket,
        known_pieces: Mapping[Reader, Mapping[str, Tokens]] = MappingProxyType({}),
    ) -> dict[Reader, dict[str, Any]]:
        """Return pieces and vectors of distinct texts; `known_pieces` has those already cut."""
        kind = frozenset((metric.reader, metric.request) for metric in metrics)
        read_by_reader: dict[Reader, dict[str, Any]] = {reader: {} for reader, _ in kind}
        for part in _slices(texts):
            pieces = {
                reader: {text: pieces_by_text[text] for text in part}
                for reader, pieces_by_text in known_pieces.items()
            }
            read = self._wait(_QueuedWork(ticket, None, kind, metrics, part, pieces))
            for reader in read_by_reader:
                read_by_reader[reader].update((text, read[reader][text]) for text in part)
        return read_by_reader

    def _wait(self, work: _QueuedWork) -> Any:
        self._put(work)
        return work.done.result()

    def _put(self, work: _QueuedWork) -> None:
        work.ticket.check()
        # only its ticket cancels it: its answer can always be put in
        work.done.set_running_or_notify_cancel()
        with self._changed:
            if self._stopped.is_set():
                raise Gone
            self._waiting.append(work)
            self._changed.notify()

    @property
    def alive(self) -> bool:
        """Whether the engine's thread runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop the thread; whatever still waits gets Gone."""
        with self._changed:
            self._stopped.set()
            self._changed.notify()
        self._thread.join(STOPPING)
        for solvers in self._solvers.values():
            solvers.shutdown(wait=False, cancel_futures=True)

    # --- the engine's own thread
    # ------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped.is_set())
                if self._last_pass_shared and self._waiting and self._waiting[0].call is None:
                    self._changed.wait_for(
                        lambda: len(self._waiting) >= GATHERED or self._stopped.is_set(), GATHER
                    )
                if self._stopped.is_set():
                    for work in self._waiting:
                        work.done.set_exception(Gone())
                    return
                batch = self._take_batch()
                waiting = len(self._waiting)
            self._counters.queue.set(waiting)
            live = [work for work in batch if not work.ticket.cancelled]
            for work in batch:
                if work.ticket.cancelled:
                    work.done.set_exception(Gone())
            if live:
                self._busy_since[get_ident()] = time.monotonic()
                try:
                    self._serve(live)
                finally:
                    self._busy_since.pop(get_ident(), None)

    def _take_batch(self) -> list[_QueuedWork]:
        """Return the first entry and, if it may share, others that need the same vectors."""
        first = self._waiting.popleft()
        if first.call is not None or not self._share:
            return [first]
        batch, waiting, size = [first], deque[_QueuedWork](), first.size
        for work in self._waiting:
            if work.call is None and work.kind == first.kind and size + work.size <= PASS:
                batch.append(work)
                size += work.size
            else:
                waiting.append(work)
        self._waiting = waiting
        return batch

    def _serve(self, batch: Sequence[_QueuedWork]) -> None:
        started, first = time.perf_counter(), batch[0]
        self._last_pass_shared = len(batch) > 1
        try:
            result = (
                self._encode_batch(batch) if first.call is None else first.ticket.run(first.call)
            )
        except MongeError as error:
            if len(batch) == 1:
                first.done.set_exception(error)
            for work in batch if len(batch) > 1 else ():  # one of them is at fault: each by itself
                self._serve([work])
            return
        except BaseException as error:  # noqa: BLE001 - the answer of those who asked, not the end of the service
            for work in batch:
                work.done.set_exception(error)
            return
        self._counters.count_stage(
            "alone" if first.call is not None else "encode", time.perf_counter() - started
        )
        small = [work for work in batch if work.small_request is not None]
        for work in batch:
            if work.small_request is None:
                work.done.set_result(result)
        while small:  # those that ask for the same metrics together
            same_metrics = [work for work in small if work.metrics == small[0].metrics]
            small = [work for work in small if work.metrics != same_metrics[0].metrics]
            self._answer(same_metrics)

    def _answer(self, batch: Sequence[_QueuedWork]) -> None:
        """Answer small requests that ask for the same metrics; their texts have been read."""
        started = time.perf_counter()
        try:
            answers = answer_requests(
                [cast(SmallRequest, work.small_request) for work in batch], self._encoding(batch[0])
            )
        except BaseException as error:  # noqa: BLE001 - the answer of those who asked, not the end of the service
            if len(batch) == 1 or not isinstance(error, MongeError):
                for work in batch:
                    work.done.set_exception(error)
            else:
                for work in batch:  # one of them is at fault: each by itself
                    self._answer([work])
            return
        ended = time.perf_counter()
        self._counters.count_stage("transport", ended - started)
        for work, answer in zip(batch, answers, strict=True):
            self._counters.count_stage("request", ended - work.since)
            if isinstance(answer, MongeError):
                work.done.set_exception(answer)
            else:
                work.done.set_result(answer)

    def _encode_batch(self, batch: Sequence[_QueuedWork]) -> dict[Reader, Read]:
        """Return pieces and vectors of all texts, reading each distinct text once."""
        encoding = self._encoding(batch[0])
        before, texts = (
            replace(encoding.counters),
            list(dict.fromkeys(text for work in batch for text in work.texts)),
        )
        read_by_reader = {}
        for reader in {reader for reader, _ in batch[0].kind}:
            pieces = {
                text: tokens
                for work in batch
                for text, tokens in work.pieces.get(reader, {}).items()
            }
            read_by_reader[reader] = encoding.read(
                texts, reader, pieces if len(pieces) == len(texts) else None
            )
        self._counters.count_pass(
            len(texts), len(batch), encoding.counters.encoded - before.encoded
        )
        return read_by_reader

    def _encoding(self, work: _QueuedWork) -> Encoding:
        """Return the encoding for a kind of slice, which remembers recent texts."""
        from monge.scoring.encoding import Encoding

        if work.kind not in self._encodings:
            self._encodings[work.kind] = Encoding(work.metrics)
            while len(self._encodings) > KEPT:
                self._encodings.popitem(last=False)
        self._encodings.move_to_end(work.kind)
        return self._encodings[work.kind]


def _slices(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, cut into slices."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) == SLICE_TEXTS or size + len(text) > SLICE):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
