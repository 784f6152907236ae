"""Jobs: the bytes of the command, whatever happens on the way."""

from __future__ import annotations

import gzip
import html
import json
import os
import random
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from monge.cli.app import run
from monge.report import material
from monge.server.app import create
from monge.server.engine import Ticket
from monge.server.limits import Limits

KILLS = int(os.environ.get("MONGE_KILLS", "2"))
"""Times that the service is killed while 20 jobs run: each costs the start of a process."""


def files_of(sentence, start: int, count: int, systems: int = 2):
    """Uploads of some systems and their references, as a client sends them."""
    texts = {
        f"system-{k}.txt": [sentence(start + 31 * k + i) for i in range(count)]
        for k in range(systems)
    }
    references = [sentence(start + i, 6) for i in range(count)]
    found = [("hypotheses", (name, "\n".join(lines) + "\n")) for name, lines in texts.items()]
    return [*found, ("references", ("ref.txt", "\n".join(references) + "\n"))]


def ended(client, name: str, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while (said := client.get(f"/v1/jobs/{name}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return said


def sent(client, files, **words):
    answer = client.post("/v1/jobs", files=files, data={"metric": ["twmd", "bertscore"], **words})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['id']}"
    return answer.json()["id"]


def test_a_job_ends_with_the_bytes_of_the_command(client, sentence, tiny_bert, tmp_path):
    files = files_of(sentence, 100, 40)
    job = sent(client, files)
    events = client.get(f"/v1/jobs/{job}/events")
    assert events.headers["content-type"].startswith("text/event-stream")
    told = [json.loads(one.partition("data: ")[2]) for one in events.text.split("\n\n") if one]
    assert told[-1]["state"] == "done" and told[-1]["done"] == told[-1]["total"] == 80
    rows = [(system, k) for system in ("system-0", "system-1") for k in range(40)]
    texts = {name: text.splitlines() for _, (name, text) in files}
    table = [
        {
            "id": str(k + 1),
            "system": s,
            "hypothesis": texts[f"{s}.txt"][k],
            "reference": texts["ref.txt"][k],
        }
        for s, k in rows
    ]
    (tmp_path / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    for form in ("json", "jsonl", "tsv"):
        command = [
            "score",
            tmp_path / "table.jsonl",
            "-m",
            "twmd",
            "-m",
            "bertscore",
            "--model",
            tiny_bert,
        ]
        assert (
            run(
                [
                    *map(str, command),
                    "--segments",
                    "-q",
                    "--format",
                    form,
                    "-o",
                    str(tmp_path / "out"),
                ]
            )
            == 0
        )
        answer = client.get(f"/v1/jobs/{job}/result", params={"format": form})
        assert answer.content == (tmp_path / "out").read_bytes()
        assert answer.headers["content-disposition"] == f'attachment; filename="monge-{job}.{form}"'
    said = client.get(f"/v1/jobs/{job}/comparison").json()
    assert said["verdict"] and all(line.endswith(".") for line in said["verdict"])
    report = client.get(f"/v1/jobs/{job}/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert report.headers["content-disposition"] == f'attachment; filename="monge-{job}.html"'
    for name in texts:
        (tmp_path / name).write_text("\n".join(texts[name]) + "\n")
    given = [word for name in ("system-0.txt", "system-1.txt") for word in ("-t", tmp_path / name)]
    command = [
        "report",
        *given,
        "-r",
        tmp_path / "ref.txt",
        "-m",
        "twmd",
        "-m",
        "bertscore",
        "--model",
        tiny_bert,
    ]
    assert run([*map(str, command), "-q", "-o", str(tmp_path / "report.html")]) == 0
    assert report.content == (tmp_path / "report.html").read_bytes()
    content = client.get(f"/v1/jobs/{job}/report", params={"format": "json"}).json()
    assert content["html"].startswith('<p class="lead">') and content["systems"] == [
        "system-0",
        "system-1",
    ]
    assert (
        html.escape(said["verdict"][0].replace(".txt", "")) in content["html"].partition("</p>")[0]
    )
    compared = said["results"]
    assert [one["metric"] for one in compared] == ["twmd", "bertscore"]
    body = {"systems": {Path(name).stem: texts[name] for name in texts if name != "ref.txt"}, "references": texts["ref.txt"],
            "metrics": ["twmd", "bertscore"]}  # fmt: skip
    assert client.post("/v1/compare", json=body).json()["results"] == compared


def test_a_job_that_explains_tells_how_far_it_is_and_can_be_cancelled(
    client, sentence, monkeypatch
):
    begun, compact = threading.Event(), material.compact

    def slow(plan):
        begun.set()
        time.sleep(0.05)
        return compact(plan)

    monkeypatch.setattr(material, "compact", slow)
    job = sent(client, files_of(sentence, 900, 200))
    assert begun.wait(60)
    time.sleep(0.3)
    shown = client.get(f"/v1/jobs/{job}").json()
    done, total = shown["explained"]
    assert shown["phase"] == "explaining" and 0 < done < total == 2 * 2 * 200
    client.delete(f"/v1/jobs/{job}")
    began = time.monotonic()
    assert ended(client, job)["state"] == "cancelled" and time.monotonic() - began < 5
    assert client.get(f"/v1/jobs/{job}/report").status_code == 409


def twmd_gaps(page) -> list[float]:
    """By how much the first system is better than the second by twmd, item by item."""
    return [outputs[0]["scores"]["twmd"] - outputs[1]["scores"]["twmd"]
            for outputs in (one["outputs"] for one in page["items"])]  # fmt: skip


def test_systems_with_different_segments_are_shown_and_not_compared(client):
    table = (
        "id\tsystem\thypothesis\treference\n1\ta.txt\tthe cat\tthe cat\n2\ta.txt\ta dog\tthe dog\n"
    )
    table += "2\tb.txt\tthe dog\tthe dog\n3\tb.txt\tit is\tit is not\n"
    job = sent(client, [("table", ("t.tsv", table))], metric=["twmd", "chrf"])
    ended(client, job)
    assert client.get(f"/v1/jobs/{job}/comparison").status_code == 404
    content = client.get(f"/v1/jobs/{job}/report", params={"format": "json"}).json()
    assert "different segments" in content["html"] and "monge compare" not in content["html"]
    assert content["systems"] == ["a", "b"]
    assert "DOCTYPE" in client.get(f"/v1/jobs/{job}/report").text[:20]
    every = client.get(f"/v1/jobs/{job}/segments").json()
    assert [(one["id"], [out["system"] for out in one["outputs"]]) for one in every["items"]] == [
        ("1", ["a.txt"]), ("2", ["a.txt", "b.txt"]), ("3", ["b.txt"])]  # fmt: skip
    asked = {"order": "score", "system": "b.txt", "descending": True}
    sorted_ = client.get(f"/v1/jobs/{job}/segments", params=asked).json()
    assert [one["id"] for one in sorted_["items"]] == ["2", "3"]


def test_segments_are_browsed(client, sentence):
    job = sent(client, files_of(sentence, 300, 25))
    ended(client, job)

    def page(**asked):
        answer = client.get(f"/v1/jobs/{job}/segments", params=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()

    every = page(size=200)
    assert [one["id"] for one in every["items"]] == [str(k) for k in range(1, 26)] and every[
        "total"
    ] == 25
    assert all(output["plan"] for item in every["items"] for output in item["outputs"])
    scores = {one["id"]: one["outputs"] for one in every["items"]}
    for down in (False, True):
        keys = [one["key"] for one in page(order="score", descending=down, size=200)["items"]]
        assert keys == sorted(keys, reverse=down)
    first = page(
        order="difference", system="system-0", other="system-1", metric="bertscore", size=1
    )["items"][0]
    gaps = {
        name: outputs[0]["scores"]["bertscore"] - outputs[1]["scores"]["bertscore"]
        for name, outputs in scores.items()
    }
    assert first["key"] == min(gaps.values()) == gaps[first["id"]]
    spread = [one["key"] for one in page(order="spread", descending=True, size=200)["items"]]
    assert spread == sorted((abs(gap) for gap in twmd_gaps(every)), reverse=True)
    better, worse = (page(filter=name, size=200) for name in ("better", "worse"))
    assert better["total"] == sum(gap > 0 for gap in twmd_gaps(every))
    assert worse["total"] == sum(gap < 0 for gap in twmd_gaps(every))
    text = every["items"][3]["outputs"][1]["hypothesis"]
    assert "4" in [one["id"] for one in page(search=text.upper(), size=200)["items"]]
    assert page(search="no text has these words")["total"] == 0
    apart = page(order="disagreement", descending=True, start=3, size=2)["items"]
    assert len(apart) == 2 and apart[0]["key"] >= apart[1]["key"]
    for bad in (
        {"metric": "none"},
        {"system": "none"},
        {"order": "colour"},
        {"size": 0},
        {"size": 201},
        {"start": -1},
    ):
        assert client.get(f"/v1/jobs/{job}/segments", params=bad).status_code == 422


@pytest.mark.parametrize(
    ("files", "words", "status", "said"),
    [
        (
            [("hypotheses", ("a", "x\ny\n")), ("references", ("r", "x\n"))],
            {},
            422,
            "a has 2 lines but r has 1",
        ),
        ([("hypotheses", ("a", "x\n"))], {}, 422, "files are missing"),
        ([("table", ("a.parquet", "x"))], {}, 422, "tsv, csv, jsonl"),
        ([("table", ("a.tsv", "hypothesis\treference\nx\n"))], {}, 422, "a.tsv:2"),
        (
            [("table", ("a.tsv", "x")), ("source", ("s", "x"))],
            {},
            422,
            "cannot be sent with other files",
        ),
        ([("hypotheses", ("a", b"\xff\n")), ("references", ("r", "x\n"))], {}, 422, "a"),
        (
            [("hypotheses", ("a", "x\n")), ("references", ("r", "x\n"))],
            {"metric": "twmdd"},
            400,
            "did you mean",
        ),
        (
            [("hypotheses", ("a", "x\n")), ("references", ("r", "x\n"))],
            {"model": "/etc"},
            400,
            "unknown model",
        ),
        (
            [("hypotheses", ("a", "x\n")), ("references", ("r", "x\n"))],
            {"state": "/"},
            422,
            "unknown field",
        ),
        (
            [("hypotheses", ("a", "x\n")), ("references", ("r", "x\n"))],
            {"statistics": "zz"},
            404,
            "no statistics",
        ),
        (
            [("hypotheses", ("a", "x" * 20_001)), ("references", ("r", "x\n"))],
            {},
            413,
            "characters",
        ),
    ],
)
def test_jobs_that_cannot_be(client, config, files, words, status, said):
    kept = len(list((config.state / "jobs").iterdir()))
    answer = client.post("/v1/jobs", files=files, data={"metric": "twmd", **words})
    assert answer.status_code == status and said in answer.json()["error"], answer.text
    assert str(config.state) not in answer.text
    assert len(list((config.state / "jobs").iterdir())) == kept


def test_names_of_files_are_names_and_nothing_else(client, config):
    names = ["../../evil", "a\r\nSet-Cookie: x=1", "<script>", "x" * 500, "..\\up", "same", "same"]
    files = [("hypotheses", (name, "the cat\na dog\n")) for name in names]
    answer = client.post(
        "/v1/jobs",
        files=[*files, ("references", ("r", "the cat\nit is\n"))],
        data={"metric": "chrf"},
    )
    systems = answer.json()["systems"]
    assert len(set(systems)) == len(names) and "same (2)" in systems
    assert all("/" not in one and "\n" not in one and len(one) <= 130 for one in systems)
    ended(client, answer.json()["id"])
    folder = config.state / "jobs" / answer.json()["id"]
    assert {one.name for one in folder.iterdir()} <= {
        *(f"input-{k}" for k in range(8)),
        *("job.json", "state.json", "results.json", "comparison.json", "plans.json", "report.html", "report.json"),
    }  # fmt: skip
    assert not (config.state / "evil").exists()


def test_packed_files_are_unpacked_and_bombs_are_not(config, sentence, tmp_path):
    plain = files_of(sentence, 700, 8)
    packed = [(role, (f"{name}.gz", gzip.compress(text.encode()))) for role, (name, text) in plain]
    with TestClient(
        create(replace(config, state=tmp_path, limits=Limits(upload=100_000)))
    ) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        jobs = [sent(client, files) for files in (plain, packed)]
        assert [ended(client, name)["state"] for name in jobs] == ["done", "done"]
        one, other = (client.get(f"/v1/jobs/{name}/result").content for name in jobs)
        assert one == other
        lines = "\n".join(f"{sentence(k)}\t{sentence(k + 1)}" for k in range(3))
        table = gzip.compress(f"hypothesis\treference\n{lines}\n".encode())
        name = client.post(
            "/v1/jobs", files={"table": ("t.tsv.gz", table)}, data={"metric": "chrf"}
        ).json()["id"]
        assert ended(client, name)["state"] == "done"
        for bad, status in (
            (gzip.compress(b"a" * 10_000_000), 413),
            (b"plain", 422),
            (packed[0][1][1][:-9], 422),
        ):
            files = [("hypotheses", ("a.gz", bad)), ("references", ("r", "x\n"))]
            answer = client.post("/v1/jobs", files=files, data={"metric": "chrf"})
            assert answer.status_code == status, answer.text
        assert list((tmp_path / "uploads").iterdir()) == []


def held(app) -> threading.Event:
    """Keeps the engine busy until the event is set."""
    go, begun = threading.Event(), threading.Event()
    work = lambda: app.service.engine.run_alone(lambda: (begun.set(), go.wait(60)), Ticket())  # noqa: E731
    threading.Thread(target=work, daemon=True).start()
    begun.wait(60)
    return go


def test_jobs_are_cancelled_refused_when_many_and_dropped(config, sentence, tmp_path):
    limits = Limits(jobs=2, job_days=1, job_pairs=10)
    with TestClient(create(replace(config, state=tmp_path, limits=limits))) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        go = held(client.app)
        running, waiting = (sent(client, files_of(sentence, k, 4)) for k in (1, 2))
        many = client.post("/v1/jobs", files=files_of(sentence, 3, 4))
        assert many.status_code == 429 and many.headers["retry-after"]
        assert client.get(f"/v1/jobs/{waiting}/result").status_code == 409
        for name in (waiting, running):
            assert client.delete(f"/v1/jobs/{name}").status_code == 200
        go.set()
        assert [ended(client, name)["state"] for name in (running, waiting)] == ["cancelled"] * 2
        large = client.post("/v1/jobs", files=files_of(sentence, 3, 6))
        assert large.status_code == 413 and large.json()["limit"] == 10
        done = sent(client, files_of(sentence, 4, 4))
        ended(client, done)
        jobs = client.app.jobs
        jobs.get(done).created -= 86_500
        jobs.drop_old()
        assert (
            client.get(f"/v1/jobs/{done}").status_code == 404
            and not (tmp_path / "jobs" / done).exists()
        )
        assert {one["id"] for one in client.get("/v1/jobs").json()} == {running, waiting}
        jobs._service.limits = replace(limits, state_bytes=1)
        jobs.drop_old()
        assert client.get("/v1/jobs").json() == [] and list((tmp_path / "jobs").iterdir()) == []


def test_a_full_disk_is_said_and_survived(config, sentence, tmp_path, monkeypatch):
    with TestClient(create(replace(config, state=tmp_path))) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        opened = Path.open

        def full(path, mode="r", *args, **options):
            if tmp_path in path.parents and "w" in mode:
                raise OSError(28, "No space left on device")
            return opened(path, mode, *args, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", full)
            answer = client.post("/v1/jobs", files=files_of(sentence, 1, 4))
            assert (answer.status_code, answer.json()["error_type"]) == (507, "disk_full")
        go = held(client.app)
        job = sent(client, files_of(sentence, 1, 4))
        with monkeypatch.context() as patch:
            patch.setattr(
                "monge.datasets.output.tempfile.mkstemp", lambda *_, **__: full(tmp_path / "x", "w")
            )
            go.set()
            said = ended(client, job)
        assert said["state"] == "failed" and said["error"]["error_type"] == "disk_full"
        assert client.get("/health/ready").status_code == 200
        ended(client, sent(client, files_of(sentence, 1, 4)))


def test_a_killed_service_goes_on_with_its_jobs_and_ends_with_the_same_bytes(
    started, client, sentence, tmp_path
):
    import httpx

    sizes = [6 + 17 * k for k in range(20)]
    undisturbed = [sent(client, files_of(sentence, 1000 * k, size)) for k, size in enumerate(sizes)]
    for name in undisturbed:
        assert ended(client, name)["state"] == "done"
    wanted = [client.get(f"/v1/jobs/{name}/result").content for name in undisturbed]
    draw, unfinished = random.Random(7), 0
    options = ("--state", tmp_path, "-m", "twmd")
    service = started(*options)
    with httpx.Client(base_url=service.url, timeout=60) as web:
        jobs = [sent(web, files_of(sentence, 1000 * k, size)) for k, size in enumerate(sizes)]
    for _ in range(KILLS):
        time.sleep(draw.uniform(0.0, 0.6))
        service.stop(signal.SIGKILL)
        states = [
            json.loads((tmp_path / "jobs" / name / "state.json").read_text())["state"]
            for name in jobs
        ]
        unfinished += states.count("queued")
        service = started(*options)
    assert unfinished  # it was killed while there was work
    with httpx.Client(base_url=service.url, timeout=60) as web:
        for name in jobs:
            assert ended(web, name, 120)["state"] == "done"
        assert [web.get(f"/v1/jobs/{name}/result").content for name in jobs] == wanted
    service.stop()
