"""sacrebleu as its documentation uses it: objects of metrics, one loop over all, with bootstrap
intervals.
"""

from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

refs = [[line.rstrip("\n") for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]]
metrics = (BLEU(), CHRF(), TER())

for name in ("system-a", "system-b"):
    sys = [line.rstrip("\n") for line in (EXAMPLE / f"{name}.txt").open(encoding="utf-8")]
    for metric in metrics:
        result = metric.corpus_score(sys, refs, n_bootstrap=1000)
        print(f"{name}: {result}")
        print(f"signed: {bool(str(metric.get_signature()))}")
