"""Faults of other libraries that monge must not have; docs/migration.md lists those libraries."""

from __future__ import annotations

import numpy as np
import pytest
from law_samples import A, R

import monge
from monge.errors import DataError

# lengths out of order, so that a batch sorted by length must be put back
HYPOTHESES = ["A dog.", A[2], "No one was hurt in the fire, police said.", A[0], "Yes"]
REFERENCES = ["A small dog barks.", R[2], "Nobody was injured.", R[0], "No"]


@pytest.mark.parametrize("metric", ["bertscore", "twmd", "moverscore", "emd", "sbert"])
def test_pairs_stay_together_when_batches_are_sorted_by_length(metric):
    loaded = monge.load(metric)
    stats = loaded.fit(R) if loaded.scorer.fits else None
    together = loaded.score(HYPOTHESES, REFERENCES, stats=stats).segments
    alone = [
        loaded.score([h], [r], stats=stats).segments[0]
        for h, r in zip(HYPOTHESES, REFERENCES, strict=True)
    ]
    assert np.allclose(together, alone, atol=1e-5, rtol=0)
    assert len({round(score, 4) for score in alone}) == len(alone)  # a wrong pairing would show


def test_idf_of_one_call_does_not_weigh_the_next():
    kept = monge.load("bertscore[weights=idf]")
    first = kept.score(A, R)
    after, fresh = (
        metric.score(A[:9], R[:9]) for metric in (kept, monge.load("bertscore[weights=idf]"))
    )
    assert after.segments.tolist() == fresh.segments.tolist()
    assert after.signature == fresh.signature
    assert after.signature != first.signature
    assert not np.allclose(after.segments, first.segments[:9], atol=1e-4)


MOVES = {
    "model": {"model": "tiny"},
    "tokenizer": {"model": "tiny"},
    "precision": {"precision": "bf16"},
    "length": {"settings": ["encoder.max_length=6"]},
    "layers": {"settings": ["layers=2"]},
    "units": {"settings": ["units.punctuation=keep"]},
    "weights": {"settings": ["weights=uniform"]},
    "references": {"settings": ["references=mean"]},
    "stats": {"corpus": 4},
}
"""A change of what each key of the signature stands for."""


@pytest.mark.parametrize("key", MOVES)
def test_what_moves_a_score_is_in_the_signature(key, tiny_bert):
    def score(model="auto", corpus=None, **options):
        model = str(tiny_bert) if model == "tiny" else model
        metric = monge.load("moverscore", model=model, device="cpu", **options)
        stats = metric.fit(R[:corpus]) if metric.scorer.fits else None
        return metric.score(A[:3], [[R[0], A[4]], [R[1], A[5]], [R[2], A[6]]], stats=stats)

    before, after = score(), score(**MOVES[key])
    assert not np.allclose(before.segments, after.segments, rtol=0, atol=1e-5)
    assert before.signature[key] != after.signature[key]


def test_unrelated_texts_never_score_best_for_want_of_mass():
    with pytest.raises(DataError):
        monge.score(["a cat"], ["profits rose"], metric="moverscore")
    same = ["the the", "the the", "a dog"]
    result = monge.score(
        same, ["the", "the cat", "the the the"], metric="moverscore[units.specials=drop]"
    )
    assert (result.segments[1:] < 0.999).all()


def test_marks_that_a_user_typed_are_text():
    plain, marked = (
        monge.explain(text, "a dog", metric="bertscore").hypothesis.units
        for text in ("a dog", "a [SEP] dog [MASK]")
    )
    assert len(marked) > len(plain) + 2
    assert "[SEP]" not in marked


def test_n_grams_are_not_ignored():
    of_words, of_pairs = (
        monge.score(A[:6], R[:6], metric=name).segments for name in ("moverscore", "moverscore-2")
    )
    assert not np.allclose(of_words, of_pairs, atol=1e-3)


def test_the_best_reference_is_taken_whole():
    hypothesis = ["A dog jumps after a red ball in the garden today."]
    several = [
        [
            "A dog jumps.",
            "A dog jumps after a red ball in the garden today, and then the cat sleeps all day.",
        ]
    ]
    whole, by_part = (
        monge.score(hypothesis, several, metric="bertscore", settings=[f"references={rule}"])
        for rule in ("max", "max-each")
    )
    single = [monge.score(hypothesis, [reference], metric="bertscore") for reference in several[0]]
    winner = single[whole.references[0]]
    for part in ("precision", "recall", "f1"):
        assert whole.parts[part][0] == pytest.approx(winner.parts[part][0], abs=1e-5)
        assert by_part.parts[part][0] == pytest.approx(
            max(result.parts[part][0] for result in single), abs=1e-5
        )
