"""A small table of judgements, and a plan that learns from it on a tiny model."""

import numpy as np
import pytest

from monge.tuning import Lesson, Plan, Schedule

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "house", "house"]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """64 judgements by people who mind nothing but a wrong "house"."""
    random = np.random.default_rng(7)
    lines = ["hypothesis\treference\thuman\tid"]
    for k in range(64):
        reference = [str(w) for w in random.choice(WORDS[:-2], 6)]
        kept = [w if random.random() < 0.7 else str(random.choice(WORDS)) for w in reference]
        lines.append(
            f"{' '.join(kept)}\t{' '.join(reference)}\t{-kept.count('house') + random.normal(0, 0.1):.3f}\t{k}"
        )
    path = tmp_path_factory.mktemp("judged") / "judged.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def plan(judged, tiny_bert):
    return Plan(
        "twmd", [Lesson("table")], judged, dev=0.25, model=str(tiny_bert), settings=("layers=3",),
        schedule=Schedule(epochs=4, batch=8, rate=5e-3, checks=2),
    )  # fmt: skip
