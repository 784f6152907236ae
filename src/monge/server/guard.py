"""The outermost layer, in plain ASGI: token, origin, size and time limits, headers."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from importlib.resources import files
from typing import Any

from monge.server.admission import Desk
from monge.server.limits import Limits
from monge.server.refusals import Refusal
from monge.server.service import Service
from monge.server.slow_clients import MOST_HEAD, long_head_refusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
UPLOADS = "/v1/jobs"
WORK = ("/v1/score", "/v1/explain", "/v1/compare", "/v1/stats")
OPEN = ("/health/", "/static/")
VIEWS = ("/", "/systems", "/catalogue", "/docs")
PAGES = (*VIEWS, "/openapi.json", "/favicon.ico")
"""Paths that need no token: health, and pages, which hold no data of a client."""
WAITING = (files(__package__) / "templates" / "waiting.html").read_bytes()
BODY_SECONDS = 30
BUFFERED = 40
"""The most bodies of the largest size that may be received at the same time."""
log = logging.getLogger("monge.server")


class Guard:
    """Refuses requests that are too large, compressed, late or without token; logs no texts."""

    def __init__(self, app: Any, service: Service) -> None:
        self._app, self._service = app, service
        self.desk: Desk | None = None
        self.draining = False
        self.open = 0  # requests that are not answered yet
        self._uploads = self._buffered = (
            0  # files that come in, and bytes of bodies that are not whole yet
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                more = [
                    (k.encode(), v.encode())
                    for k, v in HEADERS.items()
                    if k.encode() not in present
                ]
                closing = (
                    [(b"connection", b"close")]
                    if self.draining or status in (408, 413, 431)
                    else []
                )
                message["headers"] = [*message["headers"], *more, *closing]
            await send(message)

        self.open += 1
        try:
            refusal = self._find_refusal(scope)
            if refusal is None:
                refusal = await self._forward(scope, receive, answer)
            if refusal is not None:
                await (_send_waiting_page if self._is_waited_for(scope) else _send_refusal)(
                    refusal, answer
                )
        finally:
            self.open -= 1
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.perf_counter() - started
            self._service.counters.count_answer(route, status, seconds)
            log.info("%s %s %d %.1f ms", scope["method"], route, status, 1000 * seconds)

    async def _forward(self, scope: Message, receive: Receive, answer: Send) -> Refusal | None:
        """Forward the request with its body; count the body of an upload as it arrives."""
        if scope["path"] == UPLOADS and scope["method"] == "POST":
            return await self._forward_upload(scope, receive, answer)
        parts: list[bytes] = []
        try:
            body = await asyncio.wait_for(self._read_body(receive, parts), BODY_SECONDS)
        except Refusal as refusal:
            return refusal
        except TimeoutError:
            return Refusal(
                408,
                f"the body took more than {BODY_SECONDS} seconds",
                BODY_SECONDS,
                "send it faster",
            )
        finally:
            self._buffered -= sum(map(len, parts))
            parts.clear()
        if body is None:  # the client left
            return Refusal(400, "the body ended early")
        await self._app(scope, _replay_body(body, receive), answer)
        return None

    async def _forward_upload(
        self, scope: Message, receive: Receive, answer: Send
    ) -> Refusal | None:
        """Forward the upload of a job's files; refuse where too many uploads are running."""
        limits = self._service.limits
        if self._uploads >= limits.uploads:
            message = f"{limits.uploads} uploads come in already"
            return Refusal(
                429, message, limits.uploads, "come back; --limit uploads=N takes more", retry=5
            )
        self._uploads += 1
        try:
            await self._app(scope, _limit_upload(receive, limits), answer)
        finally:
            self._uploads -= 1
        return None

    async def _read_body(self, receive: Receive, parts: list[bytes]) -> bytes | None:
        """Return the body, None where the client disconnected; bounds all bodies in transit."""
        limits, size = self._service.limits, 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            parts.append(part)
            size += len(part)
            self._buffered += len(part)
            if size > limits.body:
                raise _too_large(limits.body, "")
            if self._buffered > BUFFERED * limits.body:
                raise Refusal(
                    429, "too many bodies come in at the same time", None, "come back", retry=1
                )
            if not message.get("more_body", False):
                return b"".join(parts)

    def _find_refusal(self, scope: Message) -> Refusal | None:
        """Return why a request is refused before its body is read, or None."""
        headers = {name.lower(): value for name, value in scope["headers"]}
        path = scope["path"]
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEAD:
            return long_head_refusal()
        if self.draining and not path.startswith("/health/"):
            return Refusal(
                503, "the service is stopping", None, "ask another instance, or come back", retry=5
            )
        if not self._service.ready and not path.startswith(OPEN):
            return Refusal(
                503, "the models are being loaded", None, "GET /health/ready says when", retry=2
            )
        if self._is_cross_site(headers):
            return Refusal(
                403,
                "a page of another site asks",
                None,
                "call this service from its own page, or from none",
            )
        token = self._service.config.token
        if token is not None and not path.startswith(OPEN) and path not in PAGES:
            credentials = headers.get(b"authorization", b"")
            if not compare_digest(credentials, f"Bearer {token}".encode()):
                return Refusal(
                    401, "this service wants a token", None, "Authorization: Bearer TOKEN"
                )
        if headers.get(b"content-encoding", b"identity").lower() not in (b"identity", b""):
            return Refusal(415, "compressed bodies are not read", None, "send it as it is")
        if path in WORK and self.desk is not None and (busy := self.desk.busy()) is not None:
            return busy  # before its body is read: saying no must cost little
        length, most = headers.get(b"content-length", b"0"), self._size_limit(path)
        if not length.isdigit() or len(length) > 15 or int(length) > most:
            return _too_large(most, path)
        return None

    def _is_waited_for(self, scope: Message) -> bool:
        """Return whether a browser asks for a page before the models are loaded."""
        accepted = dict(scope["headers"]).get(b"accept", b"")
        page = scope["path"] in VIEWS and scope["method"] == "GET" and b"text/html" in accepted
        return page and not self._service.ready and not self.draining

    def _is_cross_site(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether a browser asks on behalf of another site: by origin or host name."""
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        hosts = self._service.config.hosts
        if origin is not None and origin.partition(b"://")[2] != host:
            return True
        name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
        return bool(hosts) and name.decode("latin-1").lower() not in hosts

    def _size_limit(self, path: str) -> int:
        return self._service.limits.upload if path == UPLOADS else self._service.limits.body


def _too_large(most: int, path: str) -> Refusal:
    name, hint = (
        ("upload", "cut it")
        if path == UPLOADS
        else ("body", "cut it, or send a job: POST /v1/jobs")
    )
    return Refusal(
        413, f"the body is larger than {most} bytes", most, f"{hint}; --limit {name}=N takes more"
    )


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that has been read, then whatever follows it."""
    replayed = False

    async def next_message() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _limit_upload(receive: Receive, limits: Limits) -> Receive:
    """Return a `receive` that refuses an upload that is too large or takes too long."""
    size, complete, deadline = 0, False, time.monotonic() + limits.upload_seconds

    async def next_message() -> Message:
        nonlocal size, complete
        if complete:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(deadline - time.monotonic(), 0.001))
        except TimeoutError:
            most = limits.upload_seconds
            error = f"the upload took more than {most} seconds"
            raise Refusal(
                408, error, most, "send it faster; --limit upload_seconds=N gives more time"
            ) from None
        complete = not message.get("more_body", False)
        size += len(message.get("body", b""))
        if size > limits.upload:
            raise _too_large(limits.upload, UPLOADS)
        return message

    return next_message


async def _send_waiting_page(refusal: Refusal, send: Send) -> None:
    """Answer with a page that reloads itself until the models are loaded."""
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-length": str(len(WAITING)),
        **(refusal.headers or {}),
    }
    await _send(refusal.status_code, headers, WAITING, send)


async def _send_refusal(refusal: Refusal, send: Send) -> None:
    """Answer with a refusal."""
    body = json.dumps(refusal.body()).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(refusal.headers or {}),
    }
    if refusal.status_code == 401:
        headers["www-authenticate"] = "Bearer"
    await _send(refusal.status_code, headers, body, send)


async def _send(status: int, headers: dict[str, str], body: bytes, send: Send) -> None:
    plain = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": plain})
    await send({"type": "http.response.body", "body": body})
