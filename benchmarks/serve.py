"""The service under load, against `monge score` on the same distinct texts; one run, everything
warmed.

    python benchmarks/serve.py --data DIR                         # throughput, sharing on and off, overload
    python benchmarks/serve.py --data DIR --soak 10               # and ten minutes of a hundred clients
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

from texts import wmt17

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
    """A `monge serve` of its own."""

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
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(
            next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Client:
    """One connection; it says the status, the seconds and the score of each pair."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes) -> tuple[int, float, bytes]:
        started = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(HEAD % len(body) + body)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])
        found = await reader.readexactly(length)
        if b"\r\nconnection: close" in head:
            writer.close()
            self._streams = None
        return int(head[9:12]), time.perf_counter() - started, found


class Load:
    """What some clients saw."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []
        self.wrong = 0
        self.elapsed = 0.0

    def told(self) -> dict[str, Any]:
        cuts = quantiles(self.seconds, n=100) if len(self.seconds) > 1 else [0.0] * 99
        return {
            "pairs_per_second": len(self.seconds) / self.elapsed,
            "p50": cuts[49], "p95": cuts[94], "p99": cuts[98],
            "statuses": dict(self.statuses), "wrong": self.wrong,
        }  # fmt: skip


async def load(
    port: int,
    bodies: list[bytes],
    clients: int,
    *,
    until: float = 0,
    rate: float = 0,
    right: dict[bytes, float] | None = None,
    answers: dict[bytes, float] | None = None,
) -> Load:
    """Clients that take bodies one after another: all of them once, or over and over until a time.

    With a `rate`, so many requests a second are sent by whoever is free; otherwise as soon as the
    last is answered. `answers` receives the score of every SAMPLED-th body.
    """
    found, place, begun = Load(), 0, time.perf_counter()

    async def work() -> None:
        nonlocal place
        client = Client(port)
        while (time.perf_counter() < until) if until else place < len(bodies):
            body, is_sampled = bodies[place % len(bodies)], place % SAMPLED == 0
            place += 1
            if rate:
                await asyncio.sleep(max(begun + place / rate - time.perf_counter(), 0))
            status, seconds, answer = await client.ask(body)
            found.statuses[status] += 1
            if status == 200:
                found.seconds.append(seconds)
                if answers is not None and is_sampled:
                    answers[body] = json.loads(answer)["results"][0]["score"]
                if (
                    right is not None
                    and abs(json.loads(answer)["results"][0]["score"] - right[body]) > 1e-5
                ):
                    found.wrong += 1
            elif not rate:
                await asyncio.sleep(0.05)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    found.elapsed = time.perf_counter() - started
    return found


def baseline(directory: str, pairs: int) -> dict[str, Any]:
    """Pairs a second of `monge score`, model loaded and warm, and the score of each pair."""
    from monge import api
    from monge.types import Segment

    rows = [
        Segment(str(k), row.hypothesis, row.references[:1])
        for k, row in enumerate(wmt17(directory, pairs))
    ]
    metric = api.load("twmd")
    api.score_segments([metric], rows[:64])
    started = time.perf_counter()
    (result,) = api.score_segments([metric], rows)
    speed = len(rows) / (time.perf_counter() - started)
    return {
        "pairs_per_second": speed,
        "scores": result.segments.tolist(),
        "encoding": encoding(metric, rows[:128]),
    }


def encoding(metric: Any, rows: list[Any]) -> float:
    """How much longer the encoder takes for pairs one by one than for 64 at a time."""
    reader, request = metric.by_transport("time").reader, metric.by_transport("time").request
    pairs = [[one.ids for one in reader.read([row.hypothesis, *row.references])] for row in rows]

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
    """Requests of one pair each, without end and none twice: from the second round on the texts are
    numbered.
    """

    def __init__(self, rows: list[Any]) -> None:
        self._rows, self._round = rows, 0

    def first(self, count: int | None = None) -> list[bytes]:
        """The pairs as they are."""
        return [_body(row.hypothesis, row.references[0]) for row in self._rows[:count]]

    def fresh(self, count: int) -> list[bytes]:
        """So many that have not been sent."""
        found: list[bytes] = []
        while len(found) < count:
            self._round += 1
            more = f" ({self._round})"
            found += [_body(row.hypothesis + more, row.references[0] + more) for row in self._rows]
        return found[:count]


def _body(hypothesis: str, reference: str) -> bytes:
    return json.dumps({"hypotheses": [hypothesis], "references": [[reference]]}).encode()


async def measured(given: argparse.Namespace) -> dict[str, Any]:
    bodies = Bodies(wmt17(given.data, given.pairs))
    command = [
        sys.executable,
        __file__,
        "--data",
        given.data,
        "--pairs",
        str(given.pairs),
        "--baseline",
    ]
    alone = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    right = dict(zip(bodies.first(), alone["scores"], strict=True))
    found: dict[str, Any] = {"pairs": given.pairs, "monge score": alone["pairs_per_second"]}
    server = Server()
    await load(server.port, bodies.fresh(CLIENTS), CLIENTS)
    found["64 clients"] = (await load(server.port, bodies.first(), CLIENTS, right=right)).told()
    server.stop()
    server = Server("--no-share")
    await load(server.port, bodies.fresh(CLIENTS), CLIENTS)
    some = max(given.pairs // 2, 32)
    found["64 clients, sharing off"] = (
        await load(server.port, bodies.first(some), CLIENTS, right=right)
    ).told()
    server.stop()
    shared, own = (
        found["64 clients"]["pairs_per_second"],
        found["64 clients, sharing off"]["pairs_per_second"],
    )
    found["of monge score"], found["of sharing off"] = (
        shared / alone["pairs_per_second"],
        shared / own,
    )
    found["of sharing off, at most"] = alone["pairs_per_second"] / own
    found["encoding one pair at a time / 64 at a time"] = alone["encoding"]
    server = Server()
    await load(server.port, bodies.fresh(CLIENTS), CLIENTS)
    found["overload"] = await overload(server, bodies, given.seconds, shared)
    if given.soak:
        found["soak"] = await soak(server, bodies, given.soak)
    server.stop()
    return found


async def overload(server: Server, bodies: Bodies, seconds: float, rate: float) -> dict[str, Any]:
    """Four times the requests that the service can answer, for some seconds, then how soon it is as
    before.
    """
    enough = int(3 * rate * seconds)
    at = (
        await load(server.port, bodies.fresh(enough), CLIENTS, until=time.perf_counter() + seconds)
    ).told()
    many = bodies.fresh(4 * enough)
    over = (
        await load(
            server.port,
            many,
            MANY,
            until=time.perf_counter() + seconds,
            rate=4 * at["pairs_per_second"],
        )
    ).told()
    started = time.perf_counter()
    while True:
        one = (await load(server.port, bodies.fresh(8), 8)).told()
        if set(one["statuses"]) == {200} and one["p99"] < at["p99"]:
            break
    return {
        "capacity": at,
        "4 x": over,
        "p99 ratio": over["p99"] / at["p99"],
        "recovered_s": time.perf_counter() - started,
    }


async def soak(server: Server, bodies: Bodies, minutes: float) -> dict[str, Any]:
    """A hundred clients with distinct texts: what was answered, how many of a sample were wrong,
    and the memory.
    """
    answers: dict[bytes, float] = {}

    async def stage(length: float) -> dict[str, Any]:
        fresh = bodies.fresh(int(60 * length * SOAK_RATE))
        until = time.perf_counter() + 60 * length
        return (await load(server.port, fresh, SOAKING, until=until, answers=answers)).told()

    first, before = await stage(1), server.memory()
    rest, after = await stage(minutes - 1), server.memory()
    return {
        "first minute": first,
        "after": rest,
        "rss": [before, after],
        "growth": after / before - 1,
        "compared": len(answers),
        "wrong": count_wrong(answers),
    }


def count_wrong(answers: dict[bytes, float]) -> int:
    """How many scores differ from those of the library by more than 1e-5."""
    from monge import api
    from monge.types import Segment

    rows = []
    for k, body in enumerate(answers):
        pair = json.loads(body)
        rows.append(Segment(str(k), pair["hypotheses"][0], tuple(pair["references"][0])))
    (result,) = api.score_segments([api.load("twmd")], rows)
    return sum(
        abs(score - own) > 1e-5
        for score, own in zip(answers.values(), result.segments.tolist(), strict=True)
    )


def main() -> None:
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
    given = parser.parse_args()
    found = baseline(given.data, given.pairs) if given.baseline else asyncio.run(measured(given))
    if given.json and not given.soak and Path(given.json).is_file():
        before = json.loads(Path(given.json).read_text())
        found |= {name: before[name] for name in ("soak",) if name in before}
    print(json.dumps(found, indent=None if given.baseline else 1))
    if given.json:
        Path(given.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
