"""Connections of uvicorn that are closed where the head of a request does not come whole in time."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


def patient(seconds: int) -> type[asyncio.Protocol]:
    """The protocol of connections that give the head of a request so many seconds, from its first byte on.

    A new connection has as long for its first byte; afterwards it is uvicorn's keep-alive that ends an idle one.
    """

    class Patient(HttpToolsProtocol):
        """A connection with a clock."""

        clock: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def on_message_begin(self) -> Any:
            self._start()
            return super().on_message_begin()

        def on_headers_complete(self) -> Any:
            self._stop()
            return super().on_headers_complete()

        def _start(self) -> None:
            if self.clock is None:
                self.clock = self.loop.call_later(seconds, self._late)

        def _stop(self) -> None:
            if self.clock is not None:
                self.clock.cancel()
                self.clock = None

        def _late(self) -> None:
            self.clock = None
            if not self.transport.is_closing():
                self.transport.close()

    return Patient
