"""Loading and running tiny models: layers, limits, identity, and what is refused."""

import json
import shutil

import pytest
import torch
from transformers import AutoModel

from monge.encode.models import EMBEDDED_SHA256, find
from monge.encode.transformer import chosen_device, open_encoder
from monge.errors import InvalidSetting, ModelError

FAMILIES = {"tiny_bert": 48, "tiny_roberta": 40, "tiny_xlmr": 40}
TEXTS = ["the cat sat on the mat", "a", "the dog ran to the house and slept unhappily .", "he said : hello"]


@pytest.fixture(params=FAMILIES)
def tiny(request):
    path = request.getfixturevalue(request.param)
    return path, open_encoder(str(path)), FAMILIES[request.param]


def test_depth_and_longest(tiny):
    """The smaller of what the tokenizer declares and the position table, less what the family keeps for padding."""
    _, encoder, longest = tiny
    assert encoder.depth == 6
    assert encoder.longest == longest


def test_layers_are_those_of_the_model(tiny):
    """Each text alone through transformers gives every layer we give for the batch."""
    path, encoder, _ = tiny
    model = AutoModel.from_pretrained(path).eval()
    ids = [tokens.ids for tokens in encoder.tokenise(TEXTS)]
    layers = list(range(7))
    found = encoder.hidden(ids, layers)
    with torch.inference_mode():
        wanted = [model(torch.tensor([one]), output_hidden_states=True).hidden_states for one in ids]
    for layer in layers:
        alone = torch.cat([hidden[layer][0] for hidden in wanted])
        assert float((found[layer] - alone).abs().max()) < 1e-5


def test_a_text_as_long_as_the_limit_is_read(tiny):
    _, encoder, longest = tiny
    body = encoder.tokenise(["the cat"])[0].ids[1]
    lead, tail = encoder.frame
    (hidden,) = encoder.hidden([(*lead, *[body] * (longest - 2), *tail)], [6])
    assert hidden.shape == (longest, 32)
    assert bool(torch.isfinite(hidden).all())


def test_digests_identify_weights_and_tokenizer(tiny, tmp_path):
    path, encoder, _ = tiny
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    assert find(str(copy)).weights_digest == encoder.weights_digest
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert find(str(copy)).weights_digest != encoder.weights_digest
    assert find(str(copy)).tokenizer_digest == encoder.tokenizer_digest
    (copy / "tokenizer.json").write_bytes((copy / "tokenizer.json").read_bytes() + b" ")
    assert find(str(copy)).tokenizer_digest != encoder.tokenizer_digest


def test_the_embedded_model_is_the_published_one():
    assert find("auto").weights_digest == EMBEDDED_SHA256


@pytest.fixture
def copy(tiny_bert, tmp_path):
    shutil.copytree(tiny_bert, tmp_path / "model")
    return tmp_path / "model"


def refused(path, match):
    with pytest.raises(ModelError, match=match):
        open_encoder(str(path))


def test_no_such_model(tmp_path):
    refused(tmp_path / "nothing", "neither a directory nor a hub name|not a directory")
    refused("owner/nothing", "not in the local hub cache")


def test_a_file_is_no_model(copy):
    refused(copy / "config.json", "a file, not a model directory")


def test_no_configuration(copy):
    (copy / "config.json").unlink()
    refused(copy, "no config.json")


def test_a_broken_configuration(copy):
    (copy / "config.json").write_text("{")
    refused(copy, "not readable as JSON")


def test_remote_code(copy):
    settings = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**settings, "auto_map": {"AutoModel": "evil.Model"}}))
    refused(copy, "own code")


def test_pickled_weights(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    refused(copy, r"only pickled weights \(pytorch_model.bin\)")


def test_no_weights(copy):
    (copy / "model.safetensors").unlink()
    refused(copy, "no weights")


def test_cut_weights(copy):
    data = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(data[: len(data) // 2])
    refused(copy, "cannot be loaded")


def test_no_tokenizer(copy):
    (copy / "tokenizer.json").unlink()
    refused(copy, "no tokenizer")


def test_a_tokenizer_of_another_model(copy):
    """More pieces than the model has rows would read out of bounds."""
    tokenizer = json.loads((copy / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    for extra in range(50):
        vocabulary[f"extra{extra}"] = len(vocabulary)
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused(copy, "do not match")


def test_devices():
    assert chosen_device("cpu") == "cpu"
    assert chosen_device("auto") in ("cpu", "cuda", "mps")
    with pytest.raises(InvalidSetting, match="takes auto, cpu"):
        chosen_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidSetting, match="not available"):
            chosen_device("cuda")
