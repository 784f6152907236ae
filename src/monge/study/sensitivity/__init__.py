"""How much preprocessing moves the agreement of metrics with people."""

from monge.study.sensitivity.record import Sensitivity
from monge.study.sensitivity.study import Design, sensitivity

__all__ = ["Design", "Sensitivity", "sensitivity"]
