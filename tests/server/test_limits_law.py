"""The limits law: the largest request that is allowed ends in time, can be cancelled, and keeps
nobody waiting.

Endpoints are taken from the description of the service and settings from the forms of the metrics,
so that a new one cannot be forgotten.
"""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from monge.metrics.forms import EVERY, form
from monge.render import render_results
from monge.server import browse, schemas
from monge.server.app import create
from monge.server.service import Config
from monge.types import Result, Segment

PATIENCE, CANCELLED, SECONDS = 0.5, 2.0, 12
"""Seconds until the service says that it lives, until work stops that nobody waits for, and of a
request.
"""
WORK = 1
"""Seconds of work, as they are estimated, of a request to the service of these tests."""
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "dog",
    "ran",
    "to",
    "house",
    "and",
    "slept",
    "a",
    "an",
    "is",
    "of",
    "in",
    "it",
    "he",
    "she",
    "said",
    "hello",
    "world",
    "not",
]
KIND = {"Content-Type": "application/json"}


@cache
def text(characters: int, start: int = 0) -> str:
    """A text of so many characters at the most."""
    words = (WORDS[(start + k * k + 7 * k) % len(WORDS)] for k in range(characters))
    return " ".join(words)[:characters].rsplit(" ", 1)[0]


@pytest.fixture(scope="module")
def service(started):
    return started("-m", "twmd", "--limit", f"work={WORK}", "--limit", f"seconds={SECONDS}")


def asked(service, path: str, body: object, accept: str = "*/*") -> tuple[int, dict, float, int]:
    """Status, what was said if it is a refusal, seconds, bytes."""
    started = time.monotonic()
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)) as line:
        line.request("POST", path, json.dumps(body), {**KIND, "Accept": accept})
        answer = line.getresponse()
        said = answer.read()
    return (
        answer.status,
        json.loads(said) if answer.status >= 400 else {},
        time.monotonic() - started,
        len(said),
    )


def idle(service) -> bool:
    return "monge_in_flight 0.0" in service.ask("/metrics")[1].decode().splitlines()


def left(service, path: str, body: object) -> float:
    """Seconds until nothing is worked on any more after the client of a request has left."""
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)) as line:
        line.request("POST", path, json.dumps(body), KIND)
        time.sleep(0.15)
    started = time.monotonic()
    while not idle(service):
        assert time.monotonic() < started + 30, (path, str(body)[:200])
        time.sleep(0.02)
    return time.monotonic() - started


def holds(service, seen, path: str, make, sizes: tuple[int, ...], accept: str = "*/*") -> int:
    """Hold a request to the law at the largest size that is allowed; the size."""
    for size in sizes:
        status, said, seconds, length = seen.calm(
            partial(asked, service, path, make(size, 0), accept), PATIENCE
        )
        if status != 413:
            break
        assert seconds < 3 and said["limit"] and said["hint"], said
        assert "at most" in said["error"] or "larger than" in said["error"], said
    assert status in (200, 400, 422, 424) and seconds < SECONDS, (path, size, status, said, seconds)
    assert length < 10_000_000, (path, size, length)
    if seconds > 0.5:
        assert seen.calm(partial(left, service, path, make(size, 1)), PATIENCE) < CANCELLED, (
            path,
            size,
        )
    return size


SIZES = (19_900, 6000, 2000, 600, 200, 60)
LARGE = [
    "10**9",
    "1000000000",
    "1000000",
    "100000",
    "10000",
    "1000",
    "100",
    "16",
    "10",
    "4",
    "1",
    "0.99",
    "0.5",
]
VALUES = {
    "layers": ["last99:pmeans(1,2)", "last2:pmeans(" + ",".join(map(str, range(1, 17))) + ")"],
    "transport.slack": ["1000000/1000000", "1/1"],
    "readout.temperatures": [
        "/".join(f"0.{k:03d}1" for k in range(64)),
        "/".join(f"0.{k:03d}1" for k in range(16)),
    ],
}
FILES = ("a name or a file", "any text")
NEEDS_A_MODEL = ("fluency.weight",)
"""Settings of a language model, which the services of these tests do not have."""


