"""Toy values of metrics-spec §6 through the front door: the toy problem of §0.3 as a file of word vectors."""

import pytest

from monge import api
from monge.errors import InvalidSetting

VECTORS = {
    "xone": (1, 0),
    "xtwo": (0.6, 0.8),
    "yone": (1, 0),
    "ytwo": (0.8, 0.6),
    "ythree": (0, 1),
}
HYPOTHESIS, REFERENCE = "xone xtwo", "yone ytwo ythree"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "toy.txt"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()), encoding="utf-8")
    return str(path)


def parts(name, model, hypothesis=HYPOTHESIS, reference=REFERENCE, **options):
    result = api.score([hypothesis], [reference], metric=name, model=model, **options)
    return {"score": result.score, **{part: float(values[0]) for part, values in result.parts.items()}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wmd", 0.3633682181),
        ("rwmd", 0.3050994148),
        ("wms", 0.6953304),
        ("moverscore[weights=uniform]", 0.7866666667),
        ("moverscore-2[weights=uniform]", 0.7899494937),
        ("emd", 0.1066666667),
    ],
)
def test_words_as_points(vectors, name, value):
    assert parts(name, vectors)["score"] == pytest.approx(value, abs=2e-7)


def test_sentences_weigh_their_words(vectors):
    reference = "Yone ytwo. Ythree."
    assert parts("wms", vectors, reference=reference)["score"] == pytest.approx(0.6953304, abs=2e-7)
    assert parts("sms", vectors, reference=reference)["score"] == pytest.approx(0.6520629, abs=2e-7)
    assert parts("s+wms", vectors, reference=reference)["score"] == pytest.approx(0.7142743, abs=2e-7)


def test_a_text_of_one_sentence_moves_as_one(vectors):
    found = parts("sms", vectors, hypothesis="Xone. Xtwo.", reference="Xone xtwo.")
    apart = parts("sms", vectors, hypothesis="Xone xtwo.", reference="Xone xtwo.")
    assert apart["score"] == pytest.approx(1)
    assert found["score"] < 0.7  # half of the mass each, sqrt(.2) away from the middle
    assert found["score"] == pytest.approx(2.718281828 ** -(0.2**0.5), abs=1e-6)


def test_word_order(vectors):
    release = parts("wmdo@release", vectors)
    assert release["cost"] == pytest.approx(0.1066667, abs=2e-7)
    assert release["order"] == pytest.approx(2 / 3)
    assert release["score"] == pytest.approx(0.2266667, abs=2e-7)
    ours = parts("wmdo", vectors)
    assert ours["order"] == pytest.approx(1 / 3)
    assert ours["score"] == pytest.approx(0.1066667 + 0.18 / 3, abs=2e-7)


def test_word_order_of_equal_texts_and_reversed_ones(vectors):
    text = "yone ytwo ythree yone yone"
    assert parts("wmdo", vectors, text, text)["score"] == pytest.approx(0, abs=1e-7)
    assert parts("wmdo@release", vectors, REFERENCE, REFERENCE)["order"] == pytest.approx(1 / 3)
    backwards = parts("wmdo", vectors, "ythree ytwo yone", REFERENCE)
    assert backwards["cost"] == pytest.approx(0, abs=1e-7)
    assert backwards["order"] == pytest.approx(2 / 3)


def test_words_without_a_vector(vectors):
    found = parts("wmdo", vectors, "xone nowhere", "xone xone")
    assert found["unknown"] == pytest.approx(0.5)
    assert found["cost"] == pytest.approx(0.5)  # a zero vector is at cosine distance 1
    dropped = api.score(["xone nowhere"], ["yone"], metric="wmd", model=vectors)
    assert dropped.score == pytest.approx(0, abs=1e-7)
    assert dropped.run["unknown"] == 1
    assert dropped.run["words"] == 3
    assert dropped.signature["unknown"] == "drop"
    nothing = api.score(["nowhere"], ["yone"], metric="wmd", model=vectors)
    assert nothing.flags == (("empty-hypothesis",),)
    assert nothing.score == pytest.approx(2**0.5)


def test_static_vectors_have_one_layer_and_say_so(vectors):
    result = api.score([HYPOTHESIS], [REFERENCE], metric="moverscore[weights=uniform]", model=vectors)
    assert result.signature["layers"] == "0"
    with pytest.raises(InvalidSetting, match="has layers 0 to 0"):
        api.score([HYPOTHESIS], [REFERENCE], metric="wmd", model=vectors, layers=2)
    with pytest.raises(InvalidSetting, match="prefix"):
        api.score([HYPOTHESIS], [REFERENCE], metric="wmd[encoder.prefix=query]", model=vectors)
    with pytest.raises(InvalidSetting, match="goes with units"):
        api.load("sms[units.ngram=2]", model=vectors)
