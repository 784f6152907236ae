"""Errors of a kind that the peer's users catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from monge.errors import MongeError


class PeerAssertionError(MongeError, AssertionError):
    """An error of monge where the peer's users catch AssertionError."""


class PeerEOFError(MongeError, EOFError):
    """An error of monge where the peer's users catch EOFError."""


class PeerTypeError(MongeError, TypeError):
    """An error of monge where the peer's users catch TypeError."""


class PeerValueError(MongeError, ValueError):
    """An error of monge where the peer's users catch ValueError."""


@contextmanager
def raising(kind: type[MongeError], of: type[MongeError] = MongeError) -> Iterator[None]:
    """Errors of monge (`of` a class) inside become errors of this kind, with the same message and exit code."""
    try:
        yield
    except (PeerAssertionError, PeerEOFError, PeerTypeError, PeerValueError):
        raise
    except of as error:
        found = kind(str(error))
        found.exit_code, found.http_status = error.exit_code, error.http_status
        raise found from error
