"""A uvicorn protocol that closes connections whose request head is too slow or too long."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from monge.server.refusals import Refusal

MOST_HEAD = 65_536
"""The most bytes of the head of a request, and of the framing of its body."""
FRAMING = 16
"""Bytes of framing allowed per byte of a body, which may come in chunks of one byte."""


def long_head_refusal() -> Refusal:
    """Return the refusal of a head that is too long."""
    return Refusal(
        431,
        f"the head of the request is longer than {MOST_HEAD} bytes",
        MOST_HEAD,
        "send fewer headers",
    )


def _raw_response(refusal: Refusal) -> bytes:
    """Return a refusal as a raw HTTP response, for a request that is not parsed to its end."""
    body = json.dumps(refusal.body()).encode()
    head = (
        f"HTTP/1.1 {refusal.status_code} Refused\r\ncontent-type: "
        f"application/json\r\ncontent-length: {len(body)}"
    )
    return f"{head}\r\nconnection: close\r\n\r\n".encode() + body


class TimedProtocol(HttpToolsProtocol):
    """A connection that is closed if the head of a request is too slow or too long.

    The parser keeps a head until it is whole, however long it is: bytes are counted as they come,
    those of bodies aside, and a connection is closed with 431 where they are too many. What comes
    behind a body is counted too. A new connection has `seconds` for its first byte; afterwards it
    is uvicorn's keep-alive that ends an idle one. Uvicorn's own options limit neither.
    """

    seconds = 0
    clock: asyncio.TimerHandle | None = None
    heads = bodies = 0  # bytes of the request that is being read

    def data_received(self, data: bytes) -> None:
        """Parse the bytes, and close the connection where its head is too long."""
        self.heads += len(data)
        super().data_received(data)
        if self.heads > MOST_HEAD + FRAMING * self.bodies and not self.transport.is_closing():
            self.transport.write(_raw_response(long_head_refusal()))
            self.transport.close()

    def on_body(self, body: bytes) -> None:
        """Count the bytes of a body apart from those of the head."""
        self.heads -= len(body)
        self.bodies += len(body)
        super().on_body(body)

    def on_message_complete(self) -> Any:
        """Begin to count anew for the next request."""
        # what else has come with it is the next head's, and read at once
        self.heads = self.bodies = 0
        return super().on_message_complete()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer: a new connection must send its first byte in time."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer with the connection."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> Any:
        """Start the timer with the head of a request."""
        self._start()
        return super().on_message_begin()

    def on_headers_complete(self) -> Any:
        """Stop the timer: the head is whole."""
        self._stop()
        return super().on_headers_complete()

    def _start(self) -> None:
        if self.clock is None:
            self.clock = self.loop.call_later(self.seconds, self._late)

    def _stop(self) -> None:
        if self.clock is not None:
            self.clock.cancel()
            self.clock = None

    def _late(self) -> None:
        self.clock = None
        if not self.transport.is_closing():
            self.transport.close()


def make_timed_protocol(seconds: int) -> type[asyncio.Protocol]:
    """Return the protocol that gives the head of a request so many seconds from its first byte."""
    return type("TimedProtocol", (TimedProtocol,), {"seconds": seconds})
