"""Families of today: what opens, packed or not, how long, and equal to transformers to 1e-5."""

import json
import shutil

import make_models
import model_families
import numpy as np
import pytest
import torch
from repository import read_json

import monge
from monge.encoders.body import body_of_module
from monge.encoders.models import find_model
from monge.encoders.modern import ModernEncoder
from monge.encoders.transformer import open_encoder, read_body
from monge.errors import InvalidSetting, ModelError


@pytest.fixture(scope="module")
def modern(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "modern"
    return directory, model_families.build("modernbert", directory)


@pytest.mark.parametrize("name", model_families.EXAMPLES)
def test_a_family_is_what_the_table_says(name, tmp_path):
    measured = model_families.measure(tmp_path, model_families.build(name, tmp_path))
    kept = read_json(make_models.FIGURES)[name]
    assert {key: measured[key] for key in ("packed", "longest")} == {
        key: kept[key] for key in ("packed", "longest")
    }, "run: python tools/make_models.py"
    assert measured["difference"] < 1e-5 and kept["difference"] < 1e-5


def test_the_table_has_every_family_and_no_other():
    assert list(read_json(make_models.FIGURES)) == list(model_families.EXAMPLES)


def reference_states(model, text):
    with torch.inference_mode():
        return torch.cat(model(torch.tensor([text]), output_hidden_states=True).hidden_states)


@pytest.mark.parametrize(
    "changes",
    [
        {"norm_bias": True, "attention_bias": True, "mlp_bias": True},
        {"layer_types": ["sliding_attention", "full_attention"] * 2, "local_attention": 2},
        {"num_hidden_layers": 1},
        {
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 500.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 7.0},
            }
        },
    ],
)
def test_modernbert_as_it_can_be_configured(changes, tmp_path):
    model = model_families.build("modernbert", tmp_path, **changes)
    assert model_families.measure(tmp_path, model)["difference"] < 1e-5
    assert open_encoder(str(tmp_path))._packed is not None


def test_modernbert_with_the_settings_of_older_files(modern, tmp_path):
    """The published models name the bases and the period of global attention in settings of their own."""
    config = {
        "global_attn_every_n_layers": 2, "global_rope_theta": 300.0, "local_rope_theta": 9.0,
    }  # fmt: skip
    shutil.copytree(modern[0], tmp_path / "old")
    settings = json.loads((tmp_path / "old" / "config.json").read_text())
    for name in ("layer_types", "rope_parameters"):
        settings.pop(name)
    (tmp_path / "old" / "config.json").write_text(json.dumps({**settings, **config}))
    from transformers import AutoModel

    model = AutoModel.from_pretrained(tmp_path / "old").eval()
    assert model.config.layer_types[1:3] == ["sliding_attention", "full_attention"]
    assert model_families.measure(tmp_path / "old", model)["difference"] < 1e-5
    assert open_encoder(str(tmp_path / "old"))._packed is not None


def test_long_texts_of_modernbert_attend_in_slices(modern):
    """1,300 pieces are three slices of queries; the last layer of a global block sees all of them."""
    generator = torch.Generator().manual_seed(2)
    text = torch.randint(24, (1300,), generator=generator).tolist()
    short = text[:7]
    encoder = open_encoder(str(modern[0]))
    states = torch.stack(encoder.hidden([text, short], range(5)))
    for rows, alone in ((states[:, :1300], text), (states[:, 1300:], short)):
        assert float((rows - reference_states(modern[1], alone)).abs().max()) < 1e-5


def test_modernbert_in_company_and_in_bf16(modern):
    ids = [[1, 5, 6, 2], [1, *range(4, 20), 2], [1, 7, 2], []]
    packed = ModernEncoder(body_of_module(modern[1]))
    together = packed.hidden(ids, [4])[0].split(list(map(len, ids)))
    for text, states in zip(ids, together, strict=True):
        torch.testing.assert_close(states, packed.hidden([text], [4])[0], atol=1e-6, rtol=0)
    coarse = ModernEncoder(body_of_module(modern[1]), "bf16").hidden(ids, [4])[0]
    assert (torch.cosine_similarity(coarse, torch.cat(together), dim=-1) > 0.999).all()
    with pytest.raises(InvalidSetting, match="int8 is not there for ModernBERT"):
        open_encoder(str(modern[0]), precision="int8")


def test_modernbert_beyond_its_positions_and_in_tuning(modern):
    with pytest.raises(InvalidSetting, match="8193 tokens: this model has 8192"):
        open_encoder(str(modern[0])).hidden([[1] * 8193], [1])
    assert read_body(find_model(str(modern[0]))) is None  # tune says that it cannot be tuned


@pytest.mark.parametrize(
    "changes",
    [
        {"hidden_activation": "silu"},
        {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 2.0}}},
    ],
)
def test_modernbert_that_is_not_understood_is_left_to_transformers(changes, tmp_path):
    model = model_families.build("modernbert", tmp_path, **changes)
    measured = model_families.measure(tmp_path, model)
    assert not measured["packed"] and measured["difference"] < 1e-5


def test_tensors_that_modernbert_lacks(modern, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(modern[0], tmp_path / "cut")
    tensors = load_file(tmp_path / "cut" / "model.safetensors")
    del tensors["layers.2.mlp.Wi.weight"]
    save_file(tensors, tmp_path / "cut" / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"they lack layers\.2\.mlp\.Wi\.weight"):
        open_encoder(str(tmp_path / "cut"))


def test_texts_without_pieces_in_a_decoder(tmp_path):
    """A decoder's tokenizer frames nothing: an empty text has no piece at all."""
    from tokenizers import Tokenizer, processors

    model_families.build("qwen3", tmp_path)

    backend = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    backend.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    backend.save(str(tmp_path / "tokenizer.json"))
    result = monge.score(
        ["the cat", "", "a"], ["the dog", "the cat", ""], metric="twmd", model=str(tmp_path)
    )
    assert np.isfinite(result.segments).all()