def settings() -> dict[str, tuple[str, list[str]]]:
    """Every setting that takes a number: a metric that has it, and what chooses it."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in EVERY:
        for axis in form(name):
            for choice, fields in axis["choices"].items():
                for field in fields:
                    if not field["options"] and field["accepts"] not in FILES:
                        chosen = (
                            [] if choice in ("", axis["chosen"]) else [f"{axis['axis']}={choice}"]
                        )
                        found.setdefault(f"{axis['axis'] and ''}{field['target']}", (name, chosen))
    return found


SETTINGS = {target: one for target, one in settings().items() if target not in NEEDS_A_MODEL}


@pytest.mark.parametrize("target", SETTINGS)
def test_the_largest_value_of_every_setting_is_bounded(service, watched, target):
    metric, chosen = SETTINGS[target]
    window = (
        ["encoder.overlong=window"]
        if target.partition(".")[0] in ("transport", "readout", "units")
        else []
    )

    def make(value: str):
        def body(size: int, start: int) -> dict:
            return {
                "hypotheses": [text(size, start), "the cat"],
                "references": [text(size, start + 5), "a dog"],
                "metrics": [metric],
                "settings": [*chosen, *window, f"{target}={value}"],
            }

        return body

    allowed = [
        value
        for value in VALUES.get(target, LARGE)
        if asked(service, "/v1/score", make(value)(60, 3))[0] == 200
    ]
    assert allowed, f"no value of {target} is taken: say in VALUES which is"
    with watched(service) as seen:
        holds(service, seen, "/v1/score", make(allowed[0]), SIZES)


@pytest.mark.parametrize("metric", EVERY)
def test_the_longest_texts_of_every_metric_are_bounded(service, watched, metric):
    def make(size: int, start: int) -> dict:
        window = (
            []
            if metric in ("bleu", "sentbleu") or not form(metric) or not form(metric)[0]["axis"]
            else [1]
        )
        return {
            "hypotheses": [text(size, start), "the cat"],
            "references": [text(size, start + 5), "a dog"],
            "metrics": [metric],
            "settings": ["encoder.overlong=window"] * len(window),
        }

    with watched(service) as seen:
        holds(service, seen, "/v1/score", make, SIZES)


def systems(count: int, start: int) -> dict[str, list[str]]:
    return {f"s{k}": [text(40, start + 31 * k + i) for i in range(20)] for k in range(count)}


LARGEST = {
    "/v1/score": [
        (lambda n, at: {"hypotheses": [text(60, at + k) for k in range(n)], "metrics": ["twmd", "chrf"],
                        "references": [text(60, at + 9 * k) for k in range(n)], "segments": True, "intervals": True,
                        "seed": 2**32 - 1}, (1001, 1000, 100)),
        (lambda n, at: {"hypotheses": [text(n, at)], "references": [text(n, at + 1)], "metrics": ["meteor"]}, SIZES),
        (lambda n, at: {"hypotheses": ["a " * (n // 2)], "references": ["a " * (n // 2)], "metrics": ["meteor"]},
         SIZES),
    ],
    "/v1/explain": [
        (lambda n, at: {"hypothesis": text(n, at), "reference": text(n, at + 5), "metric": "twmd",
                        "settings": ["transport.sweeps=10000", "encoder.overlong=window"]}, SIZES),
        (lambda n, at: {"hypothesis": text(n, at), "reference": text(n, at + 5), "metric": "bertscore",
                        "settings": ["encoder.overlong=window"], "whole": True}, SIZES),
    ],
    "/v1/compare": [
        (lambda n, at: {"systems": systems(n, at), "references": [text(40, k) for k in range(20)], "metrics": ["twmd"],
                        "resamples": 10_000, "confidence": 0.999999, "seed": 2**32 - 1}, (64, 45, 30, 20, 12, 6)),
        (lambda n, at: {"systems": systems(n, at), "references": [text(40, k) for k in range(20)], "metrics": ["chrf"],
                        "resamples": 10_000, "test": "permutation"}, (64, 30, 20, 12, 6, 3, 2)),
        (lambda n, at: {"systems": systems(2, at), "references": [text(40, k) for k in range(20)], "metrics": ["chrf"],
                        "alpha": 10.0 ** -n}, (9, 5, 4, 3)),
    ],
    "/v1/stats": [
        (lambda n, at: {"references": [text(n, at + k) for k in range(90)], "metric": "moverscore"}, SIZES),
        (lambda n, at: {"references": [text(300, at + k) for k in range(n)], "metric": "moverscore",
                        "settings": ["centre=corpus"]}, (1001, 1000)),
    ],
    "/v1/signature/parse": [(lambda n, at: {"signature": "metric:twmd|" + "a:b|" * (n // 4)}, (7990,))],
    "/v1/signature/diff": [(lambda n, at: {"one": "a:b|" * (n // 4), "other": "c:d|" * (n // 4)}, (7990,))],
    "/v1/jobs": [],
}  # fmt: skip
"""For every endpoint that takes a body, requests of a size, and sizes from too large downwards."""


def test_every_endpoint_has_its_largest_request():
    paths = create(Config()).openapi()["paths"]
    assert {path for path, verbs in paths.items() if "post" in verbs} == set(LARGEST)


@pytest.mark.parametrize(
    ("path", "which"), [(path, k) for path, every in LARGEST.items() for k in range(len(every))]
)
def test_the_largest_request_of_every_endpoint_is_bounded(service, watched, path, which):
    make, sizes = LARGEST[path][which]
    with watched(service) as seen:
        for accept in ("*/*", "image/svg+xml", "text/html") if path == "/v1/explain" else ("*/*",):
            holds(service, seen, path, make, sizes, accept)


@pytest.mark.parametrize(
    "metrics", [["rougeL"], ["twmd[transport.sweeps=10000,encoder.overlong=window]"]]
)
def test_the_largest_pair_of_a_job_is_bounded_and_cancelled(service, watched, metrics):
    import httpx

    with httpx.Client(base_url=service.url, timeout=60) as web, watched(service) as seen:
        for size in SIZES:
            lines = [text(size, k) for k in range(200)]
            body = "\n".join(lines) + "\n"
            files = [
                ("hypotheses", ("a", body)),
                ("references", ("r", "\n".join(lines[::-1]) + "\n")),
            ]
            answer = web.post("/v1/jobs", files=files, data={"metric": metrics})
            if answer.status_code == 202:
                break
            assert answer.status_code == 413 and "at most" in answer.json()["error"], answer.text
        assert answer.status_code == 202
        name = answer.json()["id"]
        time.sleep(0.5)
        assert web.get(f"/v1/jobs/{name}").json()["state"] in ("queued", "running")
        began = time.monotonic()
        web.delete(f"/v1/jobs/{name}")
        while (state := web.get(f"/v1/jobs/{name}").json()["state"]) in ("queued", "running"):
            assert time.monotonic() < began + CANCELLED
            time.sleep(0.02)
        assert state == "cancelled" and seen.slowest() < PATIENCE


def test_a_comparison_of_many_systems_says_what_it_does_and_is_cancelled(service):
    import httpx

    with httpx.Client(base_url=service.url, timeout=60) as web:
        files = [
            ("hypotheses", (f"s{k}", "\n".join(one) + "\n"))
            for k, one in enumerate(systems(40, 1).values())
        ]
        references = "\n".join(text(40, k) for k in range(20)) + "\n"
        answer = web.post(
            "/v1/jobs", files=[*files, ("references", ("r", references))], data={"metric": "chrf"}
        )
        name, deadline = answer.json()["id"], time.monotonic() + 60
        while (said := web.get(f"/v1/jobs/{name}").json())["phase"] != "comparing":
            assert time.monotonic() < deadline and said["state"] in ("queued", "running"), said
            time.sleep(0.02)
        assert said["remaining_seconds"] is None and said["compared"] == 0
        time.sleep(0.3)
        began = time.monotonic()
        web.delete(f"/v1/jobs/{name}")
        while web.get(f"/v1/jobs/{name}").json()["state"] == "running":
            assert time.monotonic() < began + CANCELLED
            time.sleep(0.02)


def test_a_job_takes_as_many_metrics_as_a_request(client):
    files = [("hypotheses", ("a", "x\n")), ("references", ("r", "x\n"))]
    answer = client.post("/v1/jobs", files=files, data={"metric": ["chrf"] * 13})
    assert answer.status_code == 413 and answer.json()["limit"] == 12


def test_heavy_requests_leave_places_for_others(service, watched):
    """Eighty at a time, each almost as long as is allowed: others are answered, and when clients
    leave all is free.
    """

    def body(k: int) -> dict:
        return {
            "hypotheses": [text(8000, k)],
            "references": [text(8000, k + 5)],
            "metrics": ["rougeL"],
        }

    for metric in ("twmd", "chrf", "rougeL"):  # what is loaded once does not count
        assert (
            asked(
                service,
                "/v1/score",
                {**body(0), "hypotheses": ["a"], "references": ["b"], "metrics": [metric]},
            )[0]
            == 200
        )
    assert asked(service, "/v1/score", body(0))[0] == 200
    lines = []
    with watched(service) as seen:
        for k in range(80):
            line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
            line.request("POST", "/v1/score", json.dumps(body(k)), KIND)
            lines.append(line)
        began = time.monotonic()
        for metric in ("twmd", "chrf"):
            short = {"hypotheses": ["the cat"], "references": ["a dog"], "metrics": [metric]}
            status, said, _, _ = asked(service, "/v1/score", short)
            while (
                status == 429 and time.monotonic() < began + 3
            ):  # until most have been told to come back
                status, said, _, _ = asked(service, "/v1/score", short)
            assert status == 200, said
        assert time.monotonic() - began < 5 and seen.slowest() < 2 * PATIENCE
        assert not idle(service)  # the heavy ones are still worked on
    for line in lines:
        with suppress(OSError):
            line.close()
    began = time.monotonic()
    while not idle(service):
        assert time.monotonic() < began + CANCELLED
        time.sleep(0.05)


def test_an_engine_that_is_stuck_is_not_ready(config):
    with TestClient(create(replace(config, state=None))) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.02)
        engine = client.app.service.engine
        engine._busy_since[1] = (
            time.monotonic() - 30 - 16
        )  # a thread that began before the time limit and the margin
        answer = client.get("/health/ready")
        assert answer.status_code == 503 and "no progress" in answer.json()["error"]
        assert client.get("/health/live").status_code == 200
        del engine._busy_since[1]
        assert client.get("/health/ready").status_code == 200


def test_a_long_explanation_has_its_largest_moves_and_the_sum_of_the_rest(client):
    body = {"hypothesis": text(1500), "reference": text(1500, 5), "metric": "twmd",
            "settings": ["encoder.overlong=window"]}  # fmt: skip
    answer = client.post("/v1/explain", json=body)
    found = answer.json()
    assert (
        len(answer.content) < 2_000_000
        and found["cost"] == []
        and set(found["left_out"]) == {"cells", "moves"}
    )
    for plan, rest in found["left_out"]["moves"].items():
        mine = [move["mass"] for move in found["moves"] if move["plan"] == plan]
        assert len(mine) <= 2000 and mine == sorted(mine, reverse=True)
        assert sum(mine) + rest["mass"] == pytest.approx(1, abs=0.02) and rest["moves"] > 0
    whole = client.post(
        "/v1/explain", json={**body, "hypothesis": text(200), "reference": text(200, 5)}
    ).json()
    assert (
        "left_out" not in whole and whole["cost"] and whole["dearest"] > 0 and found["dearest"] > 0
    )


class Kept:
    """A job with many items that has been done."""

    def __init__(self, count: int) -> None:
        scores = np.random.default_rng(1).normal(size=count)
        plain = {"metric": "chrf", "score": 0.0, "higher_is_better": True, "parts": {}, "run": {},
                 "signature": schemas.SIGNATURES[0]}  # fmt: skip
        items = [{"id": str(k), "score": float(scores[k]), "parts": {}, "best_reference": 1, "flags": []}
                 for k in range(count)]  # fmt: skip
        names = [("chrf", "a"), ("chrf", "b"), ("chrf++", "a"), ("chrf++", "b")]
        self._results = [Result.from_dict({**plain, "metric": metric, "system": system, "n": count, "segments": items})
                         for metric, system in names]  # fmt: skip
        self._rows = [
            Segment(str(k), "the cat", ("a dog",), None, system)
            for system in "ab"
            for k in range(count)
        ]

    def results(self, name: str) -> list[Result]:
        return self._results

    def path(self, name: str, file: str) -> None:
        pass

    folder = Path("/nonexistent")

    def get(self, name: str) -> Kept:
        return self

    def rows(self) -> list[Segment]:
        return self._rows


READ = {
    "/v1/jobs/{name}/segments": [
        "?size=200&order=disagreement",
        "?size=200&start=24000&order=score",
        "?search=dog",
    ],
    "/v1/jobs/{name}/result": [f"?format={form}" for form in ("json", "jsonl", "tsv")],
    "/v1/jobs/{name}/report": ["", "?format=json"],
    "/v1/jobs/{name}": [""],
    "/v1/jobs/{name}/events": [""],
    "/v1/jobs/{name}/comparison": [""],
    "/v1/stats/{name}": [""],
    "/v1/metrics/{name}": ["?" + "&".join(["setting=transport.temperature%3D0.5"] * 1500)],
    **{
        path: [""]
        for path in (
            "/v1/jobs",
            "/v1/metrics",
            "/health/live",
            "/health/ready",
            "/metrics",
            "/version",
        )
    },
}


def test_reading_the_largest_job_keeps_nobody_waiting(started, watched, tmp_path):
    """Every address that is read from, on a state with a job of many items."""
    paths = create(Config()).openapi()["paths"]
    assert {path for path, verbs in paths.items() if "get" in verbs} == set(READ)
    count, kept = 25_000, Kept(25_000)
    folder = tmp_path / "jobs" / "0123456789abcdef"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(
        "".join(render_results(kept.results(""), "json", version="1", segments=True))
    )
    (folder / "comparison.json").write_text("{}")
    rows = "".join(f"{row.id}\t{row.system}\tthe cat\ta dog\n" for row in kept.rows())
    (folder / "input-0").write_text("id\tsystem\thypothesis\treference\n" + rows)
    order = {"metrics": ["chrf", "chrf++"], "files": [["table", "t.tsv"]], "table_format": "tsv"}
    (folder / "job.json").write_text(json.dumps({"created": time.time(), "order": order}))
    (folder / "state.json").write_text(
        json.dumps({"state": "done", "error": None, "systems": ["a", "b"], "total": 1})
    )
    service = started("-m", "twmd", "--state", tmp_path)
    with watched(service) as seen:
        began = time.monotonic()
        for path, asked_for in READ.items():
            name = "twmd" if "metrics" in path else folder.name
            for more in asked_for:
                status, body = seen.calm(
                    partial(service.ask, path.replace("{name}", name) + more), PATIENCE
                )
                assert status in (200, 404, 400), (path, status, body[:200])
        assert time.monotonic() - began < 40
        first = json.loads(service.ask(f"/v1/jobs/{folder.name}/segments?size=1")[1])
    assert first["total"] == count and first["metrics"] == ["chrf", "chrf++"]


def test_results_are_read_back_as_they_were_written():
    from monge.server.results import read_results

    kept = Kept(3).results("")
    odd = [replace(one, system='a "segments": [ \\" ] ', metric=one.metric) for one in kept]
    for results in (kept, odd):
        text_ = "".join(render_results(results, "json", version="1", segments=True))
        assert [one.to_dict() for one in read_results(text_)] == [
            Result.from_dict(one).to_dict() for one in json.loads(text_)["results"]
        ]


def test_pages_of_many_items_are_quick():
    jobs = Kept(100_000)
    browse.page(jobs, "x", browse.SegmentQuery())  # reads it once
    browse.page(jobs, "x", browse.SegmentQuery(order="disagreement"))  # ranks them once
    for order in ("input", "score", "difference", "spread", "disagreement"):
        began = time.monotonic()
        page = browse.page(jobs, "x", browse.SegmentQuery(order=order, start=90_000, size=200))
        assert (
            time.monotonic() - began < 0.5
            and len(page["items"]) == 200
            and page["total"] == 100_000
        )
        assert [len(one["outputs"]) for one in page["items"]] == [2] * 200
