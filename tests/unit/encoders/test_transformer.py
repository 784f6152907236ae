"""Loading and running tiny models: layers, limits, identity, and what is refused."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AlbertConfig, AlbertModel, AutoModel, T5Config, T5Model

from monge.encoders.digests import LEFT_OUT
from monge.encoders.loading import choose_device
from monge.encoders.models import find_model
from monge.encoders.packaged import EMBEDDED
from monge.encoders.transformer import open_encoder
from monge.errors import InvalidSetting, ModelError

FAMILIES = {"tiny_bert": 48, "tiny_roberta": 40, "tiny_xlmr": 40}
TEXTS = [
    "the cat sat on the mat",
    "a",
    "the dog ran to the house and slept unhappily .",
    "he said : hello",
]


@pytest.fixture(params=FAMILIES)
def tiny(request):
    path = request.getfixturevalue(request.param)
    return path, open_encoder(str(path)), FAMILIES[request.param]


def test_depth_and_longest(tiny):
    """The smaller of what the tokenizer declares and the position table, less what the family keeps
    for padding.
    """
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
        wanted = [
            model(torch.tensor([one]), output_hidden_states=True).hidden_states for one in ids
        ]
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
    assert find_model(str(copy)).weights_digest == encoder.weights_digest
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert find_model(str(copy)).weights_digest != encoder.weights_digest
    assert find_model(str(copy)).tokenizer_digest == encoder.tokenizer_digest
    rewritten = json.loads((copy / "tokenizer.json").read_text("utf-8"))
    (copy / "tokenizer.json").write_text(
        json.dumps(dict(reversed(rewritten.items())), indent=7), "utf-8"
    )
    assert find_model(str(copy)).tokenizer_digest == encoder.tokenizer_digest, (
        "a file is read in one canonical form"
    )
    (copy / "tokenizer.json").write_text(
        json.dumps({**rewritten, "normalizer": None, "x": 1}), "utf-8"
    )
    assert find_model(str(copy)).tokenizer_digest != encoder.tokenizer_digest


def changed_settings(file, **settings):
    there = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.write_text(json.dumps({**there, **settings}), "utf-8")


@pytest.mark.parametrize(
    ("file", "settings", "digest"),
    [
        ("config.json", {"hidden_act": "relu"}, "config_digest"),
        ("config.json", {"layer_norm_eps": 1e-6}, "config_digest"),
        ("config.json", {"of_tomorrow": 1}, "config_digest"),
        ("tokenizer_config.json", {"do_lower_case": False}, "tokenizer_digest"),
        ("special_tokens_map.json", {"sep_token": "[CLS]"}, "tokenizer_digest"),
        ("added_tokens.json", {"hello": 9}, "tokenizer_digest"),
    ],
)
def test_digests_cover_every_setting(copy, file, settings, digest):
    """Before: they covered the weights and tokenizer.json alone."""
    before = find_model(str(copy))
    changed_settings(copy / file, **settings)
    after = find_model(str(copy))
    names = ("weights_digest", "tokenizer_digest", "config_digest")
    assert [name for name in names if getattr(before, name) != getattr(after, name)] == [digest]


def test_digests_leave_out_what_moves_no_vector(copy):
    before = find_model(str(copy))
    changed_settings(copy / "config.json", **dict.fromkeys(LEFT_OUT["config.json"], "other"))
    changed_settings(
        copy / "tokenizer_config.json", **dict.fromkeys(LEFT_OUT["tokenizer_config.json"], "other")
    )
    assert find_model(str(copy)) == before


def test_weights_that_do_not_cover_the_configuration(tiny, tmp_path):
    """Before: the layers that were not there were random, and the result was signed."""
    shutil.copytree(tiny[0], tmp_path / "grown")
    changed_settings(tmp_path / "grown" / "config.json", num_hidden_layers=8)
    lacks = (
        r"do not cover the configuration, they lack encoder\.layer\.6\.attention\..* and 29 more"
    )
    refused(tmp_path / "grown", lacks)


def with_tokenizer(model, tokenizer, directory):
    """A saved model with the tokenizer of another."""
    model.save_pretrained(directory)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tokenizer / name, directory / name)
    return directory


def lose(directory, *names):
    """Take the tensors out of the weights whose names hold one of these."""
    weights = load_file(directory / "model.safetensors")
    left = {name: value for name, value in weights.items() if not any(one in name for one in names)}
    assert len(left) < len(weights)
    save_file(left, directory / "model.safetensors", {"format": "pt"})


def test_weights_that_do_not_cover_an_encoder_that_runs_padded(tiny_bert, tmp_path):
    sizes = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "embedding_size": 16,
    }
    model = AlbertModel(AlbertConfig(**sizes, num_hidden_layers=3, vocab_size=1000))
    directory = with_tokenizer(model, tiny_bert, tmp_path / "albert")
    assert open_encoder(str(directory)).depth == 3
    lose(directory, "ffn_output")
    refused(directory, r"they lack encoder\.\S*ffn_output\.bias, encoder\.\S*ffn_output\.weight$")


def test_a_pooler_and_a_decoder_may_be_missing(copy, tmp_path):
    lose(copy, "pooler")
    assert open_encoder(str(copy)).depth == 6
    sizes = {
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 64,
        "num_layers": 3,
        "num_heads": 4,
        "vocab_size": 1000,
    }
    directory = with_tokenizer(T5Model(T5Config(**sizes)), copy, tmp_path / "t5")
    lose(directory, "decoder.block.2.layer.1.")
    assert open_encoder(str(directory)).depth == 3
    lose(directory, "encoder.block.2.layer.1.")
    refused(directory, r"they lack encoder\.block\.2\.layer\.1\.")


def test_the_embedded_model_is_the_published_one():
    assert find_model("auto").weights_digest == EMBEDDED.sha256


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
    (copy / "config.json").write_text(
        json.dumps({**settings, "auto_map": {"AutoModel": "evil.Model"}})
    )
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
    assert choose_device("cpu") == "cpu"
    assert choose_device("auto") in ("cpu", "cuda", "mps")
    with pytest.raises(InvalidSetting, match="takes auto, cpu"):
        choose_device("gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidSetting, match="not available"):
            choose_device("cuda")
