"""Passes 1 and 2 on a tiny model: texts without words, statistics, order, counters, flags."""

import threading
import time
from math import log

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import DataError, StatisticsMismatch
from monge.scoring import pipeline
from monge.scoring.pipeline import windowed
from monge.spec.presets import PRESETS
from monge.types import Segment

VOCABULARY = "the cat sat on mat dog ran to house and slept hello world unhappily running ."
WORDS = VOCABULARY.split()


def texts(count, seed=0):
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, size=generator.integers(2, 12))) for _ in range(count)]


HYPOTHESES, REFERENCES = texts(40, 1), texts(40, 2)


@pytest.fixture(scope="module")
def load(tiny_bert):
    return lambda name, *settings, **options: monge.load(name, model=str(tiny_bert), settings=settings, **options)


TRANSPORT = [name for name in PRESETS if "bary" not in name]


@pytest.mark.parametrize("name", TRANSPORT)
def test_texts_without_words(load, name):
    """Worst for one, best for both, flagged, finite, and the other segments as without them."""
    metric = load(name)
    hypotheses, references = ["", HYPOTHESES[0], " ", HYPOTHESES[1]], [REFERENCES[0], "", "", REFERENCES[1]]
    stats = metric.fit(REFERENCES, hypotheses=HYPOTHESES) if metric.prepared.counted_sides else None
    if metric.prepared.summed_sides:
        stats = metric.fit(REFERENCES)
    result = metric.score(hypotheses, references, stats=stats)
    assert np.isfinite(result.segments).all()
    assert all(np.isfinite(values).all() for values in result.parts.values())
    limits = metric.prepared.bounds
    assert result.segments[2] == limits.best
    if limits.worst is not None:
        assert result.segments[0] == result.segments[1] == limits.worst
    else:
        better = np.greater if limits.higher_is_better else np.less
        assert not better(result.segments[:2], limits.best).any()
    assert result.flags[0][0] == "empty-hypothesis"
    assert result.flags[1][0] == "empty-reference"
    assert set(result.flags[2]) == {"empty-hypothesis", "empty-reference"}
    assert result.run["flagged"]["empty-hypothesis"] == 2
    if "batch" not in metric.spec.centre.name:
        alone = metric.score([HYPOTHESES[1]], [REFERENCES[1]], stats=stats)
        assert result.segments[3] == pytest.approx(alone.segments[0], abs=1e-6)


def test_empty_texts_under_a_corpus_mean(load):
    """A text at the origin stands for the empty one where vectors have no fixed length; others keep their mean."""
    metric = load("moverscore@paper", "centre=corpus")
    stats = metric.fit(REFERENCES)
    result = metric.score(["", HYPOTHESES[0], HYPOTHESES[1]], [REFERENCES[0], "", REFERENCES[1]], stats=stats)
    alone = metric.score([HYPOTHESES[1]], [REFERENCES[1]], stats=stats)
    assert np.isfinite(result.segments).all()
    assert result.segments[2] == pytest.approx(alone.segments[0], abs=1e-6)


def test_idf_of_one_text_is_refused(load):
    """V7: others answer 1.0 for unrelated texts, or NaN."""
    with pytest.raises(DataError, match="idf from 1 text"):
        load("moverscore").score([HYPOTHESES[0]], [REFERENCES[0]])
    with pytest.raises(DataError, match="3 equal texts"):
        load("moverscore").score(HYPOTHESES[:3], [REFERENCES[0]] * 3)
    assert np.isfinite(load("yisi-1").score([HYPOTHESES[0]], [REFERENCES[0]]).score)


def test_idf_is_fitted_anew_each_time(load):
    """V2: another library keeps the weights of its first call."""
    metric = load("bertscore", "weights=idf")
    metric.score(HYPOTHESES[:20], REFERENCES[:20])
    again = metric.score(HYPOTHESES[20:], REFERENCES[20:])
    fresh = load("bertscore", "weights=idf").score(HYPOTHESES[20:], REFERENCES[20:])
    assert np.array_equal(again.segments, fresh.segments)
    assert str(again.signature) == str(fresh.signature)
    assert str(again.signature) != str(metric.score(HYPOTHESES[:20], REFERENCES[:20]).signature)


