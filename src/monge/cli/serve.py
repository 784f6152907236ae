"""`monge serve`: the HTTP service and its page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from monge import api
from monge.cli import option_groups, options
from monge.cli.options import option
from monge.errors import MissingExtra, Unreadable, UsageError
from monge.metrics.plugins import stop_loading
from monge.metrics.presets import resolve

LEAST_TOKEN = 16


@dataclass(frozen=True)
class AddressOptions:
    """Options for the address of the service, and its token."""

    host: Annotated[
        str,
        option(
            "--host ADDRESS", help="Listen at this address; any but loopback needs --token-file."
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, option("--port N", help="Listen at this port; 0 takes a free one.", min=0, max=65535)
    ] = 8000
    token_file: Annotated[
        str | None,
        option(
            "--token-file FILE", help="A file with one line that clients must show as bearer token."
        ),
    ] = None

    def token(self) -> str | None:
        """Return the token; raise where an address needs one and there is none."""
        if self.token_file is None:
            if not self._loopback():
                raise UsageError(
                    f"--host {self.host} can be reached from elsewhere: give --token-file FILE, "
                    "whose line clients must show as bearer token"
                )
            return None
        try:
            text = Path(self.token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable(f"{self.token_file}: cannot be read ({error})") from None
        if (
            len(text) < LEAST_TOKEN
            or not text.isascii()
            or any(character.isspace() for character in text)
        ):
            raise UsageError(
                f"{self.token_file}: a token is one line of at least {LEAST_TOKEN} ASCII "
                "characters without spaces"
            )
        return text

    def _loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True)
class ServedModelOptions:
    """Options for the models that requests may use."""

    model: Annotated[
        list[str] | None,
        option(
            "--model NAME|DIR",
            options.MODEL,
            help="A model that requests may use; repeatable, the first is the usual one.",
        ),
    ] = None
    precision: Annotated[
        str,
        option(
            "--precision fp32|bf16|int8",
            options.MODEL,
            help="The numbers that every model computes with.",
        ),
    ] = "fp32"
    device: options.Device = "auto"


@dataclass(frozen=True)
class ServiceOptions:
    """Options for limits, kept state, and how requests are scored."""

    limit: Annotated[
        list[str] | None,
        option(
            "--limit NAME=VALUE",
            help="Change a limit of requests and jobs; GET /version lists them.",
        ),
    ] = None
    state: Annotated[
        str | None,
        option(
            "--state DIR",
            options.KEEPING,
            help="Keep jobs and statistics in this directory over restarts.",
        ),
    ] = None
    share: Annotated[
        bool,
        option(
            "--share/--no-share",
            help="Score requests that wait at the same time in one encoding pass.",
        ),
    ] = True


@option_groups.flatten_options
def serve(
    *,
    address: AddressOptions,
    metric: options.Metrics = None,
    models: ServedModelOptions,
    service: ServiceOptions,
    quiet: options.Quiet = False,
) -> int:
    """Serve scores over HTTP, with a page that shows why a text got its score."""
    try:
        from monge.server.limits import Limits
        from monge.server.server import run
        from monge.server.service import Config
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "monge":
            raise
        raise MissingExtra("monge serve", "server") from None
    names = tuple(metric or (api.DEFAULT_METRIC, "bertscore", "moverscore"))
    for name in names:
        resolve(name)
    stop_loading()  # requests may not name plugins that the operator did not
    config = Config(
        metrics=names,
        models=tuple(models.model or ("auto",)),
        precision=models.precision,
        device=models.device,
        limits=Limits().with_changes(service.limit or ()),
        state=Path(service.state) if service.state is not None else None,
        token=address.token(),
        hosts=()
        if address.token_file
        else ("localhost", "127.0.0.1", "[::1]", address.host.lower()),
        share=service.share,
    )
    return run(config, address.host, address.port, sys.stderr, quiet=quiet)
