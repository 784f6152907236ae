"""Directories that are not models: every one is refused in one line that says what it is."""

import json
import shutil

import model_families
import pytest

from monge.encoders.opening import open_model
from monge.errors import ModelError

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 90868376\n".format(
    "0" * 64
)


def refused(path, match):
    with pytest.raises(ModelError, match=match) as error:
        open_model(str(path), precision="fp32", device="cpu", online=False, unknown="drop")
    assert "\n" not in str(error.value)


@pytest.fixture
def copy(tiny_bert, tmp_path):
    return shutil.copytree(tiny_bert, tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "kind"), [("model.safetensors", "weights"), ("tokenizer.json", "a tokenizer"), ("config.json", "JSON")]
)  # fmt: skip
def test_git_lfs_pointers(copy, name, kind):
    (copy / name).write_text(POINTER)
    message = rf"{name} is a Git LFS pointer \({len(POINTER)} bytes\), not {kind}: run git lfs pull"
    refused(copy, message)


def test_a_pointer_in_place_of_word_vectors(tmp_path):
    (tmp_path / "glove.txt").write_text(POINTER)
    refused(tmp_path / "glove.txt", "Git LFS pointer .*, not word vectors: run git lfs pull")


def test_a_shard_that_is_a_pointer_and_empty_weights(copy):
    (copy / "model-2.safetensors").write_text(POINTER)
    refused(copy, r"model-2.safetensors is a Git LFS pointer")
    (copy / "model-2.safetensors").write_bytes(b"")
    refused(copy, r"model-2.safetensors: empty file \(0 bytes\), not weights")


def test_an_empty_directory(tmp_path):
    refused(tmp_path, "an empty directory, not a model")


@pytest.mark.parametrize("with_model", [False, True])
def test_a_directory_of_peft(copy, with_model):
    """Beside a model too: transformers would merge it where peft is installed, and elsewhere not."""
    if not with_model:
        (copy / "config.json").unlink()
    (copy / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    refused(copy, "an adapter in the form of peft .*, not a model; monge adapter import")


@pytest.mark.parametrize("name", ["t5", "mt5", "t5-encoder"])
def test_encoders_with_and_without_a_decoder(name, tmp_path):
    model_families.build(name, tmp_path)
    encoder = open_model(
        str(tmp_path), precision="fp32", device="cpu", online=False, unknown="drop"
    )
    assert encoder.depth == 4
