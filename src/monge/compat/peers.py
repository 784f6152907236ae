"""Errors of the classes that users of the peer libraries catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from monge.errors import ModelError, MongeError, StatisticsMismatch


class PeerAssertionError(MongeError, AssertionError):
    """An error of monge where the peer's users catch AssertionError."""


class PeerEOFError(MongeError, EOFError):
    """An error of monge where the peer's users catch EOFError."""


class PeerModelError(ModelError, OSError, ValueError):
    """A model that is missing or cannot be read: the peers pass on the OSError of transformers."""


class PeerTypeError(MongeError, TypeError):
    """An error of monge where the peer's users catch TypeError."""


class PeerValueError(MongeError, ValueError):
    """An error of monge where the peer's users catch ValueError."""


@contextmanager
def raise_as(kind: type[MongeError], of: type[MongeError] = MongeError) -> Iterator[None]:
    """Convert errors of monge (of the class `of`) to `kind`, with the same message and exit code.

    Errors of models always become PeerModelError. Options in messages get their Python names.
    """
    try:
        yield
    except (PeerAssertionError, PeerEOFError, PeerModelError, PeerTypeError, PeerValueError):
        raise
    except MongeError as error:
        model = isinstance(error, ModelError) and not isinstance(error, StatisticsMismatch)
        if not model and not isinstance(error, of):
            raise
        peer_error = (PeerModelError if model else kind)(
            str(error).replace("--online", "online=True")
        )
        peer_error.exit_code, peer_error.http_status = error.exit_code, error.http_status
        raise peer_error from error
