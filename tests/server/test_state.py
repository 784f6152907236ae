"""The state directory: nothing is touched that a service did not make, nothing of its own is
lost.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from monge.cli.app import run
from monge.errors import UsageError
from monge.server.app import create
from monge.server.engine import Ticket
from monge.server.limits import Limits


def ready(client):
    deadline = time.monotonic() + 60
    while client.get("/health/ready").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return client


def sent(client, **words) -> str:
    files = [
        ("hypotheses", ("a.txt", "the cat sat\na dog ran\n")),
        ("references", ("r.txt", "the cat\na dog\n")),
    ]
    answer = client.post("/v1/jobs", files=files, data={"metric": "chrf", **words})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def ended(client, name: str) -> dict:
    deadline = time.monotonic() + 60
    while (said := client.get(f"/v1/jobs/{name}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    return said


@pytest.fixture
def state(config, tmp_path):
    """A state directory of ours, and the id of a job in it that is done."""
    folder = tmp_path / "state"
    with TestClient(create(replace(config, state=folder))) as client:
        name = sent(ready(client))
        assert ended(client, name)["state"] == "done"
    return folder, name


def opened(config, folder: Path) -> TestClient:
    return TestClient(create(replace(config, state=folder)))


def test_a_directory_that_is_not_ours_is_refused_and_stays_as_it_is(config, tmp_path, capsys):
    for path in ("jobs/thesis-chapter3/text.md", "statistics/my.json", "notes.txt"):
        folder = tmp_path / path.replace("/", "-")
        kept = folder / path
        kept.parent.mkdir(parents=True)
        kept.write_text("years of work")
        assert (
            run(["serve", "--port", "0", "--state", str(folder), "--model", str(config.models[0])])
            == 2
        )
        told = capsys.readouterr().err
        assert path.split("/")[-1] in told or "thesis-chapter3" in told, told
        assert "Traceback" not in told and kept.read_text() == "years of work"
        assert [one.name for one in folder.iterdir()] == [path.split("/")[0]]


def test_foreign_files_in_a_state_of_ours_are_left_alone_and_logged(config, state, caplog):
    folder, name = state
    foreign = [folder / path for path in ("jobs/thesis-chapter3/text.md", "statistics/my.json", "notes.txt",
                                          f"jobs/{name}/mine.txt")]  # fmt: skip
    for one in foreign:
        one.parent.mkdir(exist_ok=True)
        one.write_text("years of work")
    caplog.set_level(logging.WARNING, "monge.server")
    limits = Limits(statistics=1, seconds=30)
    with TestClient(create(replace(config, state=folder, limits=limits))) as client:
        ready(client)
        for text in ("the cat", "a dog"):  # the older statistics go
            body = {"references": [text, "it is", "the world"], "metric": "moverscore"}
            assert client.post("/v1/stats", json=body).status_code == 200
        assert len(list((folder / "statistics").glob("*.json"))) == 2  # one of ours, one of theirs
        assert client.delete(f"/v1/jobs/{name}").status_code == 200
    assert all(one.read_text() == "years of work" for one in foreign)
    assert not (folder / "jobs" / name / "results.json").exists()
    assert "thesis-chapter3" in caplog.text and "my.json" in caplog.text


BAD = {
    "state.json": ["", "{", "null", '{"state": "done"}',
                   '{"state": "done", "error": 1, "systems": ["a"], "total": 2}',
                   '{"state": "done", "error": null, "systems": 3, "total": 2}',
                   '{"state": "done", "error": null, "systems": ["a"], "total": "2"}',
                   '{"state": "asleep", "error": null, "systems": ["a"], "total": 2}'],
    "job.json": ["", "[]", '{"created": '
        '1}', '{"created": "x", "order": {"metrics": ["chrf"], "files": []}}',
                 '{"created": NaN, "order": {"metrics": ["chrf"], "files": [["table", "a.tsv"]]}}',
                 '{"created": 1, "order": {"metrics": "chrf", "files": [["table", "a.tsv"]]}}',
                 '{"created": 1, "order": {"metrics": [1], "files": [["table", "a.tsv"]]}}',
                 '{"created": 1, "order": {"metrics": ["chrf"], "files": [["colour", "a.tsv"]]}}',
                 '{"created": 1, "order": {"metrics": ["chrf"], "files": 7}}',
                 '{"created": 1, "order": 5}'],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "text"), [(file, text) for file, texts in BAD.items() for text in texts]
)
def test_a_job_that_cannot_be_read_is_set_aside_with_its_results(config, state, caplog, file, text):
    folder, name = state
    results = (folder / "jobs" / name / "results.json").read_bytes()
    (folder / "jobs" / name / file).write_text(text)
    with opened(config, folder) as client:
        ready(client)
        assert client.get("/v1/jobs").json() == [] and client.get("/metrics").status_code == 200
        assert ended(client, sent(client))["state"] == "done"
    assert (folder / "set-aside" / name / "results.json").read_bytes() == results
    assert (folder / "set-aside" / name / file).read_text() == text
    assert name in caplog.text and "set-aside" in caplog.text


def test_statistics_that_cannot_be_read_are_set_aside(config, tmp_path, caplog):
    with opened(config, tmp_path) as client:
        body = {"references": ["the cat", "it is"], "metric": "moverscore"}
        name = ready(client).post("/v1/stats", json=body).json()["id"]
    (tmp_path / "statistics" / f"{name}.json").write_text('{"monge-statistics": 1, "idf": 3}')
    with opened(config, tmp_path) as client:
        assert ready(client).get(f"/v1/stats/{name}").status_code == 404
    assert (tmp_path / "set-aside" / f"{name}.json").is_file() and name in caplog.text


def test_a_second_service_on_the_same_state_is_refused(config, state, capsys):
    folder, name = state
    with opened(config, folder) as client:
        ready(client)
        with pytest.raises(UsageError, match="another monge serve uses it"):
            create(replace(config, state=folder))
        assert (
            run(["serve", "--port", "0", "--state", str(folder), "--model", str(config.models[0])])
            == 2
        )
        assert "another monge serve" in capsys.readouterr().err
        assert client.get(f"/v1/jobs/{name}/result").status_code == 200
    with opened(config, folder) as client:  # it is free again
        assert client.get("/health/live").status_code == 200


def test_a_state_of_an_earlier_version_is_taken_up(config, state):
    folder, name = state
    for one in ("monge-state.json", "lock"):
        (folder / one).unlink(missing_ok=True)
    (folder / "lost+found").mkdir()
    with opened(config, folder) as client:
        assert ready(client).get(f"/v1/jobs/{name}/result").status_code == 200


def test_a_job_holds_the_statistics_it_was_sent_with(config, tmp_path):
    with opened(config, tmp_path) as client:
        ready(client)
        body = {"references": ["the cat", "it is", "a dog ran"], "metric": "moverscore"}
        name = client.post("/v1/stats", json=body).json()["id"]
        go, begun = threading.Event(), threading.Event()
        engine = client.app.service.engine
        busy = threading.Thread(
            target=lambda: engine.run_alone(lambda: (begun.set(), go.wait(60)), Ticket()),
            daemon=True,
        )
        busy.start()
        begun.wait(60)
        first = sent(client, metric="twmd")  # it runs, and waits for the engine
        second = sent(client, metric="moverscore", statistics=name)
        (tmp_path / "statistics" / f"{name}.json").unlink()
        statistics = client.app.service._statistics
        getattr(statistics, "_kept", statistics).clear()
        assert client.get(f"/v1/stats/{name}").status_code == 404  # it has gone
        go.set()
        assert [ended(client, job)["state"] for job in (first, second)] == ["done", "done"]


def test_a_fault_while_old_jobs_are_dropped_does_not_end_the_thread(config, tmp_path, monkeypatch):
    with opened(config, tmp_path) as client:
        ready(client)
        with monkeypatch.context() as patch:
            patch.setattr("monge.server.jobs._folder_size", lambda folder: 1 / 0)
            jobs = client.app.jobs
            patch.setattr(jobs, "make_upload_folder", lambda: _room(tmp_path))
            first = sent(client)
            ended(client, first)
            time.sleep(0.2)
        assert ended(client, sent(client))["state"] == "done"


def _room(folder: Path) -> Path:
    found = (
        folder
        / ("uploads" if (folder / "uploads").is_dir() else "jobs")
        / f"{time.monotonic_ns():016x}"
    )
    found.mkdir()
    return found


def test_readiness_needs_the_thread_of_the_jobs(config, tmp_path):
    with opened(config, tmp_path) as client:
        ready(client)
        jobs = client.app.jobs
        with jobs._changed:
            jobs._stopping.set()
            jobs._changed.notify_all()
        jobs._thread.join(10)
        answer = client.get("/health/ready")
        assert answer.status_code == 503 and "jobs" in answer.json()["error"]


def test_what_is_announced_is_on_the_disk(config, tmp_path, monkeypatch):
    """Every file of an accepted job, and the directories that name them, are synced before 202 is
    said.
    """
    synced: list[str] = []
    fsync = os.fsync

    def seen(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", seen)
    with opened(config, tmp_path) as client:
        name = sent(ready(client))
        names = [Path(one).name for one in synced]
        for file in ("input-0", "input-1", "job.json", "state.json"):
            assert any(one.startswith((file, f".{file}.")) for one in names), (file, names)
        assert str(tmp_path / "jobs") in synced
        ended(client, name)
        time.sleep(0.1)
        names = [Path(one).name for one in synced]
        results = max(k for k, one in enumerate(names) if one.startswith(".results.json."))
        last = max(k for k, one in enumerate(names) if one.startswith(".state.json."))
        assert results < last  # the results before the word that they are there


def test_an_upload_that_was_not_accepted_is_removed_when_a_service_starts(config, state):
    folder, _ = state
    left = folder / "uploads" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "input-0").write_text("the cat")
    (folder / "uploads" / "mine").mkdir()
    with opened(config, folder) as client:
        ready(client)
        assert not left.exists() and (folder / "uploads" / "mine").is_dir()
        assert json.loads((folder / "monge-state.json").read_text()) == {"monge-state": 1}
