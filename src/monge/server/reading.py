"""Reads requests from bodies: strict JSON, and uploaded files into a job's directory."""

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

from monge.metrics.default import DEFAULT_METRIC
from monge.server.job import TABLES, JobOrder
from monge.server.refusals import Refusal
from monge.server.state import disk_refusal

ROLES = ("hypotheses", "references", "source", "table")
WORDS = ("metric", "setting", "statistics")
SINGLE = ("lang", "model", "table_format")
LONGEST_NAME = 120
PACKED = ".gz"
CHUNK = 1 << 20
SHORT_BODY = 32_768
"""Bytes of a body that is parsed on the event loop; longer ones are parsed in a thread."""
MOST_KEYS = 1000
"""The most keys of an object inside a request."""
_PLAIN: dict[str, Any] = {"include_url": False, "include_input": False, "include_context": False}


@contextmanager
def pause_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector, which would scan many new lists while other threads wait."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def strict_json(body: bytes) -> Any:
    """Return the value of a JSON text; refuse duplicate keys, NaN, infinity and deep nesting."""
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_refuse_duplicate_keys,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
        )
    except UnicodeDecodeError as error:
        raise Refusal(
            400, f"the body is not UTF-8 (byte {error.start})", None, "send JSON in UTF-8"
        ) from None
    except RecursionError:
        raise Refusal(
            400, "the JSON is nested too deeply", None, "requests are a few levels deep"
        ) from None
    except ValueError as error:
        raise Refusal(
            400, f"the body is not JSON: {error}", None, "GET /docs shows examples"
        ) from None


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique_pairs = dict(pairs)
    if len(unique_pairs) != len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                raise ValueError(f"key {key[:80]!r} stands twice")
            keys.add(key)
    return unique_pairs


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _parse_finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:20]} is beyond what a float holds")
    return value


def read_request(body: bytes, model: type[BaseModel]) -> BaseModel:
    """Return the request that a JSON text holds; raise a refusal for the first fault.

    It takes a time in proportion to the body: lists stop at their first fault, objects have a limit
    of keys, and an unknown key is refused before its value is looked at.
    """
    with pause_garbage_collector() if len(body) > SHORT_BODY else nullcontext():
        value = strict_json(body)
    if isinstance(value, dict):
        unknown = next((key for key in value if key not in model.model_fields), None)
        if unknown is not None:
            accepted = ", ".join(model.model_fields)
            raise Refusal(422, f"unknown field {unknown[:80]!r}", None, f"fields: {accepted}")
        for key, inner in value.items():
            if isinstance(inner, dict) and len(inner) > MOST_KEYS:
                raise Refusal(
                    422,
                    f"{key}: an object of {len(inner)} keys, at most {MOST_KEYS}",
                    MOST_KEYS,
                    "send less",
                )
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise invalid_refusal(error) from None


class StrictRequest(Request):
    """A request whose JSON is read strictly into its model; a long body is read in a thread."""

    model: type[BaseModel] | None = None

    async def json(self) -> Any:
        """Return the parsed body."""
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
        """Return the handler, preceded by a check of the content type."""
        handler = super().get_route_handler()
        model = (
            None
            if self.body_field is None
            else cast("type[BaseModel]", self.body_field.field_info.annotation)
        )

        async def strict(request: Request) -> Response:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if request.method == "POST" and model is not None and kind != "application/json":
                raise Refusal(
                    415,
                    f"the body is {kind[:80] or 'untyped'}",
                    None,
                    "Content-Type: application/json",
                )
            reading = StrictRequest(request.scope, request.receive)
            reading.model = model
            return await handler(reading)

        return strict


def invalid_refusal(error: RequestValidationError | ValidationError) -> Refusal:
    """Return a refusal that names the first fault, without repeating what was sent."""
    faults = error.errors() if isinstance(error, RequestValidationError) else error.errors(**_PLAIN)
    first = faults[0]
    location = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    more = f" (and {len(faults) - 1} more faults)" if len(faults) > 1 else ""
    return Refusal(
        422, f"{location[:120]}: {first['msg']}{more}", None, "GET /docs shows what is accepted"
    )


