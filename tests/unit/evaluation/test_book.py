"""The score book: once for equal texts, one pass for all variants, references one by one with cache
and progress.
"""

from dataclasses import replace

import numpy as np
import pytest
from study_tables import write

from monge import api
from monge.datasets import open_dataset
from monge.datasets.judged import Judged, scored
from monge.evaluation import Run, ScoreBook, Setup, load_variants
from monge.evaluation.score_book import rows_of
from monge.evaluation.variant_scores import join_scores
from monge.types import Segment


@pytest.fixture
def calls(monkeypatch):
    """What was asked of `api.score_segments`: metrics, rows, and whether there was a cache."""
    found = []
    score = api.score_segments

    def counted(metrics, rows, **more):
        found.append((len(metrics), len(rows), more["cache"] is not None))
        return score(metrics, rows, **more)

    monkeypatch.setattr(api, "score_segments", counted)
    return found


@pytest.fixture
def judged(tmp_path):
    return open_dataset("table", write(tmp_path / "t.tsv", n=6))


@pytest.fixture
def topics():
    """Two topics whose texts have two and three references: the mean over references is the rule of
    the data.
    """

    def row(k, count):
        return Segment(
            str(k),
            f"the cat {k} sat",
            tuple(f"the cat {k} sat on mat {r}"[: 18 + r] for r in range(count)),
        )

    groups = {
        name: scored([row(k, 2 + k % 2) for k in range(4)], [1.0, 2.0, 3.0, 4.0])
        for name in ("a", "b")
    }
    plain = dict.fromkeys(("text", "human", "statistic", "mean", "licence", "citation"), "")
    return Judged(
        **plain, dataset="tac08", level="segment", direction=1, groups=groups, references="mean", against="references",
        excluded={}, warnings=(), switches={},
    )  # fmt: skip


def test_equal_texts_are_scored_once(judged, calls):
    book, variants = ScoreBook(), load_variants(["chrf", "rouge1"])
    first = book.scores(variants, judged)
    assert calls == [(2, 6, False)] * 2, "two groups, both metrics at once"
    other = replace(
        judged,
        human="other",
        groups={name: replace(g, scores=-g.scores) for name, g in judged.groups.items()},
    )
    again = book.scores(variants, other)
    assert len(calls) == 2, "another human column has the same texts"
    assert all(
        np.array_equal(first[0].groups[n].segments, again[0].groups[n].segments)
        for n in judged.groups
    )
    book.scores([*variants, *load_variants(["ter"])], judged)
    assert calls[2:] == [(1, 6, False)] * 2, "only what is new"
    book.scores(
        load_variants(["chrf"], Setup()), replace(judged, groups={"one": judged.groups["one"]})
    )
    assert len(calls) == 5, "a metric that was loaded anew is another"


def test_scores_are_those_of_the_metric_on_each_group(judged):
    (found,) = ScoreBook().scores(load_variants(["ter"]), judged)
    for name, rows in rows_of(judged).items():
        alone = api.load("ter").score(
            [one.hypothesis for one in rows], [one.references[0] for one in rows]
        )
        assert np.array_equal(found.groups[name].segments, alone.segments)
        assert found.groups[name].systems == {"": alone.score}
        assert np.array_equal(found.signed(name, judged.groups[name]), -alone.segments)
    assert found.higher_is_better is False


def test_references_one_by_one_use_the_cache_and_move_the_progress(topics, calls, tmp_path):
    """Metrics without a rule of their own for several references; of both kinds a segment counts
    once.
    """
    done = []
    variants = load_variants(["chrf"], references="mean")
    assert variants[0].spread
    (found,) = ScoreBook(Run(tmp_path / "kept", done.append)).scores(variants, topics)
    assert calls == [(1, 20, True)], "topics are one corpus: 8 texts with 2 or 3 references each"
    assert sum(done) == 8
    for name, group in topics.groups.items():
        for k, row in enumerate(group.segments):
            each = [
                api.load("chrf").score([row.hypothesis], [one]).segments[0]
                for one in row.references
            ]
            assert found.groups[name].segments[k] == pytest.approx(np.mean(each))
    assert found.signature.endswith("|references:mean")


def test_two_passes_count_every_segment_once(topics, tiny_bert, calls):
    done = []
    variants = load_variants(["chrf", "sbert"], Setup(model=str(tiny_bert)), references="mean")
    assert [one.spread for one in variants] == [True, False]
    book = ScoreBook(Run(progress=done.append))
    book.scores(variants, topics)
    assert sorted(rows for _, rows, _ in calls) == [8, 20]
    assert sum(done) == 8


def test_joined_data_sets_keep_the_scores_of_their_groups(judged):
    book, variants = ScoreBook(), load_variants(["chrf"])
    pools = [(replace(judged, dataset=name), book.scores(variants, judged)) for name in ("x", "y")]
    (found,) = join_scores(pools)
    assert list(found.groups) == ["x/one", "x/two", "y/one", "y/two"]
    assert np.array_equal(found.groups["y/two"].segments, pools[0][1][0].groups["two"].segments)


def test_rows_with_a_source_alone_are_scored_against_it(topics):
    """Judgements of translations without references: the signature says what was compared with."""

    def with_rows(change, against):
        groups = {
            name: replace(group, segments=tuple(change(row) for row in group.segments))
            for name, group in topics.groups.items()
        }
        return replace(topics, groups=groups, against=against)

    by_source = with_rows(
        lambda row: replace(row, references=(), source=row.references[0]), "source"
    )
    by_reference = with_rows(lambda row: replace(row, references=row.references[:1]), "references")
    variants = load_variants(["chrf"], references="mean")
    assert variants[0].spread
    ours, theirs = (ScoreBook().scores(variants, one)[0] for one in (by_source, by_reference))
    assert all(
        np.array_equal(ours.groups[n].segments, theirs.groups[n].segments) for n in topics.groups
    )
    assert "|against:source|" in ours.signature and "against" not in theirs.signature
