"""Our ELMo against the expected outputs of the original implementation (MONGE_MODELS/elmo-fixture).

`lm_embeddings_k.hdf5` holds the *top* layer of sentence slot k: sentences.json is 3 slots x 10
batches, run with a batch of 3 whose LSTM states were carried from batch to batch.
`elmo_token_embeddings.hdf5` holds layer 0 of the words of vocab_test.txt, which has the sentence
ends as <S> and </S>. Layer 1 has no file of its own; the top layer is a function of it (layer 2 =
its LSTM + layer 1), and tests/unit/encoders/test_elmo.py recomputes it in numpy.
"""

import json

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")
torch = pytest.importorskip("torch")

from monge.encoders.elmo import Elmo  # noqa: E402

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def fixture(models_dir):
    return models_dir / "elmo-fixture"


@pytest.fixture(scope="module")
def model(fixture):
    return Elmo.open(fixture)


@pytest.fixture(scope="module")
def batches(fixture):
    slots = json.loads((fixture / "sentences.json").read_text())
    return [[slots[k][i].split() for k in range(3)] for i in range(10)]


@pytest.fixture(scope="module")
def expected(fixture):
    vectors = []
    for k in range(3):
        with h5py.File(fixture / f"lm_embeddings_{k}.hdf5") as file:
            vectors.append([np.concatenate(list(file[str(i)][...]), axis=-1) for i in range(10)])
    return vectors


def test_top_layer_with_carried_states(model, batches, expected):
    states, worst = None, 0.0
    for i, batch in enumerate(batches):
        layers, states = model.run(batch, states)
        for k in range(3):
            assert layers[k].shape == (3, len(batch[k]), 32)
            worst = max(worst, np.abs(layers[k][2].numpy() - expected[k][i]).max())
    assert worst < TOLERANCE


def test_without_carried_states_the_first_batch_agrees_and_the_second_cannot(
    model, batches, expected
):
    first, second = model.hidden(batches[0]), model.hidden(batches[1])
    for k in range(3):
        assert np.abs(first[k][2].numpy() - expected[k][0]).max() < TOLERANCE
        assert np.abs(second[k][2].numpy() - expected[k][1]).max() > 0.1


def test_token_layer(model, fixture):
    words = (fixture / "vocab_test.txt").read_text().split("\n")
    with h5py.File(fixture / "elmo_token_embeddings.hdf5") as file:
        table = file["embedding"][...]
    plain = [i for i, word in enumerate(words) if word not in ("<S>", "</S>")]
    layer = model.hidden([[words[i] for i in plain]])[0][0].numpy()
    assert np.abs(layer[:, :16] - table[plain]).max() < TOLERANCE
    assert np.array_equal(layer[:, :16], layer[:, 16:])
    ends = model._tokens([[]])[0][0].numpy()
    assert np.abs(ends - table[[words.index("<S>"), words.index("</S>")]]).max() < TOLERANCE


def test_a_sentence_does_not_depend_on_its_batch(model, batches):
    sentences = [sentence for batch in batches for sentence in batch]
    together = model.hidden(sentences, batch_size=30)
    for size in (1, 4):
        apart = model.hidden(sentences, batch_size=size)
        assert max((a - b).abs().max() for a, b in zip(together, apart, strict=True)) < TOLERANCE
