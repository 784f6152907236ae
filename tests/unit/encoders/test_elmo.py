"""ELMo on a tiny random model that the test writes, against a plain float64 recomputation."""

import json
import sys

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
torch = pytest.importorskip("torch")

from monge.encoders.elmo import Elmo  # noqa: E402
from monge.encoders.words import ElmoEncoder  # noqa: E402
from monge.errors import InvalidSetting, MissingExtra, ModelError  # noqa: E402

P, C, E, FILTERS, LENGTH = 3, 5, 2, [[1, 2], [3, 4]], 8
OPTIONS = {
    "lstm": {
        "cell_clip": 0.3,
        "proj_clip": 0.2,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": P,
    },
    "char_cnn": {
        "embedding": {"dim": E},
        "filters": FILTERS,
        "n_highway": 1,
        "n_characters": 262,
        "max_characters_per_token": LENGTH,
        "activation": "tanh",
    },
}
OPTIONS["lstm"]["dim"] = C
SENTENCES = [["one", "two", "drei"], ["überlanges-wort"], [], ["日本", "two", "a", "b", "one"]]


def shapes():
    found = {"char_embed": (261, E), "CNN_proj/W_proj": (6, P), "CNN_proj/b_proj": (P,)}
    for i, (span, count) in enumerate(FILTERS):
        found |= {f"CNN/W_cnn_{i}": (1, span, E, count), f"CNN/b_cnn_{i}": (count,)}
    for name, shape in (
        ("W_carry", (6, 6)),
        ("b_carry", (6,)),
        ("W_transform", (6, 6)),
        ("b_transform", (6,)),
    ):
        found[f"CNN_high_0/{name}"] = shape
    for way in (0, 1):
        for layer in (0, 1):
            group = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            found |= {
                f"{group}/W_0": (2 * P, 4 * C),
                f"{group}/B": (4 * C,),
                f"{group}/W_P_0": (C, P),
            }
    return found


@pytest.fixture
def weights():
    generator = np.random.default_rng(5)
    return {
        name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes().items()
    }


@pytest.fixture
def directory(tmp_path, weights):
    (tmp_path / "options.json").write_text(json.dumps(OPTIONS))
    with h5py.File(tmp_path / "weights.hdf5", "w") as file:
        for name, values in weights.items():
            file[name] = values
    return tmp_path


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def token(w, word):
    ids = ([258, *word[: LENGTH - 2], 259] + [260] * LENGTH)[:LENGTH]
    e = w["char_embed"][ids]
    parts = []
    for i, (span, _) in enumerate(FILTERS):
        windows = [
            np.einsum("we,wec->c", e[s : s + span], w[f"CNN/W_cnn_{i}"][0]) + w[f"CNN/b_cnn_{i}"]
            for s in range(LENGTH - span + 1)
        ]
        parts.append(np.tanh(np.max(windows, axis=0)))
    x = np.concatenate(parts)
    gate = sigmoid(x @ w["CNN_high_0/W_carry"] + w["CNN_high_0/b_carry"])
    x = (
        gate * np.maximum(0, x @ w["CNN_high_0/W_transform"] + w["CNN_high_0/b_transform"])
        + (1 - gate) * x
    )
    return x @ w["CNN_proj/W_proj"] + w["CNN_proj/b_proj"]


def lstm(w, way, layer, inputs):
    group = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    h, c, out = np.zeros(P), np.zeros(C), []
    for x in inputs:
        i, j, f, o = np.split(np.concatenate([x, h]) @ w[f"{group}/W_0"] + w[f"{group}/B"], 4)
        c = np.clip(sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j), -0.3, 0.3)
        h = np.clip((sigmoid(o) * np.tanh(c)) @ w[f"{group}/W_P_0"], -0.2, 0.2)
        out.append(h)
    return np.array(out)


def recompute(w, sentence):
    w = {name: values.astype(np.float64) for name, values in w.items()}
    x = np.array([token(w, list(word)) for word in [[256], *(s.encode() for s in sentence), [257]]])
    layers = [np.concatenate([x, x], axis=1)]
    ahead, behind = x, x[::-1]
    for k in (0, 1):
        told, heard = lstm(w, 0, k, ahead), lstm(w, 1, k, behind)
        ahead, behind = (told + ahead, heard + behind) if k else (told, heard)
        layers.append(np.concatenate([ahead, behind[::-1]], axis=1))
    return np.array(layers)[:, 1:-1]


def test_every_layer_equals_a_plain_recomputation(directory, weights):
    found = Elmo.open(directory).hidden(SENTENCES)
    assert [tuple(one.shape) for one in found] == [(3, len(s), 2 * P) for s in SENTENCES]
    for one, sentence in zip(found, SENTENCES, strict=True):
        if sentence:
            assert np.abs(one.numpy() - recompute(weights, sentence)).max() < 1e-5


def test_order_and_batching_do_not_matter(directory):
    model = Elmo.open(directory)
    together = model.hidden(SENTENCES)
    alone = [model.hidden([sentence])[0] for sentence in SENTENCES]
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(together, alone, strict=True))
    assert model.hidden([]) == []
    with pytest.raises(InvalidSetting, match="batch_size"):
        model.hidden(SENTENCES, batch_size=0)


