"""WMD as first published, by hand: content words, shares of counts, raw vectors, Euclidean."""

from math import dist

import pytest

import monge

VECTORS = {
    "the": (9, 9),
    "of": (-9, 5),
    "cat": (0, 0),
    "dog": (0, 3),
    "sat": (4, 0),
    "ran": (4, 3),
    "!": (7, 7),
}


@pytest.fixture
def metric(tmp_path):
    path = tmp_path / "words.vec"
    rows = "".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items())
    path.write_text(f"{len(VECTORS)} 2\n{rows}")
    return lambda name, *settings: monge.load(name, model=str(path), settings=settings)


def test_a_repeated_word_is_one_point_with_its_share(metric):
    """cat 2/3, sat 1/3 against dog 1/2, sat 1/2: sat keeps 1/3, cat sends 1/6 to sat, 1/2 to dog."""
    scored = metric("wmd@paper").score(["The cat of the cat sat!"], ["the dog sat"])
    expected = dist(VECTORS["cat"], VECTORS["sat"]) / 6 + dist(VECTORS["cat"], VECTORS["dog"]) / 2
    assert expected == pytest.approx(4 / 6 + 3 / 2)
    assert scored.segments[0] == pytest.approx(expected, abs=1e-6)
    assert not scored.higher_is_better


def test_vectors_keep_their_length_and_words_have_one_vector(metric):
    """One word against one word is the distance of their raw vectors."""
    scored = metric("wmd@paper").score(["cat", "cat cat"], ["ran", "ran"])
    assert scored.segments == pytest.approx([5.0, 5.0], abs=1e-6)
    assert metric("wmd").score(["dog"], ["ran"]).segments[0] < 2  # of unit length
    assert metric("wmd@paper").score(["dog"], ["ran"]).segments[0] == pytest.approx(4.0)


def test_the_profile_is_the_settings_that_the_page_names(metric):
    settings = (
        "weights=counts",
        "normalise=none",
        "units.stopwords=en",
        "units.punctuation=drop",
        "units.unknown=match",
    )
    texts = ["the cat sat of cat", "a dog ran"], ["the dog sat", "the cat of the cat"]
    profile, by_hand = metric("wmd@paper").score(*texts), metric("wmd", *settings).score(*texts)
    assert profile.segments.tolist() == by_hand.segments.tolist()
