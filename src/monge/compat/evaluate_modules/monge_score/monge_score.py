"""The module of `evaluate.load` for any metric of monge.

>>> import evaluate
>>> from monge.compat.evaluate import directory
>>> chrf = evaluate.load(directory(), "chrf")
>>> results = chrf.compute(predictions=["Two cats sat."], references=[["Two cats sat.", "There sat
two cats."]])
>>> results["score"]
100.0
>>> sorted(results)
['score', 'scores', 'signature']
"""

from monge.compat.evaluate import MongeScore

__all__ = ["MongeScore"]
