"""Statistics of the texts of both sides together: idf and corpus means."""

import pytest

import monge
from monge.errors import InvalidSetting, StatisticsMismatch, UsageError
from monge.metrics.presets import resolve
from monge.types import Segment

HYPOTHESES = ["the cat sat", "the dog ran to the house", "hello world", "a cat slept on the mat"]
REFERENCES = ["the cat slept", "a dog ran to house", "the world", "the cat sat on a mat"]


def load(tiny_bert, name, *settings):
    return monge.load(name, model=str(tiny_bert), settings=settings)


def test_idf_of_both_sides_is_that_of_a_file_of_all_texts(tiny_bert, tmp_path):
    """Another way to the same number: the texts of both sides in one file."""
    corpus = tmp_path / "all.txt"
    corpus.write_text("".join(f"{text}\n" for text in (*REFERENCES, *HYPOTHESES)))
    joint = load(tiny_bert, "moverscore", "weights.corpus=both-sides")
    of_file = load(tiny_bert, "moverscore", f"weights.corpus={corpus}")
    ours = joint.score(HYPOTHESES, REFERENCES)
    theirs = of_file.score(HYPOTHESES, REFERENCES)
    assert ours.segments.tolist() == theirs.segments.tolist()
    for corpus_name in ("references", "each-side"):
        other = load(tiny_bert, "moverscore", f"weights.corpus={corpus_name}")
        assert other.score(HYPOTHESES, REFERENCES).segments.tolist() != ours.segments.tolist()
    assert "corpus=both-sides" in str(ours.signature)


def test_an_equal_text_weighs_the_same_on_both_sides(tiny_bert):
    joint = load(tiny_bert, "moverscore", "weights.corpus=both-sides")
    texts = [*HYPOTHESES[:3], "the cat slept on a mat"]
    scores = joint.score(texts, [*HYPOTHESES[:3], "a dog ran"])
    assert scores.segments[:3] == pytest.approx([1, 1, 1], abs=1e-6)


MEAN = "centre.sides=both"


def test_the_mean_of_both_sides_is_that_of_all_their_words(tiny_bert):
    """Another way to the same number: the mean of the references, fitted on all texts."""
    ours = load(tiny_bert, "twmd-b", MEAN).score(HYPOTHESES, REFERENCES)
    plain = load(tiny_bert, "twmd-b")
    stats = plain.fit([*REFERENCES, *HYPOTHESES])
    theirs = plain.score(HYPOTHESES, REFERENCES, stats=stats)
    assert ours.segments == pytest.approx(theirs.segments, abs=1e-12)
    of_references = plain.score(HYPOTHESES, REFERENCES)
    separate = load(tiny_bert, "twmd-b", "centre.sides=separate").score(HYPOTHESES, REFERENCES)
    for other in (of_references, separate):
        assert abs(other.segments - ours.segments).max() > 1e-4
    assert "sides=both" in str(ours.signature)


@pytest.mark.parametrize(
    ("name", "setting"), [("moverscore", "weights.corpus=both-sides"), ("twmd-b", MEAN)]
)
def test_another_system_changes_nothing(tiny_bert, name, setting):
    metric = load(tiny_bert, name, setting)
    alone = metric.score(HYPOTHESES, REFERENCES)
    rows = [
        Segment(str(place), text, (REFERENCES[place],), system=system)
        for system, texts in (("a", HYPOTHESES), ("b", HYPOTHESES[::-1]))
        for place, text in enumerate(texts)
    ]
    first, second = monge.score_segments([metric], rows)
    assert first.segments == pytest.approx(alone.segments, abs=1e-12)
    reversed_alone = metric.score(HYPOTHESES[::-1], REFERENCES)
    assert second.segments == pytest.approx(reversed_alone.segments, abs=1e-12)


def test_fitted_statistics_are_used_for_both_sides(tiny_bert):
    metric = load(tiny_bert, "twmd-b", MEAN)
    stats = metric.fit(REFERENCES, hypotheses=HYPOTHESES)
    kept = metric.score(HYPOTHESES[:1], REFERENCES[:1], stats=stats).segments[0]
    assert kept == pytest.approx(metric.score(HYPOTHESES, REFERENCES).segments[0], abs=1e-12)
    with pytest.raises(UsageError, match="fits each side by itself: give the hypotheses too"):
        metric.fit(REFERENCES)
    with pytest.raises(StatisticsMismatch, match="no mean of the hypotheses"):
        one_side = load(tiny_bert, "twmd-b").fit(REFERENCES)
        metric.score(HYPOTHESES, REFERENCES, stats=one_side)


def test_joined_units_with_a_mean_are_refused():
    with pytest.raises(
        InvalidSetting, match=r"weights\.corpus=both-sides weighs references by the"
    ):
        resolve("moverscore-2", ("weights.corpus=both-sides", "centre=corpus"))
