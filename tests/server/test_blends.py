"""Fitted blends of a service: those that its operator named, and no other file."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("fastapi")

from conftest import ready
from fastapi.testclient import TestClient

from monge.metrics.lexical import LexicalSpec
from monge.server.app import create
from monge.server.limits import Limits
from monge.server.service import Config


def write_blend(folder, name):
    members = {
        metric: {
            "metric": metric,
            "weight": 0.5,
            "mean": 50.0,
            "deviation": 20.0,
            "settings": LexicalSpec(metric).written(),
            "model": None,
        }
        for metric in ("chrf", "ter")
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"monge_blend": 1, "name": name, "members": members}))
    return path


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blends")
    return [write_blend(folder, name) for name in ("served", "other")]


@pytest.fixture(scope="module")
def blend_client(paths, tiny_bert):
    config = Config(
        metrics=("twmd", str(paths[0])), models=(str(tiny_bert),), limits=Limits(seconds=30)
    )
    with TestClient(create(config)) as client:
        yield ready(client)


def ask(client, path, **more):
    texts = {"hypotheses": ["the cat sat"], "references": ["the cat ran"]}
    return client.post("/v1/score", json={**texts, "metrics": [str(path)], **more})


def test_a_named_blend_scores_and_is_explained(blend_client, paths):
    answer = ask(blend_client, paths[0])
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["results"]
    assert result["metric"] == "served" and set(result["parts"]) == {"chrf", "ter"}
    pair = {"hypothesis": "the cat sat", "reference": "the cat ran", "metric": str(paths[0])}
    explained = blend_client.post("/v1/explain", json=pair)
    assert explained.status_code == 200, explained.text
    assert [member["member"] for member in explained.json()["members"]] == ["chrf", "ter"]


def test_a_file_that_the_operator_did_not_name_is_not_read(blend_client, paths):
    for path in (paths[1], "/etc/none.json"):
        answer = ask(blend_client, path)
        assert answer.status_code == 400
        assert "names a file" in answer.text and "not JSON" not in answer.text


def test_the_form_of_a_blend_is_empty(blend_client, paths):
    answer = blend_client.get(f"/v1/metrics/{paths[0]}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["kind"] == "blend" and answer.json()["form"] == []
