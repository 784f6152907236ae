"""Bodies into requests: JSON as it is defined, and uploaded files into a job's directory."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import zlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, cast

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile

from monge.web.job import TABLES, Order
from monge.web.refusals import Refusal
from monge.web.state import full

ROLES = ("hypotheses", "references", "source", "table")
WORDS = ("metric", "setting", "statistics")
SINGLE = ("lang", "model", "table_format")
LONGEST_NAME = 120
PACKED = ".gz"
CHUNK = 1 << 20
SHORT_BODY = 32_768
"""Bytes of a body that is read at once, on the event loop."""
MOST_KEYS = 1000
"""Keys of an object inside a request."""
_PLAIN: dict[str, Any] = {"include_url": False, "include_input": False, "include_context": False}


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector: it looks at half a million new lists over and over, and nobody else can run."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def strict_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8: no key twice, no NaN, no number beyond a float, not nested without end."""
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_number, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise Refusal(400, f"the body is not UTF-8 (byte {error.start})", None, "send JSON in UTF-8") from None
    except RecursionError:
        raise Refusal(400, "the JSON is nested too deeply", None, "requests are a few levels deep") from None
    except ValueError as error:
        raise Refusal(400, f"the body is not JSON: {error}", None, "GET /docs shows examples") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"key {key[:80]!r} stands twice")
            seen.add(key)
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:20]} is beyond what a float holds")
    return value


def read_request(body: bytes, model: type[BaseModel]) -> BaseModel:
    """The request that a JSON text holds; the first thing that does not fit is a refusal.

    It takes a time in proportion to the body: lists stop at their first fault, objects have a limit of keys, and an
    unknown key is refused before its value is looked at.
    """
    with uncollected() if len(body) > SHORT_BODY else nullcontext():
        value = strict_json(body)
    if isinstance(value, dict):
        unknown = next((key for key in value if key not in model.model_fields), None)
        if unknown is not None:
            accepted = ", ".join(model.model_fields)
            raise Refusal(422, f"unknown field {unknown[:80]!r}", None, f"fields: {accepted}")
        for key, inner in value.items():
            if isinstance(inner, dict) and len(inner) > MOST_KEYS:
                raise Refusal(
                    422, f"{key}: an object of {len(inner)} keys, at most {MOST_KEYS}", MOST_KEYS, "send less"
                )
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise invalid(error) from None


class StrictRequest(Request):
    """A request whose JSON is read strictly into its model; a long body in a thread, so that others do not wait."""

    model: type[BaseModel] | None = None

    async def json(self) -> Any:
        """The body."""
        if not hasattr(self, "_strict"):
            body = await self.body()
            if self.model is None:
                self._strict = strict_json(body)
            elif len(body) <= SHORT_BODY:
                self._strict = read_request(body, self.model)
            else:
                self._strict = await asyncio.to_thread(read_request, body, self.model)
        return self._strict


class StrictRoute(APIRoute):
    """A route that reads its JSON strictly, and nothing but JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the check of the content type."""
        handler = super().get_route_handler()
        model = None if self.body_field is None else cast("type[BaseModel]", self.body_field.field_info.annotation)

        async def strict(request: Request) -> Response:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if request.method == "POST" and model is not None and kind != "application/json":
                raise Refusal(415, f"the body is {kind[:80] or 'untyped'}", None, "Content-Type: application/json")
            reading = StrictRequest(request.scope, request.receive)
            reading.model = model
            return await handler(reading)

        return strict


def invalid(error: RequestValidationError | ValidationError) -> Refusal:
    """The first thing that does not fit the description, without repeating what was sent."""
    every = error.errors() if isinstance(error, RequestValidationError) else error.errors(**_PLAIN)
    first = every[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    more = f" (and {len(every) - 1} more faults)" if len(every) > 1 else ""
    return Refusal(422, f"{where[:120]}: {first['msg']}{more}", None, "GET /docs shows what is accepted")


async def order_of(form: FormData, folder: Path, most: int) -> Order:
    """What a job is asked to do; its files are put into the directory as input-0, input-1 …

    Packed ones are unpacked, to `most` bytes together.
    """
    known, room = (*ROLES, *WORDS, *SINGLE), most
    files: list[tuple[str, str]] = []
    words: dict[str, list[str]] = {}
    for key, value in form.multi_items():
        if key not in known:
            raise Refusal(422, f"unknown field {key[:80]!r}", None, f"fields: {', '.join(known)}")
        if isinstance(value, UploadFile) != (key in ROLES):
            raise Refusal(422, f"{key} is {'a file' if key in ROLES else 'a word'}", None, "curl -F hypotheses=@FILE")
        if isinstance(value, UploadFile):
            path, name = folder / f"input-{len(files)}", value.filename or ""
            await _put(value, path)
            if name.lower().endswith(PACKED):
                name = name[: -len(PACKED)]
                room -= await asyncio.to_thread(_unpack, path, name, room)
            files.append((key, _unique(name, [taken for role, taken in files if role == key])))
        else:
            words.setdefault(key, []).append(value)
    _check_files(files)
    table = next((name for role, name in files if role == "table"), None)
    single = {key: words[key][0] for key in SINGLE if key in words}
    return Order(
        metrics=tuple(words.get("metric", ["twmd"])),
        files=tuple(files),
        settings=tuple(words.get("setting", ())),
        lang=single.get("lang"),
        model=single.get("model"),
        statistics=tuple(words.get("statistics", ())),
        table_format=None if table is None else _format(single.get("table_format"), table),
    )


async def _put(upload: UploadFile, path: Path) -> None:
    try:
        with path.open("wb") as file:
            while some := await upload.read(CHUNK):
                file.write(some)
    except OSError as error:
        raise full(error) from None


def _unpack(path: Path, name: str, most: int) -> int:
    """Unpack a gzip file in its place; the bytes that it holds, which may be no more than so many."""
    size, unpacked = 0, path.with_name(f"{path.name}-unpacked")
    try:
        with gzip.open(path) as source, unpacked.open("wb") as target:
            while some := source.read(CHUNK):
                size += len(some)
                if size > most:
                    raise Refusal(413, f"{name[:80]}: the files unpack to more than {most} bytes", most, "cut them")
                target.write(some)
        unpacked.replace(path)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise Refusal(422, f"{name[:80]}{PACKED}: not a gzip file", None, "send it as it is") from None
    except OSError as error:
        raise full(error) from None
    finally:
        unpacked.unlink(missing_ok=True)
    return size


def _unique(name: str, taken: list[str]) -> str:
    """A file's name as its system is called: its last part, printable, not yet taken."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(one for one in last if one.isprintable())[:LONGEST_NAME] or "unnamed"
    number, found = 1, plain
    while found in taken:
        number += 1
        found = f"{plain} ({number})"
    return found


def _check_files(files: list[tuple[str, str]]) -> None:
    roles = [role for role, _ in files]
    if "table" in roles and len(files) > 1:
        raise Refusal(422, "a table stands alone", None, "send a table, or hypotheses with references or a source")
    if "table" not in roles and ("hypotheses" not in roles or not {"references", "source"} & set(roles)):
        raise Refusal(422, "files are missing", None, "send hypotheses and references (or source) files, or a table")
    if roles.count("source") > 1:
        raise Refusal(422, "source: one file, got several", None, "send one")


def _format(asked: str | None, name: str) -> str:
    found = asked or name.rpartition(".")[2].lower()
    if found not in TABLES:
        raise Refusal(422, f"{name}: a table is {', '.join(TABLES)} here", None, "name it so, or give table_format")
    return found
