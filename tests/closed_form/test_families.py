"""Values computed by hand through the front door: the toy problem as a file of word vectors."""

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
    path.write_text(
        "".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()), encoding="utf-8"
    )
    return str(path)


def parts(name, model, hypothesis=HYPOTHESIS, reference=REFERENCE, **options):
    result = api.score([hypothesis], [reference], metric=name, model=model, **options)
    return {
        "score": result.score,
        **{part: float(values[0]) for part, values in result.parts.items()},
    }


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
    assert parts("s+wms", vectors, reference=reference)["score"] == pytest.approx(
        0.7142743, abs=2e-7
    )


def test_a_text_of_one_sentence_moves_as_one(vectors):
    of_sentences = parts("sms", vectors, hypothesis="Xone. Xtwo.", reference="Xone xtwo.")
    apart = parts("sms", vectors, hypothesis="Xone xtwo.", reference="Xone xtwo.")
    assert apart["score"] == pytest.approx(1)
    assert of_sentences["score"] < 0.7  # half of the mass each, sqrt(.2) away from the middle
    assert of_sentences["score"] == pytest.approx(2.718281828 ** -(0.2**0.5), abs=1e-6)


def test_word_order(vectors):
    release = parts("wmdo@release", vectors)
    assert release["cost"] == pytest.approx(0.1066667, abs=2e-7)
    assert release["order"] == pytest.approx(2 / 3)
    assert release["score"] == pytest.approx(0.2266667, abs=2e-7)
    ordered = parts("wmdo", vectors)
    assert ordered["order"] == pytest.approx(1 / 3)
    assert ordered["score"] == pytest.approx(0.1066667 + 0.18 / 3, abs=2e-7)


def test_word_order_of_equal_texts_and_reversed_ones(vectors):
    text = "yone ytwo ythree yone yone"
    assert parts("wmdo", vectors, text, text)["score"] == pytest.approx(0, abs=1e-7)
    assert parts("wmdo@release", vectors, REFERENCE, REFERENCE)["order"] == pytest.approx(1 / 3)
    backwards = parts("wmdo", vectors, "ythree ytwo yone", REFERENCE)
    assert backwards["cost"] == pytest.approx(0, abs=1e-7)
    assert backwards["order"] == pytest.approx(2 / 3)


def test_words_without_a_vector(vectors):
    with_unknown = parts("wmdo", vectors, "xone nowhere", "xone xone")
    assert with_unknown["unknown"] == pytest.approx(0.5)
    assert with_unknown["cost"] == pytest.approx(0.5)  # a zero vector is at cosine distance 1
    dropped = api.score(["xone nowhere"], ["yone"], metric="wmd", model=vectors)
    assert dropped.score == pytest.approx(0, abs=1e-7)
    assert dropped.run["unknown"] == 1
    assert dropped.run["words"] == 3
    assert dropped.signature["unknown"] == "drop"
    nothing = api.score(["nowhere"], ["yone"], metric="wmd", model=vectors)
    assert nothing.flags == (("empty-hypothesis",),)
    assert nothing.score == pytest.approx(2**0.5)


def test_static_vectors_have_one_layer_and_say_so(vectors):
    result = api.score(
        [HYPOTHESIS], [REFERENCE], metric="moverscore[weights=uniform]", model=vectors
    )
    assert result.signature["layers"] == "0"
    with pytest.raises(InvalidSetting, match="has layers 0 to 0"):
        api.score([HYPOTHESIS], [REFERENCE], metric="wmd", model=vectors, layers=2)
    with pytest.raises(InvalidSetting, match="prefix"):
        api.score([HYPOTHESIS], [REFERENCE], metric="wmd[encoder.prefix=query]", model=vectors)
    with pytest.raises(InvalidSetting, match="goes with units"):
        api.load("sms[units.ngram=2]", model=vectors)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("xmoverscore", 0.7866666667),
        ("xmoverscore@v1", 0.7866666667),
        ("xmoverscore@v2[units.ngram=1]", 0.7334779),
        ("xmoverscore@v2", 0.7209198),
    ],
)
def test_xmoverscore(vectors, name, value):
    assert parts(name, vectors)["score"] == pytest.approx(value, abs=5e-7)


def test_the_smallest_flows_are_dropped():
    import torch

    from monge.transport.exact import prune
    from monge.types import TransportPlan

    flows = torch.tensor(
        [[[0.05, 0.1, 0.0], [0.1, 0.15, 0.2], [0.0, 0.25, 0.15]]], dtype=torch.float64
    )
    assert prune(TransportPlan(flows), 0.3).coupling.flatten().tolist() == [
        0,
        0.1,
        0,
        0.1,
        0.15,
        0.2,
        0,
        0.25,
        0.15,
    ]
    assert torch.equal(prune(TransportPlan(flows), 0.1).coupling, flows)  # k = 1 drops nothing
    assert float(prune(TransportPlan(flows), 0.6).coupling.sum()) == pytest.approx(0.75)


def test_yisi_2_weighs_each_side_by_its_own_table(vectors):
    hypotheses, sources = ["xone xtwo", "xone"], ["yone ytwo", "ytwo ythree"]
    result = api.score(hypotheses, sources=sources, metric="yisi-2", model=vectors)
    assert "/" in result.signature["stats"]
    common, rare = 1.0, 1.3219280948873624  # log2(1 + 3/3), log2(1 + 3/2)
    precision = (common * 1.0 + rare * 0.96) / (common + rare)
    recall = (rare * 1.0 + common * 0.96) / (common + rare)
    assert result.parts["precision"][0] == pytest.approx(precision, abs=1e-6)
    assert result.parts["recall"][0] == pytest.approx(recall, abs=1e-6)
