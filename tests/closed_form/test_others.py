"""idf, WMD and RWMD, word and sentence mover's similarity, with values computed by hand."""

import numpy as np
import pytest
from toy import X, Y, scored

from monge.text.idf import count_documents, idf_weight

IDS = {"a": 1, "b": 2, "c": 3, "d": 4}
CORPUS = [("a b", (1, 2)), ("a c", (1, 3)), ("a b d", (1, 2, 4))]


def test_idf():
    of = idf_weight(count_documents(CORPUS), "idf")
    weights = [of(IDS[word]) for word in "abcd"]
    assert weights == pytest.approx([0, 0.287682, 0.693147, 0.693147], abs=1e-6)
    assert of(IDS["a"]) == 0
    assert of(99) == pytest.approx(1.386294, abs=1e-6)


def test_idf_counts_texts_not_occurrences():
    twice = [(text, (*ids, *ids)) for text, ids in CORPUS]
    assert count_documents(twice) == count_documents(CORPUS)


def test_idf_of_yisi_is_never_0():
    of = idf_weight(count_documents(CORPUS), "idf-yisi")
    weights = [of(IDS["a"]), of(IDS["b"]), of(IDS["c"]), of(99)]
    assert weights == pytest.approx([1.0, 1.2223924, 1.5849625, 2.3219281], abs=1e-6)


def test_word_mover_and_its_relaxation():
    assert scored("wmd")["score"] == pytest.approx(0.3633682181, abs=1e-9)
    assert scored("rwmd")["score"] == pytest.approx(0.3050994148, abs=1e-9)
    sides = scored("rwmd", "readout=prf")
    assert (-sides["precision"], -sides["recall"]) == pytest.approx(
        (0.1414213562, 0.3050994148), abs=1e-9
    )


def test_exact_transport_of_cosine_cost():
    assert scored("emd")["score"] == pytest.approx(0.32 / 3, abs=1e-12)


MOVER = "wmd", "readout=exp(-cost)", "normalise=none", "weights=idf"


def test_word_and_sentence_mover_similarity():
    """Reference sentences {y1, y2} and {y3}, hypothesis {x1, x2}: sentence vectors are means,
    weights word counts.
    """
    assert scored(*MOVER)["score"] == pytest.approx(0.6953304, abs=1e-6)
    sentence, sentences = X.mean(0, keepdims=True), np.stack([Y[:2].mean(0), Y[2]])
    parts = scored(*MOVER, x=sentence, y=sentences, wx=(2,), wy=(2, 1))
    assert parts["score"] == pytest.approx(0.6520629, abs=1e-6)
    both = {
        "x": np.vstack([X, sentence]), "wx": (1, 1, 2), "y": np.vstack([Y, sentences]), "wy": (1, 1, 1, 2, 1),
    }  # fmt: skip
    assert scored(*MOVER, **both)["score"] == pytest.approx(0.7142743, abs=1e-6)
