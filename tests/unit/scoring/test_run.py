"""Whole runs on a tiny model: texts without words, statistics, order, counters, flags."""

import threading
import time
from math import log

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.metrics.presets import PRESETS
from monge.scoring import clouds
from monge.scoring.run import ScoringRun
from monge.scoring.windows import FIRST, FULL, cut_windows, prefetch
from monge.types import Segment

VOCABULARY = "the cat sat on mat dog ran to house and slept hello world unhappily running ."
WORDS = VOCABULARY.split()


def texts(count, seed=0):
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, size=generator.integers(2, 12))) for _ in range(count)]


HYPOTHESES, REFERENCES = texts(40, 1), texts(40, 2)


@pytest.fixture(scope="module")
def load(tiny_bert):
    return lambda name, *settings, **options: monge.load(
        name, model=str(tiny_bert), settings=settings, **options
    )


TRANSPORT = [name for name in PRESETS if "bary" not in name]


@pytest.mark.filterwarnings("ignore:there is no adapter people")
@pytest.mark.parametrize("name", TRANSPORT)
def test_texts_without_words(load, name):
    """Worst for one, best for both, flagged, finite, and the other segments as without them."""
    metric = load(name)
    hypotheses, references = (
        ["", HYPOTHESES[0], " ", HYPOTHESES[1]],
        [REFERENCES[0], "", "", REFERENCES[1]],
    )
    stats = metric.fit(REFERENCES, hypotheses=HYPOTHESES) if metric.scorer.fits else None
    result = metric.score(hypotheses, references, stats=stats)
    assert np.isfinite(result.segments).all()
    assert all(np.isfinite(values).all() for values in result.parts.values())
    limits = metric.scorer.bounds
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
    """A text at the origin stands for the empty one where vectors have no fixed length; others keep
    their mean.
    """
    metric = load("moverscore@paper", "centre=corpus")
    stats = metric.fit(REFERENCES)
    result = metric.score(
        ["", HYPOTHESES[0], HYPOTHESES[1]], [REFERENCES[0], "", REFERENCES[1]], stats=stats
    )
    alone = metric.score([HYPOTHESES[1]], [REFERENCES[1]], stats=stats)
    assert np.isfinite(result.segments).all()
    assert result.segments[2] == pytest.approx(alone.segments[0], abs=1e-6)


def test_idf_of_one_text_is_refused(load):
    """Other libraries answer 1.0 for unrelated texts, or NaN."""
    with pytest.raises(DataError, match="idf from 1 text"):
        load("moverscore").score([HYPOTHESES[0]], [REFERENCES[0]])
    with pytest.raises(DataError, match="3 equal texts"):
        load("moverscore").score(HYPOTHESES[:3], [REFERENCES[0]] * 3)
    assert np.isfinite(load("yisi-1").score([HYPOTHESES[0]], [REFERENCES[0]]).score)


def test_idf_is_fitted_anew_each_time(load):
    """Another library keeps the weights of its first call."""
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
    whole, one, other = (
        metric.fit(REFERENCES),
        metric.fit(REFERENCES[:15]),
        metric.fit(REFERENCES[15:]),
    )
    joined = one + other
    assert joined.counts == whole.counts
    (space,) = whole.sums
    assert joined.sums[space]["references"].count == whole.sums[space]["references"].count
    assert np.allclose(
        joined.sums[space]["references"].mean, whole.sums[space]["references"].mean, atol=1e-12
    )
    by_whole, by_joined = (
        metric.score(HYPOTHESES[:5], REFERENCES[:5], stats=stats) for stats in (whole, joined)
    )
    assert np.abs(by_whole.segments - by_joined.segments).max() < 1e-9
    assert str(by_whole.signature) == str(by_joined.signature)
    assert type(whole).from_dict(whole.to_dict()).to_dict() == whole.to_dict()


