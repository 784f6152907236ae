"""What `evaluate.load` reads: any metric of monge."""

from monge.compat.evaluate import MongeScore

__all__ = ["MongeScore"]