def test_a_text_whose_idf_is_all_0_falls_back_to_equal_weights(load):
    metric = load("bertscore", "weights=idf")
    references = ["the cat sat", "the dog ran", "the house"]
    result = metric.score(["the", "the dog", "a cat"], references)
    assert result.flags[0] == ("no-mass-hypothesis",)
    assert np.isfinite(result.segments).all()


def test_statistics_are_sums(load):
    metric = load("twmd-b", "weights=idf")
    whole, one, other = metric.fit(REFERENCES), metric.fit(REFERENCES[:15]), metric.fit(REFERENCES[15:])
    joined = one + other
    assert joined.counts == whole.counts
    (space,) = whole.sums
    assert joined.sums[space]["references"].count == whole.sums[space]["references"].count
    assert np.allclose(joined.sums[space]["references"].mean, whole.sums[space]["references"].mean, atol=1e-12)
    by_whole, by_joined = (metric.score(HYPOTHESES[:5], REFERENCES[:5], stats=stats) for stats in (whole, joined))
    assert np.abs(by_whole.segments - by_joined.segments).max() < 1e-9
    assert str(by_whole.signature) == str(by_joined.signature)
    assert type(whole).from_dict(whole.to_dict()).to_dict() == whole.to_dict()


def test_counts_are_document_counts(load, tiny_bert):
    metric = load("bertscore", "weights=idf")
    stats = metric.fit(["the cat", "the dog", "the the house"])
    counts = stats.counts["references"]
    ids = dict(zip(("cls", "the", "cat"), metric.prepared.reader.encoder.tokenise(["the cat"])[0].ids, strict=False))
    assert (counts.n, counts.df[ids["the"]], counts.df[ids["cat"]], counts.df[ids["cls"]]) == (3, 3, 1, 3)
    weigh = metric.prepared.weigher(stats, "references")
    assert (weigh(ids["cls"]), weigh(ids["the"])) == (0, 0)
    assert weigh(ids["cat"]) == pytest.approx(log(4 / 2))


def test_statistics_of_another_reader_are_refused(load):
    stats = load("moverscore").fit(REFERENCES)
    with pytest.raises(StatisticsMismatch, match="fitted for"):
        load("moverscore", "encoder.max_length=20").score(HYPOTHESES, REFERENCES, stats=stats)
    with pytest.raises(StatisticsMismatch, match="no mean"):
        load("twmd-b").score(HYPOTHESES, REFERENCES, stats=stats)
    with pytest.raises(StatisticsMismatch, match="no document counts of the hypotheses"):
        load("moverscore@v1").score(HYPOTHESES, REFERENCES, stats=stats)


def test_adding_a_system_changes_no_other(load):
    metric = load("moverscore")

    def segments(*systems):
        rows = list(enumerate(zip(HYPOTHESES, REFERENCES, strict=True)))
        changed = {"a": "", "b": " hello"}
        return [Segment(str(k), h + changed[s], (r,), None, s) for k, (h, r) in rows for s in systems]

    (alone,) = api.score_segments([metric], segments("a"))
    both = api.score_segments([metric], segments("a", "b"))
    assert [result.system for result in both] == ["a", "b"]
    assert np.abs(alone.segments - both[0].segments).max() < 1e-6
    assert str(alone.signature) == str(both[0].signature)


@pytest.mark.parametrize("name", ["bertscore", "twmd", "lazy-emd", "moverscore"])
def test_order_and_window_do_not_matter(load, name, monkeypatch):
    metric = load(name)
    stats = metric.fit(REFERENCES) if metric.prepared.counted_sides else None
    base = metric.score(HYPOTHESES, REFERENCES, stats=stats)
    order = np.random.default_rng(0).permutation(40)
    shuffled = metric.score([HYPOTHESES[k] for k in order], [REFERENCES[k] for k in order], stats=stats)
    assert np.abs(shuffled.segments - base.segments[order]).max() < 1e-5
    monkeypatch.setattr(pipeline, "PAIR_NUMBERS", 32 * 24)
    small = metric.score(HYPOTHESES, REFERENCES, stats=stats)
    assert np.abs(small.segments - base.segments).max() < 1e-6


