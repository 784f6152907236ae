"""Requests share encoding passes; an answer does not show who was there."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from monge import api
from monge.errors import DataError, InvalidSetting
from monge.metrics.catalogue import listed
from monge.metrics.forms import kind_of
from monge.render import render_results
from monge.scoring.encoding import Encoding
from monge.server.engine import Gone, Ticket
from monge.server.request_batches import SmallRequest, answer_requests, is_small_request
from monge.server.schemas import ScoreRequest
from monge.server.service import VERSION, Service, _json_writer
from monge.types import Segment


@pytest.fixture(scope="module")
def service(config):
    found = Service(config)
    found.warm()
    yield found
    found.engine.stop()


def asked(sentence, start: int, count: int, *, length: int = 7, **more) -> ScoreRequest:
    hypotheses = [sentence(start + k, length) for k in range(count)]
    references = [sentence(start + k + 1, 6) for k in range(count)]
    return ScoreRequest(hypotheses=hypotheses, references=references, segments=True, **more)


class Held:
    """The engine, kept busy until it is let go."""

    def __init__(self, service: Service) -> None:
        self._go, begun = threading.Event(), threading.Event()
        self.thread = threading.Thread(
            target=lambda: service.engine.run_alone(
                lambda: (begun.set(), self._go.wait(60)), Ticket()
            )
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
    line = next(
        one for one in service.counters.text().decode().splitlines() if one.startswith(f"{name} ")
    )
    return float(line.split()[-1])


def test_an_answer_does_not_show_who_shared_the_pass(service, sentence):
    metrics = ["twmd", "bertscore", "emd", "moverscore", "twmd-b"]
    requests = [
        asked(sentence, 40 * k, 1 + k % 4, metrics=metrics if k % 4 else metrics[:3])
        for k in range(24)
    ]
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
    assert counted(service, "monge_texts_encoded_total") - before == len(
        {*one.hypotheses, *one.references}
    )
    service.score(one, Ticket())
    assert counted(service, "monge_texts_encoded_total") - before == len(
        {*one.hypotheses, *one.references}
    )


def test_a_large_request_takes_turns_with_small_ones(service, sentence):
    large = asked(sentence, 10_000, 900)
    order: list[str] = []

    def run(name: str, one: ScoreRequest) -> None:
        service.score(one, Ticket())
        order.append(name)

    with Held(service) as held, ThreadPoolExecutor(4) as pool:
        first = pool.submit(run, "large", large)
        waiting(service, 1)  # the large one is the first in the queue
        small = [pool.submit(run, "small", asked(sentence, 20_000 + k, 1)) for k in range(3)]
        waiting(service, 4)
        held.go()
        for request in (first, *small):
            request.result()
    assert order[-1] == "large"


def test_the_fault_of_one_is_not_the_fault_of_all(service, sentence):
    long = ScoreRequest(
        hypotheses=["the cat " * 60], references=["the"], settings=["encoder.overlong=error"]
    )
    fine = asked(sentence, 30_000, 1, settings=["encoder.overlong=error"])
    alone = service.score(fine, Ticket())
    with Held(service) as held, ThreadPoolExecutor(2) as pool:
        good, bad = (pool.submit(service.score, one, Ticket()) for one in (fine, long))
        waiting(service, 2)
        held.go()
        with pytest.raises(DataError, match="the limit is 48"):
            bad.result(60)
        assert good.result() == alone


def test_a_text_that_the_model_does_not_know_is_refused_alone(service, sentence):
    foreign = ScoreRequest(hypotheses=["厨师购"], references=["岁发现"])
    fine = asked(sentence, 31_000, 1)
    alone = service.score(fine, Ticket())
    with Held(service) as held, ThreadPoolExecutor(2) as pool:
        good, bad = (pool.submit(service.score, one, Ticket()) for one in (fine, foreign))
        waiting(service, 2)
        held.go()
        with pytest.raises(DataError, match="does not know"):
            bad.result(60)
        assert good.result() == alone


def brief_metrics(service: Service) -> list[api.Metric]:
    """Every metric of the catalogue whose small requests are scored in one go."""
    found = []
    for name in listed().to_dict():
        if kind_of(name) == "transport":
            with suppress(InvalidSetting):  # what needs files of words, which no service reads
                found.append(service.metric(name, (), None, None))
    return [one for one in found if is_small_request([one], [])]


@pytest.mark.filterwarnings("ignore:there is no adapter people")
def test_small_requests_in_one_go_have_the_bytes_of_the_command(service, sentence):
    metrics = brief_metrics(service)
    assert len(metrics) > 15 and {"twmd", "bertscore", "emd", "sbert"} <= {
        one.name for one in metrics
    }
    requests = [
        asked(sentence, 90_000 + 60 * k, 1 + (k % 5 == 4) * k, length=3 + k % 11) for k in range(16)
    ]
    requests.append(
        ScoreRequest(
            hypotheses=["the cat", ""], references=[["the dog", "a cat"], ["it"]], segments=True
        )
    )
    rows = [service._rows(one) for one in requests]
    for metric in metrics:
        run = api.score_segments
        alone = [
            "".join(render_results(run([metric], mine), "json", version=VERSION, segments=True))
            for mine in rows
        ]
        briefs = [
            SmallRequest([metric], mine, _json_writer(one))
            for one, mine in zip(requests, rows, strict=True)
        ]
        for order in (briefs, briefs[::-1], briefs[3:9]):
            found = answer_requests(order, Encoding(order[0].scorers))
            assert found == [alone[briefs.index(one)].encode() for one in order], metric.name


def test_what_depends_on_more_than_its_segment_is_not_scored_in_one_go(service, sentence):
    row = [Segment("1", "the cat", ("the dog",))]

    def metric(name: str, *settings: str) -> api.Metric:
        return service.metric(name, settings, None, None)

    assert is_small_request([metric("twmd"), metric("bertscore")], row)
    assert not is_small_request(
        [metric("twmd"), metric("moverscore")], row
    )  # idf of its own references
    assert not is_small_request([metric("chrf")], row) and not is_small_request(
        [metric("twmd", "against=source")], row
    )
    assert not is_small_request([metric("twmd", "centre=batch")], row)
    assert not is_small_request([metric("twmd")], [Segment("1", "the cat", (), "die Katze")])
    assert not is_small_request([metric("twmd")], row * 17) and not is_small_request(
        [metric("twmd")], [Segment("1", "a" * 9000, ("b",))]
    )


def test_work_that_nobody_waits_for_is_not_done(service, sentence):
    ticket = Ticket()
    before = counted(service, "monge_texts_encoded_total")
    with Held(service) as held, ThreadPoolExecutor(1) as pool:
        gone = pool.submit(service.score, asked(sentence, 70_000, 5), ticket)
        waiting(service, 1)
        ticket.cancel()
        held.go()
        with pytest.raises(Gone):
            gone.result(60)
    assert counted(service, "monge_texts_encoded_total") == before


def test_a_future_that_is_cancelled_does_not_end_the_engine(service, sentence):
    with Held(service) as held:
        coming = service.submit_small(asked(sentence, 71_000, 1), Ticket())
        assert not coming.cancel()
        held.go()
        assert coming.result(60) == service.score(asked(sentence, 71_000, 1), Ticket())


def test_too_many_are_told_to_come_back_and_the_late_are_given_up(config, sentence):
    from monge.server.app import create
    from monge.server.limits import Limits

    limits = Limits(in_flight=2, queue=1, seconds=2)
    with TestClient(create(replace(config, limits=limits, state=None))) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        body = {"hypotheses": [sentence(1)], "references": [sentence(2)]}
        with Held(client.app.service), ThreadPoolExecutor(8) as pool:
            answers = [
                one.result()
                for one in [pool.submit(client.post, "/v1/score", json=body) for _ in range(8)]
            ]
        found = sorted(one.status_code for one in answers)
        assert found == [429] * 5 + [504] * 3
        busy = next(one for one in answers if one.status_code == 429)
        assert busy.headers["retry-after"] == "1" and busy.json()["limit"] == 3
        deadline = time.monotonic() + 10
        while client.post("/v1/score", json=body).status_code != 200:  # places come back
            assert time.monotonic() < deadline
