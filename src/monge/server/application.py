"""The application object of the service, and what its routes share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI, Request

if TYPE_CHECKING:
    from monge.server.admission import Desk
    from monge.server.guard import Guard
    from monge.server.jobs import Jobs
    from monge.server.service import Service

JSON = "application/json"
ANY_OBJECT: dict[int | str, dict[str, Any]] = {
    200: {"content": {JSON: {"schema": {"type": "object"}}}}
}
"""The documented response of a route that answers with a JSON object of its own form."""
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class App(FastAPI):
    """The application with its service, its jobs, and the guard in front of them."""

    service: Service
    jobs: Jobs
    desk: Desk
    guard: Guard


def app_of(request: Request) -> App:
    """Return the application that a request came to."""
    return cast("App", request.app)
