"""WMDo against the behaviour of its released code, written out here, on static vectors."""

import numpy as np
import pytest
from scipy.optimize import linprog

from monge import api
from monge.metrics.presets import PRESETS, resolve
from monge.server import allowed

DELTA, ALPHA = 0.18, 0.10
WORDS = [f"word{letter}" for letter in "abcdefghijkl"]
UNKNOWN = ["nowhere", "nobody"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    random = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("vectors") / "words.txt"
    rows = {word: random.normal(size=5) for word in WORDS}
    path.write_text(
        "".join(f"{word} {' '.join(f'{x:.6f}' for x in row)}\n" for word, row in rows.items())
    )
    return path, {
        word: np.array([float(f"{x:.6f}") for x in row], dtype=np.float32)
        for word, row in rows.items()
    }


def distance(word, second, vectors_by_word):
    """Cosine distance; words without a vector have the zero vector, at 1 from all others and 0 from
    themselves.
    """
    if word == second:
        return 0.0
    if word not in vectors_by_word or second not in vectors_by_word:
        return 1.0
    x, y = vectors_by_word[word].astype(float), vectors_by_word[second].astype(float)
    return 1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y)


def flows(reference, hypothesis, types, vectors_by_word):
    """Histograms over common bins: mass in the same bin stays, what is left is moved by a linear
    program.
    """
    counts = np.array(
        [[text.count(word) / len(text) for word in types] for text in (reference, hypothesis)]
    )
    stays = counts.min(0)
    left, right = counts - stays
    cost = np.array(
        [[distance(word, second, vectors_by_word) for second in types] for word in types]
    )
    size = len(types)
    rows = [np.eye(size)[i].repeat(size) for i in range(size)] + [
        np.tile(np.eye(size)[j], size) for j in range(size)
    ]
    solved = linprog(
        cost.ravel(), A_eq=np.array(rows), b_eq=[*left, *right], bounds=(0, None), method="highs"
    )
    moved = solved.x.reshape(size, size)
    return float((moved * cost).sum()), moved + np.diag(stays)


def released(hypothesis, reference, vectors_by_word):
    """Cost, order and unknown share: one chunk to begin with, another for every match that is not
    at previous + 1.
    """
    types = sorted({*hypothesis, *reference})
    cost, flow = flows(reference, hypothesis, types, vectors_by_word)
    chunks, before = 1, -1
    for word in reference:
        sent = flow[types.index(word)]
        tied = [types[k] for k in np.flatnonzero(sent >= sent.max() - 1e-9)]
        places = [k for k, word in enumerate(hypothesis) if word in tied]
        here = min(places, key=lambda place: (abs(place - before), place))
        chunks += here != before + 1
        before = here
    order = min(chunks / len(reference), 1)
    return cost, order, sum(word not in vectors_by_word for word in hypothesis) / len(hypothesis)


def texts(random):
    """Two texts that share some words, in another order; each may have a word without a vector."""
    reference = [str(word) for word in random.choice(WORDS, random.integers(2, 8))]
    common = [word for word in reference if random.random() < 0.6]
    hypothesis = [*common, *(str(word) for word in random.choice(WORDS, random.integers(1, 4)))]
    random.shuffle(hypothesis)
    if random.random() < 0.4:
        reference.insert(int(random.integers(len(reference) + 1)), UNKNOWN[0])
    if random.random() < 0.4:
        hypothesis.insert(
            int(random.integers(len(hypothesis) + 1)), UNKNOWN[int(random.integers(2))]
        )
    return hypothesis, reference


def test_the_release_is_what_the_authors_code_computes(vectors):
    path, vectors_by_word = vectors
    random = np.random.default_rng(4)
    pairs = [texts(random) for _ in range(150)]
    result = api.score(
        [" ".join(hypothesis) for hypothesis, _ in pairs], [" ".join(reference) for _, reference in pairs], metric="wmdo@release",
        model=str(path),
    )  # fmt: skip
    for k, pair in enumerate(pairs):
        cost, order, unknown = released(*pair, vectors_by_word)
        got = {name: float(values[k]) for name, values in result.parts.items()}
        assert got["cost"] == pytest.approx(cost, abs=1e-6), pair
        assert got["order"] == pytest.approx(order, abs=1e-6), pair
        assert got["unknown"] == pytest.approx(unknown, abs=1e-9), pair
        assert result.segments[k] == pytest.approx(cost + DELTA * order + ALPHA * unknown, abs=1e-6)


@pytest.mark.parametrize("metric", ["wmdo", "wmdo@release"])
def test_a_word_without_a_vector_is_itself(vectors, metric):
    """The text itself beats every other text, also where it has words that have no vector."""
    path, _ = vectors
    text = "wordb nowhere wordc nobody"
    others = [
        "wordb wordc",
        "wordb wordb wordc wordc",
        "wordb nobody wordc nowhere",
        "wordb nowhere wordc nowhere",
    ]
    scores = api.score([text, *others], [text] * 5, metric=metric, model=str(path)).parts["cost"]
    assert scores[0] == pytest.approx(0, abs=1e-7)
    scores = api.score([text, *others], [text] * 5, metric=metric, model=str(path)).segments
    assert scores[0] < min(scores[1:])
    assert api.score(["Nowhere"], ["nowhere"], metric=metric, model=str(path)).parts["cost"][
        0
    ] == pytest.approx(0)


def test_different_words_without_a_vector_are_at_1_from_each_other(vectors):
    path, _ = vectors
    result = api.score(["nowhere", "nowhere"], ["nobody", "wordb"], metric="wmdo", model=str(path))
    assert result.parts["cost"] == pytest.approx([1, 1])


@pytest.mark.parametrize(
    "metric", ["bertscore", "twmd", "emd", "moverscore[ground=cosine,weights=uniform]"]
)
def test_every_cosine_metric_knows_a_zero_word_from_another(vectors, metric):
    path, _ = vectors
    hypotheses = ["wordb nowhere", "wordb nobody"]
    scored = api.score(
        hypotheses,
        ["wordb nowhere"] * 2,
        metric=metric,
        model=str(path),
        settings=["encoder.unknown=zero"],
    )
    sign = 1 if scored.higher_is_better else -1
    assert sign * scored.segments[0] > sign * scored.segments[1] + 0.1
    assert abs(scored.segments[0] - (1 if scored.higher_is_better else 0)) < 1e-6


@pytest.mark.parametrize("name", PRESETS)
def test_the_service_takes_every_metric_at_its_own_defaults(name):
    allowed._check_vectors(resolve(name)[1], (), "fp32")
