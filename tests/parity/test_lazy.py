"""`lazy-emd` against POT's unbalanced solver with the entropy regulariser, on the real costs of
real pairs.
"""

import warnings

import numpy as np
import ot
import pytest

import monge
from monge.errors import Unsuited

from .reference import normalised, plain_model, real_pairs

COUNT = 60


@pytest.mark.parametrize("lang", ["en", "zh", "de"])
def test_equal_to_pot(data_dir, lang, capsys):
    hypotheses, references = real_pairs(data_dir, COUNT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Unsuited)  # the slack of a language, whatever the model
        metric = monge.load("lazy-emd", lang=lang, model="all-MiniLM-L6-v2")
    layer, slack = metric.spec.layers.at, metric.spec.transport.slack
    result = metric.score(hypotheses, references)
    model, costs, masses = plain_model(), [], []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        x, y = (normalised(model.layers(text)[layer][1:-1]) for text in (hypothesis, reference))
        cost = 1 - x @ y.T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan = ot.unbalanced.sinkhorn_unbalanced(
                np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), cost, 0.009, slack,
                reg_type="entropy", numItermax=100_000, stopThr=1e-12,
            )  # fmt: skip
        costs.append((plan * cost).sum())
        masses.append(plan.sum())
    worst = float(np.abs(result.segments - costs).max())
    with capsys.disabled():
        print(f"\nlazy-emd {slack}: largest difference {worst:.2e}")
    assert worst <= 1e-6
    assert np.abs(result.parts["mass"] - masses).max() <= 1e-6
