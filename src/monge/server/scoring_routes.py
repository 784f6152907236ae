"""The routes that score, explain, compare and fit, and those that describe metrics."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from monge.metrics.signature import difference, parse
from monge.server import schemas
from monge.server.application import ANY_OBJECT, JSON, REPORT_POLICY, app_of
from monge.server.cancellation import Ticket
from monge.server.reading import SHORT_BODY, StrictRoute
from monge.types import Signature

router = APIRouter(prefix="/v1", route_class=StrictRoute, tags=["scoring"])


async def _respond_with_bytes(
    request: Request, work: Callable[[Ticket], bytes], kind: str = JSON
) -> Response:
    return Response(await app_of(request).desk.serve(request, work), media_type=kind)


@router.post("/score", responses={200: {"model": schemas.ScoreResponse}}, response_class=Response)
async def score(request: Request, body: schemas.ScoreRequest) -> Response:
    """Score hypotheses: the object that `monge score --format json` prints."""
    desk, service = app_of(request).desk, app_of(request).service
    # a long body is handled by a thread, not on the event loop
    is_short = len(await request.body()) <= SHORT_BODY

    def begin(ticket: Ticket) -> Future[bytes] | None:
        return service.submit_small(body, ticket) if is_short else None

    return Response(
        await desk.serve(request, lambda ticket: service.score(body, ticket), begin),
        media_type=JSON,
    )


PICTURES: dict[int | str, dict[str, Any]] = {
    200: {"content": {JSON: {"schema": {"type": "object"}}, "image/svg+xml": {}, "text/html": {}}}
}


@router.post("/explain", responses=PICTURES, response_class=Response)
async def explain(request: Request, body: schemas.ExplainRequest) -> Response:
    """Why a pair gets its score: units, weights, plans, moves; a picture or a page by `Accept`."""
    service = app_of(request).service
    accepted = request.headers.get("accept", "")
    form = "svg" if "image/svg+xml" in accepted else "html" if "text/html" in accepted else "json"
    kind = {"json": JSON, "svg": "image/svg+xml", "html": "text/html; charset=utf-8"}[form]
    answer = await _respond_with_bytes(
        request, lambda ticket: service.explain(body, ticket, form), kind
    )
    if form != "json":
        answer.headers["content-security-policy"] = REPORT_POLICY
    return answer


@router.post("/compare", responses=ANY_OBJECT)
async def compare(request: Request, body: schemas.CompareRequest) -> Response:
    """Compare systems, as `monge compare --format json` does."""
    service = app_of(request).service
    return await _respond_with_bytes(request, lambda ticket: service.compare(body, ticket))


@router.post("/stats", responses={200: {"model": schemas.Fitted}})
async def fit(request: Request, body: schemas.FitRequest) -> Response:
    """Fit corpus statistics and keep them under the digest of what they hold."""
    service = app_of(request).service
    return JSONResponse(
        await app_of(request).desk.serve(request, lambda ticket: service.fit(body, ticket))
    )


@router.get("/stats/{name}", responses=ANY_OBJECT)
def statistics(request: Request, name: str) -> Response:
    """Statistics as `monge fit` writes them: a file for `--stats`."""
    return JSONResponse(app_of(request).service.statistics(name).to_dict())


@router.get("/metrics", responses=ANY_OBJECT)
def metrics(request: Request) -> Response:
    """Every metric: what it measures, range, cost per pair, agreement with people."""
    return JSONResponse(app_of(request).service.catalogue())


@router.get("/metrics/{name:path}", responses=ANY_OBJECT)
def metric(
    request: Request,
    name: str,
    setting: Annotated[list[str] | None, Query(description="AXIS=VALUE, repeatable.")] = None,
    lang: str | None = None,
) -> Response:
    """Every setting of a metric, the form they are set by, its range and its signature."""
    return JSONResponse(app_of(request).service.variant(name, setting or (), lang))


@router.post("/signature/parse", responses=ANY_OBJECT)
def parse_signature(body: schemas.SignatureRequest) -> Response:
    """What a signature says."""
    parsed = parse(body.signature)
    fields = dict(Signature.parse(body.signature).fields)
    return JSONResponse({"metric": parsed.metric, "fields": fields, "spec": parsed.spec.written()})


@router.post("/signature/diff", responses=ANY_OBJECT)
def diff_signatures(body: schemas.DiffRequest) -> Response:
    """The settings in which two signatures differ."""
    return JSONResponse(
        {key: [first, second] for key, first, second in difference(body.one, body.other)}
    )