def test_each_text_is_encoded_once_for_all_metrics(load):
    """Metrics, systems and references of a run share the pass."""
    metrics = [load(name) for name in ("bertscore", "twmd", "emd", "sbert", "moverscore")]
    rows = list(enumerate(zip(HYPOTHESES, REFERENCES, strict=True)))
    segments = [Segment(str(k), h, (r, h), None, s) for s in "ab" for k, (h, r) in rows]
    results = api.score_segments(metrics, segments)
    assert [(result.system, result.metric) for result in results] == [(s, m.name) for s in "ab" for m in metrics]
    assert results[0].work["encoded"] == len({*HYPOTHESES, *REFERENCES})


def test_metrics_share_counts_and_selections(load, monkeypatch):
    """One corpus is counted once, equal units are selected once; scores are those of each metric alone."""
    from monge.scoring import fit, selections

    counted, selected = [], []
    count, select = fit.count, selections.select
    monkeypatch.setattr(fit, "_counted", {})
    monkeypatch.setattr(fit, "count", lambda texts: counted.append(1) or count(texts))
    monkeypatch.setattr(selections, "select", lambda *given: selected.append(1) or select(*given))
    metrics = [load("moverscore"), load("moverscore-2"), load("moverscore", "weights=uniform"), load("bertscore")]
    rows = api.segments_of(HYPOTHESES, REFERENCES)
    together = api.score_segments(metrics, rows)
    distinct = len({*HYPOTHESES, *REFERENCES})
    assert len(counted) == 1 and len(selected) == 2 * distinct
    for metric, result in zip(metrics, together, strict=True):
        assert np.array_equal(metric.score(HYPOTHESES, REFERENCES).segments, result.segments)
    load("moverscore").score(HYPOTHESES, REFERENCES[::-1])
    assert len(counted) == 1, "the same texts in another order"
    load("moverscore").score(HYPOTHESES[:9], REFERENCES[:9])
    assert len(counted) == 2


def test_windows_keep_blocks_of_a_system_together():
    segments = [Segment(str(k), "h", ("r",), None, "ab"[k % 2]) for k in range(23)]
    seen = []
    for positions, rows in windowed(iter(segments), 4, 3):
        seen += positions
        assert [segments[p] for p in positions] == rows
        for system in "ab":
            mine = [p for p, row in zip(positions, rows, strict=True) if row.system == system]
            assert mine == sorted(mine)
            assert len(mine) % 3 == 0 or positions[-1] in seen[-len(positions) :]
    assert sorted(seen) == list(range(23))


def test_batch_centring_does_not_depend_on_the_window(load):
    metric = load("twmd-b@release", "centre.size=7")
    base = metric.score(HYPOTHESES, REFERENCES)
    from monge.scoring.run import run

    (small,) = run([metric.prepared], api.segments_of(HYPOTHESES, REFERENCES), window=5)
    assert np.abs(base.segments - small.segments).max() < 1e-6
    other = load("twmd-b@release", "centre.size=8").score(HYPOTHESES, REFERENCES)
    assert np.abs(base.segments - other.segments).max() > 1e-6


def test_truncation_is_counted_and_flagged(load):
    long = " ".join(["the cat"] * 40)
    result = load("bertscore").score([long, "the cat"], ["the cat", "the dog"])
    assert result.run["truncated"] == 1
    assert result.flags == (("truncated-hypothesis",), ())
    with pytest.raises(DataError, match="82 pieces, the limit is 48"):
        load("bertscore", "encoder.overlong=error").score([long], ["the cat"])
    shorter = load("bertscore", "encoder.max_length=10").score([long], ["the cat"])
    assert shorter.flags[0] == ("truncated-hypothesis",)
    assert shorter.signature["length"] == "10"


def test_filters_that_leave_nothing(load):
    result = load("moverscore", "units.specials=drop").score([". !", *HYPOTHESES], ["the cat", *REFERENCES])
    assert result.flags[0] == ("all-filtered-hypothesis",)
    assert np.isfinite(result.segments[0])


def test_a_text_that_vanishes_when_centred_keeps_its_vectors(load):
    result = load("bertscore", "centre=sentence").score(["cat", "the cat sat"], ["the dog", "a dog"])
    assert "centre-vanished-hypothesis" in result.flags[0]
    assert result.flags[1] == ()
    assert np.isfinite(result.segments).all()


