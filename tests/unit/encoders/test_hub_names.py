"""Models and adapters by hub name: fetched if asked, else only the local cache is read; the content is signed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch
from hub_server import serve_hub
from safetensors.torch import load_file, save_file
from test_peft_adapter import QUERY, low_rank, make_adapter
from test_static_pieces import model2vec

SCRIPT = """
import json, sys
import monge
from monge.errors import MongeError
for model, online in json.loads(sys.argv[1]):
    try:
        metric = monge.load("twmd", model=model, online=online, device="cpu", layers=LAYERS.get(model, "4"))
        result = metric.score(["the cat sat on the mat"], ["the dog sat on the mat"])
        print(json.dumps([str(result.signature), float(result.score)]))
    except MongeError as error:
        print(json.dumps([type(error).__name__, str(error)]))
"""


@pytest.fixture
def hub(tiny_bert, tmp_path):
    """Two revisions of a model, an adapter for the first, and static vectors."""
    root = tmp_path / "hub"
    for revision in ("main", "v2"):
        shutil.copytree(tiny_bert, root / "owner" / "model" / revision)
    path = root / "owner" / "model" / "v2" / "model.safetensors"
    save_file({k: 1.5 * v for k, v in load_file(path).items()}, path, {"format": "pt"})
    (root / "owner" / "model" / "main" / "pytorch_model.bin").write_bytes(b"pickled")
    adapter = root / "owner" / "adapter" / "main"
    make_adapter(tiny_bert, adapter, low_rank(QUERY, 32, 32, 4, 1))
    card = json.loads((adapter / "card.json").read_text())
    card["base"]["model"] = "owner/model"
    (adapter / "card.json").write_text(json.dumps(card))
    model2vec(root / "owner" / "static" / "main")
    return root


def scores(tmp_path, address, *models):
    """Signature and score of every (model, online), in a process whose hub is ours."""
    environment = {
        **os.environ, "HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
    }  # fmt: skip
    for name in ("HF_HUB_OFFLINE", "HF_HUB_CACHE", "TRANSFORMERS_OFFLINE"):
        environment.pop(name, None)
    layers = 'LAYERS = {"owner/static": "0"}\n'
    command = [sys.executable, "-c", layers + SCRIPT, json.dumps(models)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_hub_names(hub, tiny_bert, tmp_path):
    with serve_hub(hub) as (address, paths):
        online = scores(
            tmp_path, address, ("owner/model", True), ("owner/model@v2", True),
            ("owner/model+owner/adapter", True), ("owner/adapter", True), ("owner/static", True),
            ("owner/model@v3", True), ("owner/other", True), (str(tiny_bert), False),
        )  # fmt: skip
        assert not any(path.endswith("pytorch_model.bin") for path in paths)
        fetched = len(paths)
        offline = scores(
            tmp_path, address, ("owner/model", False), ("owner/model@v2", False),
            ("owner/model+owner/adapter", False), ("owner/adapter", False), ("owner/static", False),
            ("owner/model@v3", False), ("owner/model@", False),
        )  # fmt: skip
        assert len(paths) == fetched, "without online=True nothing is asked of the hub"
    (plain, second, joint, alone, static, no_revision, no_model, directory) = online
    assert offline[:5] == online[:5]
    assert [plain[0].replace("owner/model", tiny_bert.name), plain[1]] == directory
    assert second[1] != plain[1] and "owner/model@v2#" in second[0]
    assert joint[1] == alone[1] != plain[1]
    assert joint[0].split("#")[1] == alone[0].split("#")[1] != plain[0].split("#")[1]
    assert "owner/static#" in static[0]
    assert no_revision[0] == no_model[0] == "ModelError"
    assert "owner/model@v3" in no_revision[1] and "could not be fetched" in no_revision[1]
    assert "not in the local hub cache" in offline[5][1] and "online=True to fetch" in offline[5][1]
    assert "a revision follows the @" in offline[6][1]


def test_a_changed_file_behind_a_name_changes_the_signature(hub, tmp_path):
    with serve_hub(hub) as (address, _):
        (before,) = scores(tmp_path, address, ("owner/model", True))
    path = next((tmp_path / "home").rglob("snapshots/*/model.safetensors"))
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    tensors["embeddings.word_embeddings.weight"] += torch.ones(1)
    content = path.resolve()
    save_file(tensors, content, {"format": "pt"})
    (after,) = scores(tmp_path, "http://127.0.0.1:9", ("owner/model", False))
    assert after[0] != before[0]