def test_counts_are_document_counts(load, tiny_bert):
    metric = load("bertscore", "weights=idf")
    stats = metric.fit(["the cat", "the dog", "the the house"])
    counts = stats.counts["references"]
    ids = dict(
        zip(
            ("cls", "the", "cat"),
            metric.scorer.reader.encoder.tokenise(["the cat"])[0].ids,
            strict=False,
        )
    )
    assert (counts.n, counts.df[ids["the"]], counts.df[ids["cat"]], counts.df[ids["cls"]]) == (
        3,
        3,
        1,
        3,
    )
    weigh = metric.scorer.needs.weigher(stats, "references")
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
        return [
            Segment(str(k), h + changed[s], (r,), None, s) for k, (h, r) in rows for s in systems
        ]

    (alone,) = api.score_segments([metric], segments("a"))
    both = api.score_segments([metric], segments("a", "b"))
    assert [result.system for result in both] == ["a", "b"]
    assert np.abs(alone.segments - both[0].segments).max() < 1e-6
    assert str(alone.signature) == str(both[0].signature)


@pytest.mark.parametrize("name", ["bertscore", "twmd", "lazy-emd", "moverscore"])
def test_order_and_window_do_not_matter(load, name, monkeypatch):
    metric = load(name)
    stats = metric.fit(REFERENCES) if metric.scorer.fits else None
    base = metric.score(HYPOTHESES, REFERENCES, stats=stats)
    order = np.random.default_rng(0).permutation(40)
    shuffled = metric.score(
        [HYPOTHESES[k] for k in order], [REFERENCES[k] for k in order], stats=stats
    )
    assert np.abs(shuffled.segments - base.segments[order]).max() < 1e-5
    monkeypatch.setattr(clouds, "PAIR_NUMBERS", 32 * 24)
    small = metric.score(HYPOTHESES, REFERENCES, stats=stats)
    assert np.abs(small.segments - base.segments).max() < 1e-6


def test_each_text_is_encoded_once_for_all_metrics(load):
    """Metrics, systems and references of a run share the pass."""
    metrics = [load(name) for name in ("bertscore", "twmd", "emd", "sbert", "moverscore")]
    rows = list(enumerate(zip(HYPOTHESES, REFERENCES, strict=True)))
    segments = [Segment(str(k), h, (r, h), None, s) for s in "ab" for k, (h, r) in rows]
    results = api.score_segments(metrics, segments)
    assert [(result.system, result.metric) for result in results] == [
        (s, m.name) for s in "ab" for m in metrics
    ]
    assert results[0].work["encoded"] == len({*HYPOTHESES, *REFERENCES})


def test_metrics_share_counts_and_selections(load, monkeypatch):
    """One corpus is read once, equal units are selected once; scores are those of each metric
    alone.
    """
    from monge.scoring import transport, windows

    read, selected = [], []
    select, reading = windows.select, transport.Reader.read
    monkeypatch.setattr(
        transport.Reader,
        "read",
        lambda self, texts: read.append(len(texts)) or reading(self, texts),
    )
    monkeypatch.setattr(windows, "select", lambda *given: selected.append(1) or select(*given))
    metrics = [
        load("moverscore"),
        load("moverscore-2"),
        load("moverscore", "weights=uniform"),
        load("bertscore"),
    ]
    together = api.score_segments(metrics, api.segments_of(HYPOTHESES, REFERENCES))
    distinct = len({*HYPOTHESES, *REFERENCES})
    assert read == [len(REFERENCES), distinct], (
        "one reading to count, one to look at the first, which are then scored"
    )
    assert len(selected) == 2 * distinct
    for metric, result in zip(metrics, together, strict=True):
        assert np.array_equal(metric.score(HYPOTHESES, REFERENCES).segments, result.segments)


