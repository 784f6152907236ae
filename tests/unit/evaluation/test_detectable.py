"""What a test would have found: least detectable differences; differences of outputs; McNemar."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from study_tables import write

from monge.cli.app import run
from monge.datasets import Group
from monge.errors import InvalidSetting
from monge.evaluation import Resampling
from monge.evaluation.agreement import Column, standing
from monge.evaluation.comparison import Standings, Versus
from monge.evaluation.question import question
from monge.stats import UndefinedError
from monge.stats.multiple import max_t
from monge.types import Segment


def test_a_difference_just_above_the_detectable_one_is_significant_and_below_it_is_not():
    generator = np.random.default_rng(4)
    draws = 0.5 + 0.01 * generator.normal(size=(3, 2000))
    values = np.array([0.5, 0.5, 0.5])
    detectable = max_t(values, draws, 500).detectable[0, 1]
    for factor, significant in ((1.02, True), (0.98, False)):
        moved = values + np.array([0, factor * detectable, 0])
        shifted = draws + (moved - values)[:, None]
        assert (max_t(moved, shifted, 500).p_values[0, 1] <= 0.05) is np.bool_(significant)


def test_standings_name_the_detectable_difference_from_the_best():
    generator = np.random.default_rng(5)
    draws = np.array([0.6, 0.595])[:, None] + 0.01 * generator.normal(size=(2, 999))
    stands = standing(Column(np.array([0.6, 0.595]), draws, 300))
    assert (stands.detectable is not None and np.isnan(stands.detectable[0])) or stands.best == 0
    assert 0.02 < stands.detectable[1] < 0.05


def test_evaluate_says_which_difference_would_not_have_been_found(tmp_path, capsys):
    path = write(tmp_path / "judged.tsv")
    arguments = ["evaluate", "table", "--data", str(path), "-m", "chrf", "-m", "chrf++"]
    run(arguments)
    text = capsys.readouterr().out
    assert "cannot be told apart" in text
    assert "With these judgements, a difference below" in text
    run([*arguments, "-f", "json"])
    (table,) = json.loads(capsys.readouterr().out)["study"]["standings"]
    differences = table["detectable_differences"]["mean"]
    assert sum(difference is not None for difference in differences) == 1


def test_compare_takes_the_error_behind_the_interval_at_the_corrected_level():
    pair = Versus("a", "b", 0.1, -0.196, 0.396, 0.3, 0.6, 0.3, 0.6)
    standings = Standings("m", "m", "", True, 300, "means", (), (pair, pair))
    # the standard error is .151, and .025 two-sided leaves 2.2414 of it
    assert standings.detectable(pair, Resampling()) == pytest.approx(0.151 * 2.2414, abs=2e-4)


def test_compare_says_which_difference_would_not_have_been_found(tmp_path, capsys):
    generator = np.random.default_rng(2)
    words = ["house", "tree", "river", "stone", "cloud", "light", "door", "road"]
    references = [" ".join(generator.choice(words, 6)) for _ in range(30)]
    for name in ("a", "b"):
        noisy = [" ".join([*text.split()[:5], str(generator.choice(words))]) for text in references]
        (tmp_path / name).write_text("\n".join(noisy) + "\n")
    (tmp_path / "r").write_text("\n".join(references) + "\n")
    files = [str(tmp_path / name) for name in ("a", "b", "r")]
    run(["compare", "-t", files[0], "-t", files[1], "-r", files[2], "-m", "sentbleu"])
    text = " ".join(capsys.readouterr().out.split())
    assert "With these 30 segments, a difference below" in text


def judged_group():
    generator = np.random.default_rng(9)
    segments = tuple(Segment(str(k), "h", ("r",), "s", f"s{s}") for s in range(4) for k in range(7))
    human = np.round(generator.normal(size=len(segments)), 1)
    return Group(segments, scores=human), human + generator.normal(size=len(segments))


def test_pearson_of_differences_is_that_of_all_pairs_within_a_source():
    group, scores = judged_group()
    pairs = [
        (i, j)
        for i, j in combinations(range(len(scores)), 2)
        if group.segments[i].id == group.segments[j].id
    ]
    human = np.array([group.scores[i] - group.scores[j] for i, j in pairs])
    metric = np.array([scores[i] - scores[j] for i, j in pairs])
    both_orders = np.concatenate([human, -human]), np.concatenate([metric, -metric])
    expected = np.corrcoef(*both_orders)[0, 1]
    asked = question(group, "pearson_of_differences", 1)
    assert asked.value(scores) == pytest.approx(expected, abs=1e-12)
    assert asked.items == 7
    counts = np.array([[1.0] * 7, [2, 0, 1, 1, 1, 1, 1]])
    values = asked.of_counts(scores)(counts)
    assert values[0] == pytest.approx(expected, abs=1e-12)
    doubled = [
        k for k, s in enumerate(group.segments) for _ in range([2, 0, 1, 1, 1, 1, 1][int(s.id)])
    ]
    repeated = Group(
        tuple(
            Segment(f"{group.segments[k].id}.{n % 2 if group.segments[k].id == '0' else 0}", "h")
            for n, k in enumerate(doubled)
        ),
        scores=group.scores[doubled],
    )
    again = question(repeated, "pearson_of_differences", 1).value(scores[doubled])
    assert values[1] == pytest.approx(again, abs=1e-12)


def test_pearson_of_differences_needs_sources_with_several_outputs():
    group = Group((Segment("1", "a"), Segment("2", "b")), scores=np.array([0.1, 0.4]))
    with pytest.raises(UndefinedError, match="several outputs"):
        question(group, "pearson_of_differences", 1).value(np.array([1.0, 2.0]))


def test_mcnemar_is_for_rankings():
    segments = tuple(Segment(str(k // 2), f"h{k}") for k in range(40))
    rankings = np.array([(k, k + 1) for k in range(0, 40, 2)])
    asked = question(Group(segments, rankings=rankings), "tau10", 1)
    right, wrong = np.tile([1.0, 0.0], 20), np.tile([0.0, 1.0], 20)
    column = Column(np.array([1.0, -1.0]), np.zeros((2, 10)), 20, asked, [right, wrong])
    stands = standing(column, test_name="mcnemar")
    assert stands.p_values[1] == pytest.approx(2 * 0.5**20) and stands.test == "McNemar's test"
    group, scores = judged_group()
    column = Column(np.zeros(2), np.zeros((2, 10)), 28, question(group, "pearson", 1), [scores] * 2)
    with pytest.raises(InvalidSetting, match="McNemar's test is for rankings"):
        standing(column, test_name="mcnemar")
