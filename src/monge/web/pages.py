"""The page: rendered here, moved by a little script of our own; nothing comes from elsewhere."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from monge.render.components import asset, palette_css
from monge.render.page import STYLE
from monge.report.document import report_style
from monge.spec.forms import EVERY, kind_of
from monge.web.examples import HERE, PAIRS, SYSTEMS, machine
from monge.web.refusals import Refusal
from monge.web.service import VERSION

if TYPE_CHECKING:
    from monge.web.app import App

KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
VIEWS = {"/": ("pair", "A pair"), "/systems": ("systems", "Systems"), "/catalogue": ("catalogue", "Metrics")}
SHARED = {
    **{name: asset(name) for name in ("dom.js", "plan.js", "segments.js", "copy.js", "print.js")},
    "palette.css": palette_css(),
    "report.css": STYLE + report_style(),
}
"""What is drawn here as in reports."""
STATIC = {
    **{one.name: one.read_bytes() for one in (files(__package__) / "static").iterdir() if one.is_file()},
    **{name: text.encode() for name, text in SHARED.items()},
}


def router(app: App) -> APIRouter:
    """The pages and what they load."""
    found = APIRouter(include_in_schema=False)
    environment = Environment(
        loader=PackageLoader("monge.web"), autoescape=select_autoescape(), undefined=StrictUndefined
    )
    environment.filters["code"] = _code
    environment.filters["pretty"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False)

    def view(request: Request) -> HTMLResponse:
        name, title = VIEWS[request.scope["route"].path]
        more = _catalogue(app) if name == "catalogue" else {}
        template = environment.get_template(f"{name}.html")
        return HTMLResponse(template.render(view=name, title=title, **_shared(app), **more))

    for path in VIEWS:
        found.add_api_route(path, view, methods=["GET"])

    @found.get("/docs")
    def docs(request: Request) -> HTMLResponse:
        shown = {"api": app.openapi(), "base": str(request.base_url).rstrip("/")}
        template = environment.get_template("docs.html")
        return HTMLResponse(template.render(view="docs", title="HTTP interface", **shown, **_shared(app)))

    @found.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in STATIC:
            raise Refusal(404, "no such file", None, "")
        return Response(STATIC[name], media_type=KINDS[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})

    @found.get("/favicon.ico")
    def icon() -> Response:
        return Response(STATIC["icon.svg"], media_type=KINDS["svg"])

    return found


def _catalogue(app: App) -> dict[str, Any]:
    """The metrics, and where their times were measured: on one machine, all of them."""
    metrics = app.service.catalogue()
    here = any(one["measured_on"] == HERE for one in metrics.values())
    return {"catalogue": metrics, "machine": "here, when the service started" if here else machine()}


def _code(text: str) -> Markup:
    """A sentence with what stands between backticks as code."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(one) if k % 2 else one for k, one in enumerate(parts))


def _shared(app: App) -> dict[str, Any]:
    """What every page is given."""
    service = app.service
    bootstrap = {
        "pairs": [{"name": name, "hypothesis": one, "reference": other} for name, one, other in PAIRS],
        "systems": {"systems": dict(SYSTEMS.systems), "references": SYSTEMS.references},
        "metrics": {name: {"title": row.title, "kind": kind_of(name)} for name, row in EVERY.items()},
        "chosen": list(service.config.metrics),
        "needs_token": service.config.token is not None,
    }
    return {
        "version": VERSION,
        "views": [(path, name, title) for path, (name, title) in VIEWS.items()],
        "models": sorted(set(service.models.values())),
        "limits": service.limits,
        "bootstrap": bootstrap,
    }
