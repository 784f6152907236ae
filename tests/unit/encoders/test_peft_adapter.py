"""Adapters as peft has them: what peft computes from ours, what we compute from peft's, and refusals."""

from __future__ import annotations

import json
from dataclasses import asdict

import peft
import pytest
import torch
from safetensors.torch import load_file, save, save_file
from transformers import AutoModel, BertForSequenceClassification

from monge.encoders import digests
from monge.encoders.adapter import IN, OUT, read_adapter
from monge.encoders.model_cards import describe_model
from monge.encoders.models import find_model
from monge.encoders.peft_adapter import PEFT_CARD, export_adapter, import_adapter, write_files
from monge.encoders.transformer import open_encoder, parameter_shapes
from monge.errors import ModelError

# peft reads an attribute of transformers that is to be renamed
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")
TEXTS = ["the cat sat on the mat", "a dog", "he said : hello world"]
QUERY, DOWN = "encoder.layer.2.attention.self.query", "encoder.layer.0.output.dense"


def make_adapter(base, directory, tensors):
    """A directory as `monge tune` writes it."""
    files = find_model(str(base))
    weights = save(tensors)
    identity = {
        part: getattr(files, f"{part}_digest") for part in ("weights", "tokenizer", "config")
    }
    card = {
        "format": 1,
        "base": {"name": files.name, "model": str(base), **identity},
        "layers": [4],
        "affine": {"slope": 2.0, "intercept": 0.5, "error": 0.1},
        "sha256": digests.of_bytes(weights),
    }
    contents = {"adapter.safetensors": weights, "card.json": json.dumps(card).encode()}
    write_files(directory, contents)
    return read_adapter(directory)


def low_rank(module, outputs, inputs, rank, seed):
    generator = torch.Generator().manual_seed(seed)
    return {
        f"{module}.weight{OUT}": 0.2 * torch.randn(outputs, rank, generator=generator),
        f"{module}.weight{IN}": torch.randn(rank, inputs, generator=generator),
    }


@pytest.fixture
def adapter(tiny_bert, tmp_path):
    """Two modules of different ranks."""
    tensors = low_rank(QUERY, 32, 32, 4, 1) | low_rank(DOWN, 32, 64, 2, 2)
    return make_adapter(tiny_bert, tmp_path / "adapter", tensors)


def states_of(model, encoder):
    """Every layer of every text by transformers or peft."""
    rows = [tokens.ids for tokens in encoder.tokenise(TEXTS)]
    with torch.inference_mode():
        outs = [model(torch.tensor([ids]), output_hidden_states=True) for ids in rows]
    return torch.cat([torch.cat(out.hidden_states) for out in outs], 1)


def own_states(encoder):
    rows = [tokens.ids for tokens in encoder.tokenise(TEXTS)]
    return torch.stack(encoder.hidden(rows, range(7)))


def imported(peft_directory, base, directory):
    files = find_model(str(base))
    contents = import_adapter(peft_directory, str(base), files, parameter_shapes(files))
    write_files(directory, contents)
    return open_encoder(str(directory), device="cpu")


def test_peft_computes_what_we_do(adapter, tiny_bert, tmp_path):
    write_files(tmp_path / "lora", export_adapter(adapter))
    model = peft.PeftModel.from_pretrained(
        AutoModel.from_pretrained(tiny_bert), tmp_path / "lora"
    ).eval()
    encoder = open_encoder(str(adapter.directory), device="cpu")
    torch.testing.assert_close(own_states(encoder), states_of(model, encoder), atol=1e-5, rtol=0)
    plain = states_of(AutoModel.from_pretrained(tiny_bert).eval(), encoder)
    assert float((own_states(encoder) - plain).abs().max()) > 0.1
    config = json.loads((tmp_path / "lora" / "adapter_config.json").read_text())
    assert config["r"] == config["lora_alpha"] == 4 and config["rank_pattern"] == {DOWN: 2}
    assert config["base_model_name_or_path"] == str(tiny_bert)


@pytest.mark.parametrize(
    "settings",
    [
        {"r": 4, "lora_alpha": 8},
        {"r": 4, "lora_alpha": 6, "use_rslora": True},
        {"r": 4, "lora_alpha": 5, "rank_pattern": {"value": 3}, "alpha_pattern": {"value": 7}},
    ],
)
@pytest.mark.parametrize("headed", [False, True])
def test_we_compute_what_peft_does(settings, headed, tiny_bert, tmp_path):
    """Also of an adapter that was trained below a head, whose names have a prefix."""
    torch.manual_seed(3)
    kind = BertForSequenceClassification if headed else AutoModel
    base = kind.from_pretrained(tiny_bert)
    config = peft.LoraConfig(target_modules=["query", "value", "output.dense"], **settings)
    model = peft.get_peft_model(base, config).eval()
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(0, 0.2)
    model.save_pretrained(tmp_path / "lora")
    encoder = imported(tmp_path / "lora", tiny_bert, tmp_path / "ours")
    torch.testing.assert_close(own_states(encoder), states_of(model, encoder), atol=1e-5, rtol=0)
    listing = describe_model(str(tmp_path / "ours"))
    assert listing.data["adapters"][0]["form"] == "peft"


