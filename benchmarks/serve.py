"""Measure the service under load, against `monge score` on the same distinct texts.

    python benchmarks/serve.py --data DIR              # throughput, sharing on and off, overload
    python benchmarks/serve.py --data DIR --soak 10    # and ten minutes of a hundred clients
    python benchmarks/serve.py --data DIR --pairs 120 --json F    # a short form

Every client sends one pair at a time over a connection it keeps. The clients run on the same cores
as the service. No text is sent twice before the soak: later rounds of the pairs are numbered, so
that no answer comes from memory.

What sharing can be worth is bounded by the same run: with distinct texts the service does all that
`monge score` does, so it is at most `monge score` / the service with sharing switched off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import quantiles
from typing import Any

from texts import read_wmt17

CLIENTS, MANY, SOAKING = 64, 256, 100
SAMPLED, SOAK_RATE = 20, 400
"""One in so many answers of the soak is compared with `monge score`; more requests per second than
are answered.
"""
HEAD = (
    b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
    b"application/json\r\nContent-Length: %d\r\n\r\n"
)
MONGE = [sys.executable, "-c", "from monge.cli.main import main; main()"]


class Server:
    """A `monge serve` process."""

    def __init__(self, *arguments: str) -> None:
        command = [*MONGE, "serve", "--port", "0", "-m", "twmd", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        self.port = int(line.split("http://")[1].split("/")[0].rpartition(":")[2])
        while "ready" not in self.process.stderr.readline():
            pass
        subprocess.Popen(
            ["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL
        )  # its log must not fill a pipe

    def memory(self) -> int:
        """Return the resident memory of the process in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(
            next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        )

    def stop(self) -> None:
        """Stop the process and wait for its end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Client:
    """A connection that asks for one pair at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes) -> tuple[int, float, bytes]:
        """Send a body; return status, seconds and the answer."""
        started = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(HEAD % len(body) + body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        if b"\r\nconnection: close" in head:
            writer.close()
            self._streams = None
        return int(head[9:12]), time.perf_counter() - started, answer


class Load:
    """The statuses, times and wrong scores that clients saw."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []
        self.wrong = 0
        self.elapsed = 0.0

    def summarise(self) -> dict[str, Any]:
        """Return pairs per second, percentiles of the times, and counts of statuses."""
        cuts = quantiles(self.seconds, n=100) if len(self.seconds) > 1 else [0.0] * 99
        return {
            "pairs_per_second": len(self.seconds) / self.elapsed,
            "p50": cuts[49],
            "p95": cuts[94],
            "p99": cuts[98],
            "statuses": dict(self.statuses),
            "wrong": self.wrong,
        }


async def run_clients(
    port: int,
    bodies: list[bytes],
    clients: int,
    *,
    until: float = 0,
    rate: float = 0,
    right: dict[bytes, float] | None = None,
    answers: dict[bytes, float] | None = None,
) -> Load:
    """Run clients that take bodies one after another: all of them once, or until a time.

    With a `rate`, this many requests per second are sent by whoever is free; otherwise a client
    sends as soon as its last request is answered. `answers` receives the score of every SAMPLED-th
    body.
    """
    load, position, start = Load(), 0, time.perf_counter()

    async def work() -> None:
        nonlocal position
        client = Client(port)
        while (time.perf_counter() < until) if until else position < len(bodies):
            body, is_sampled = bodies[position % len(bodies)], position % SAMPLED == 0
            position += 1
            if rate:
                await asyncio.sleep(max(start + position / rate - time.perf_counter(), 0))
            status, seconds, answer = await client.ask(body)
            load.statuses[status] += 1
            if status == 200:
                load.seconds.append(seconds)
                if answers is not None and is_sampled:
                    answers[body] = json.loads(answer)["results"][0]["score"]
                if (
                    right is not None
                    and abs(json.loads(answer)["results"][0]["score"] - right[body]) > 1e-5
                ):
                    load.wrong += 1
            elif not rate:
                await asyncio.sleep(0.05)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    load.elapsed = time.perf_counter() - started
    return load


def measure_baseline(directory: str, pairs: int) -> dict[str, Any]:
    """Return pairs per second of `monge score`, warm, and the score of each pair."""
    from monge import api
    from monge.types import Segment

    rows = [
        Segment(str(k), row.hypothesis, row.references[:1])
        for k, row in enumerate(read_wmt17(directory, pairs))
    ]
    metric = api.load("twmd")
    api.score_segments([metric], rows[:64])
    started = time.perf_counter()
    (result,) = api.score_segments([metric], rows)
    speed = len(rows) / (time.perf_counter() - started)
    return {
        "pairs_per_second": speed,
        "scores": result.segments.tolist(),
        "encoding": compare_batch_sizes(metric, rows[:128]),
    }


def compare_batch_sizes(metric: Any, rows: list[Any]) -> float:
    """Return how much longer the encoder takes for pairs one by one than for 64 at a time."""
    reader, request = metric.by_transport("time").reader, metric.by_transport("time").request
    pairs = [[text.ids for text in reader.read([row.hypothesis, *row.references])] for row in rows]

    def seconds(at_once: int) -> float:
        started = time.perf_counter()
        for at in range(0, len(pairs), at_once):
            reader.encoder.hidden(
                [ids for pair in pairs[at : at + at_once] for ids in pair], request.layers
            )
        return time.perf_counter() - started

    seconds(CLIENTS), seconds(1)
    return min(seconds(1) for _ in range(3)) / min(seconds(CLIENTS) for _ in range(3))


class Bodies:
    """Requests of one pair each; from the second round on, texts are numbered to differ."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows, self._round = rows, 0

    def first(self, count: int | None = None) -> list[bytes]:
        """Return the pairs as they are."""
        return [_make_body(row.hypothesis, row.references[0]) for row in self._rows[:count]]

    def fresh(self, count: int) -> list[bytes]:
        """Return this many bodies that have not been sent."""
        bodies: list[bytes] = []
        while len(bodies) < count:
            self._round += 1
            more = f" ({self._round})"
            bodies += [
                _make_body(row.hypothesis + more, row.references[0] + more) for row in self._rows
            ]
        return bodies[:count]


def _make_body(hypothesis: str, reference: str) -> bytes:
    return json.dumps({"hypotheses": [hypothesis], "references": [[reference]]}).encode()


async def measure_service(options: argparse.Namespace) -> dict[str, Any]:
    """Measure throughput with and without sharing, overload, and a soak if asked."""
    bodies = Bodies(read_wmt17(options.data, options.pairs))
    command = [
        sys.executable,
        __file__,
        "--data",
        options.data,
        "--pairs",
        str(options.pairs),
        "--baseline",
    ]
    baseline_figures = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    right = dict(zip(bodies.first(), baseline_figures["scores"], strict=True))
    figures: dict[str, Any] = {
        "pairs": options.pairs,
        "monge score": baseline_figures["pairs_per_second"],
    }
    server = Server()
    await run_clients(server.port, bodies.fresh(CLIENTS), CLIENTS)
    figures["64 clients"] = (
        await run_clients(server.port, bodies.first(), CLIENTS, right=right)
    ).summarise()
    server.stop()
    server = Server("--no-share")
    await run_clients(server.port, bodies.fresh(CLIENTS), CLIENTS)
    half = max(options.pairs // 2, 32)
    figures["64 clients, sharing off"] = (
        await run_clients(server.port, bodies.first(half), CLIENTS, right=right)
    ).summarise()
    server.stop()
    shared, unshared = (
        figures["64 clients"]["pairs_per_second"],
        figures["64 clients, sharing off"]["pairs_per_second"],
    )
    figures["of monge score"], figures["of sharing off"] = (
        shared / baseline_figures["pairs_per_second"],
        shared / unshared,
    )
    figures["of sharing off, at most"] = baseline_figures["pairs_per_second"] / unshared
    figures["encoding one pair at a time / 64 at a time"] = baseline_figures["encoding"]
    server = Server()
    await run_clients(server.port, bodies.fresh(CLIENTS), CLIENTS)
    figures["overload"] = await measure_overload(server, bodies, options.seconds, shared)
    if options.soak:
        figures["soak"] = await measure_soak(server, bodies, options.soak)
    server.stop()
    return figures


async def measure_overload(
    server: Server, bodies: Bodies, seconds: float, rate: float
) -> dict[str, Any]:
    """Send four times the requests that the service can answer; measure how soon it recovers."""
    count = int(3 * rate * seconds)
    capacity = (
        await run_clients(
            server.port, bodies.fresh(count), CLIENTS, until=time.perf_counter() + seconds
        )
    ).summarise()
    bodies_over = bodies.fresh(4 * count)
    overloaded = (
        await run_clients(
            server.port,
            bodies_over,
            MANY,
            until=time.perf_counter() + seconds,
            rate=4 * capacity["pairs_per_second"],
        )
    ).summarise()
    started = time.perf_counter()
    while True:
        load = (await run_clients(server.port, bodies.fresh(8), 8)).summarise()
        if set(load["statuses"]) == {200} and load["p99"] < capacity["p99"]:
            break
    return {
        "capacity": capacity,
        "4 x": overloaded,
        "p99 ratio": overloaded["p99"] / capacity["p99"],
        "recovered_s": time.perf_counter() - started,
    }


async def measure_soak(server: Server, bodies: Bodies, minutes: float) -> dict[str, Any]:
    """Run a hundred clients with distinct texts; return answers, wrong scores and memory."""
    answers: dict[bytes, float] = {}

    async def stage(length: float) -> dict[str, Any]:
        fresh = bodies.fresh(int(60 * length * SOAK_RATE))
        until = time.perf_counter() + 60 * length
        return (
            await run_clients(server.port, fresh, SOAKING, until=until, answers=answers)
        ).summarise()

    first, before = await stage(1), server.memory()
    later, after = await stage(minutes - 1), server.memory()
    return {
        "first minute": first,
        "after": later,
        "rss": [before, after],
        "growth": after / before - 1,
        "compared": len(answers),
        "wrong": count_wrong(answers),
    }


def count_wrong(answers: dict[bytes, float]) -> int:
    """Return how many scores differ from the library's by more than 1e-5."""
    from monge import api
    from monge.types import Segment

    rows = []
    for k, body in enumerate(answers):
        pair = json.loads(body)
        rows.append(Segment(str(k), pair["hypotheses"][0], tuple(pair["references"][0])))
    (result,) = api.score_segments([api.load("twmd")], rows)
    return sum(
        abs(score - library_score) > 1e-5
        for score, library_score in zip(answers.values(), result.segments.tolist(), strict=True)
    )


def main() -> None:
    """Measure the service, and keep the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), required="MONGE_DATA" not in os.environ
    )
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=20, help="of each stage of the overload")
    parser.add_argument(
        "--soak",
        type=float,
        default=0,
        metavar="MINUTES",
        help="0: what FILE keeps of a soak stays",
    )
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--baseline", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    figures = (
        measure_baseline(options.data, options.pairs)
        if options.baseline
        else asyncio.run(measure_service(options))
    )
    if options.json and not options.soak and Path(options.json).is_file():
        before = json.loads(Path(options.json).read_text())
        figures |= {name: before[name] for name in ("soak",) if name in before}
    print(json.dumps(figures, indent=None if options.baseline else 1))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
