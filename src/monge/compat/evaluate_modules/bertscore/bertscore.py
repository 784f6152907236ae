"""What `evaluate.load` reads: BERTScore with the parameters of evaluate's own module."""

from monge.compat.evaluate import BERTScore

__all__ = ["BERTScore"]
