"""The process: it listens, reports when it is ready, and finishes requests on SIGTERM."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import threading
import time
from types import FrameType
from typing import TextIO

import uvicorn

from monge.errors import UsageError
from monge.server.app import create
from monge.server.application import App
from monge.server.service import Config
from monge.server.slow_clients import make_timed_protocol

BACKLOG = 1024
ENDING = 5
"""The most seconds that a stopping service takes after its `drain` seconds."""
QUIET_TICKS = 5
"""Tenths of a second without a request after which a stopping service ends."""


class Server(uvicorn.Server):
    """A server that answers new requests with 503 while it finishes the accepted ones."""

    def __init__(self, config: uvicorn.Config, app: App) -> None:
        super().__init__(config)
        self._app, self.interrupted = app, False
        self._drained, self._ticks = 0.0, 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain, and make the process end in time; a second signal stops at once."""
        if self._app.guard.draining:
            self.should_exit = self.force_exit = True
            return
        self.interrupted = sig == signal.SIGINT
        self._app.guard.draining = True
        drain = self._app.service.limits.drain
        self._drained = time.monotonic() + drain
        _end_within(drain + ENDING, 130 if self.interrupted else 0)

    async def on_tick(self, counter: int) -> bool:
        """Stop when all accepted requests are answered, or the time is up."""
        if self._app.guard.draining and not self.should_exit:
            self._ticks += 1
            late = time.monotonic() > self._drained
            if late:
                self._app.desk.cancel()
            self.should_exit = late or (self._app.guard.open == 0 and self._ticks > QUIET_TICKS)
        return await super().on_tick(counter)


def _end_within(seconds: float, code: int) -> None:
    """End the process after so many seconds if it has not ended by then.

    A thread ends it with its code; a signal that needs no Python ends it if even that cannot run.
    """
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)


class JsonFormatter(logging.Formatter):
    """A formatter of log lines as JSON objects: time, level, message; never a text of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        entry = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def run(config: Config, host: str, port: int, stream: TextIO, *, quiet: bool = False) -> int:
    """Serve until a signal comes; return the exit code."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    for name in ("monge.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING if quiet or name != "monge.server" else logging.INFO)
    # waking threads costs more than cutting a few texts
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    listening = _open_socket(host, port)
    try:
        app = create(config)
    except BaseException:
        listening.close()
        raise
    settings = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_keep_alive=30,
        lifespan="on", ws="none",
        http=make_timed_protocol(config.limits.head),
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = Server(settings, app)
    bound = listening.getsockname()
    address = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    if not quiet:
        stream.write(f"monge: listening on http://{address}:{bound[1]}/, loading models\n")
        stream.flush()
    return asyncio.run(_serve(server, app, listening, stream, quiet))


async def _serve(
    server: Server, app: App, listening: socket.socket, stream: TextIO, quiet: bool
) -> int:
    """Serve and return the exit code; raise the error of a model that cannot be loaded."""
    serving = asyncio.create_task(server.serve([listening]))
    while not serving.done() and not hasattr(app.state, "warming"):
        await asyncio.sleep(0.01)
    warming = getattr(app.state, "warming", None)
    if warming is not None:
        await asyncio.wait({serving, warming}, return_when=asyncio.FIRST_COMPLETED)
        if warming.done() and not warming.cancelled() and warming.exception() is not None:
            server.should_exit = True
            await serving
            raise warming.exception()
        gc.collect()
        # models, modules and vocabularies stay: nobody is stopped to look through them again
        gc.freeze()
        if app.service.ready and not quiet:
            stream.write("monge: ready\n")
            stream.flush()
    await serving
    return 130 if server.interrupted else 0


def _open_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # the protocol is named, because otherwise asyncio leaves Nagle's delay on
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host}:{port} ({getattr(error, 'strerror', error)})"
        ) from None
    listener.listen(BACKLOG)
    return listener
