"""sacrebleu as its documentation uses it: objects of metrics, one loop over all."""

from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

sys = [line.rstrip("\n") for line in (EXAMPLE / "system-a.txt").open(encoding="utf-8")]
refs = [[line.rstrip("\n") for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]]

for metric in (BLEU(), CHRF(), TER()):
    result = metric.corpus_score(sys, refs)
    print(f"{result.score:.4f}, signed: {bool(str(metric.get_signature()))}")
