"""The module of `evaluate.load` for BERTScore, with the parameters of evaluate's own module.

>>> import evaluate
>>> from monge.compat.evaluate import directory
>>> bertscore = evaluate.load(directory("bertscore"))
>>> texts = ["Two cats sat on a mat.", "It rains."]
>>> model = {"model_type": "auto", "num_layers": 4}
>>> results = bertscore.compute(predictions=texts, references=texts, **model)
>>> [round(f1, 2) for f1 in results["f1"]]
[1.0, 1.0]
>>> results["hashcode"].startswith("metric:bertscore@release|")
True
"""

from monge.compat.evaluate import BERTScore

__all__ = ["BERTScore"]