def test_there_and_back_is_the_same_adapter(adapter, tiny_bert, tmp_path):
    """The layer and the calibration come back, and the digest that signatures hold."""
    write_files(tmp_path / "lora", export_adapter(adapter, "owner/base"))
    again = imported(tmp_path / "lora", tiny_bert, tmp_path / "again")
    before = open_encoder(str(adapter.directory), device="cpu")
    assert again.weights_digest == before.weights_digest
    assert asdict(again.tuning) == asdict(before.tuning) and again.tuning.layer == 4


def test_a_card_of_other_tensors_is_not_believed(adapter, tiny_bert, tmp_path):
    write_files(tmp_path / "lora", export_adapter(adapter))
    assert (tmp_path / "lora" / PEFT_CARD).is_file()
    path = tmp_path / "lora" / "adapter_model.safetensors"
    save_file({name: 2 * tensor for name, tensor in load_file(path).items()}, path)
    assert imported(tmp_path / "lora", tiny_bert, tmp_path / "again").tuning.layer is None


@pytest.mark.parametrize("name", ["mix", f"{QUERY}.weight"])
def test_what_peft_cannot_hold(name, tiny_bert, tmp_path):
    adapter = make_adapter(tiny_bert, tmp_path / "adapter", {name: torch.ones(7)})
    with pytest.raises(ModelError, match=f"it holds {name}, and LoRA of peft has low-rank"):
        export_adapter(adapter)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"peft_type": "IA3"}, "peft_type is 'IA3', monge reads 'LORA' only"),
        ({"use_dora": True}, "use_dora=True, monge reads low-rank changes only"),
        ({"modules_to_save": ["classifier"]}, "modules_to_save="),
        ({"bias": "all"}, "bias='all', monge reads bias='none' only"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights='pissa' changes the base model too"),
        ({"lora_alpha": "many"}, "lora_alpha of .* is 'many', expected a number"),
    ],
)
def test_settings_that_are_more_than_low_rank(adapter, settings, message, tiny_bert, tmp_path):
    write_files(tmp_path / "lora", export_adapter(adapter))
    path = tmp_path / "lora" / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    with pytest.raises(ModelError, match=message):
        imported(tmp_path / "lora", tiny_bert, tmp_path / "again")


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("base_model.model.encoder.layer.2.attention.self.query.lora_A.weight", (4, 33), "32 x 33, encoder.* is 32 x 32"),
        ("base_model.model.encoder.layer.9.output.dense.lora_A.weight", (4, 32), "not both"),
        ("base_model.model.embeddings.word_embeddings.lora_embedding_A", (4, 32), "lora_A and lora_B of linear maps"),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit(adapter, name, shape, message, tiny_bert, tmp_path):
    write_files(tmp_path / "lora", export_adapter(adapter))
    path = tmp_path / "lora" / "adapter_model.safetensors"
    save_file({**load_file(path), name: torch.ones(shape)}, path)
    with pytest.raises(ModelError, match=message):
        imported(tmp_path / "lora", tiny_bert, tmp_path / "again")


def test_a_module_that_the_base_lacks_and_missing_files(adapter, tiny_bert, tmp_path):
    write_files(tmp_path / "lora", export_adapter(adapter))
    path = tmp_path / "lora" / "adapter_model.safetensors"
    renamed = {name.replace("layer.2", "layer.9"): t for name, t in load_file(path).items()}
    save_file(renamed, path)
    with pytest.raises(ModelError, match=r"changes encoder.layer.9.*, which tiny-bert does not"):
        imported(tmp_path / "lora", tiny_bert, tmp_path / "again")
    path.rename(path.with_name("adapter_model.bin"))
    with pytest.raises(ModelError, match="only pickled weights, which can run code"):
        imported(tmp_path / "lora", tiny_bert, tmp_path / "again")
    with pytest.raises(ModelError, match="not a directory of peft, it has no"):
        imported(tiny_bert, tiny_bert, tmp_path / "again")
    with pytest.raises(ModelError, match="not empty; give a new directory"):
        write_files(tmp_path / "lora", {})
