"""Tools for agents by the Model Context Protocol: the service's requests over stdin and stdout.

The tools do what the routes of `scoring_routes.py` do, with the same limits; what a request may not
do comes back as one line that the agent can read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from monge import api
from monge.errors import MongeError
from monge.recommendation.recommend import recommend
from monge.server import schemas
from monge.server.cancellation import Gone, Ticket
from monge.server.refusals import Refusal
from monge.server.service import VERSION, Service

INSTRUCTIONS = (
    "Scores of generated texts against references by optimal transport between word vectors, and "
    "by lexical metrics. Ask `recommend` which metric suits the texts, `score` texts, `compare` "
    "systems with tests, `explain` one pair. Report the signature beside every score."
)
Model = TypeVar("Model", bound=BaseModel)
_SETTINGS = Field(description="Settings as AXIS=VALUE or AXIS.FIELD=VALUE.")
_LANGUAGE = Field(description="The language of the texts: en, de, zh …")


class Tools:
    """The tools of one server, each a method whose signature is the tool's schema."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._places = anyio.CapacityLimiter(service.limits.in_flight)

    async def score(
        self,
        hypotheses: Annotated[list[str], Field(description="The texts to score.")],
        references: Annotated[
            list[str] | list[list[str]] | None,
            Field(description="A text, or a list of texts, per hypothesis."),
        ] = None,
        sources: Annotated[list[str] | None, Field(description="A source per hypothesis.")] = None,
        metrics: schemas.Metrics = [api.DEFAULT_METRIC],  # noqa: B006 - never changed
        settings: Annotated[list[str], _SETTINGS] = [],  # noqa: B006
        lang: Annotated[str | None, _LANGUAGE] = None,
        segments: Annotated[bool, Field(description="With the score of every text.")] = True,
    ) -> dict[str, Any]:
        """Score texts against references, line by line; the result has a signature."""
        request = _check(schemas.ScoreRequest, {**locals(), "seed": 12345})
        return await self._answer(request, partial(self._service.score, request))

    async def compare(
        self,
        systems: Annotated[
            dict[str, list[str]], Field(description="The texts of each system, by its name.")
        ],
        references: Annotated[
            list[str] | list[list[str]] | None,
            Field(description="A text, or a list of texts, per item."),
        ] = None,
        sources: Annotated[list[str] | None, Field(description="A source per item.")] = None,
        metrics: schemas.Metrics = [api.DEFAULT_METRIC],  # noqa: B006 - never changed
        settings: Annotated[list[str], _SETTINGS] = [],  # noqa: B006
        lang: Annotated[str | None, _LANGUAGE] = None,
        resamples: Annotated[int, Field(ge=1, description="Resamples of the tests.")] = 1000,
    ) -> dict[str, Any]:
        """Tell which system is better, and whether that is more than chance."""
        request = _check(schemas.CompareRequest, locals())
        return await self._answer(request, partial(self._service.compare, request))

    async def explain(
        self,
        hypothesis: str,
        reference: str,
        metric: Annotated[str, Field(description="A metric of word vectors.")] = api.DEFAULT_METRIC,
        settings: Annotated[list[str], _SETTINGS] = [],  # noqa: B006 - never changed
        lang: Annotated[str | None, _LANGUAGE] = None,
    ) -> dict[str, Any]:
        """Show why a pair gets its score: which words were matched, and at what cost."""
        request = _check(schemas.ExplainRequest, locals())
        return await self._answer(
            request, lambda ticket: self._service.explain(request, ticket, "json")
        )

    async def recommend(
        self,
        task: Annotated[
            str | None,
            Field(
                description="translation, summaries, captions, data-to-text, similarity or "
                "quality-estimation; without it all of them."
            ),
        ] = None,
        lang: Annotated[str, _LANGUAGE] = "en",
        budget: Annotated[
            str | None,
            Field(description="The most to spend on 1,000 pairs: 5s, 800MB, or 5s,800MB."),
        ] = None,
    ) -> dict[str, Any]:
        """Say which metric agrees best with people, from results kept in the package."""
        with _ToolErrors():
            return recommend(task, lang=lang, budget=budget).to_dict()

    async def _answer(self, request: BaseModel, work: Callable[[Ticket], bytes]) -> dict[str, Any]:
        """Run a request in a thread, within the limits of size and time; return its JSON object."""
        limits, size = self._service.limits, len(request.model_dump_json())
        if size > limits.body:
            raise ToolError(f"the request has {size} bytes, at most {limits.body} are taken")
        ticket = Ticket()
        with _ToolErrors(), anyio.move_on_after(limits.seconds):
            try:
                answer = await anyio.to_thread.run_sync(
                    work, ticket, abandon_on_cancel=True, limiter=self._places
                )
            finally:
                ticket.cancel()
            content: dict[str, Any] = json.loads(answer)
            return content
        raise ToolError(f"no answer within {limits.seconds} seconds: send fewer texts")


class _ToolErrors:
    """A context that turns errors of monge into one line that the agent reads."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise a tool error for an error of monge."""
        if isinstance(error, MongeError):
            raise ToolError(" ".join(str(error).split())) from None
        if isinstance(error, Refusal):
            raise ToolError("; ".join(filter(None, (error.detail, error.hint)))) from None
        if isinstance(error, Gone):
            raise ToolError("the request was given up") from None


def _check(kind: type[Model], arguments: dict[str, Any]) -> Model:
    """Return the request of a tool's arguments; raise for what the service would not take."""
    fields = {name: arguments[name] for name in kind.model_fields if name in arguments}
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise ToolError(f"{place}: {fault['msg']}") from None


def make_server(service: Service) -> MCPServer[Any]:
    """Return the server of a service's tools."""
    server: MCPServer[Any] = MCPServer(
        "monge", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING"
    )
    tools = Tools(service)
    for tool in (tools.score, tools.compare, tools.explain, tools.recommend):
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True))
    return server


def run_server(service: Service) -> None:
    """Load the models, then answer over stdin and stdout until stdin is closed."""
    service.warm()
    make_server(service).run("stdio")
