"""What `evaluate.load` reads: BERTScore with the parameters of evaluate's own module.

>>> import evaluate
>>> from monge.compat.evaluate import directory
>>> bertscore = evaluate.load(directory("bertscore"))
>>> said = ["Two cats sat on a mat.", "It rains."]
>>> results = bertscore.compute(predictions=said, references=said, model_type="auto", num_layers=4)
>>> [round(one, 2) for one in results["f1"]]
[1.0, 1.0]
>>> results["hashcode"].startswith("metric:bertscore@release|")
True
"""

from monge.compat.evaluate import BERTScore

__all__ = ["BERTScore"]
