"""`monge mcp`: tools for agents over stdin and stdout."""

from __future__ import annotations

from typing import Annotated

from monge.cli import option_groups
from monge.cli.options import option
from monge.cli.serve import ServedModelOptions
from monge.errors import MissingExtra
from monge.metrics.plugins import stop_loading


@option_groups.flatten_options
def mcp(
    *,
    models: ServedModelOptions,
    limit: Annotated[
        list[str] | None,
        option(
            "--limit NAME=VALUE",
            help="Change a limit of requests, such as pairs, characters or seconds.",
        ),
    ] = None,
) -> None:
    """Answer the tool calls of an agent over stdin and stdout."""
    try:
        from monge.server.limits import Limits
        from monge.server.mcp_tools import run_server
        from monge.server.service import Config, Service
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "monge":
            raise
        raise MissingExtra("monge mcp", "mcp") from None
    stop_loading()  # requests may not name plugins that the operator did not
    config = Config(
        models=tuple(models.model or ("auto",)),
        precision=models.precision,
        device=models.device,
        limits=Limits().with_changes(limit or ()),
    )
    run_server(Service(config))
