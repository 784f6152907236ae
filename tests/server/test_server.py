"""The service as a process: its front door, its end, and those who mean it no good."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from monge.cli.app import run

CHUNKS = 16_384
"""Chunks of 64 KiB that somebody tries to send: a gigabyte."""
SLOW = 200
"""Sockets that send their headers slowly."""
BODY = {"hypotheses": ["the cat sat on the mat"], "references": ["a dog ran to the house"]}


@pytest.fixture(scope="module")
def service(started):
    return started("-m", "twmd", "--limit", "in-flight=4", "--limit", "queue=64")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "--token-file"),
        (["--host", "example.invalid"], "--token-file"),
        (["--token-file", "none"], "cannot be read"),
        (["--limit", "pairs"], "NAME=VALUE"),
        (["--limit", "pear=1"], "did you mean"),
        (["--limit", "pairs=0"], "at least 1"),
        (["--limit", "pairs=1e9"], "whole number"),
        (["--port", "99999"], "65535"),
        (["-m", "twmdd"], "did you mean twmd"),
        (["-m", "twmd[units.stopwords=/etc/passwd]"], "units.stopwords"),
        (["--model", "/nowhere"], "/nowhere"),
        (["--state", "/proc/none"], "/proc"),
    ],
)
def test_what_cannot_be_served_is_one_line(arguments, said, capsys):
    code = run(["serve", "--port", "0", *arguments])
    told = capsys.readouterr().err
    assert code in (1, 2, 3) and said in told
    assert (
        "Traceback" not in told
        and sum(line.startswith("monge: ") for line in told.splitlines()) <= 2
    )


def test_without_its_extra_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "monge.server.server", raising=False)
    assert run(["serve"]) == 2
    assert "pip install 'monge[server]'" in capsys.readouterr().err


def test_a_short_token_and_a_taken_port_are_refused(tmp_path, capsys):
    (tmp_path / "token").write_text("short\n")
    assert run(["serve", "--token-file", str(tmp_path / "token")]) == 2
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot listen" in capsys.readouterr().err


def test_it_says_where_and_when_it_is_ready(service):
    assert service.told().startswith("monge: listening on http://127.0.0.1:")
    assert service.ask("/health/ready")[0] == 200
    assert service.ask("/v1/score", BODY)[0] == 200


def raw(service, head: str, body: bytes = b"") -> bytes:
    """What the service answers to bytes."""
    with service.socket() as line:
        line.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)
        found = b""
        try:
            while some := line.recv(65536):
                found += some
                if b"\r\n\r\n" in found and b"onnection: close" not in found and b"}" in found:
                    break
        except (ConnectionResetError, TimeoutError):
            pass
        return found


def test_only_its_own_names_are_answered(service):
    for host, status in (
        ("localhost", b" 200 "),
        (f"127.0.0.1:{service.port}", b" 200 "),
        ("evil.invalid", b" 403 "),
    ):
        assert status in raw(service, f"GET /health/live HTTP/1.1\nHost: {host}")[:20]


def test_a_body_without_end_is_cut(service):
    before = service.memory()
    head = (
        "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Type: "
        "application/json\nTransfer-Encoding: chunked"
    )
    sent = 0
    with service.socket() as line:
        line.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        try:
            for _ in range(CHUNKS):
                line.sendall(chunk)
                sent += len(chunk)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            pass
        assert sent < 32 * 2**20  # 2 MB are read, the rest is in buffers of the sockets
    assert service.memory() - before < 64 * 2**20
    assert b" 413 " in raw(
        service, "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Length: 99999999999"
    )
    assert service.ask("/health/ready")[0] == 200


def test_odd_requests_are_refused_and_survived(service):
    before = service.memory()
    odd = [
        "GET / HTTP/9.9\nHost: localhost",
        "NONSENSE",
        "GET /%00%ff/../../etc/passwd HTTP/1.1\nHost: localhost",
        "GET /static/..%2f..%2fpages.py HTTP/1.1\nHost: localhost",
        "GET /static/%2e%2e/pages.py HTTP/1.1\nHost: localhost",
        "GET / HTTP/1.1\nHost: localhost\nX: " + "a" * 100_000,
        "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Length: -1",
        "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Length: 5\nTransfer-Encoding: chunked",
        "GET /v1/metrics/%0d%0aSet-Cookie:%20x=1 HTTP/1.1\nHost: localhost",
        "GET /v1/jobs/%0d%0aX:%201/result HTTP/1.1\nHost: localhost",
    ]
    for head in odd:
        answer = raw(service, head)
        assert not answer.startswith((b"HTTP/1.1 5", b"HTTP/1.0 5")), (head[:60], answer[:80])
        assert (
            b"root:" not in answer and b"set-cookie" not in answer.lower().partition(b"\r\n\r\n")[0]
        )
    deep = b"[" * 1_000_000
    kinds = (
        "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: "
    )
    assert b" 400 " in raw(service, f"{kinds}{len(deep)}", deep)
    bomb = "POST /v1/score HTTP/1.1\nHost: localhost\nContent-Encoding: gzip\nContent-Length: 2"
    assert b" 415 " in raw(service, bomb, b"xx")
    assert service.memory() - before < 64 * 2**20
    assert service.ask("/v1/score", BODY)[0] == 200


def test_slow_clients_do_not_keep_others_out(service):
    lines = [service.socket() for _ in range(SLOW)]
    try:
        for line in lines:
            line.sendall(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: app")
        started = time.monotonic()
        assert service.ask("/v1/score", BODY)[0] == 200
        assert time.monotonic() - started < 10
        for line in lines[:50]:
            line.sendall(b"l")
        assert service.ask("/health/ready")[0] == 200
    finally:
        for line in lines:
            line.close()


def _answer(line):
    """A whole answer: the body may come behind the head."""
    found = b""
    while not found.endswith(b"}"):
        found += line.recv(4096)
    return found


def test_a_head_that_does_not_come_whole_is_not_waited_for(started):
    service = started("-m", "twmd", "--limit", "head=1")
    begun = time.monotonic()
    silent, trickling, kept = (service.socket() for _ in range(3))
    with silent, trickling, kept:
        kept.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in _answer(kept)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            trickling.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ")
            while time.monotonic() < begun + 10:
                trickling.sendall(b"x")
                time.sleep(0.1)
        assert 0.9 < time.monotonic() - begun < 8
        assert silent.recv(1) == b""
        kept.sendall(
            b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )  # idle for longer than a head may take
        assert b" 200 " in _answer(kept)
        kept.sendall(b"GET /health/live HTTP/1.1\r\nHo")
        assert kept.recv(1) == b""


HEADS = {
    "one long header": (b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ", b"x" * 65536),
    "many headers": (
        b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n",
        b"X-Y: zzzzzzzzz\r\n" * 4096,
    ),
    "a long address": (b"GET /", b"x" * 65536),
    "behind a body": (
        b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n0\r\n",
        b"X-Y: zzzzzzzzz\r\n" * 4096,
    ),
    "between pieces of a body": (
        b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n1;x=",
        b"y" * 65536,
    ),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_without_end_is_cut(service, name):
    start, more = HEADS[name]
    before, sent, answer = service.memory(), 0, b""
    with service.socket() as line:
        line.sendall(start)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            for _ in range(CHUNKS // 8):  # some 100 MB
                line.sendall(more)
                sent += len(more)
        with contextlib.suppress(ConnectionResetError, TimeoutError):
            answer = line.recv(4096)
    assert sent < 32 * 2**20 and service.memory() - before < 16 * 2**20
    assert not answer or b" 431 " in answer[:20]
    assert service.ask("/v1/score", BODY)[0] == 200


def test_the_length_of_a_head_is_bounded_and_said(service):
    fine = raw(service, "GET /health/live HTTP/1.1\nHost: localhost\nX: " + "a" * 60_000)
    assert b" 200 " in fine[:20]
    long = raw(service, "GET /health/live HTTP/1.1\nHost: localhost\nX: " + "a" * 66_000)
    assert b" 431 " in long[:20] and b'"limit": 65536' in long and b"too_large" in long
    many = "GET /health/live HTTP/1.1\nHost: localhost\nX: " + "a" * 3000
    with service.socket() as line:  # one after another, all in one go
        line.sendall((many.replace("\n", "\r\n") + "\r\n\r\n").encode() * 40)
        found = b""
        while found.count(b"HTTP/1.1 200") < 40:
            found += line.recv(65536)


def test_uploads_that_trickle_are_few_and_end(started):
    service = started("-m", "twmd", "--limit", "uploads=3", "--limit", "upload-seconds=2")
    head = (b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; "
        b"boundary=x\r\n"
            b"Content-Length: 100000\r\n\r\n--x\r\nContent-Disposition: form-data; "
            b"name=\"hypotheses\"; "
            b"filename=\"a\"\r\n\r\n")  # fmt: skip
    lines = [service.socket() for _ in range(30)]
    begun, ends = time.monotonic(), {}
    try:
        for line in lines:
            line.sendall(head)
            line.setblocking(False)
        while len(ends) < len(lines) and time.monotonic() < begun + 20:
            for k, line in enumerate(lines):
                if k in ends:
                    continue
                with contextlib.suppress(BlockingIOError):
                    ends[k] = line.recv(4096)[:13]
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                    line.send(b"a")
            time.sleep(0.05)
    finally:
        for line in lines:
            line.close()
    assert sorted(ends.values()) == [b"HTTP/1.1 408 "] * 3 + [b"HTTP/1.1 429 "] * 27
    assert time.monotonic() - begun < 8 and service.ask("/v1/score", BODY)[0] == 200


@pytest.fixture(scope="module")
def large(sentence):
    def call(count: int) -> dict[str, list[str]]:
        texts = [sentence(k, 14) for k in range(2 * count)]
        return {"hypotheses": texts[:count], "references": texts[count:]}

    return call


def test_a_client_that_leaves_frees_its_work(service, large):
    body = json.dumps({**large(1000), "metrics": ["twmd", "wmd"]}).encode()
    kind = "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head = f"{kind}Content-Length: {len(body)}\r\n\r\n"
    lines = [service.socket() for _ in range(4)]
    for line in lines:
        line.sendall(head.encode() + body)
    time.sleep(0.3)
    for line in lines:
        line.close()
    deadline = time.monotonic() + 30
    while "monge_in_flight 0.0" not in (text := service.ask("/metrics")[1].decode()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    gone = next(line for line in text.splitlines() if line.startswith("monge_abandoned_total"))
    assert float(gone.split()[-1]) >= 1


def test_a_stopping_service_answers_what_it_has_accepted(started, large):
    service = started("-m", "twmd", "--limit", "in-flight=2")
    answers: list[int] = []
    with httpx.Client(
        base_url=service.url, timeout=60, limits=httpx.Limits(max_connections=64)
    ) as web:
        web.get("/health/live")

        def ask(segments: int) -> None:
            body = {**large(segments), "metrics": ["twmd", "wmd"]}
            answers.append(web.post("/v1/score", json=body).status_code)

        def wait_for(gauge: str) -> None:
            deadline = time.monotonic() + 60
            while gauge not in web.get("/metrics").text.splitlines():
                assert time.monotonic() < deadline, gauge
                time.sleep(0.02)

        with ThreadPoolExecutor(8) as pool:
            # Two long requests hold both places while six short requests come to wait.
            coming = [pool.submit(ask, 1000) for _ in range(2)]
            wait_for("monge_in_flight 2.0")
            coming += [pool.submit(ask, 10) for _ in range(6)]
            wait_for("monge_waiting 6.0")
            service.process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
            late = web.post("/v1/score", json=BODY)
            assert (
                late.status_code == 503
                and late.headers["retry-after"]
                and late.json()["error_type"] == "stopping"
            )
            for request in coming:
                request.result()
    assert answers == [200] * 8
    assert service.process.wait(40) == 0
    assert "Traceback" not in service.told()


def test_many_clients_get_right_answers(service, sentence):
    bodies = [{"hypotheses": [sentence(k)], "references": [sentence(k + 1, 6)]} for k in range(60)]
    alone = [service.ask("/v1/score", body) for body in bodies]
    lock, found = threading.Lock(), {}

    def ask(k: int) -> None:
        answer = service.ask("/v1/score", bodies[k])
        with lock:
            found[k] = answer

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(ask, range(60)))
    assert [found[k] for k in range(60)] == alone and {status for status, _ in alone} == {200}


def test_ctrl_c_is_130(service):
    """The last test of this file: it ends the service."""
    assert service.stop(signal.SIGINT) == 130
    assert "Traceback" not in service.told()
