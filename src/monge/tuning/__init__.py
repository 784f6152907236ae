"""Tune an encoder on human judgements, with gradients through the metric's own code.

`lessons.py` parses what a user gives as training data, `examples.py` reads the judgements,
`labelled.py` pairs of sentences with labels, `teacher.py` makes scores of a teacher,
`objectives.py` and `pair_objectives.py` have the losses, `adapted_blocks.py` the trainable blocks,
`learner.py` the model around them, `loop.py` the training loop, `checkpoint.py` saves and restores
it, `card.py` describes the result, `tuning.py` joins all of it from a plan to an adapter.

`blend.py` fits a blend of metrics on human scores: `blend_plan.py` says how,
`blend_members.py` scores its members, `blend_weights.py` has the regression, `seen_rows.py` which
judgements a member's adapter has learned from.
"""

from monge.tuning.adapted_blocks import Method
from monge.tuning.blend import FittedBlend, fit_blend
from monge.tuning.blend_plan import BlendPlan
from monge.tuning.lessons import Lesson
from monge.tuning.loop import Schedule
from monge.tuning.teacher import Teacher
from monge.tuning.tuning import Plan, TuningResult, estimate, tune

__all__ = [
    "BlendPlan", "FittedBlend", "Lesson", "Method", "Plan", "Schedule", "Teacher", "TuningResult",
    "estimate", "fit_blend", "tune",
]  # fmt: skip