def test_carried_states_are_those_at_each_sentence_end(directory):
    model = Elmo.open(directory)
    _, short_alone = model.run([["one"]])
    _, together = model.run([["one"], ["one", "two", "drei", "vier"]])
    for alone, both in zip(short_alone, together, strict=True):
        for way in (0, 1):
            assert all(torch.allclose(alone[way][s][0], both[way][s][0], atol=1e-6) for s in (0, 1))
    again = model.run([["one"]], short_alone)[0][0]
    assert (again[1:] - model.hidden([["one"]])[0][1:]).abs().max() > 1e-3


def test_two_files_and_digest(directory):
    one = Elmo.open(directory)
    two = Elmo.open(directory / "options.json", directory / "weights.hdf5")
    assert one.digest == two.digest and len(one.digest) == 64
    assert (one.dimension, one.layers) == (2 * P, 3)
    assert torch.equal(one.hidden([["x"]])[0], two.hidden([["x"]])[0])


def test_a_model_without_a_projection_of_its_own(tmp_path, directory, weights):
    """Where the filters already have the projection's width, the published files have no
    CNN_proj.
    """
    options = json.loads(json.dumps(OPTIONS))
    options["lstm"]["projection_dim"] = 6
    (directory / "options.json").write_text(json.dumps(options))
    generator = np.random.default_rng(1)
    with h5py.File(directory / "weights.hdf5", "a") as file:
        del file["CNN_proj"]
        for name, shape in shapes().items():
            if name.startswith("RNN"):
                del file[name]
                wide = {(2 * P, 4 * C): (12, 4 * C), (C, P): (C, 6)}.get(shape, shape)
                file[name] = generator.normal(size=wide).astype(np.float32)
    assert Elmo.open(directory).hidden([["a", "b"]])[0].shape == (3, 2, 12)


def edit(directory, **changes):
    with h5py.File(directory / "weights.hdf5", "a") as file:
        for name, values in changes.items():
            name = name.replace("__", "/")
            if name in file:
                del file[name]
            if values is not None:
                file[name] = values


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"CNN__b_cnn_0": None}, "no data set 'CNN/b_cnn_0'"),
        ({"CNN__b_cnn_0": np.zeros(9, np.float32)}, r"shape \(9,\), the options ask for \(2,\)"),
        ({"char_embed": np.full((261, E), np.nan, np.float32)}, "char_embed holds NaN"),
    ],
)
def test_weights_that_do_not_fit(directory, changes, message):
    edit(directory, **changes)
    with pytest.raises(ModelError, match=message) as caught:
        Elmo.open(directory)
    assert "weights.hdf5" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not an ELMo options file"),
        ("[]", "not an ELMo options file"),
        ('{"lstm": {}}', "no 'char_cnn' setting"),
        (json.dumps(OPTIONS).replace("tanh", "gelu"), "unknown activation 'gelu'"),
        (
            json.dumps(OPTIONS).replace('_token": 8', '_token": 2'),
            "filters of width 3 do not fit 2 characters",
        ),
    ],
)
def test_options_that_do_not_fit(directory, text, message):
    (directory / "options.json").write_text(text)
    with pytest.raises(ModelError, match=message) as caught:
        Elmo.open(directory)
    assert "\n" not in str(caught.value)


def test_files_that_are_missing_or_cut(directory):
    whole = (directory / "weights.hdf5").read_bytes()
    (directory / "weights.hdf5").write_bytes(whole[:100])
    with pytest.raises(ModelError, match="not an HDF5 file, or cut short"):
        Elmo.open(directory)
    (directory / "other_weights.hdf5").write_bytes(whole)
    with pytest.raises(ModelError, match="exactly one"):
        Elmo.open(directory)
    with pytest.raises(ModelError, match="not a directory"):
        Elmo.open(directory / "nowhere")


def test_without_h5py(directory, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"monge\[elmo\]"):
        Elmo.open(directory)


def test_digests_cover_weights_and_options(directory):
    """Before: of the weights alone, so that another clip gave other vectors under one signature."""
    before = ElmoEncoder(directory)
    changed = {**OPTIONS, "lstm": {**OPTIONS["lstm"], "cell_clip": 0.1}}
    (directory / "options.json").write_text(json.dumps(changed))
    after = ElmoEncoder(directory)
    assert after.config_digest != before.config_digest
    assert (after.weights_digest, after.tokenizer_digest) == (
        before.weights_digest,
        before.tokenizer_digest,
    )
    (directory / "options.json").write_text(json.dumps(dict(reversed(OPTIONS.items())), indent=3))
    assert ElmoEncoder(directory).config_digest == before.config_digest


def test_weights_that_do_not_cover_the_options(directory):
    changed = {**OPTIONS, "lstm": {**OPTIONS["lstm"], "n_layers": 3}}
    (directory / "options.json").write_text(json.dumps(changed))
    with pytest.raises(
        ModelError, match=r"no data set 'RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0'"
    ):
        ElmoEncoder(directory)
