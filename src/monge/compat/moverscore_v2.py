"""MoverScore's calls, release 2: the last layer, Euclidean distance, 1/(1+cost)."""

from __future__ import annotations

from monge.compat.moverscore import Release

RELEASE_2 = Release("moverscore@v2", plain=True)
get_idf_dict = RELEASE_2.get_idf_dict
word_mover_score = RELEASE_2.word_mover_score
sentence_score = RELEASE_2.sentence_score
corpus_score = RELEASE_2.corpus_score
plot_example = RELEASE_2.plot_example
