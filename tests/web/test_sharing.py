"""Requests share encoding passes; an answer does not show who was there."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from monge.errors import DataError
from monge.web.engine import Gone, Ticket
from monge.web.schemas import ScoreRequest
from monge.web.service import Service


@pytest.fixture(scope="module")
def service(config):
    found = Service(config)
    found.warm()
    yield found
    found.engine.stop()


def asked(sentence, start: int, count: int, **more) -> ScoreRequest:
    hypotheses = [sentence(start + k) for k in range(count)]
    references = [sentence(start + k + 1, 6) for k in range(count)]
    return ScoreRequest(hypotheses=hypotheses, references=references, segments=True, **more)


class Held:
    """The engine, kept busy until it is let go."""

    def __init__(self, service: Service) -> None:
        self._go, begun = threading.Event(), threading.Event()
        self.thread = threading.Thread(
            target=lambda: service.engine.alone(lambda: (begun.set(), self._go.wait(60)), Ticket())
        )
        self.thread.start()
        begun.wait(60)

    def go(self) -> None:
        self._go.set()
        self.thread.join()

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self.go()


def waiting(service: Service, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(service.engine._waiting) < count:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def counted(service: Service, name: str) -> float:
    line = next(one for one in service.counters.text().decode().splitlines() if one.startswith(f"{name} "))
    return float(line.split()[-1])


def test_an_answer_does_not_show_who_shared_the_pass(service, sentence):
    metrics = ["twmd", "bertscore", "emd", "moverscore", "twmd-b"]
    requests = [asked(sentence, 40 * k, 1 + k % 4, metrics=metrics if k % 4 else metrics[:3]) for k in range(24)]
    alone = [service.score(one, Ticket()) for one in requests]
    for _ in range(2):
        passes = counted(service, "monge_pass_requests_count")
        with Held(service) as held, ThreadPoolExecutor(24) as pool:
            coming = [pool.submit(service.score, one, Ticket()) for one in requests]
            waiting(service, 24)
            held.go()
            together = [one.result() for one in coming]
        assert together == alone  # to the byte
        assert counted(service, "monge_pass_requests_count") - passes < len(requests)


def test_distinct_texts_are_encoded_once(service, sentence):
    one = asked(sentence, 5000, 6)
    before = counted(service, "monge_texts_encoded_total")
    with Held(service) as held, ThreadPoolExecutor(8) as pool:
        coming = [pool.submit(service.score, one, Ticket()) for _ in range(8)]
        waiting(service, 8)
        held.go()
        answers = {each.result() for each in coming}
    assert len(answers) == 1
    assert counted(service, "monge_texts_encoded_total") - before == len({*one.hypotheses, *one.references})
    service.score(one, Ticket())
    assert counted(service, "monge_texts_encoded_total") - before == len({*one.hypotheses, *one.references})


def test_a_large_request_takes_turns_with_small_ones(service, sentence):
    large = asked(sentence, 10_000, 900)
    order: list[str] = []

    def run(name: str, one: ScoreRequest) -> None:
        service.score(one, Ticket())
        order.append(name)

    with ThreadPoolExecutor(4) as pool:
        before = counted(service, "monge_pass_texts_count")
        first = pool.submit(run, "large", large)
        while counted(service, "monge_pass_texts_count") == before:
            time.sleep(0.002)
        small = [pool.submit(run, "small", asked(sentence, 20_000 + k, 1)) for k in range(3)]
        for one in (first, *small):
            one.result()
    assert order[-1] == "large"


def test_the_fault_of_one_is_not_the_fault_of_all(service, sentence):
    long = ScoreRequest(hypotheses=["the cat " * 60], references=["the"], settings=["encoder.overlong=error"])
    fine = asked(sentence, 30_000, 1, settings=["encoder.overlong=error"])
    alone = service.score(fine, Ticket())
    with Held(service) as held, ThreadPoolExecutor(2) as pool:
        good, bad = (pool.submit(service.score, one, Ticket()) for one in (fine, long))
        with pytest.raises(DataError, match="the limit is 48"):
            bad.result(60)
        held.go()
        assert good.result() == alone


def test_work_that_nobody_waits_for_is_not_done(service, sentence):
    ticket = Ticket()
    before = counted(service, "monge_texts_encoded_total")
    with Held(service) as held, ThreadPoolExecutor(1) as pool:
        gone = pool.submit(service.score, asked(sentence, 70_000, 5), ticket)
        waiting(service, 1)
        ticket.cancelled = True
        held.go()
        with pytest.raises(Gone):
            gone.result(60)
    assert counted(service, "monge_texts_encoded_total") == before


def test_too_many_are_told_to_come_back_and_the_late_are_given_up(config, sentence):
    from monge.web.app import create
    from monge.web.limits import Limits

    limits = Limits(in_flight=2, queue=1, seconds=2)
    with TestClient(create(replace(config, limits=limits, state=None))) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        body = {"hypotheses": [sentence(1)], "references": [sentence(2)]}
        with Held(client.app.service), ThreadPoolExecutor(8) as pool:
            answers = [one.result() for one in [pool.submit(client.post, "/v1/score", json=body) for _ in range(8)]]
        found = sorted(one.status_code for one in answers)
        assert found == [429] * 5 + [504] * 3
        busy = next(one for one in answers if one.status_code == 429)
        assert busy.headers["retry-after"] == "1" and busy.json()["limit"] == 3
        deadline = time.monotonic() + 10
        while client.post("/v1/score", json=body).status_code != 200:  # places come back
            assert time.monotonic() < deadline
