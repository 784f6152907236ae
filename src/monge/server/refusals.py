"""The error answers of the service: one typed object, one status.

{"error": what is wrong, "error_type": a word for programs, "limit": the number that was met or
null, "hint": a way out}
"""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException

from monge.errors import DataError, MissingExtra, ModelError, MongeError, UsageError

KINDS: dict[int, str] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_data",
    424: "model",
    429: "busy",
    431: "too_large",
    500: "defect",
    501: "missing_extra",
    503: "stopping",
    504: "timeout",
    507: "disk_full",
}
"""The `error_type` of each status that the service answers with."""


class Refusal(HTTPException):
    """A request that is refused: `limit` is the limit it met, `retry` when to try again."""

    def __init__(
        self,
        status: int,
        message: str,
        limit: int | None = None,
        hint: str = "",
        retry: int | None = None,
    ) -> None:
        super().__init__(status, message, {} if retry is None else {"Retry-After": str(retry)})
        self.limit, self.hint = limit, hint

    def body(self) -> dict[str, Any]:
        """Return the JSON object of the answer."""
        kind = KINDS.get(self.status_code, "refused")
        return {"error": self.detail, "error_type": kind, "limit": self.limit, "hint": self.hint}


def limit_refusal(subject: str, count: int, name: str, most: int) -> Refusal:
    """Return the refusal of a request that exceeds a limit."""
    return Refusal(
        413,
        f"{subject}: {count}, at most {most}",
        most,
        f"send less, or start with --limit {name}=N",
    )


_HINTS: dict[type[MongeError], str] = {
    MissingExtra: "install the extra where the service runs",
    ModelError: "GET /version names the models and metrics of this service",
    UsageError: "GET /v1/metrics lists the metrics, GET /v1/metrics/NAME the settings of one",
    DataError: "the message names the text",
}


def refusal_of_error(error: MongeError) -> Refusal:
    """Return the refusal of an error that the library raises for a user's mistake."""
    hint = next((text for kind, text in _HINTS.items() if isinstance(error, kind)), "")
    return Refusal(error.http_status, " ".join(str(error).split()), None, hint)
