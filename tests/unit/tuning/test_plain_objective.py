"""MSE(Sim, y): the value of the loss and its gradient by hand, and what it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from monge.errors import DataError, InvalidSetting
from monge.tuning import Lesson, Schedule, tune, tuning
from monge.tuning.examples import Examples, content_digest, judged_examples
from monge.tuning.lessons import DataLocation, open_lesson
from monge.tuning.objectives import PlainObjective, make_objective
from monge.types import Segment

ROWS = tuple(Segment(str(k), f"h{k}", (f"r{k}",)) for k in range(3))


class GivenScores:
    """A judge whose scores are parameters."""

    def __init__(self, values):
        self.values = torch.tensor(values, dtype=torch.float64, requires_grad=True)

    def scores(self, rows):
        return self.values[[int(row.id) for row in rows]]


def objective(raw, unit=None):
    values = np.array(raw)
    targets = (values - values.mean()) / values.std()
    examples = Examples("x", ROWS, ("g",) * 3, targets=targets, raw=values, unit=unit)
    return make_objective("mse", examples, 0.5, 0, 0)


def test_value_and_gradient_by_hand():
    """Scores .2, .9 against .5, .1: (.09 + .64) / 2; the gradient is s - y for each of two."""
    made, judge = objective([0.5, 0.1, 7.0]), GivenScores([0.2, 0.9, 0.0])
    assert isinstance(made, PlainObjective) and (made.name, made.weight, len(made)) == (
        "mse",
        0.5,
        3,
    )
    loss = made.loss([0, 1], judge)
    assert float(loss.detach()) == pytest.approx((0.09 + 0.64) / 2, abs=1e-12)
    loss.backward()
    assert judge.values.grad.tolist() == pytest.approx([0.2 - 0.5, 0.9 - 0.1, 0.0], abs=1e-12)
    assert not list(made.head.parameters())  # no slope, no intercept


def test_a_step_against_the_gradient_moves_each_score_to_its_human_score():
    made, judge = objective([0.5, 0.1, -1.0]), GivenScores([0.2, 0.9, 0.0])
    made.loss([0, 1, 2], judge).backward()
    with torch.no_grad():
        after = judge.values - judge.values.grad
    distance = [abs(s - y) for s, y in zip(after.tolist(), (0.5, 0.1, -1.0), strict=True)]
    before = [0.3, 0.8, 1.0]
    assert all(now < then for now, then in zip(distance, before, strict=True))


def test_it_is_not_standardised_and_not_affine(plan, judged):
    """`score` is the same for human scores that are doubled, `mse` is not."""
    examples = judged_examples("table", judged, raw=True)
    assert examples.targets.std() == pytest.approx(1)
    assert examples.raw.std() != pytest.approx(1, abs=0.05)
    doubled = replace(examples, raw=2 * examples.raw)
    judge = tuning._open_plan(plan).judge
    with torch.no_grad():
        first, second = (make_objective("mse", e, 1.0, 0, 0).loss([0, 1, 2], judge)
                         for e in (examples, doubled))  # fmt: skip
        scores = judge.scores(examples.rows[:3]).numpy()
    assert float(first) == pytest.approx(((scores - examples.raw[:3]) ** 2).mean())
    assert float(second) == pytest.approx(((scores - 2 * examples.raw[:3]) ** 2).mean())


def test_a_declared_range_brings_human_scores_to_0_and_1(judged):
    location = DataLocation(judged)
    plain = open_lesson(Lesson.parse("mse:table"), location)
    ranged = open_lesson(Lesson.parse("mse:table(human_range=-4/1)"), location)
    assert plain.unit is None and plain.raw.min() < -1
    assert ranged.unit == pytest.approx((ranged.raw + 4) / 5)
    with pytest.raises(DataError, match="lie outside the declared range 0/1"):
        open_lesson(Lesson.parse("mse:table(human_range=0/1)"), location)
    chosen = plain.select([3, 1])
    assert chosen.raw.tolist() == plain.raw[[3, 1]].tolist()


def test_digests_of_other_lessons_stay_as_they_were(judged):
    without, raw = judged_examples("table", judged), judged_examples("table", judged, raw=True)
    assert content_digest(without) == content_digest(replace(raw, raw=None))
    assert content_digest(without) != content_digest(raw)


def test_a_distance_is_refused(plan):
    with pytest.raises(InvalidSetting, match=r"mse brings the score itself .* wmd is a distance"):
        tuning._open_plan(replace(plan, metric="wmd", lessons=[Lesson("table", "mse")]))


def test_it_brings_the_scores_to_the_human_scores(plan, tmp_path):
    learned = replace(
        plan,
        lessons=[Lesson.parse("mse:table(human_range=-4/1)")],
        schedule=Schedule(epochs=6, batch=8, rate=5e-3, checks=2),
    )
    opened = tuning._open_plan(learned)
    losses = [opened.loop._step(min(step, opened.loop.steps - 1)) for step in range(30)]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
    card = tune(learned, tmp_path / "adapter").card
    assert card["affine"] is None  # nothing maps the score: it is brought to the scale itself
    assert "mse" in str(card["plan"])
