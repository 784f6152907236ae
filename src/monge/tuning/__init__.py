"""Tune an encoder on human judgements, with gradients through the metric's own code.

`lessons.py` parses what a user gives as training data, `examples.py` reads the judgements,
`labelled.py` pairs of sentences with labels, `teacher.py` makes scores of a teacher,
`objectives.py` and `pair_objectives.py` have the losses, `adapted_blocks.py` the trainable blocks,
`learner.py` the model around them, `loop.py` the training loop, `checkpoint.py` saves and restores
it, `card.py` describes the result, `tuning.py` joins all of it from a plan to an adapter.
"""

from monge.tuning.adapted_blocks import Method
from monge.tuning.lessons import Lesson
from monge.tuning.loop import Schedule
from monge.tuning.teacher import Teacher
from monge.tuning.tuning import Plan, TuningResult, estimate, tune

__all__ = ["Lesson", "Method", "Plan", "Schedule", "Teacher", "TuningResult", "estimate", "tune"]
