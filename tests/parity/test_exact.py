"""Exact metrics against POT's `emd2` on the real costs of real pairs."""

import numpy as np
import ot
import pytest

import monge

from .reference import normalised, plain_model, real_pairs

COUNT = 100


@pytest.mark.parametrize("name", ["emd", "wmd"])
def test_equal_to_pot(data_dir, name, capsys):
    hypotheses, references = real_pairs(data_dir, COUNT)
    metric = monge.load(name)
    layer, our_scores = metric.spec.layers.at, metric.score(hypotheses, references).segments
    model, pot_scores = plain_model(), []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        x, y = (normalised(model.layers(text)[layer][1:-1]) for text in (hypothesis, reference))
        cosine = x @ y.T
        cost = 1 - cosine if name == "emd" else np.sqrt(np.maximum(2 - 2 * cosine, 0))
        pot_scores.append(ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), cost))
    worst = float(np.abs(our_scores - pot_scores).max())
    with capsys.disabled():
        print(f"\n{name}: largest difference {worst:.2e}")
    assert worst <= 1e-6
