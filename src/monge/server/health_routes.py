"""The routes for health, counters and version."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from monge.server.application import app_of
from monge.server.job import ENDED
from monge.server.refusals import Refusal
from monge.server.service import VERSION

router = APIRouter(tags=["health"])
STALLED = 15
"""Seconds that work may go on after its time limit before it counts as stuck."""


@router.get("/health/live")
async def live() -> dict[str, str]:
    """It answers."""
    return {"status": "live"}


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """Its models are loaded and warm, and it is not stopping."""
    app = app_of(request)
    service = app.service
    task = app.state.warming
    if task.done() and task.exception() is not None:
        raise Refusal(
            503,
            f"the models cannot be loaded: {task.exception()}",
            None,
            "see the service's log",
        )
    if not service.ready or not task.done() or app.guard.draining:
        raise Refusal(
            503, "stopping" if app.guard.draining else "loading", None, "come back", retry=2
        )
    if not app.jobs.alive or not service.engine.alive:
        name = "runs the jobs" if service.engine.alive else "owns the models"
        raise Refusal(503, f"the thread that {name} has ended", None, "start the service again")
    most = service.limits.seconds + STALLED
    if service.engine.longest_seconds > most:
        raise Refusal(
            503,
            f"the engine has made no progress for {most} seconds",
            most,
            "start the service again",
        )
    return JSONResponse({"status": "ready"})


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request) -> Response:
    """Counters for Prometheus."""
    app = app_of(request)
    states = [job["state"] for job in app.jobs.describe_all()]
    for state in (*ENDED, "queued", "running"):
        app.service.counters.jobs.labels(state).set(states.count(state))
    return Response(app.service.counters.text(), media_type="text/plain; version=0.0.4")


@router.get("/version")
def version(request: Request) -> dict[str, Any]:
    """What runs here: version, models, signatures of the metrics that are loaded, limits."""
    service = app_of(request).service
    return {
        "monge": VERSION,
        "models": sorted(set(service.models.values())),
        "precision": service.config.precision,
        "signatures": service.signatures,
        "limits": vars(service.limits),
    }
