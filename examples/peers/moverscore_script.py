"""MoverScore as its documentation uses it: idf of both sides, then the score of every pair, and of
one sentence.
"""

from pathlib import Path

from moverscore_v2 import get_idf_dict, sentence_score, word_mover_score

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"

translations = [line.strip() for line in (EXAMPLE / "system-a.txt").open(encoding="utf-8")]
references = [line.strip() for line in (EXAMPLE / "reference.txt").open(encoding="utf-8")]

idf_dict_hyp = get_idf_dict(translations)
idf_dict_ref = get_idf_dict(references)
scores = word_mover_score(
    references,
    translations,
    idf_dict_ref,
    idf_dict_hyp,
    stop_words=[],
    n_gram=1,
    remove_subwords=True,
)
print(f"mean {sum(scores) / len(scores):.4f} of {len(scores)} pairs")
print(f"one sentence {sentence_score(translations[0], references[:2]):.4f}")
