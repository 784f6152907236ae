"""Admission of requests: some run, some wait, the rest is refused with Retry-After."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from monge.server.cancellation import Ticket
from monge.server.counters import ServiceCounters
from monge.server.limits import Limits
from monge.server.refusals import Refusal

T = TypeVar("T")
LOOK = 0.25
"""Seconds between two checks whether a client is still connected."""


class Desk:
    """A thread pool for requests; a disconnected or timed-out client frees its place."""

    def __init__(self, limits: Limits, counters: ServiceCounters) -> None:
        self._limits, self._counters = limits, counters
        self._pool = ThreadPoolExecutor(limits.in_flight, "request")
        self._places = asyncio.Semaphore(limits.in_flight)
        self._tickets: set[Ticket] = set()
        self.waiting = self.working = 0

    async def serve(
        self,
        request: Request,
        work: Callable[[Ticket], T],
        begin: Callable[[Ticket], concurrent.futures.Future[T] | None] = lambda ticket: None,
    ) -> T:
        """Run `work` in a thread, or let `begin` start it; return the result."""
        deadline = time.monotonic() + self._limits.seconds
        busy = self.busy()
        if busy is not None:
            raise busy
        await self._wait_for_place(deadline)
        ticket = Ticket()
        self._tickets.add(ticket)
        try:
            begun = begin(ticket)
        except BaseException:
            self._tickets.discard(ticket)
            self._places.release()
            raise
        self.working += 1
        self._counters.in_flight.set(self.working)
        if begun is None:
            future = asyncio.get_running_loop().run_in_executor(self._pool, work, ticket)
        else:
            future = asyncio.wrap_future(begun)
        future.add_done_callback(lambda done: self._release(done, ticket))
        while True:
            seconds_left = deadline - time.monotonic()
            done, _ = await asyncio.wait({future}, timeout=max(min(LOOK, seconds_left), 0))
            if done:
                return future.result()
            if seconds_left <= 0 or await request.is_disconnected():
                ticket.cancel()
                self._counters.count_abandoned()
                raise self._timeout_refusal()

    def busy(self) -> Refusal | None:
        """Return why no further request is admitted now, or None."""
        capacity = self._limits.in_flight + self._limits.queue
        if self.waiting + self.working < capacity:
            return None
        hint = "come back after Retry-After seconds; --limit queue=N lets more wait"
        return Refusal(
            429, f"{capacity} requests are worked on or wait already", capacity, hint, retry=1
        )

    async def _wait_for_place(self, deadline: float) -> None:
        self.waiting += 1
        self._counters.waiting.set(self.waiting)
        try:
            await asyncio.wait_for(self._places.acquire(), deadline - time.monotonic())
        except TimeoutError:
            raise self._timeout_refusal() from None
        finally:
            self.waiting -= 1

    def _timeout_refusal(self) -> Refusal:
        most = self._limits.seconds
        hint = "send fewer pairs, or a job (POST /v1/jobs); --limit seconds=N gives more time"
        return Refusal(504, f"no answer within {most} seconds", most, hint)

    def _release(self, future: asyncio.Future[T], ticket: Ticket) -> None:
        self._tickets.discard(ticket)
        self.working -= 1
        self._counters.in_flight.set(self.working)
        self._places.release()
        if not future.cancelled():
            future.exception()  # an abandoned one has nobody else who looks

    def cancel(self) -> None:
        """Cancel all requests in flight."""
        for ticket in list(self._tickets):
            ticket.cancel()

    def close(self) -> None:
        """Cancel all requests and shut the thread pool down."""
        self.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
