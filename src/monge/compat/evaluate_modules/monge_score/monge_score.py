"""The module of `evaluate.load` for any metric of monge.

>>> import evaluate
>>> from monge.compat.evaluate import directory
>>> chrf = evaluate.load(directory(), "chrf")
>>> references = [["Two cats sat.", "There sat two cats."]]
>>> results = chrf.compute(predictions=["Two cats sat."], references=references)
>>> results["score"]
100.0
>>> sorted(results)
['score', 'scores', 'signature']
"""

from monge.compat.evaluate import MongeScore

__all__ = ["MongeScore"]
