"""What requests give: the numbers of the command to the last digit, and refusals that say what and
why.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.resources import files

import pytest
from fastapi.testclient import TestClient

import monge
from monge.cli.app import run
from monge.server.app import create
from monge.server.limits import Limits
from monge.server.service import Config

H = [
    "the cat sat on the mat .",
    "a dog ran to the house",
    "he said hello",
    "the world is not a wall",
]
G = ["the cat slept", "the dog ran", "she said hello world", "a river in the world"]
R = ["the cat sat on a mat .", "the dog ran to a house", "she said hello", "it is not the world"]


def results(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def refused(answer, status, kind):
    said = answer.json()
    assert (answer.status_code, said["error_type"]) == (status, kind), answer.text
    assert set(said) == {"error", "error_type", "limit", "hint"} and said["error"]
    return said


def test_the_answer_is_what_the_command_prints(client, tiny_bert, tmp_path, capsys):
    for name, lines in (("a", H), ("b", G), ("r", R)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = ["-t", tmp_path / "a", "-t", tmp_path / "b", "-r", tmp_path / "r"]
    metrics = [
        "twmd",
        "bertscore",
        "moverscore",
        "emd",
        "chrf",
        "sentsim",
        "twmd[transport.temperature=0.3]",
    ]
    named = [part for one in metrics for part in ("-m", one)]
    capsys.readouterr()
    command = [
        "score",
        *files,
        *named,
        "--model",
        tiny_bert,
        "--format",
        "json",
        "--segments",
        "--ci",
    ]
    assert run([str(one) for one in command]) == 0
    printed = capsys.readouterr().out
    body = {
        "hypotheses": {"a": H, "b": G},
        "references": R,
        "metrics": metrics,
        "segments": True,
        "intervals": True,
    }
    assert client.post("/v1/score", json=body).text == printed


def test_one_text_is_a_text_a_list_or_a_system(client):
    ways = [
        {"hypotheses": H[0], "references": R[0]},
        {"hypotheses": [H[0]], "references": [R[0]]},
        {"hypotheses": [H[0]], "references": [[R[0]]]},
        {"hypotheses": [H[0]], "sources": [R[0]]},
        {"hypotheses": H[0], "sources": R[0]},
    ]
    scores = {results(client.post("/v1/score", json=way))[0]["score"] for way in ways}
    assert len(scores) == 1
    both = [
        {"hypotheses": H[0], "references": R[:2]},
        {"hypotheses": [H[0]], "references": [R[:2]]},
    ]
    assert len({results(client.post("/v1/score", json=way))[0]["score"] for way in both}) == 1


def test_a_signature_replays_and_another_model_is_refused(client):
    body = {"hypotheses": H, "references": R, "metrics": ["moverscore"]}
    (first,) = results(client.post("/v1/score", json=body))
    again = {"hypotheses": H, "references": R, "signatures": [first["signature"]]}
    assert results(client.post("/v1/score", json=again)) == [first]
    refused(client.post("/v1/score", json={**again, "references": G}), 424, "model")
    assert results(client.post("/v1/score", json={**again, "references": G, "refit": True}))
    other = first["signature"].replace("#", "#0")
    refused(client.post("/v1/score", json={**again, "signatures": [other]}), 424, "model")
    refused(client.post("/v1/score", json={**again, "metrics": ["twmd"]}), 400, "bad_request")


def test_statistics_are_kept_under_the_digest_of_what_they_hold(client):
    body = {"references": R, "metric": "moverscore"}
    one, again = (client.post("/v1/stats", json=body).json() for _ in range(2))
    assert one == again and one["holds"] == ["4 texts of the references (idf)"]
    alone = {
        "hypotheses": H[:1],
        "references": R[:1],
        "metrics": ["moverscore"],
        "statistics": [one["id"]],
    }
    whole = {"hypotheses": H, "references": R, "metrics": ["moverscore"], "segments": True}
    (mine,), (all_,) = (results(client.post("/v1/score", json=each)) for each in (alone, whole))
    assert mine["score"] == pytest.approx(all_["segments"][0]["score"], abs=1e-6)
    assert mine["signature"] == all_["signature"]
    assert client.get(f"/v1/stats/{one['id']}").json()["monge-statistics"]
    refused(client.get("/v1/stats/none"), 404, "not_found")
    refused(client.get("/v1/stats/..%2F..%2Fjob"), 404, "not_found")


def test_an_explanation_is_json_a_picture_or_a_page(client, tiny_bert):
    body = {"hypothesis": H[0], "reference": R[0], "metric": "bertscore"}
    found = client.post("/v1/explain", json=body).json()
    ours = monge.explain(H[0], R[0], metric="bertscore", model=str(tiny_bert))
    assert found == json.loads(json.dumps(ours.to_dict()))
    for kind, start in (("image/svg+xml", "<svg"), ("text/html", "<!DOCTYPE html>")):
        answer = client.post("/v1/explain", json=body, headers={"accept": kind})
        assert answer.text.startswith(start) and answer.headers["content-type"].startswith(kind)
    refused(client.post("/v1/explain", json={**body, "metric": "chrf"}), 400, "bad_request")
    refused(client.post("/v1/explain", json={**body, "hypothesis": "  "}), 422, "invalid_data")


def test_systems_are_compared_as_the_library_does(client, tiny_bert):
    body = {
        "systems": {"a": H, "b": G},
        "references": R,
        "metrics": ["twmd", "chrf"],
        "resamples": 200,
    }
    found = client.post("/v1/compare", json=body).json()
    ours = monge.compare(
        body["systems"],
        R,
        ["twmd", "chrf"],
        model=str(tiny_bert),
        resampling=monge.evaluation.Resampling(resamples=200),
    )
    assert found["results"] == json.loads(json.dumps(ours.to_dict()))["results"]
    refused(client.post("/v1/compare", json={**body, "systems": {"a": H}}), 400, "bad_request")
    refused(client.post("/v1/compare", json={**body, "test": "guess"}), 400, "bad_request")


def test_the_catalogue_says_what_the_command_says(client, capsys):
    assert run(["metrics", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = client.get("/v1/metrics").json()
    assert {
        name: {key: one[key] for key in printed[name]} for name, one in found.items()
    } == printed
    assert found["twmd"]["milliseconds_a_pair"] > 0 and found["twmd"]["agreement"]["mean"] > 0
    assert (found["twmd"]["measured_on"], found["moverscore@v1"]["milliseconds_a_pair"]) == (
        "here",
        None,
    )
    assert (
        found["chrf"]["milliseconds_a_pair"] is None
    )  # what is kept was measured on another machine
    one = client.get("/v1/metrics/twmd", params={"setting": ["transport.temperature=0.5"]}).json()
    assert "temperature=0.5" in one["signature"] and one["form"][0]["axis"] == "encoder"
    axes = {axis["axis"]: axis for axis in one["form"]}
    assert axes["transport"]["choices"]["tempered"][0]["target"] == "transport.temperature"
    assert axes["units"]["choices"][""][0]["options"] == ["first", "all", "mean"]
    refused(client.get("/v1/metrics/twmdd"), 400, "bad_request")
    for name in (
        "xmoverscore[centre=clp]",
        "bertscore[scale=baseline]",
        "cider",
        "sentsim",
        "moverscore",
        "chrf",
    ):
        assert client.get(f"/v1/metrics/{name}").status_code == 200


def test_all_times_of_the_catalogue_are_of_one_machine(client, monkeypatch):
    machines = {one["measured_on"] for one in client.get("/v1/metrics").json().values()} - {None}
    assert machines == {"here"}
    kept = json.loads((files("monge.recommendation") / "kept" / "cost.json").read_text())[0]
    service = client.app.service
    monkeypatch.setitem(service.models, service.config.models[0], kept["model"])
    found = client.get("/v1/metrics").json()
    assert {one["measured_on"] for one in found.values()} - {None} == {kept["machine"]}
    for name in ("chrf", "twmd"):
        assert found[name]["milliseconds_a_pair"] == kept["metrics"][name]["seconds"]
    assert "here" not in client.get("/catalogue").text.partition("per pair, measured: ")[2][:80]


def test_three_models_are_loaded_once(tiny_bert, tmp_path, monkeypatch):
    """Whatever order they are asked for in, and by however many threads."""
    import monge.encoders.opening as opening

    models = [tmp_path / f"model-{k}" for k in range(3)]
    for one in models:
        shutil.copytree(tiny_bert, one)
    loaded, opened = [], opening.open_model
    monkeypatch.setattr(
        opening,
        "open_model",
        lambda model, **how: (loaded.append(str(model)), opened(model, **how))[1],
    )
    config = Config(metrics=("twmd",), models=tuple(map(str, models)), limits=Limits(seconds=30))
    with TestClient(create(config)) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.05)
        for k in range(9):
            settings = [f"transport.temperature=0.{k + 1}"]  # bound anew each time
            body = {
                "hypotheses": H,
                "references": R,
                "model": str(models[k % 3]),
                "settings": settings,
            }
            assert client.post("/v1/score", json=body).status_code == 200
    assert sorted(loaded) == sorted(map(str, models))
    with ThreadPoolExecutor(4) as pool:
        shutil.copytree(tiny_bert, tmp_path / "fourth")
        list(pool.map(lambda _: monge.api.encoder_for(str(tmp_path / "fourth")), range(4)))
    assert loaded.count(str(tmp_path / "fourth")) == 1


def test_what_the_page_says_of_agreement_stands_in_the_kept_results(client, request):
    kept = json.loads(
        (request.config.rootpath / "src/monge/recommendation/kept/agreement.json").read_text()
    )["wmt17"]
    found = client.get("/v1/metrics").json()
    for name, one in kept["metrics"].items():
        assert (found[name]["agreement"]["mean"], found[name]["agreement"]["data"]) == (
            one["value"],
            kept["title"],
        )
    assert found["chrf"]["agreement"]["n"] == kept["n"] and kept["sample"] is None
    assert (
        sum(one["agreement"] is not None for one in found.values()) >= 13
        and found["twmd@paper"]["agreement"] is None
    )


def test_signatures_are_read_and_compared(client):
    one, other = client.get("/version").json()["signatures"].values()
    assert client.post("/v1/signature/parse", json={"signature": one}).json()["metric"] == "twmd"
    found = client.post("/v1/signature/diff", json={"one": one, "other": other}).json()
    assert {"metric", "transport", "readout"} <= set(found)
    refused(client.post("/v1/signature/parse", json={"signature": "nonsense"}), 424, "model")


@pytest.mark.parametrize(
    "setting",
    [
        "units.stopwords=/etc/passwd",
        "encoder.model=/etc",
        "encoder.model=../../models",
        "encoder.precision=bf16",
        "encoder.unknown=error",
        "weights=idf,corpus=/etc/passwd",
        "fluency=lm,model=/etc",
        "transport.sweeps=99999999",
        "units.ngram=400",
    ],
)
def test_settings_name_no_file_and_no_endless_work(client, setting):
    for body in ({"settings": [setting]}, {"metrics": [f"twmd[{setting}]"]}):
        said = refused(
            client.post("/v1/score", json={"hypotheses": H, "references": R, **body}),
            400,
            "bad_request",
        )
        assert "root:" not in said["error"]
    signature = client.get("/version").json()["signatures"]["twmd"]
    bad = signature.replace("stopwords=none", "stopwords=%2Fetc%2Fpasswd#00000000")
    refused(
        client.post("/v1/score", json={"hypotheses": H, "references": R, "signatures": [bad]}),
        400,
        "bad_request",
    )
    refused(
        client.post("/v1/score", json={"hypotheses": H, "references": R, "model": "../x"}),
        400,
        "bad_request",
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"hypotheses": ["a"], "hypotheses": ["b"]}', 400),
        (b'{"hypotheses": ["a"], "seed": 1e999}', 400),
        (b'{"hypotheses": ["a"], "seed": NaN}', 400),
        (b'{"hypotheses": ["a"], "seed": -Infinity}', 400),
        (b'{"hypotheses": ["\xff"]}', 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 50_000, 400),
        (b"", 422),
        (b"null", 422),
        (b'{"hypotheses": ["\\ud800"], "references": ["a"]}', 422),
        (b'{"hypotheses": ["a"], "references": ["a"], "metrics": ["\\ud800"]}', 422),
        (b'{"hypotheses": ["a"], "references": ["a"], "segments": "yes"}', 422),
        (b'{"hypotheses": ["a"], "references": ["a"], "more": 1}', 422),
        (b'{"hypotheses": [], "references": []}', 422),
        (b'{"hypotheses": {}, "references": []}', 422),
        (b'{"hypotheses": ["a"]}', 400),
        (b'{"hypotheses": ["a"], "references": ["a", "b"]}', 422),
        (b'{"hypotheses": ["a"], "references": ["a"], "seed": ' + b"9" * 5000 + b"}", 400),
    ],
)
def test_bodies_that_are_not_as_described(client, body, status):
    answer = client.post("/v1/score", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]


def test_other_content_types_and_compressed_bodies_are_not_read(client):
    for kind in ("text/plain", "application/xml", ""):
        answer = client.post("/v1/score", content=b"{}", headers={"content-type": kind})
        refused(answer, 415, "unsupported_media_type")
    answer = client.post("/v1/score", content=b"x", headers={"content-encoding": "gzip"})
    refused(answer, 415, "unsupported_media_type")
    refused(client.get("/v1/score"), 405, "method_not_allowed")
    refused(client.get("/nothing"), 404, "not_found")


@pytest.fixture(scope="module")
def narrow(config, tmp_path_factory):
    """A service whose limits are near."""
    limits = Limits(
        pairs=3, systems=2, references=2, characters=20, metrics=2, body=400, resamples=50
    )
    with TestClient(create(replace(config, limits=limits, state=None))) as found:
        while found.get("/health/ready").status_code != 200:
            pass
        yield found


def test_limits_at_their_edge(narrow):
    def score(**body):
        return narrow.post("/v1/score", json={"references": None, **body})

    edges = {
        "pairs": (lambda n: score(hypotheses=["a"] * n, references=["a"] * n), 3),
        "systems": (lambda n: score(hypotheses={str(k): ["a"] for k in range(n)}, references=["a"]), 2),
        "references": (lambda n: score(hypotheses=["a"], references=[["a"] * n]), 2),
        "characters": (lambda n: score(hypotheses=["a" * n], references=["a"]), 20),
        "metrics": (lambda n: score(hypotheses=["a"], references=["a"], metrics=["twmd"] * n), 2),
        "body": (lambda n: narrow.post("/v1/score", content=b'{"hypotheses": ["a"], "references": '
            b'["a"]}'.ljust(n),
                                       headers={"content-type": "application/json"}), 400),
    }  # fmt: skip
    for name, (ask, most) in edges.items():
        for count in (most - 1, most):
            assert ask(count).status_code == 200, name
        said = refused(ask(most + 1), 413, "too_large")
        assert said["limit"] == most and f"--limit {name}" in said["hint"]
    systems = {"a": ["a"], "b": ["b"]}
    answer = narrow.post(
        "/v1/compare", json={"systems": systems, "references": ["a"], "resamples": 51}
    )
    assert refused(answer, 413, "too_large")["limit"] == 50


def test_a_token_is_wanted_everywhere_but_for_health_and_pages(config):
    with TestClient(create(replace(config, token="s3cret-s3cret-s3cret", state=None))) as client:
        while client.get("/health/ready").status_code != 200:
            pass
        for path in ("/v1/metrics", "/version", "/metrics", "/v1/jobs"):
            answer = client.get(path)
            refused(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
            for wrong in (
                "Bearer s3cret",
                "Basic s3cret-s3cret-s3cret",
                "Bearer s3cret-s3cret-s3crét",
            ):
                assert (
                    client.get(path, headers={"authorization": wrong.encode()}).status_code == 401
                )
            assert (
                client.get(
                    path, headers={"authorization": "Bearer s3cret-s3cret-s3cret"}
                ).status_code
                == 200
            )
        for path in ("/", "/systems", "/catalogue", "/docs", "/static/style.css", "/health/live"):
            assert client.get(path).status_code == 200


def test_answers_carry_their_policy_and_pages_load_nothing_from_elsewhere(client):
    for path in ("/", "/systems", "/catalogue", "/docs"):
        answer = client.get(path)
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers
        assert (
            "https://" not in answer.text
            and "<style" not in answer.text
            and "style=" not in answer.text
        )
    for origin in ("http://evil", "null", "http://testserver.evil"):
        said = client.post("/v1/jobs", headers={"origin": origin}, files={"table": ("a.tsv", "x")})
        refused(said, 403, "forbidden")
    assert client.get("/version", headers={"origin": "http://testserver"}).status_code == 200
    assert client.options("/v1/score", headers={"origin": "http://evil", "access-control-request-method": "POST"}
                          ).status_code == 403  # fmt: skip


def test_every_body_that_is_described_has_an_example_that_works(client):
    described = client.get("/openapi.json").json()
    asked = [
        (
            path,
            one["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2],
        )
        for path, verbs in described["paths"].items()
        for one in verbs.values()
        if "application/json" in one.get("requestBody", {}).get("content", {})
    ]
    assert len(asked) == 6
    page = client.get("/docs").text
    assert "<code>monge score --format json</code>" in page and "-F hypotheses=@a.txt" in page
    for path, name in asked:
        examples = described["components"]["schemas"][name]["examples"]
        assert examples
        for one in examples:
            answer = client.post(path, json=one)
            assert answer.status_code == 200, (path, one, answer.text)


def test_counters_and_version(client):
    client.post("/v1/score", json={"hypotheses": H, "references": R})
    text = client.get("/metrics").text
    for name in (
        "monge_requests_total",
        "monge_pass_texts",
        "monge_pass_requests",
        "monge_stage_seconds",
        "monge_texts_from_memory_total",
        "monge_in_flight",
        "monge_engine_queue",
    ):
        assert name in text
    said = client.get("/version").json()
    assert said["monge"] == monge.__version__ and list(said["signatures"]) == ["twmd", "bertscore"]
    assert said["limits"]["pairs"] == Limits().pairs


def test_no_text_is_logged(client, caplog):
    caplog.set_level(logging.INFO, "monge.server")
    client.post("/v1/score", json={"hypotheses": ["zyxwv secret"], "references": ["zyxwv secret"]})
    client.post(
        "/v1/score",
        json={"hypotheses": ["zyxwv secret"], "references": "zyxwv secret", "more": "zyxwv"},
    )
    client.get("/v1/metrics/zyxwv")
    ours = [one.getMessage() for one in caplog.records if one.name == "monge.server"]
    assert len(ours) == 3 and not any("zyxwv" in one for one in ours)


def test_the_page_about_the_service_states_the_limits_that_hold(request):
    text = (request.config.rootpath / "docs/serve.md").read_text("utf-8")
    for name, value in vars(Limits()).items():
        assert re.search(rf"`{name}`[^|]*\| {value:,} \|", text), name
