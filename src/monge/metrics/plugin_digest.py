"""The digest of a user's metric: its source code, and the values that it was made with.

The file in which a function or a class is written counts as a whole; modules that it imports do
not. Values in closures, defaults and attributes count where they are plain data.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_DEPTH = 4


def digest_parts(implementation: Any, declared: Sequence[str]) -> str:
    """Return a hash of an implementation and of what was declared of it."""
    return sha256(repr((_describe(implementation, _DEPTH), *declared)).encode()).hexdigest()


def _describe(value: Any, depth: int) -> str:
    """Return a text that is the same in every process for the same code and the same plain data."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if depth == 0:
        return type(value).__qualname__
    for kinds, describe in _DESCRIPTIONS:
        if isinstance(value, kinds):
            return describe(value, depth - 1)
    return _describe_object(value, depth - 1)


def _describe_items(value: Any, depth: int) -> str:
    items = [_describe(item, depth) for item in value]
    return f"{type(value).__name__}{sorted(items) if isinstance(value, set | frozenset) else items}"


def _describe_mapping(value: Any, depth: int) -> str:
    return str(sorted((str(key), _describe(item, depth)) for key, item in value.items()))


def _describe_code(value: CodeType, depth: int) -> str:
    constants = [_describe(constant, depth) for constant in value.co_consts]
    return f"{value.co_code.hex()}{value.co_names}{constants}"


def _describe_function(value: FunctionType, depth: int) -> str:
    cells = [_describe_cell(cell, depth) for cell in value.__closure__ or ()]
    defaults = [_describe(part, depth) for part in (value.__defaults__, value.__kwdefaults__)]
    source = _source(value) or _describe_code(value.__code__, _DEPTH)
    return f"{value.__qualname__}{source}{cells}{defaults}"


def _describe_cell(cell: Any, depth: int) -> str:
    try:
        return _describe(cell.cell_contents, depth)
    except ValueError:  # a cell that is not filled yet
        return "empty"


def _describe_method(value: MethodType, depth: int) -> str:
    return f"{_describe(value.__self__, depth)}.{_describe(value.__func__, depth)}"


def _describe_partial(value: partial[Any], depth: int) -> str:
    return str([_describe(part, depth) for part in (value.func, value.args, value.keywords)])


def _describe_class(value: type, depth: int) -> str:
    return f"{value.__qualname__}{_source(value)}"


def _describe_object(value: Any, depth: int) -> str:
    if not hasattr(value, "__dict__"):
        return getattr(value, "__qualname__", type(value).__qualname__)
    attributes = {
        name: item if isinstance(item, (*_PLAIN, list, tuple, dict, Path)) else type(item)
        for name, item in vars(value).items()
    }
    return f"{_describe_class(type(value), depth)}{_describe_mapping(attributes, depth)}"


def _source(value: Any) -> str:
    """Return the hash of the file in which a function or a class is written; '' without one."""
    try:
        path = inspect.getsourcefile(value)
        return sha256(Path(path).read_bytes()).hexdigest() if path else ""
    except (TypeError, OSError):
        return ""


_DESCRIPTIONS: tuple[tuple[Any, Callable[[Any, int], str]], ...] = (
    ((list, tuple, set, frozenset), _describe_items),
    (dict, _describe_mapping),
    (Path, lambda value, depth: str(value)),
    (CodeType, _describe_code),
    (FunctionType, _describe_function),
    (MethodType, _describe_method),
    (partial, _describe_partial),
    (type, _describe_class),
)
