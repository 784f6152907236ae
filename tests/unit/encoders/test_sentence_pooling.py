"""`sbert` makes the vector of a text as the model's directory declares, or refuses."""

import json
import shutil

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

import monge
from monge.errors import ModelError

TEXTS = "the cat sat on the mat", "a dog ran to the house"


def with_pooling(tiny_bert, tmp_path, **config):
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    if config:
        (model / "1_Pooling").mkdir()
        (model / "1_Pooling" / "config.json").write_text(
            json.dumps({"word_embedding_dimension": 32, **config})
        )
    return model


def cosine(model, pool):
    """The cosine of two texts as transformers and a pooling written here give it."""
    tokenizer, network = (
        AutoTokenizer.from_pretrained(model),
        AutoModel.from_pretrained(model).eval(),
    )
    with torch.no_grad():
        first, second = (
            pool(network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0])
            for text in TEXTS
        )
    return float(torch.nn.functional.cosine_similarity(first, second, dim=0))


@pytest.mark.parametrize(
    ("config", "pool", "join"),
    [
        ({}, lambda hidden: hidden.mean(0), "mean"),
        (
            {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
            lambda hidden: hidden.mean(0),
            "mean",
        ),
        (
            {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True},
            lambda hidden: hidden[0],
            "first",
        ),
        ({"pooling_mode": "cls"}, lambda hidden: hidden[0], "first"),
    ],
)
def test_the_declared_pooling_is_used_and_signed(tiny_bert, tmp_path, config, pool, join):
    model = with_pooling(tiny_bert, tmp_path, **config)
    result = monge.load("sbert", model=str(model), device="cpu").score([TEXTS[0]], [TEXTS[1]])
    assert result.score == pytest.approx(cosine(model, pool), abs=1e-5)
    assert f"ngram=sentence,join={join}," in result.signature["units"]


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_max_tokens": True},
        {"pooling_mode": "lasttoken"},
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
    ],
)
def test_another_pooling_is_refused_by_name(tiny_bert, tmp_path, config):
    model = with_pooling(tiny_bert, tmp_path, **config)
    with pytest.raises(
        ModelError,
        match=r"sbert: model makes the vector of a text by .*(max|lasttoken|first\+mean)",
    ):
        monge.load("sbert", model=str(model), device="cpu")
    assert (
        monge.load("twmd", model=str(model), device="cpu").score([TEXTS[0]], [TEXTS[1]]).score < 1
    )
