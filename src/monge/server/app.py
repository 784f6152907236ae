"""The application: its routes, and how they call the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from monge.errors import MongeError
from monge.server import health_routes, job_routes, pages, schemas, scoring_routes
from monge.server.admission import Desk
from monge.server.application import App
from monge.server.cancellation import Gone
from monge.server.guard import Guard
from monge.server.jobs import Jobs
from monge.server.reading import invalid_refusal
from monge.server.refusals import KINDS, Refusal, refusal_of_error
from monge.server.service import VERSION, Config, Service
from monge.server.state import StateFolder

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Refused, "description": kind.replace("_", " ")}
    for status, kind in KINDS.items()
}
"""Every refusal has the same shape."""


def create(config: Config | None = None) -> App:
    """Return the application of a service; its models are loaded when it starts."""
    config = config or Config()
    state = StateFolder.open_folder(config.state)
    try:
        service = Service(config, state)
    except BaseException:
        state.close()
        raise
    app = App(
        title="monge",
        version=VERSION,
        summary="Evaluate generated text by optimal transport, and get the same number tomorrow.",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        responses=REFUSALS,
    )
    app.service = service
    for routes in (scoring_routes, job_routes, health_routes, pages):
        app.include_router(routes.router)
    app.add_exception_handler(MongeError, _on_error)
    app.add_exception_handler(HTTPException, _on_error)
    app.add_exception_handler(RequestValidationError, _on_error)
    app.add_exception_handler(Gone, _on_error)
    app.add_exception_handler(Exception, _on_error)
    app.guard = Guard(app.build_middleware_stack(), service)
    app.middleware_stack = app.guard
    return app


@asynccontextmanager
async def _lifespan(app: App) -> AsyncIterator[None]:
    """Start the admission of requests at once, load the models in a thread, then start the jobs."""
    service, state = app.service, app.service.state
    assert state is not None
    app.desk = app.guard.desk = Desk(service.limits, service.counters)
    app.jobs = Jobs(service, state)

    async def warm() -> None:
        await asyncio.to_thread(service.warm)
        app.jobs.start()

    app.state.warming = asyncio.create_task(warm())
    try:
        yield
    finally:
        app.state.warming.cancel()
        app.jobs.stop()
        service.engine.stop()
        app.desk.close()
        state.close()


async def _on_error(request: Request, error: Exception) -> Response:
    """Answer every error with one typed object; of a defect only the type is told."""
    if isinstance(error, Refusal):
        refusal = error
    elif isinstance(error, MongeError):
        refusal = refusal_of_error(error)
    elif isinstance(error, RequestValidationError):
        refusal = invalid_refusal(error)
    elif isinstance(error, HTTPException):
        refusal = Refusal(
            error.status_code, str(error.detail), None, "GET /docs lists what there is"
        )
        refusal.headers = error.headers
    elif isinstance(error, Gone):
        refusal = Refusal(503, "the service is stopping", None, "come back", retry=5)
    else:
        refusal = Refusal(
            500, f"a defect of monge: {type(error).__name__}", None, "please report it"
        )
    return JSONResponse(refusal.body(), refusal.status_code, refusal.headers)
