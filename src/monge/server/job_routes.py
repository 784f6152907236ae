"""The routes of jobs, which score inputs that are too large for a request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse

from monge.render import render_results
from monge.server import browse, schemas
from monge.server.application import ANY_OBJECT, JSON, REPORT_POLICY, app_of
from monge.server.job import ENDED
from monge.server.reading import CHUNK, read_order
from monge.server.refusals import Refusal
from monge.server.report import CONTENT_FILE, REPORT_FILE
from monge.server.service import VERSION
from monge.server.state import remove_job

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
RESULT_FORMATS = {
    "json": JSON,
    "jsonl": "application/jsonl",
    "tsv": "text/tab-separated-values; charset=utf-8",
}
BEAT = 0.5
"""Seconds between two events of a job."""
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


@router.post(
    "", status_code=202, responses={202: {"model": schemas.JobState}}, openapi_extra=UPLOAD
)
async def submit(request: Request) -> Response:
    """Send files to be scored: hypotheses with references or a source, or a table."""
    app = app_of(request)
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
def every(request: Request) -> Response:
    """All jobs that are kept, the newest first."""
    return JSONResponse(app_of(request).jobs.describe_all())


@router.get("/{name}", responses={200: {"model": schemas.JobState}})
def state(request: Request, name: str) -> Response:
    """How far a job has come."""
    return JSONResponse(app_of(request).jobs.get(name).describe())


@router.delete("/{name}", responses={200: {"model": schemas.JobState}})
def cancel(request: Request, name: str) -> Response:
    """Cancel a job; drop one that has ended."""
    return JSONResponse(app_of(request).jobs.cancel(name).describe())


@router.get(
    "/{name}/events",
    responses={200: {"content": {"text/event-stream": {}}}},
    response_class=Response,
)
async def events(request: Request, name: str) -> Response:
    """The states of a job as server-sent events, until it ends."""
    app = app_of(request)
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
    request: Request,
    name: str,
    format: Annotated[str, Query(description=" ".join(RESULT_FORMATS))] = "json",  # noqa: A002
) -> Response:
    """The results of a job with all segments: json, jsonl or tsv (a row per segment)."""
    if format not in RESULT_FORMATS:
        raise Refusal(422, f"format is one of {', '.join(RESULT_FORMATS)}", None, "?format=tsv")
    jobs = app_of(request).jobs
    headers = {"content-disposition": f'attachment; filename="monge-{name}.{format}"'}
    if format == "json":
        return FileResponse(jobs.path(name, "results.json"), media_type=JSON, headers=headers)
    pieces = render_results(jobs.results(name), format, version=VERSION, segments=True)
    return StreamingResponse(
        _join_pieces(pieces), media_type=RESULT_FORMATS[format], headers=headers
    )


@router.get(
    "/{name}/report",
    responses={200: {"content": {"text/html": {}, JSON: {}}}},
    response_class=Response,
)
def report(
    request: Request,
    name: str,
    format: Annotated[  # noqa: A002
        Literal["html", "json"], Query(description="html; json: its content")
    ] = "html",
) -> Response:
    """The document of `monge report`; as JSON its content without style, script and segments."""
    jobs = app_of(request).jobs
    if format == "json":
        return FileResponse(jobs.path(name, CONTENT_FILE), media_type=JSON)
    headers = {
        "content-security-policy": REPORT_POLICY,
        "content-disposition": f'attachment; filename="monge-{name}.html"',
    }
    return FileResponse(
        jobs.path(name, REPORT_FILE),
        media_type="text/html; charset=utf-8",
        headers=headers,
    )


@router.get("/{name}/comparison", responses=ANY_OBJECT)
def comparison(request: Request, name: str) -> Response:
    """The systems of a job compared: verdict, scores with intervals, clusters, paired tests."""
    return FileResponse(app_of(request).jobs.path(name, "comparison.json"), media_type=JSON)


@router.get("/{name}/segments", responses=ANY_OBJECT)
def segments(
    request: Request, name: str, view: Annotated[browse.SegmentQuery, Query()]
) -> Response:
    """A page of the segments of a job, searched, filtered and sorted, with scores and plans."""
    return JSONResponse(browse.page(app_of(request).jobs, name, view))


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