class Counted(list):
    """Segments that count how often they are gone through."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (["bertscore", "chrf"], 2),
        (["moverscore", "yisi-1", "moverscore@v1"], 3),
        (["twmd-b", "trwmd-b"], 3),
    ],
)
def test_the_input_is_gone_through_once_for_the_systems_once_to_fit_and_once_to_score(
    load, names, most
):
    segments = Counted(api.segments_of(HYPOTHESES, REFERENCES))
    api.score_segments([load(name) for name in names], segments)
    assert segments.passes == most


def test_windows_keep_blocks_of_a_system_together():
    segments = [Segment(str(k), "h", ("r",), None, "ab"[k % 2]) for k in range(23)]
    windows = list(cut_windows(iter(segments), 4, 3))
    for positions, rows in windows:
        assert [segments[p] for p in positions] == rows
    for positions, rows in windows[:-1]:  # the last takes what is left
        for system in "ab":
            mine = [p for p, row in zip(positions, rows, strict=True) if row.system == system]
            assert len(mine) % 3 == 0 and mine == sorted(mine)
    assert len(windows) > 3
    assert sorted(p for positions, _ in windows for p in positions) == list(range(23))
    broken = [[0, 1, 2, 3], [4, 5, 6, 7]]  # what a cut by number alone would give
    assert [positions for positions, _ in windows[:2]] != broken


def test_windows_are_small_at_first_and_bounded_by_text():
    """Scores are kept, and progress moves, by a few seconds of work: sentences in several steps,
    long texts in more.
    """
    short = [Segment(str(k), f"{k:04} " + "h" * 121, ("r" * 126 + f"{k:04}",)) for k in range(300)]
    steps = [len(rows) for _, rows in cut_windows(short, 1024, 1)]
    assert len(steps) == 3 and max(steps) < 200
    long = [
        Segment(str(k), f"{k:04} " + "h" * 400, tuple(f"{k} {j} " + "r" * 400 for j in range(11)))
        for k in range(48)
    ]
    steps = [len(rows) for _, rows in cut_windows(long, 1024, 1)]
    assert (
        steps[0] * 12 * 400 < FIRST + 5000
        and max(steps) * 12 * 400 < FULL + 5000
        and len(steps) >= 4
    )
    same = [
        len(rows)
        for _, rows in cut_windows(
            [Segment(str(k), "h" * 99, ("r" * 99,)) for k in range(3000)], 1024, 1
        )
    ]
    assert same == [1024, 1024, 952], "a text that stands again costs nothing"


def test_batch_centring_does_not_depend_on_the_window(load):
    metric = load("twmd-b@release", "centre.size=7")
    base = metric.score(HYPOTHESES, REFERENCES)
    (small,) = ScoringRun(
        [metric.scorer], api.segments_of(HYPOTHESES, REFERENCES), window=5
    ).results()
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
    result = load("moverscore", "units.specials=drop").score(
        [". !", *HYPOTHESES], ["the cat", *REFERENCES]
    )
    assert result.flags[0] == ("all-filtered-hypothesis",)
    assert np.isfinite(result.segments[0])


def test_a_text_that_vanishes_when_centred_keeps_its_vectors(load):
    result = load("bertscore", "centre=sentence").score(
        ["cat", "the cat sat"], ["the dog", "a dog"]
    )
    assert "centre-vanished-hypothesis" in result.flags[0]
    assert result.flags[1] == ()
    assert np.isfinite(result.segments).all()


def test_merged_counts(load):
    """`weights=counts`: equal words become one that weighs their number; masses of the whole do not
    change.
    """
    metric = load("wmd", "weights=counts")
    result = metric.score(["the cat the cat the"], ["the cat the cat the"])
    assert result.score == pytest.approx(0, abs=1e-6)
    explained = metric.explain("the cat the cat the", "the dog")
    assert explained.hypothesis.units == ("the", "cat")
    assert explained.hypothesis.weights.tolist() == pytest.approx([0.6, 0.4])


SUMS_OF_SHARES = {
    "bertscore": lambda result: (result.parts["precision"][0], result.parts["recall"][0]),
    "moverscore": lambda result: (1 - result.score, 1 - result.score),
    "emd": lambda result: (result.score, result.score),
    "lazy-emd": lambda result: (result.score, result.score),
    "wmd": lambda result: (result.score, result.score),
    "sbert": lambda result: (result.score, result.score),
}
"""What the shares of the hypothesis and of the reference add up to, from the score of the pair."""


@pytest.mark.parametrize("name", SUMS_OF_SHARES)
def test_shares_add_up_to_the_score(load, name):
    metric = load(name, *(["weights=uniform"] if name == "moverscore" else []))
    explained = metric.explain(HYPOTHESES[0], REFERENCES[0])
    expected = SUMS_OF_SHARES[name](metric.score(HYPOTHESES[:1], REFERENCES[:1]))
    sums = explained.hypothesis.shares.sum(), explained.reference.shares.sum()
    assert sums == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["bertscore", "twmd", "emd", "wmd"])
def test_moves_carry_the_shares_and_the_masses_of_their_units(load, name):
    """Summed per unit, moves give its share, and its mass where the plan keeps that side."""
    explained = load(name).explain(HYPOTHESES[0], REFERENCES[0])
    plans = list(explained.plans)
    for side, plan in (("hypothesis", plans[0]), ("reference", plans[-1])):
        text = getattr(explained, side)
        shares, masses = np.zeros(len(text.units)), np.zeros(len(text.units))
        for move in explained.moves:
            if move.plan == plan:
                shares[getattr(move, side)] += move.share
                masses[getattr(move, side)] += move.mass
        assert shares == pytest.approx(text.shares, abs=1e-4)  # moves of less mass are not listed
        assert masses == pytest.approx(text.weights, abs=1e-4)


def test_explanations_are_of_the_score(load):
    metric = load("twmd")
    assert metric.explain(HYPOTHESES[0], REFERENCES[0]).score == pytest.approx(
        metric.score(HYPOTHESES[:1], REFERENCES[:1]).score, abs=1e-6
    )
    without = load("moverscore").explain(HYPOTHESES[0], REFERENCES[0])
    assert without.metric == "moverscore[weights=uniform,units.specials=drop]"
    assert without.signature["weights"] == "uniform"
    assert "every word weighs the same instead of by its idf" in without.notes[0]
    stats = load("moverscore").fit(REFERENCES)
    whole = load("moverscore").explain(HYPOTHESES[0], REFERENCES[0], stats=stats)
    assert (whole.metric, whole.notes) == ("moverscore", ())
    assert whole.score == pytest.approx(
        load("moverscore").score(HYPOTHESES[:1], REFERENCES[:1], stats=stats).score
    )
    with pytest.raises(DataError, match="nothing to explain"):
        metric.explain("", "the cat")


def test_replay_gives_the_same_score(load, tiny_bert):
    for name in (
        "twmd[transport.temperature=0.07]",
        "moverscore@v1",
        "bertscore[units.stopwords=en]",
        "twmd-b",
    ):
        first = load(name).score(HYPOTHESES, REFERENCES)
        metric, digests = api.replay(str(first.signature), model=str(tiny_bert))
        (again,) = api.score_segments(
            [metric], api.segments_of(HYPOTHESES, REFERENCES), expect=[digests]
        )
        assert np.array_equal(first.segments, again.segments)
        assert str(first.signature) == str(again.signature)
    with pytest.raises(StatisticsMismatch, match="statistics say"):
        metric, digests = api.replay(str(first.signature), model=str(tiny_bert))
        api.score_segments(
            [metric], api.segments_of(HYPOTHESES[1:], REFERENCES[1:]), expect=[digests]
        )


def test_replay_with_other_weights_is_refused(load, tiny_roberta):
    line = str(load("bertscore").score(HYPOTHESES, REFERENCES).signature)
    with pytest.raises(
        StatisticsMismatch, match=r"does not fit .*encoder.max_length=48, but tiny-roberta reads 40"
    ):
        api.replay(line, model=str(tiny_roberta))
    with pytest.raises(StatisticsMismatch, match="the signature's weights are"):
        api.replay(line.replace("|length:48|", "|length:40|"), model=str(tiny_roberta))


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_roberta", "tiny_xlmr"])
def test_identity_on_every_family(request, model):
    path = str(request.getfixturevalue(model))
    for name in (
        "bertscore",
        "twmd",
        "sbert",
        "bertscore[units.subwords=mean]",
        "moverscore[weights=uniform]",
    ):
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
        for number in prefetch(windows()):
            while len(made) < min(number + 2, 3):  # would wait for ever if nothing were made ahead
                time.sleep(0.001)
            seen.append(number)
    assert seen == [0, 1, 2]  # what was good before the error has been given out
    assert threading.main_thread().name not in threads


def test_a_metric_that_takes_nothing_from_texts_has_nothing_to_fit(load):
    """It gave empty statistics, where the command refused."""
    with pytest.raises(UsageError, match="nothing to fit"):
        load("bertscore").fit(REFERENCES)


def test_explanations_solve_every_plan_once(load, monkeypatch):
    from monge.transport.transports import Exact

    solved, solve = [], Exact.solve
    monkeypatch.setattr(Exact, "solve", lambda *given: solved.append(1) or solve(*given))
    load("emd").explain(HYPOTHESES[0], REFERENCES[0])
    assert len(solved) == 1


def test_statistics_of_different_kinds_go_together(load, tmp_path):
    """Idf from one file, a baseline from another."""
    idf = load("moverscore").fit(REFERENCES)
    base = load("bertscore").fit_baseline(REFERENCES)
    for name, stats in (("idf", idf), ("base", base)):
        api.save_stats(stats, tmp_path / name)
    both = api.load_stats(tmp_path / "idf", tmp_path / "base")
    rows = api.segments_of(HYPOTHESES, REFERENCES)
    metrics = [load("moverscore"), load("bertscore", "scale=baseline")]
    together = api.score_segments(metrics, rows, corpora=api.Corpora(both))
    for metric, stats, result in zip(metrics, (idf, base), together, strict=True):
        assert np.array_equal(
            metric.score(HYPOTHESES, REFERENCES, stats=stats).segments, result.segments
        )
    one = load("bertscore", "weights=idf", "scale=baseline").score(
        HYPOTHESES, REFERENCES, stats=both
    )
    raw = load("bertscore", "weights=idf").score(HYPOTHESES, REFERENCES, stats=idf)
    mean = base.baselines[metrics[1].scorer.identity.pair].mean("f1")
    assert one.segments == pytest.approx((raw.segments - mean) / (1 - mean), abs=1e-9)
    assert {kind.partition("=")[0] for kind in one.signature["stats"].split(",")} == {
        "idf",
        "baseline",
    }
    with pytest.raises(StatisticsMismatch, match="both statistics hold"):
        api.load_stats(tmp_path / "idf", tmp_path / "idf")


def test_an_edited_stopword_file_of_the_same_path_is_another_space(load, tmp_path):
    """Means and baselines fitted with the old words were accepted."""
    words = tmp_path / "words.txt"
    words.write_text("the\n")
    stats = load("twmd-b", f"units.stopwords={words}").fit(REFERENCES)
    words.write_text("the\ncat\n")
    with pytest.raises(StatisticsMismatch, match="no mean"):
        load("twmd-b", f"units.stopwords={words}").score(HYPOTHESES, REFERENCES, stats=stats)


def test_variants_of_one_metric_are_told_apart(load):
    metrics = [load("twmd"), load("twmd", "transport=exact"), load("twmd", "layers=1")]
    results = api.score_segments(metrics, api.segments_of(HYPOTHESES, REFERENCES))
    assert [one.metric for one in results] == ["twmd", "twmd[transport=exact]", "twmd[layers=1]"]
