"""Learning from people: an encoder is tuned on human judgements through the metric's own code.

`examples.py` what there is to learn from, `objectives.py` losses, `learner.py` a model that learns, `loop.py` the loop,
`adapter.py` what is kept, `card.py` what is said about it.
"""

from monge.tune.learner import Method
from monge.tune.loop import Schedule
from monge.tune.tuning import Lesson, Plan, Tuned, estimate, tune

__all__ = ["Lesson", "Method", "Plan", "Schedule", "Tuned", "estimate", "tune"]
