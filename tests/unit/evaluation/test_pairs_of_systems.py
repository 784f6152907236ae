"""Pairs of systems in `monge evaluate`: values by hand, segments that were not judged, intervals,
refusals.
"""

import json
from itertools import product

import numpy as np
import pytest

from monge.cli.app import run
from monge.datasets.judged import Group, by_system, scored
from monge.errors import InvalidSetting
from monge.evaluation import Resampling, Task, evaluate_task
from monge.evaluation.agreement import draw_values
from monge.evaluation.question import named, question
from monge.types import Segment

WORDS = "red green blue black white pink brown grey gold teal".split()  # noqa: SIM905
HUMAN = {"one": (0.9, 0.8, 0.7), "two": (0.6, 0.9, 0.2), "three": (0.1, 0.2, 0.3)}
METRIC = {"one": (5, 6, 9), "two": (4, 7, 1), "three": (3, 2, 1)}
"""Words of ten that each system has right: rouge1 is a tenth of that."""
FAST = Resampling(resamples=200)
BOTH = ["pairwise_accuracy", "soft_pairwise_accuracy"]


@pytest.fixture
def table(tmp_path):
    """Three systems, three segments; `other` gives the second and the third each other's
    judgements.
    """
    path = tmp_path / "systems.jsonl"
    swapped = {"one": "one", "two": "three", "three": "two"}
    rows = [
        {
            "system": system,
            "id": str(item),
            "reference": " ".join(WORDS),
            "hypothesis": " ".join(
                [*WORDS[: METRIC[system][item]], *["zzz"] * (10 - METRIC[system][item])]
            ),
            "human": HUMAN[system][item],
            "other": HUMAN[swapped[system]][item],
        }
        for system, item in product(HUMAN, range(3))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def figures(found):
    return {(one.human, one.statistic): one.mean.value for one in found.agreements}


def test_by_hand(table):
    """p of people and metric: one over two .25 and .375, one over three .125 twice, two over three
    .25 twice.
    """
    found = figures(
        evaluate_task(
            Task("table", table, level="system", human=["human", "other"], statistic=BOTH),
            ["rouge1"],
            resampling=FAST,
        )
    )
    assert found["human", "pairwise_accuracy"] == 1
    assert found["human", "soft_pairwise_accuracy"] == pytest.approx(1 - 0.125 / 3)
    assert found["other", "pairwise_accuracy"] == pytest.approx(2 / 3)
    # people: one over "two" .125, one over "three" .25, "two" over "three" (reversed) 7/8; metric
    # .375, .125, .25
    assert found["other", "soft_pairwise_accuracy"] == pytest.approx(1 - (0.25 + 0.125 + 0.625) / 3)


def test_pairs_are_compared_on_what_both_have(table):
    """Without the third segment of system three: its pairs have two segments, p .25 and .25; .25
    and .25.
    """
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[:-1]))
    found = figures(
        evaluate_task(
            Task("table", table, level="system", statistic="soft-pairwise-accuracy"),
            ["rouge1"],
            resampling=FAST,
        )
    )
    assert found["human", "soft_pairwise_accuracy"] == pytest.approx(1 - 0.125 / 3)


def test_a_distance_is_signed(table):
    """TER falls where rouge1 rises: the same pairs are won."""
    found = figures(
        evaluate_task(
            Task("table", table, level="system", statistic=BOTH), ["ter"], resampling=FAST
        )
    )
    assert found["human", "pairwise_accuracy"] == 1
    assert found["human", "soft_pairwise_accuracy"] == pytest.approx(1 - 0.125 / 3)


def test_a_system_drawn_twice_makes_no_pair_with_itself():
    """A metric that gets every pair wrong stays at 0 on every resample: no pair of a system with
    itself agrees.
    """
    segments = [
        Segment(str(item), "h", ("r",), None, system) for system in "abcd" for item in range(2)
    ]
    group = by_system(scored(segments, [float(k) for k in range(8)]))
    asked = question(group, "pairwise_accuracy", 1)
    wrong = -np.array(list(group.systems.values()))
    assert asked.value(wrong) == 0
    drawn = draw_values(asked, [wrong, -wrong], resamples=300, seed=1)
    assert np.nanmax(drawn[0]) == 0
    assert np.nanmin(drawn[1]) == 1


def test_an_output_judged_twice_counts_by_its_mean():
    segments = [Segment("1", "h", ("r",), None, system) for system in "aabb"]
    segments += [Segment("2", "h", ("r",), None, system) for system in "ab"]
    group = by_system(scored(segments, [0.0, 1.0, 0.2, 0.2, 0.9, 0.1]))
    asked = question(group, "soft_pairwise_accuracy", 1)
    assert asked.by_segment
    assert asked.value(np.array([0.5, 0.5, 0.2, 0.2, 0.9, 0.1])) == 1


def test_scores_of_whole_systems_are_not_enough():
    group = Group((), systems={"a": 1.0, "b": 2.0})
    with pytest.raises(InvalidSetting, match="needs human scores of segments"):
        question(group, "soft_pairwise_accuracy", 1)


def test_segments_that_were_not_judged_do_not_count():
    segments = tuple(
        Segment(str(item), "h", ("r",), None, system) for system in "ab" for item in range(3)
    )
    human = np.array([3.0, 1.0, np.nan, 1.0, 2.0, 5.0])
    asked = question(
        Group(segments, systems={"a": 2.0, "b": 3.0}, each=human), "soft_pairwise_accuracy", 1
    )
    assert asked.value(np.array([3.0, 1.0, 90.0, 1.0, 2.0, -90.0])) == 1


def test_names():
    assert named("acc23", "systems") == named("acc-eq", "systems") == "pairwise_accuracy"
    assert named("pairwise_accuracy", "scores") == "acc23"
    assert named("SPA", "systems", segments=True) == "soft_pairwise_accuracy"
    for kind, segments in (("scores", True), ("rankings", True), ("systems", False)):
        with pytest.raises(InvalidSetting, match="--level system"):
            named("spa", kind, segments=segments)


def test_the_command(table, capsys):
    options = [
        "evaluate",
        "table",
        "--data",
        str(table),
        "-m",
        "rouge1",
        "-m",
        "chrf",
        "--level",
        "system",
        "-q",
    ]
    assert run([*options, "--statistic", "spa", "--resamples", "50", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]
    assert (found["level"], found["statistic"]) == ("system", "soft_pairwise_accuracy")
    assert found["mean"] == pytest.approx(1 - 0.125 / 3)
    assert run([*options, "--statistic", "spa", "--test", "perm-both"]) == 2
    assert "rankings or pairs" in capsys.readouterr().err
