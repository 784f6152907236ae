"""How much preprocessing moves the agreement of metrics with people."""

from monge.evaluation.sensitivity.record import Sensitivity
from monge.evaluation.sensitivity.study import Design, sensitivity

__all__ = ["Design", "Sensitivity", "sensitivity"]
