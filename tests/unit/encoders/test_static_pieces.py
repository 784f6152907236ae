"""Static vectors by piece: model2vec's layout and StaticEmbedding's, and what is wrong with others."""

import json

import model_families
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

import monge
from monge.encoders.opening import open_model
from monge.encoders.static_pieces import StaticPieceEncoder
from monge.errors import DataError, InvalidSetting, ModelError

PIECES = len(model_families.WORDS.split())
TABLE = torch.randn(PIECES, 8, generator=torch.Generator().manual_seed(4))


def opened(path, unknown="drop", precision="fp32"):
    return open_model(str(path), precision=precision, device="cpu", online=False, unknown=unknown)


def tokenizer_of(directory):
    directory.mkdir(parents=True, exist_ok=True)
    model_families.save_tokenizer(directory)
    return Tokenizer.from_file(str(directory / "tokenizer.json"))


def model2vec(directory, **tensors):
    tokenizer_of(directory)
    save_file({"embeddings": TABLE, **tensors}, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    return directory


def vectors_of(encoder, text):
    return encoder.hidden([encoder.tokenise([text])[0].ids], [0])[0]


def rows(text):
    return [model_families.WORDS.split().index(word) for word in text.split()]


def test_model2vec(tmp_path):
    """No special pieces; a piece has its row of the table."""
    encoder = opened(model2vec(tmp_path / "m"))
    assert isinstance(encoder, StaticPieceEncoder) and encoder.depth == 0
    (tokens,) = encoder.tokenise(["the cat sat"])
    assert list(tokens.pieces) == ["the", "cat", "sat"] and not any(tokens.special)
    assert torch.equal(vectors_of(encoder, "the cat sat"), TABLE[rows("the cat sat")])


def test_weights_and_mapping(tmp_path):
    """vector = embeddings[mapping[id]] * weights[id], by hand."""
    mapping = torch.arange(PIECES) % 3
    weights = torch.linspace(0.5, 2.0, PIECES, dtype=torch.float64)
    directory = model2vec(
        tmp_path / "m", embeddings=TABLE[:3].half(), mapping=mapping, weights=weights
    )
    expected = [TABLE[:3].half().float()[row % 3] * weights[row].float() for row in rows("cat fox")]
    torch.testing.assert_close(vectors_of(opened(directory), "cat fox"), torch.stack(expected))


@pytest.mark.parametrize("layout", ["0_StaticEmbedding", ".", "0"])
def test_directories_of_sentence_transformers(tmp_path, layout):
    """Equal to the library's own sentence vector: the mean over pieces."""
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    backend = tokenizer_of(tmp_path / layout)
    library = StaticEmbedding(backend, embedding_weights=TABLE.clone())
    library.save(str(tmp_path / layout))
    module = "sentence_transformers.models.StaticEmbedding"
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "path": layout, "type": module}]))
    text = "the quick brown fox sat"
    expected = library(library.preprocess([text]))["sentence_embedding"][0].detach()
    torch.testing.assert_close(vectors_of(opened(tmp_path), text).mean(0), expected)


def test_unknown_pieces(tmp_path):
    directory = model2vec(tmp_path / "m")
    (dropped,) = opened(directory).tokenise(["the zebra sat"])
    assert list(dropped.pieces) == ["the", "sat"] and (dropped.words, dropped.unknown) == (3, 1)
    zero = vectors_of(opened(directory, "zero"), "the zebra sat")
    assert torch.equal(zero, torch.stack([TABLE[5], torch.zeros(8), TABLE[7]]))
    with pytest.raises(DataError, match=r"no vector for 'zebra' \(character 5\)"):
        opened(directory, "error").tokenise(["the zebra sat"])
    with pytest.raises(InvalidSetting, match="unknown='keep'"):
        opened(directory, "keep")


def test_scores_and_signature(tmp_path):
    directory = str(model2vec(tmp_path / "m"))
    result = monge.score(["the cat sat", "the dog"], ["the cat sat", "a fox"], model=directory)
    assert result.segments[0] > result.segments[1]
    assert np.isfinite(result.segments).all()
    other = str(model2vec(tmp_path / "n" / "m", embeddings=TABLE + 1))
    again = monge.score(["the cat sat", "the dog"], ["the cat sat", "a fox"], model=other)
    assert str(again.signature) != str(result.signature)


def test_vectors_that_are_replaced_in_place_are_read_again(tmp_path):
    layer = tmp_path / "m" / "0_StaticEmbedding"
    tokenizer_of(layer)
    texts = (["the cat sat"], ["the dog sat"])
    signatures = []
    for factor in (1, 2):
        save_file({"embedding.weight": factor * TABLE}, layer / "model.safetensors")
        signatures.append(str(monge.score(*texts, model=str(tmp_path / "m")).signature))
    assert signatures[0] != signatures[1]


def test_faults(tmp_path):
    directory = model2vec(tmp_path / "m")
    with pytest.raises(InvalidSetting, match="precision bf16 is not there for static vectors"):
        opened(directory, precision="bf16")
    faults = {
        "no table of vectors": {"other": TABLE},
        "do not match": {"embeddings": TABLE[:-1].contiguous()},
        "NaN or infinite": {"embeddings": TABLE.clone().fill_(torch.inf)},
        "rows beyond the 3": {
            "embeddings": TABLE[:3].contiguous(),
            "mapping": torch.arange(PIECES),
        },
    }
    for message, tensors in faults.items():
        save_file(tensors, directory / "model.safetensors")
        with pytest.raises(ModelError, match=message):
            opened(directory)
    (directory / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"no weights \(looked for model.safetensors\)"):
        opened(directory)


def test_a_layer_outside_of_the_directory(tmp_path):
    module = {"type": "sentence_transformers.models.StaticEmbedding", "path": "../other"}
    (tmp_path / "modules.json").write_text(json.dumps([module]))
    with pytest.raises(ModelError, match=r"'\.\./other' is outside of the model's directory"):
        opened(tmp_path)
