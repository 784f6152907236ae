"""The static vectors inside the package: `--model static`."""

import json

import numpy as np
import pytest

import monge
from monge.encoders import transformer
from monge.encoders.digests import of_file
from monge.encoders.model_cards import describe_model
from monge.encoders.opening import open_model
from monge.encoders.packaged import STATIC, static_directory
from monge.encoders.packed import PackedEncoder
from monge.encoders.static_pieces import StaticPieceEncoder
from monge.errors import InvalidSetting


def score(hypotheses, references, metric="twmd", **options):
    return monge.score(hypotheses, references, metric=metric, model=STATIC, **options)


def test_the_card_names_the_weights_which_are_small():
    card = json.loads((static_directory() / "card.json").read_text())
    weights = static_directory() / "model.safetensors"
    assert card["sha256"] == of_file(weights)
    assert sum(path.stat().st_size for path in static_directory().iterdir()) < 8e6
    assert describe_model(STATIC).to_dict()["base"] == card["base"] == "all-MiniLM-L6-v2"


def test_it_opens_as_a_table_whatever_stands_in_the_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for make in (lambda path: path.mkdir(), lambda path: path.rmdir() or path.write_text("")):
        make(tmp_path / STATIC)
        encoder = open_model(STATIC, precision="fp32", device="cpu", online=False, unknown="drop")
        assert isinstance(encoder, StaticPieceEncoder) and encoder.depth == 0
        assert encoder.hidden([[1996, 4937]], [0])[0].shape == (2, 128)


def test_scores_are_those_that_were_kept():
    """Golden: 1 for the text itself, less for a paraphrase, least for something else."""
    reference = "the cat sat on the mat"
    texts = [reference, "a cat was sitting on the mat", "prices rose by four percent"]
    result = score(texts, [reference] * 3)
    np.testing.assert_allclose(result.segments, GOLDEN, atol=1e-5)
    assert f"model:static#{of_file(static_directory() / 'model.safetensors')[:8]}" in str(
        result.signature
    )


GOLDEN = [1.0, 0.745144, 0.055163]


def test_unknown_words_and_empty_texts_have_finite_scores():
    result = score(["☃☃ zyxwvut", "", "☃"], ["the cat", "the cat", "☃"])
    assert np.isfinite(result.segments).all() and np.abs(result.segments).max() <= 1 + 1e-9


def test_it_has_one_precision_and_one_language():
    with pytest.raises(InvalidSetting, match="precision bf16 is not there for static vectors"):
        score(["a"], ["a"], precision="bf16")
    with pytest.warns(match="static does not know German"):
        score(["ein Haus"], ["ein Haus"], lang="de")


def test_no_transformer_runs(monkeypatch):
    def refuse(*_arguments, **_settings):
        raise AssertionError("a transformer was opened")

    monkeypatch.setattr(PackedEncoder, "__init__", refuse)
    monkeypatch.setattr(transformer, "load_encoder", refuse)
    assert score(["a cat"], ["the cat"]).segments[0] > 0
