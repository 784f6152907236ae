"""The runs of `monge reproduce` that docs/reproduction/tables.md shows.

MODELS stands for the directory of models, ADAPTERS for build/adapters, which
tools/make_paper_adapters.py fills.
"""

from __future__ import annotations

WMT18, INTO_ENGLISH, OUT_OF_ENGLISH = "--pairs cs-en", "--pairs *-en", "--pairs en-*"
OTHERS = "cs-en,de-en,fi-en,ru-en,tr-en,zh-en"
"""The pairs of WMT18 into English on which the slacks of Lazy-EMD were not tuned."""
E5, MULTILINGUAL = "--model MODELS/e5-small", "--model MODELS/multilingual-e5-small"
GLOVE = "--stand-in word2vec=MODELS/glove-6b-50d"
INFERENCE = "--stand-in bert-base-uncased-mnli=auto+ADAPTERS/mini-entailment"
"""MiniLM tuned on the entailment labels of SICK, by tools/make_paper_adapters.py."""
PARAPHRASES = "--stand-in bert-base-uncased-qqp=auto+ADAPTERS/mini-paraphrase"
"""MiniLM tuned on whether people graded a pair of SICK 4 or more."""
TUNED = (
    "--stand-in roberta-base-tuned=auto+ADAPTERS/mini-1 "
    "--stand-in roberta-base-tuned-b=auto+ADAPTERS/mini-twmd-b-score"
)
"""MiniLM tuned on the human scores of WMT15 and WMT16, through TWMD and through TWMD-b."""
RUNS = (
    "tempered-2",
    f"tempered-2 {E5}",
    "tempered-1",
    f"tempered-3 {INTO_ENGLISH} --sample 80",
    f"tempered-3 {INTO_ENGLISH}",
    f"tempered-4 {TUNED}",
    "tempered-figure-3",
    f"tempered-figure-3 {E5} --sample 60",
    "tempered-figure-4",
    f"tempered-figure-4 {E5}",
    *(f"tempered-2 --layers {layer} --sample 200" for layer in (2, 3, 5, 6)),
    *(f"tempered-2 {E5} --layers {layer} --sample 200" for layer in (4, 12)),
    *(f"moverscore-{k} {GLOVE}" for k in (1, 2, 3, 7, 8, 9)),
    f"moverscore-figure-4 {INFERENCE} {PARAPHRASES}",
    "moverscore-5",
    "moverscore-6",
    f"moverscore-6 {E5}",
    f"reproducibility-1 {INTO_ENGLISH} --sample 40",
    f"reproducibility-1 {WMT18}",
    "reproducibility-2",
    f"reproducibility-2 {INFERENCE}",
    "reproducibility-3",
    f"reproducibility-4 {MULTILINGUAL}",
    "reproducibility-5",
    "reproducibility-6",
    "reproducibility-7",
    f"wmt18-log {WMT18}",
    "lazy-emd-1",
    f"lazy-emd-2 --pairs {OTHERS}",
    f"lazy-emd-2 --pairs {OTHERS} --sample 200 {E5}",
    f"lazy-emd-2 {OUT_OF_ENGLISH} {MULTILINGUAL}",
    "lazy-emd-3 --pairs gu-en,kk-en",
    "lazy-emd-4 --pairs gu-en,kk-en",
)
"""Every run of the page; of large data sets a sample, where all of them would take hours."""
