"""Who is let in: so many requests are worked on, so many wait, the rest is told to come back."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

from monge.web.counters import Counters
from monge.web.limits import Limits
from monge.web.refusals import Refusal
from monge.web.ticket import Ticket

T = TypeVar("T")
LOOK = 0.25
"""Seconds between two looks whether a client is still there."""


class Desk:
    """Threads for requests; a request whose client leaves, or whose time is up, gives its place back."""

    def __init__(self, limits: Limits, counters: Counters) -> None:
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
        """What the work gives, made in a thread of its own; or what `begin` gives, where it begins the work itself."""
        deadline = time.monotonic() + self._limits.seconds
        busy = self.busy()
        if busy is not None:
            raise busy
        await self._place(deadline)
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
        future.add_done_callback(lambda done: self._left(done, ticket))
        while True:
            left = deadline - time.monotonic()
            done, _ = await asyncio.wait({future}, timeout=max(min(LOOK, left), 0))
            if done:
                return future.result()
            if left <= 0 or await request.is_disconnected():
                ticket.cancel()
                self._counters.abandoned()
                raise self._late()

    def busy(self) -> Refusal | None:
        """Why no other request is let in now, if none is."""
        many = self._limits.in_flight + self._limits.queue
        if self.waiting + self.working < many:
            return None
        hint = "come back after Retry-After seconds; --limit queue=N lets more wait"
        return Refusal(429, f"{many} requests are worked on or wait already", many, hint, retry=1)

    async def _place(self, deadline: float) -> None:
        self.waiting += 1
        self._counters.waiting.set(self.waiting)
        try:
            await asyncio.wait_for(self._places.acquire(), deadline - time.monotonic())
        except TimeoutError:
            raise self._late() from None
        finally:
            self.waiting -= 1

    def _late(self) -> Refusal:
        most = self._limits.seconds
        hint = "send fewer pairs, or a job (POST /v1/jobs); --limit seconds=N gives more time"
        return Refusal(504, f"no answer within {most} seconds", most, hint)

    def _left(self, future: asyncio.Future[T], ticket: Ticket) -> None:
        self._tickets.discard(ticket)
        self.working -= 1
        self._counters.in_flight.set(self.working)
        self._places.release()
        if not future.cancelled():
            future.exception()  # an abandoned one has nobody else who looks

    def cancel(self) -> None:
        """Stop all that is worked on."""
        for ticket in list(self._tickets):
            ticket.cancel()

    def close(self) -> None:
        """Let the threads end, and what they do."""
        self.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
