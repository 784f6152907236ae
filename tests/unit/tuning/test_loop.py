"""The loop over judgements: every judgement is learned in every epoch, and what cannot be learned
from is named.
"""

from collections import Counter

import numpy as np
import pytest
import torch

from monge.tuning import Schedule
from monge.tuning.examples import Examples
from monge.tuning.loop import Loop
from monge.tuning.objectives import ScoreObjective
from monge.types import Segment


def examples(count):
    random = np.random.default_rng(1)
    rows = tuple(Segment(str(k), "a " * int(random.integers(1, 90)), ("b",)) for k in range(count))
    return Examples("table", rows, ("table/all",) * count, targets=random.normal(size=count))


def loop_over(count, batch, epochs=3):
    parameter = torch.nn.Parameter(torch.zeros(1))
    return Loop(
        [ScoreObjective(examples(count))], None, [parameter], Schedule(epochs=epochs, batch=batch)
    )


@pytest.mark.parametrize("count", [2, 7, 8, 9, 31, 100, 127, 128, 129, 130, 500, 1025])
@pytest.mark.parametrize("batch", [2, 8, 32])
def test_every_judgement_is_learned_once_in_every_epoch(count, batch):
    loop = loop_over(count, batch)
    for epoch in range(3):
        batches = [
            loop._places(0, epoch * loop.steps_per_epoch + step)
            for step in range(loop.steps_per_epoch)
        ]
        assert Counter(place for some in batches for place in some) == Counter(range(count))
        sizes = {len(some) for some in batches}
        assert max(sizes) <= batch and max(sizes) - min(sizes) <= 1
    assert loop.steps == 3 * loop.steps_per_epoch


def test_a_batch_holds_judgements_of_similar_length():
    loop = loop_over(1025, 32)
    lengths = [
        [len(loop.objectives[0].texts(place)[0]) for place in loop._places(0, step)]
        for step in range(loop.steps_per_epoch)
    ]
    spread = np.mean([np.ptp(some) for some in lengths])
    assert spread < 0.25 * np.ptp(np.concatenate(lengths))
