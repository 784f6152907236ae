"""Errors of a kind that the peer's users catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from monge.errors import ModelError, MongeError, StatisticsMismatch


class PeerAssertionError(MongeError, AssertionError):
    """An error of monge where the peer's users catch AssertionError."""


class PeerEOFError(MongeError, EOFError):
    """An error of monge where the peer's users catch EOFError."""


class PeerModelError(ModelError, OSError, ValueError):
    """A model that is not there or cannot be read: the peers let OSError of transformers through."""


class PeerTypeError(MongeError, TypeError):
    """An error of monge where the peer's users catch TypeError."""


class PeerValueError(MongeError, ValueError):
    """An error of monge where the peer's users catch ValueError."""


@contextmanager
def raising(kind: type[MongeError], of: type[MongeError] = MongeError) -> Iterator[None]:
    """Errors of monge (`of` a class) inside become errors of this kind, with the same message and exit code.

    Those of models become PeerModelError, whatever is asked; options are called as Python calls them.
    """
    try:
        yield
    except (PeerAssertionError, PeerEOFError, PeerModelError, PeerTypeError, PeerValueError):
        raise
    except MongeError as error:
        model = isinstance(error, ModelError) and not isinstance(error, StatisticsMismatch)
        if not model and not isinstance(error, of):
            raise
        found = (PeerModelError if model else kind)(str(error).replace("--online", "online=True"))
        found.exit_code, found.http_status = error.exit_code, error.http_status
        raise found from error
