"""Bodies at the limit, of every shape, for every endpoint that takes one: nobody else waits for
them.
"""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from functools import partial

import pytest

from monge.server.app import create
from monge.server.limits import Limits
from monge.server.service import Config

MOST = Limits().body
PATIENCE = 0.5
"""Seconds in which a service says that it lives, whatever else it is asked."""


def filled(start: str, piece: str, end: str) -> bytes:
    """A body as long as is allowed: a start, a piece as often as it fits, an end."""
    return (start + piece * ((MOST - len(start) - len(end)) // len(piece)) + end).encode()


def keys(start: str, value: str, end: str) -> bytes:
    """A body with as many different keys as fit."""
    return (
        start + ",".join(f'"k{n}":{value}' for n in range((MOST - 200) // (11 + len(value)))) + end
    ).encode()


SHAPES = {
    "deep lists": filled("", "[", ""),
    "deep objects": filled("", '{"a":', ""),
    "deep in a field": lambda field: filled(f'{{"{field}":', "[", "]"),
    "wrong types": lambda field: filled(f'{{"{field}":[', "1,", "1]}"),
    "wrong types in lists": lambda field: filled(f'{{"{field}":[', "[1],", "[1]]}"),
    "lists of nothing": lambda field: filled(f'{{"{field}":[', "[],", "[]]}"),
    "nulls": lambda field: filled(f'{{"{field}":[', "null,", "null]}"),
    "short texts": lambda field: filled(f'{{"{field}":[', '"a",', '"a"]}'),
    "lone surrogates": lambda field: filled(f'{{"{field}":[', '"\\ud800",', '"a"]}'),
    "one long text": lambda field: filled(f'{{"{field}":"', "a", '"}'),
    "one long text of spaces": lambda field: filled(f'{{"{field}":"', " ", '"}'),
    "one long number": lambda field: filled(f'{{"{field}":', "1", "}"),
    "long names": lambda field: filled(f'{{"{field}":[', f'"{"a" * 1990}",', '"a"]}'),
    "settings": lambda field: filled(
        f'{{"{field}":[', '"transport.temperature=0.5",', '"ground=cosine"]}'
    ),
    "many keys": keys("{", "1", "}"),
    "many keys in a field": lambda field: keys(f'{{"{field}":{{', "1", "}}"),
    "many keys with lists": lambda field: keys(f'{{"{field}":{{', "[1]", "}}"),
    "one key twice at the end": keys("{", "1", ',"k0":1}'),
    "every key twice": (
        "{" + ",".join(f'"k{n}":1,"k{n}":1' for n in range(MOST // 30)) + "}"
    ).encode(),
    "one key over and over": filled("{", '"a":1,', '"a":1}'),
    "not UTF-8": b"\xff" * MOST,
    "spaces": b" " * MOST,
}


def routes() -> dict[str, list[str]]:
    """Every POST endpoint with the fields of its body, one of each type."""
    described = create(Config(state=None)).openapi()
    found = {}
    for path, verbs in described["paths"].items():
        if "post" in verbs:
            content = verbs["post"]["requestBody"]["content"]
            schema = next(iter(content.values()))["schema"]
            name = schema.get("$ref", "").rpartition("/")[2]
            fields = (described["components"]["schemas"][name] if name else schema)["properties"]
            found[path] = list(
                {json.dumps(_type(one)): field for field, one in fields.items()}.values()
            )
    return found


def _type(field: dict) -> dict:
    """What tells the type of a field: of several of a type one is tried."""
    return {
        key: value for key, value in field.items() if key not in ("title", "description", "default")
    }


ROUTES = routes()


@pytest.fixture(scope="module")
def service(started):
    return started("-m", "twmd")


def test_every_endpoint_that_takes_a_body_is_here():
    assert len(ROUTES) == 7 and all(ROUTES.values())


def bodies(path: str) -> list[tuple[str, bytes]]:
    found = []
    for name, shape in SHAPES.items():
        if isinstance(shape, bytes):
            found.append((name, shape))
        else:
            found += [(f"{name}: {field}", shape(field)) for field in ROUTES[path]]
    return found


@pytest.mark.parametrize("path", ROUTES)
def test_a_body_at_the_limit_keeps_nobody_waiting(service, watched, path):
    before, answers = service.memory(), {}
    kind = "multipart/form-data; boundary=x" if path == "/v1/jobs" else "application/json"
    with (
        watched(service) as seen,
        closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)) as line,
    ):

        def sent(body: bytes) -> tuple[int, bytes]:
            line.request("POST", path, body, {"Content-Type": kind})
            answer = line.getresponse()
            return answer.status, answer.read()

        for name, body in bodies(path) if path != "/v1/jobs" else forms():
            status, said = seen.calm(partial(sent, body), PATIENCE)
            answers[name] = status
            assert status in (400, 404, 413, 415, 422, 424), (name, said[:200])
            assert len(said) < 20_000 and set(json.loads(said)) == {
                "error",
                "error_type",
                "limit",
                "hint",
            }, name
    assert len(answers) > 4 and service.memory() - before < 400 * 2**20


def forms() -> list[tuple[str, bytes]]:
    """Uploads that are no job."""
    part = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    file = (
        b'--x\r\nContent-Disposition: form-data; name="hypotheses"; filename="a"\r\n\r\nthe cat\r\n'
    )
    return [
        ("one long field", part % (b"metric", b"a" * MOST) + b"--x--"),
        ("many fields", part % (b"metric", b"a") * (MOST // 60) + b"--x--"),
        ("many files", file * (MOST // 80) + b"--x--"),
        ("a long name", part % (b"n" * MOST, b"a") + b"--x--"),
        ("no boundary", b"a" * MOST),
        ("boundaries", b"--x\r\n" * (MOST // 5)),
    ]
