"""Bodies into requests: JSON as it is defined, and uploaded files into a job's directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import FormData, UploadFile

from monge.web.job import TABLES, Order
from monge.web.refusals import Refusal
from monge.web.state import full

ROLES = ("hypotheses", "references", "source", "table")
WORDS = ("metric", "setting", "statistics")
SINGLE = ("lang", "model", "table_format")
LONGEST_NAME = 120
CHUNK = 1 << 20


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
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)[:80]!r} stands twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:20]} is beyond what a float holds")
    return value


class StrictRequest(Request):
    """A request whose JSON is read strictly."""

    async def json(self) -> Any:
        """The body."""
        if not hasattr(self, "_strict"):
            self._strict = strict_json(await self.body())
        return self._strict


class StrictRoute(APIRoute):
    """A route that reads its JSON strictly, and nothing but JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the check of the content type."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if request.method == "POST" and self.body_field is not None and kind != "application/json":
                raise Refusal(415, f"the body is {kind[:80] or 'untyped'}", None, "Content-Type: application/json")
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def invalid(error: RequestValidationError) -> Refusal:
    """The first thing that does not fit the description, without repeating what was sent."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return Refusal(422, f"{where[:120]}: {first['msg']}", None, "GET /docs shows what is accepted")


async def order_of(form: FormData, folder: Path) -> Order:
    """What a job is asked to do; its files are put into the directory as input-0, input-1 …"""
    known = (*ROLES, *WORDS, *SINGLE)
    files: list[tuple[str, str]] = []
    words: dict[str, list[str]] = {}
    for key, value in form.multi_items():
        if key not in known:
            raise Refusal(422, f"unknown field {key[:80]!r}", None, f"fields: {', '.join(known)}")
        if isinstance(value, UploadFile) != (key in ROLES):
            raise Refusal(422, f"{key} is {'a file' if key in ROLES else 'a word'}", None, "curl -F hypotheses=@FILE")
        if isinstance(value, UploadFile):
            await _put(value, folder / f"input-{len(files)}")
            files.append((key, _unique(value.filename or "", [name for role, name in files if role == key])))
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