async def read_order(form: FormData, folder: Path, most: int) -> JobOrder:
    """Return the order of a job; its files are put into the directory as input-0, input-1 …

    Packed ones are unpacked, to `most` bytes together.
    """
    room = most
    files: list[tuple[str, str]] = []
    words: dict[str, list[str]] = {}
    for key, value in form.multi_items():
        _check_field(key, is_file=isinstance(value, UploadFile))
        if isinstance(value, UploadFile):
            path, name = folder / f"input-{len(files)}", value.filename or ""
            await _save_upload(value, path)
            if name.lower().endswith(PACKED):
                name = name[: -len(PACKED)]
                room -= await asyncio.to_thread(_unpack, path, name, room)
            files.append(
                (key, _unique_name(name, [used_name for role, used_name in files if role == key]))
            )
        else:
            words.setdefault(key, []).append(value)
    _check_files(files)
    table = next((name for role, name in files if role == "table"), None)
    single_values = {key: words[key][0] for key in SINGLE if key in words}
    return JobOrder(
        metrics=tuple(words.get("metric", [DEFAULT_METRIC])),
        files=tuple(files),
        settings=tuple(words.get("setting", ())),
        lang=single_values.get("lang"),
        model=single_values.get("model"),
        statistics=tuple(words.get("statistics", ())),
        table_format=None
        if table is None
        else _table_format(single_values.get("table_format"), table),
    )


def _check_field(key: str, *, is_file: bool) -> None:
    """Raise for a field that a job does not have, or a word in the place of a file."""
    fields = (*ROLES, *WORDS, *SINGLE)
    if key not in fields:
        raise Refusal(422, f"unknown field {key[:80]!r}", None, f"fields: {', '.join(fields)}")
    if is_file != (key in ROLES):
        kind = "a file" if key in ROLES else "a word"
        raise Refusal(422, f"{key} is {kind}", None, "curl -F hypotheses=@FILE")


async def _save_upload(upload: UploadFile, path: Path) -> None:
    try:
        with path.open("wb") as file:
            while chunk := await upload.read(CHUNK):
                file.write(chunk)
    except OSError as error:
        raise disk_refusal(error) from None


def _unpack(path: Path, name: str, most: int) -> int:
    """Unpack a gzip file in place and return its size; raise where that exceeds `most` bytes."""
    size, unpacked = 0, path.with_name(f"{path.name}-unpacked")
    try:
        with gzip.open(path) as source, unpacked.open("wb") as target:
            while chunk := source.read(CHUNK):
                size += len(chunk)
                if size > most:
                    raise Refusal(
                        413,
                        f"{name[:80]}: the files unpack to more than {most} bytes",
                        most,
                        "cut them",
                    )
                target.write(chunk)
        unpacked.replace(path)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise Refusal(
            422, f"{name[:80]}{PACKED}: not a gzip file", None, "send it as it is"
        ) from None
    except OSError as error:
        raise disk_refusal(error) from None
    finally:
        unpacked.unlink(missing_ok=True)
    return size


def _unique_name(name: str, used_names: list[str]) -> str:
    """Return a system's name from a file name: its last part, printable, not yet used."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = (
        "".join(character for character in last if character.isprintable())[:LONGEST_NAME]
        or "unnamed"
    )
    number, unique_name = 1, plain
    while unique_name in used_names:
        number += 1
        unique_name = f"{plain} ({number})"
    return unique_name


def _check_files(files: list[tuple[str, str]]) -> None:
    roles = [role for role, _ in files]
    if "table" in roles and len(files) > 1:
        raise Refusal(
            422,
            "a table cannot be sent with other files",
            None,
            "send a table, or hypotheses with references or a source",
        )
    if "table" not in roles and (
        "hypotheses" not in roles or not {"references", "source"} & set(roles)
    ):
        raise Refusal(
            422,
            "files are missing",
            None,
            "send hypotheses and references (or source) files, or a table",
        )
    if roles.count("source") > 1:
        raise Refusal(422, "source: one file, got several", None, "send one")


def _table_format(requested: str | None, name: str) -> str:
    table_format = requested or name.rpartition(".")[2].lower()
    if table_format not in TABLES:
        raise Refusal(
            422,
            f"{name}: a table is {', '.join(TABLES)} here",
            None,
            "name it so, or give table_format",
        )
    return table_format