def test_merged_counts(load):
    """`weights=counts`: equal words become one that weighs their number; masses of the whole do not change."""
    metric = load("wmd", "weights=counts")
    result = metric.score(["the cat the cat the"], ["the cat the cat the"])
    assert result.score == pytest.approx(0, abs=1e-6)
    explained = metric.explain("the cat the cat the", "the dog")
    assert explained.hypothesis.units == ("the", "cat")
    assert explained.hypothesis.weights.tolist() == pytest.approx([0.6, 0.4])


@pytest.mark.parametrize("name", ["bertscore", "moverscore", "twmd", "emd", "lazy-emd", "wmd", "sbert"])
def test_shares_add_up(load, name):
    found = load(name).explain(HYPOTHESES[0], REFERENCES[0])
    worth = found.cost if found.share_of == "cost" else found.similarity
    plans = list(found.plans.values())
    first, last = plans[0], plans[-1]
    assert found.hypothesis.shares.sum() == pytest.approx((first * worth).sum(), abs=1e-12)
    assert found.reference.shares.sum() == pytest.approx((last * worth).sum(), abs=1e-12)
    if name == "bertscore":
        assert found.hypothesis.shares.sum() == pytest.approx(found.parts["precision"], abs=1e-9)
        assert found.reference.shares.sum() == pytest.approx(found.parts["recall"], abs=1e-9)
    if name == "emd":
        assert found.hypothesis.shares.sum() == pytest.approx(found.score, abs=1e-9)
    for move in found.moves:
        assert move.mass == found.plans[move.plan][move.hypothesis, move.reference]


def test_explanations_are_of_the_score(load):
    metric = load("twmd")
    assert metric.explain(HYPOTHESES[0], REFERENCES[0]).score == pytest.approx(
        metric.score(HYPOTHESES[:1], REFERENCES[:1]).score, abs=1e-6
    )
    without = load("moverscore").explain(HYPOTHESES[0], REFERENCES[0])
    assert "no-statistics" in without.flags
    assert without.signature["weights"] == "uniform"
    with pytest.raises(DataError, match="nothing to explain"):
        metric.explain("", "the cat")


def test_replay_gives_the_same_score(load, tiny_bert):
    for name in ("twmd[transport.temperature=0.07]", "moverscore@v1", "bertscore[units.stopwords=en]", "twmd-b"):
        first = load(name).score(HYPOTHESES, REFERENCES)
        metric, digests = api.replay(str(first.signature), model=str(tiny_bert))
        (again,) = api.score_segments([metric], api.segments_of(HYPOTHESES, REFERENCES), expect=[digests])
        assert np.array_equal(first.segments, again.segments)
        assert str(first.signature) == str(again.signature)
    with pytest.raises(StatisticsMismatch, match="statistics say"):
        metric, digests = api.replay(str(first.signature), model=str(tiny_bert))
        api.score_segments([metric], api.segments_of(HYPOTHESES[1:], REFERENCES[1:]), expect=[digests])


def test_replay_with_other_weights_is_refused(load, tiny_roberta):
    line = str(load("bertscore").score(HYPOTHESES, REFERENCES).signature)
    with pytest.raises(StatisticsMismatch, match="weights"):
        api.replay(line, model=str(tiny_roberta))


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_roberta", "tiny_xlmr"])
def test_identity_on_every_family(request, model):
    path = str(request.getfixturevalue(model))
    for name in ("bertscore", "twmd", "sbert", "bertscore[units.subwords=mean]", "moverscore[weights=uniform]"):
        result = monge.score(HYPOTHESES[:10], HYPOTHESES[:10], metric=name, model=path)
        assert np.abs(result.segments - 1).max() < 1e-5


def test_the_next_window_is_made_while_one_is_in_use():
    made, threads = [], set()

    def windows():
        for number in range(3):
            threads.add(threading.current_thread().name)
            made.append(number)
            yield number
        raise DataError("line 4")

    seen = []
    with pytest.raises(DataError, match="line 4"):
        for number in pipeline.ahead(windows()):
            while len(made) < min(number + 2, 3):  # would wait for ever if nothing were made ahead
                time.sleep(0.001)
            seen.append(number)
    assert seen == [0, 1, 2]  # what was good before the error has been given out
    assert threading.main_thread().name not in threads
