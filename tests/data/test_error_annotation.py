"""The published MQM and ESA annotations and WMT19's rankings as JSON lines: counts, scores to the
last digit, the values that the notes on the data give.
"""

from collections import Counter

import numpy as np
import pytest

import monge
from monge.datasets import open_dataset
from monge.evaluation import Resampling, Task, evaluate_task
from monge.evaluation.question import question

FEW = Resampling(resamples=20)
PUBLISHED_SYSTEMS = {"en-de": ("mqm_ted_ende", 13 + 1), "zh-en": ("mqm_ted_zhen", 13 + 2)}


@pytest.mark.parametrize("pair", PUBLISHED_SYSTEMS)
def test_mqm_scores_are_the_published_ones_to_the_last_digit(data_dir, pair):
    """Every row of the published file, `ref-A` and `ref-B` too; rows with None have no raters."""
    name, systems = PUBLISHED_SYSTEMS[pair]
    computed = {}
    for reference in ("ref", ""):
        group = open_dataset(
            "mqm", data_dir, pairs=[pair], reference=reference, human_systems=True
        ).groups[pair]
        computed |= {
            (segment.system, segment.id): score
            for segment, score in zip(group.segments, group.scores, strict=True)
        }
    (path,) = data_dir.rglob(f"{name}.avg_seg_scores.tsv")
    names = {"ref-A": "ref", "ref-B": "refB"}
    counts = Counter()
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        system, published, segment = line.split()
        score = computed.get((names.get(system, system), segment))
        counts[system] += 1
        assert published == ("None" if score is None else f"{score:.6f}"), line
    assert len(counts) == systems
    assert counts.total() > len(computed) == 529 * systems


def test_mqm_keeps_spans_raters_and_documents(data_dir):
    groups = open_dataset("mqm", data_dir).groups
    assert {name: group.n for name, group in groups.items()} == {"en-de": 6877, "zh-en": 6877}
    for group in groups.values():
        assert len(group.records) == group.n
        assert len({record.document for record in group.records}) == 5
        for segment, record in zip(group.segments, group.records, strict=True):
            assert record.annotations
            for error in (error for rating in record.annotations for error in rating.errors):
                text = segment.hypothesis if error.side == "hypothesis" else segment.source
                assert 0 <= error.start <= error.end <= len(text)
    sides = Counter(
        error.side
        for record in groups["zh-en"].records
        for rating in record.annotations
        for error in rating.errors
    )
    assert sides["source"] > 100  # omissions are marked in the source


@pytest.mark.parametrize(
    ("dataset", "metric", "values"),
    [
        ("mqm", "chrf++", {"zh-en": (0.083, 6877), "en-de": (0.149, 6877)}),
        ("esa", "chrf", {"en-cs": (0.163, 4470), "en-ja": (0.092, 7647)}),
    ],
)
def test_agreement_is_that_of_the_notes(data_dir, dataset, metric, values):
    agreement = evaluate_task(Task(dataset, data_dir), [metric], resampling=FEW).agreements[0]
    assert agreement.statistic == "kendall"
    for pair, (value, count) in values.items():
        figure = agreement.groups[pair]
        assert figure.value == pytest.approx(value, abs=0.001)
        assert figure.n == count
        assert figure.low < figure.value < figure.high


def test_outputs_of_a_source_are_an_item(data_dir):
    for dataset, pair, rows in (("mqm", "en-de", 13 * 529), ("esa", "en-cs", 4470)):
        group = open_dataset(dataset, data_dir, pairs=[pair]).groups[pair]
        asked = question(group, "kendall", 1)
        assert asked.n == rows
        assert asked.items == len({segment.source for segment in group.segments}) < rows / 10


def test_esa_counts_what_it_drops(data_dir):
    opened = open_dataset("esa", data_dir, pairs=["en-cs"])
    assert opened.excluded == {
        "quality control (BAD)": 733,
        "tutorial": 369,
        "incomplete documents": 200,
        "quality control (#dup)": 51,
        "human translations": 297,
    }
    assert sum(opened.excluded.values()) + opened.n == 6120
    (group,) = opened.groups.values()
    assert {record.domain for record in group.records} == {"news", "literary", "social", "speech"}
    errors = [e for record in group.records for a in record.annotations for e in a.errors]
    assert {error.severity for error in errors} == {"minor", "major", "undecided"}
    assert any(error.start is None for error in errors)


def test_human_translations_are_judged_if_asked_for(data_dir):
    with_people = open_dataset("mqm", data_dir, level="system", human_systems=True)
    assert "refB" in with_people.groups["zh-en"].systems
    assert "ref" not in with_people.groups["zh-en"].systems  # it is the reference
    without = open_dataset("mqm", data_dir, level="system")
    assert not any(name.startswith("ref") for name in without.groups["zh-en"].systems)
    assert np.isfinite(list(without.groups["zh-en"].systems.values())).all()


@pytest.mark.parametrize(
    ("pair", "tau", "count"), [("gu-en", 0.222, 20110), ("kk-en", 0.362, 9728)]
)
def test_rankings_as_json_lines_have_the_known_tau(data_dir, pair, tau, count):
    """On every fifth row, as the notes measured it; ties count as discordant."""
    group = open_dataset("wmt19", data_dir, pairs=[pair]).groups[pair]
    assert group.n == count
    sources = [segment.source for segment in group.segments]
    items = [segment.id for segment in group.segments]
    assert len(set(sources)) == len(set(items)) == len(set(zip(sources, items, strict=True)))
    assert question(group, "tau10", 1).items == len(set(items))
    rankings = group.rankings[::5]
    places = np.unique(rankings)
    metric = monge.load("chrf++")
    (result,) = monge.api.score_segments([metric], [group.segments[place] for place in places])
    scores = dict(zip(places.tolist(), result.segments, strict=True))
    better = sum(scores[first] > scores[second] for first, second in rankings.tolist())
    assert 2 * better / len(rankings) - 1 == pytest.approx(tau, abs=0.001)
