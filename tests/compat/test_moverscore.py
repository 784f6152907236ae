"""`monge.compat.moverscore` and `moverscore_v2` beside a plain re-implementation of both releases.

The package `moverscore` does not import, so the formulas stand in
tests/parity/test_moverscore.py.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from parity.reference import idf_table
from parity.test_moverscore import release_1, release_2

import monge
from monge.compat import moverscore, moverscore_v2
from monge.errors import Unused

TOLERANCE = 5e-6


@pytest.fixture(scope="module")
def texts(pairs):
    return pairs


@pytest.fixture(scope="module")
def tables(texts):
    return moverscore.get_idf_dict(texts[0]), moverscore.get_idf_dict(texts[1])


def equal(_):
    return 1.0


def test_idf_is_that_of_the_release(texts, tables):
    for side, table in zip(texts, tables, strict=True):
        reference = idf_table(side)
        assert {piece: pytest.approx(reference(piece), abs=1e-12) for piece in table} == dict(table)
        assert table[-1] == pytest.approx(reference(-1))


@pytest.mark.parametrize("n_gram", [1, 2])
def test_release_1(texts, tables, n_gram):
    hypotheses, references = texts
    found = moverscore.word_mover_score(
        references, hypotheses, tables[1], tables[0], [], n_gram, True, 5
    )
    expected = [
        release_1(h, r, idf_table(hypotheses), idf_table(references), n=n_gram)
        for h, r in zip(hypotheses, references, strict=True)
    ]
    assert np.abs(np.array(found) - expected).max() <= TOLERANCE
    name = "moverscore@v1" if n_gram == 1 else "moverscore-2@v1"
    assert found == monge.score(hypotheses, references, metric=name).segments.tolist()


def test_release_2_says_that_it_knows_no_n_grams_v18(texts, tables):
    hypotheses, references = texts
    found = moverscore_v2.word_mover_score(references, hypotheses, tables[1], tables[0])
    expected = [
        release_2(h, r, idf_table(hypotheses), idf_table(references))
        for h, r in zip(hypotheses, references, strict=True)
    ]
    assert np.abs(np.array(found) - expected).max() <= TOLERANCE
    with pytest.warns(Unused, match="n_gram=1 whatever is asked, 2 here"):
        again = moverscore_v2.word_mover_score(
            references, hypotheses, tables[1], tables[0], n_gram=2
        )
    assert again == found


def test_equal_weights_and_dictionaries_of_the_original(texts, tables):
    hypotheses, references = texts
    ones = defaultdict(lambda: 1.0)
    found = moverscore.word_mover_score(references, hypotheses, ones, ones)
    expected = [
        release_1(h, r, equal, equal, n=1) for h, r in zip(hypotheses, references, strict=True)
    ]
    assert np.abs(np.array(found) - expected).max() <= TOLERANCE
    original = [
        defaultdict(one.default_factory, one) for one in tables
    ]  # without what ours remembers
    mine, theirs = (
        moverscore.word_mover_score(references, hypotheses, right, left)
        for left, right in (tables, original)
    )
    assert mine == theirs
    with pytest.raises(ValueError, match="two of a kind"):
        moverscore.word_mover_score(references, hypotheses, tables[1], ones)


def test_stopwords_by_list(texts, tables):
    hypotheses, references = texts
    given = moverscore.word_mover_score(
        references, hypotheses, tables[1], tables[0], ["the", "of", "and"]
    )
    plain = moverscore.word_mover_score(references, hypotheses, tables[1], tables[0])
    assert given != plain
    from monge.text.stopwords import load

    shipped = moverscore.word_mover_score(
        references, hypotheses, tables[1], tables[0], sorted(load("moverscore"))
    )
    named = monge.score(
        hypotheses, references, metric="moverscore@v1", settings=["units.stopwords=moverscore"]
    )
    assert shipped == named.segments.tolist()


@pytest.mark.parametrize("release", [moverscore, moverscore_v2])
def test_sentence_and_corpus_score(texts, release):
    hypotheses, references = texts
    others = references[::-1]
    each = [
        release.sentence_score(h, [r, o])
        for h, r, o in zip(hypotheses, references, others, strict=True)
    ]
    assert release.corpus_score(hypotheses, [references, others]) == pytest.approx(
        np.mean(each), abs=1e-6
    )
    assert release.sentence_score(hypotheses[0], [hypotheses[0]]) == pytest.approx(1, abs=1e-4)
    with pytest.raises(EOFError, match="8 hypotheses, but reference stream 2 has 7"):
        release.corpus_score(hypotheses, [references, others[1:]])


def test_idf_of_one_text_is_no_perfect_score():
    """Every weight is ln(2/2) = 0: pyemd, which the release calls, finds that no mass costs
    nothing, so 1 - 0.
    """
    from pyemd import emd

    one = moverscore.get_idf_dict(["profits rose"])
    assert set(one.values()) == {0.0}
    masses = np.array([one[piece] for piece in one])
    assert 1 - emd(masses, masses, 1.0 - np.eye(len(masses))) == 1.0
    with pytest.raises(ValueError, match="idf"):
        moverscore.word_mover_score(["profits rose"], ["a cat"], one, one)


def test_plot_example(tmp_path):
    for flow, release in ((True, moverscore), (False, moverscore_v2)):
        file = tmp_path / f"{flow}.png"
        release.plot_example(flow, "a cat", "a dog", fname=str(file))
        assert file.read_bytes().startswith(b"\x89PNG")
