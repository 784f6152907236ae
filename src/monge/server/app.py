"""The application: its routes, and how they call the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from monge.errors import MongeError
from monge.metrics.signature import difference, parse
from monge.render import render_results
from monge.server import browse, pages, schemas
from monge.server.admission import Desk
from monge.server.cancellation import Gone, Ticket
from monge.server.guard import Guard
from monge.server.job import ENDED
from monge.server.jobs import Jobs
from monge.server.reading import CHUNK, SHORT_BODY, StrictRoute, invalid_refusal, read_order
from monge.server.refusals import KINDS, Refusal, refusal_of_error
from monge.server.report import CONTENT_FILE, REPORT_FILE
from monge.server.service import VERSION, Config, Service
from monge.server.state import StateFolder, remove_job
from monge.types import Signature

JSON = "application/json"
RESULT_FORMATS = {
    "json": JSON,
    "jsonl": "application/jsonl",
    "tsv": "text/tab-separated-values; charset=utf-8",
}
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Refused, "description": kind.replace("_", " ")}
    for status, kind in KINDS.items()
}
"""Every refusal has the same shape."""
STALLED = 15
"""Seconds that work may go on after its time limit before it counts as stuck."""
BEAT = 0.5
"""Seconds between two events of a job."""


class App(FastAPI):
    """The application with its service, its jobs, and the guard in front of them."""

    service: Service
    jobs: Jobs
    desk: Desk
    guard: Guard


def create(config: Config | None = None) -> App:
    """Return the application of a service that holds its state directory; models are loaded when it
    starts.
    """
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
    for router in (_scoring_routes(app), _job_routes(app), _health_routes(app), pages.router(app)):
        app.include_router(router)
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


def _scoring_routes(app: App) -> APIRouter:
    """Return the routes that score, explain, compare and fit."""
    router, service = (
        APIRouter(prefix="/v1", route_class=StrictRoute, tags=["scoring"]),
        app.service,
    )

    async def respond_with_bytes(
        request: Request, work: Callable[[Ticket], bytes], kind: str = JSON
    ) -> Response:
        return Response(await app.desk.serve(request, work), media_type=kind)

    @router.post(
        "/score", responses={200: {"model": schemas.ScoreResponse}}, response_class=Response
    )
    async def score(request: Request, body: schemas.ScoreRequest) -> Response:
        """Score hypotheses: the object that `monge score --format json` prints."""
        short = (
            len(await request.body()) <= SHORT_BODY
        )  # on the event loop nothing is done with a long one

        def begin(ticket: Ticket) -> Future[bytes] | None:
            return service.submit_small(body, ticket) if short else None

        return Response(
            await app.desk.serve(request, lambda ticket: service.score(body, ticket), begin),
            media_type=JSON,
        )

    pictures: dict[int | str, dict[str, Any]] = {
        200: {
            "content": {JSON: {"schema": {"type": "object"}}, "image/svg+xml": {}, "text/html": {}}
        }
    }

    @router.post("/explain", responses=pictures, response_class=Response)
    async def explain(request: Request, body: schemas.ExplainRequest) -> Response:
        """Why a pair gets its score: units, weights, plans, moves; a picture or a page by
        `Accept`.
        """
        accepted = request.headers.get("accept", "")
        form = (
            "svg" if "image/svg+xml" in accepted else "html" if "text/html" in accepted else "json"
        )
        kind = {"json": JSON, "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}[form]
        answer = await respond_with_bytes(
            request, lambda ticket: service.explain(body, ticket, form), kind
        )
        if form != "json":
            answer.headers["content-security-policy"] = REPORT_POLICY
        return answer

    @router.post("/compare", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}})
    async def compare(request: Request, body: schemas.CompareRequest) -> Response:
        """Compare systems: scores with intervals, paired tests, clusters; as `monge compare
        --format json`.
        """
        return await respond_with_bytes(request, lambda ticket: service.compare(body, ticket))

    @router.post("/stats", responses={200: {"model": schemas.Fitted}})
    async def fit(request: Request, body: schemas.FitRequest) -> Response:
        """Fit corpus statistics and keep them under the digest of what they hold."""
        return JSONResponse(await app.desk.serve(request, lambda ticket: service.fit(body, ticket)))

    @router.get(
        "/stats/{name}", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def statistics(name: str) -> Response:
        """Statistics as `monge fit` writes them: a file for `--stats`."""
        return JSONResponse(service.statistics(name).to_dict())

    @router.get("/metrics", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}})
    def metrics() -> Response:
        """Every metric: what it measures, range, cost a pair, agreement with people."""
        return JSONResponse(service.catalogue())

    @router.get(
        "/metrics/{name:path}", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def metric(
        name: str,
        setting: Annotated[list[str] | None, Query(description="AXIS=VALUE, repeatable.")] = None,
        lang: str | None = None,
    ) -> Response:
        """Every setting of a metric, the form they are set by, its range and its signature."""
        return JSONResponse(service.variant(name, setting or (), lang))

    @router.post(
        "/signature/parse", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def parse_signature(body: schemas.SignatureRequest) -> Response:
        """What a signature says."""
        parsed = parse(body.signature)
        fields = dict(Signature.parse(body.signature).fields)
        return JSONResponse(
            {"metric": parsed.metric, "fields": fields, "spec": parsed.spec.written()}
        )

    @router.post(
        "/signature/diff", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def diff_signatures(body: schemas.DiffRequest) -> Response:
        """The settings in which two signatures differ."""
        return JSONResponse(
            {key: [first, second] for key, first, second in difference(body.one, body.other)}
        )

    return router


UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        **{
                            name: {"type": "array", "items": {"type": "string", "format": "binary"}}
                            for name in ("hypotheses", "references")
                        },
                        **{
                            name: {"type": "string", "format": "binary"}
                            for name in ("source", "table")
                        },
                        **{
                            name: {"type": "array", "items": {"type": "string"}}
                            for name in ("metric", "setting", "statistics")
                        },
                        **{name: {"type": "string"} for name in ("lang", "model", "table_format")},
                    },
                }
            }
        },
    }
}


def _job_routes(app: App) -> APIRouter:
    """Return the routes of jobs, which are too large for a request."""
    router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

    @router.post(
        "", status_code=202, responses={202: {"model": schemas.JobState}}, openapi_extra=UPLOAD
    )
    async def submit(request: Request) -> Response:
        """Send files (hypotheses with references or a source, or a table) to be scored; answers at
        once.
        """
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            raise Refusal(
                415,
                "a job is sent as files",
                None,
                "curl -F hypotheses=@a.txt -F references=@r.txt URL",
            )
        folder = app.jobs.make_upload_folder()
        try:
            async with request.form(max_files=64, max_fields=128) as form:
                order = await read_order(form, folder, app.service.limits.upload)
            job = await asyncio.to_thread(app.jobs.submit, folder, order)
        except BaseException:
            await asyncio.to_thread(remove_job, folder)
            raise
        return JSONResponse(job.describe(), 202, {"Location": f"/v1/jobs/{job.id}"})

    @router.get("", responses={200: {"model": list[schemas.JobState]}})
    def every() -> Response:
        """All jobs that are kept, the newest first."""
        return JSONResponse(app.jobs.describe_all())

    @router.get("/{name}", responses={200: {"model": schemas.JobState}})
    def state(name: str) -> Response:
        """How far a job has come."""
        return JSONResponse(app.jobs.get(name).describe())

    @router.delete("/{name}", responses={200: {"model": schemas.JobState}})
    def cancel(name: str) -> Response:
        """Cancel a job; drop one that has ended."""
        return JSONResponse(app.jobs.cancel(name).describe())

    @router.get(
        "/{name}/events",
        responses={200: {"content": {"text/event-stream": {}}}},
        response_class=Response,
    )
    async def events(name: str) -> Response:
        """The states of a job as server-sent events, until it ends."""
        app.jobs.get(name)

        async def stream_states() -> AsyncIterator[str]:
            while True:
                job_state = app.jobs.get(name).describe()
                yield f"event: {job_state['state']}\ndata: {json.dumps(job_state)}\n\n"
                if job_state["state"] in ENDED or app.guard.draining:
                    return
                await asyncio.sleep(BEAT)

        return StreamingResponse(stream_states(), media_type="text/event-stream")

    @router.get(
        "/{name}/result", responses={200: {"model": schemas.ScoreResponse}}, response_class=Response
    )
    def result(
        name: str,
        format: Annotated[str, Query(description=" ".join(RESULT_FORMATS))] = "json",  # noqa: A002
    ) -> Response:
        """The results of a job with all segments: json, jsonl or tsv (a row per segment)."""
        if format not in RESULT_FORMATS:
            raise Refusal(422, f"format is one of {', '.join(RESULT_FORMATS)}", None, "?format=tsv")
        headers = {"content-disposition": f'attachment; filename="monge-{name}.{format}"'}
        if format == "json":
            return FileResponse(
                app.jobs.path(name, "results.json"), media_type=JSON, headers=headers
            )
        pieces = render_results(app.jobs.results(name), format, version=VERSION, segments=True)
        return StreamingResponse(
            _join_pieces(pieces), media_type=RESULT_FORMATS[format], headers=headers
        )

    @router.get(
        "/{name}/report",
        responses={200: {"content": {"text/html": {}, JSON: {}}}},
        response_class=Response,
    )
    def report(
        name: str,
        format: Annotated[  # noqa: A002
            Literal["html", "json"], Query(description="html; json: its content")
        ] = "html",
    ) -> Response:
        """The document of `monge report`; as JSON its content without style, script and segments,
        for a page.
        """
        if format == "json":
            return FileResponse(app.jobs.path(name, CONTENT_FILE), media_type=JSON)
        headers = {
            "content-security-policy": REPORT_POLICY,
            "content-disposition": f'attachment; filename="monge-{name}.html"',
        }
        return FileResponse(
            app.jobs.path(name, REPORT_FILE), media_type="text/html; charset=utf-8", headers=headers
        )

    @router.get(
        "/{name}/comparison", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def comparison(name: str) -> Response:
        """The systems of a job compared: a verdict, scores with intervals, clusters, paired
        tests.
        """
        return FileResponse(app.jobs.path(name, "comparison.json"), media_type=JSON)

    @router.get(
        "/{name}/segments", responses={200: {"content": {JSON: {"schema": {"type": "object"}}}}}
    )
    def segments(name: str, view: Annotated[browse.SegmentQuery, Query()]) -> Response:
        """Segments of a job with texts, scores and plans, searched, filtered and sorted; a page of
        them.
        """
        return JSONResponse(browse.page(app.jobs, name, view))

    return router


def _join_pieces(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield the text in large chunks: each chunk that is sent costs a turn of the event loop."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > CHUNK:
            yield "".join(held).encode()
            held, size = [], 0
    yield "".join(held).encode()


def _health_routes(app: App) -> APIRouter:
    """Return the routes for health, counters and version."""
    router, service = APIRouter(tags=["health"]), app.service

    @router.get("/health/live")
    async def live() -> dict[str, str]:
        """It answers."""
        return {"status": "live"}

    @router.get("/health/ready")
    async def ready() -> Response:
        """Its models are loaded and warm, and it is not stopping."""
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

    @router.get(
        "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
    )
    def metrics() -> Response:
        """Counters for Prometheus."""
        states = [job["state"] for job in app.jobs.describe_all()]
        for state in (*ENDED, "queued", "running"):
            service.counters.jobs.labels(state).set(states.count(state))
        return Response(service.counters.text(), media_type="text/plain; version=0.0.4")

    @router.get("/version")
    def version() -> dict[str, Any]:
        """What runs here: version, models, signatures of the metrics that are loaded, limits."""
        return {
            "monge": VERSION,
            "models": sorted(set(service.models.values())),
            "precision": service.config.precision,
            "signatures": service.signatures,
            "limits": vars(service.limits),
        }

    return router
