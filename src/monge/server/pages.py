"""The pages: rendered here, with a small script of our own; nothing is loaded from other sites."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from monge.metrics.forms import EVERY, kind_of
from monge.render.components import asset, palette_css
from monge.render.page import STYLE
from monge.report.document import report_style
from monge.server.application import App, app_of
from monge.server.examples import HERE, PAIRS, SYSTEMS, machine
from monge.server.refusals import Refusal
from monge.server.service import VERSION

KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
VIEWS = {
    "/": ("pair", "A pair"),
    "/systems": ("systems", "Systems"),
    "/catalogue": ("catalogue", "Metrics"),
}
SHARED = {
    **{name: asset(name) for name in ("dom.js", "plan.js", "segments.js", "copy.js", "print.js")},
    "palette.css": palette_css(),
    "report.css": STYLE + report_style(),
}
"""Scripts and styles that pages share with reports."""
STATIC = {
    **{
        file.name: file.read_bytes()
        for file in (files(__package__) / "static").iterdir()
        if file.is_file()
    },
    **{name: text.encode() for name, text in SHARED.items()},
}


def _code(text: str) -> Markup:
    """Return a sentence as HTML, with `backticked` parts as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if k % 2 else part for k, part in enumerate(parts)
    )


router = APIRouter(include_in_schema=False)
_TEMPLATES = Environment(
    loader=PackageLoader("monge.server"),
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
)
_TEMPLATES.filters["code"] = _code
_TEMPLATES.filters["pretty"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False)


def _view(request: Request) -> HTMLResponse:
    """Return one of the pages of `VIEWS`."""
    app = app_of(request)
    name, title = VIEWS[request.scope["route"].path]
    more = _catalogue(app) if name == "catalogue" else {}
    template = _TEMPLATES.get_template(f"{name}.html")
    return HTMLResponse(template.render(view=name, title=title, **_shared(app), **more))


for path in VIEWS:
    router.add_api_route(path, _view, methods=["GET"])


@router.get("/docs")
def docs(request: Request) -> HTMLResponse:
    """Return the page that documents the HTTP interface."""
    app = app_of(request)
    variables = {"api": app.openapi(), "base": str(request.base_url).rstrip("/")}
    template = _TEMPLATES.get_template("docs.html")
    return HTMLResponse(
        template.render(view="docs", title="HTTP interface", **variables, **_shared(app))
    )


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Return a file that the pages load."""
    if name not in STATIC:
        raise Refusal(404, "no such file", None, "")
    return Response(
        STATIC[name],
        media_type=KINDS[name.rpartition(".")[2]],
        headers={"cache-control": "no-cache"},
    )


@router.get("/favicon.ico")
def icon() -> Response:
    """Return the icon of the pages."""
    return Response(STATIC["icon.svg"], media_type=KINDS["svg"])


def _catalogue(app: App) -> dict[str, Any]:
    """Return the metrics, and the one machine that all their times were measured on."""
    metrics = app.service.catalogue()
    is_measured_here = any(metric["measured_on"] == HERE for metric in metrics.values())
    return {
        "catalogue": metrics,
        "machine": "here, when the service started" if is_measured_here else machine(),
    }


def _shared(app: App) -> dict[str, Any]:
    """Return the variables that every page has."""
    service = app.service
    bootstrap = {
        "pairs": [
            {"name": name, "hypothesis": hypothesis, "reference": reference}
            for name, hypothesis, reference in PAIRS
        ],
        "systems": {"systems": dict(SYSTEMS.systems), "references": SYSTEMS.references},
        "metrics": {
            name: {"title": row.title, "kind": kind_of(name)} for name, row in EVERY.items()
        },
        "chosen": list(service.config.metrics),
    }
    return {
        "version": VERSION,
        "views": [(path, name, title) for path, (name, title) in VIEWS.items()],
        "models": sorted(set(service.models.values())),
        "limits": service.limits,
        "bootstrap": bootstrap,
    }
