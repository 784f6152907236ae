"""Learning from people: an encoder is tuned on human judgements through the metric's own code.

`lessons.py` what is learned from as a user names it, `examples.py` the judgements, `teacher.py` those of a teacher,
`objectives.py` losses, `blocks.py` what learns, `learner.py` the model around it, `loop.py` the loop, `checkpoint.py`
where it stands, `card.py` what is said about the result, `tuning.py` all of it from a plan to an adapter.
"""

from monge.tune.blocks import Method
from monge.tune.lessons import Lesson
from monge.tune.loop import Schedule
from monge.tune.teacher import Teacher
from monge.tune.tuning import Plan, Tuned, estimate, tune

__all__ = ["Lesson", "Method", "Plan", "Schedule", "Teacher", "Tuned", "estimate", "tune"]
