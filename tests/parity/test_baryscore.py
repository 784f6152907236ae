"""BaryScore against POT's own barycentre, on the embedded model's vectors of 200 judged pairs of
WMT17.
"""

import numpy as np
import ot
import pytest
import torch

from monge import api
from monge.datasets import open_dataset

PAIRS = 200


@pytest.fixture(scope="module")
def pairs(data_dir):
    """The 200 shortest of the 560 judged outputs of cs-en."""
    rows = open_dataset("wmt17", data_dir, pairs=["cs-en"]).groups["cs-en"].segments
    chosen = sorted(rows, key=lambda row: len(row.hypothesis) + len(row.references[0]))[:PAIRS]
    return [row.hypothesis for row in chosen], [row.references[0] for row in chosen]


def supports(encoder, texts):
    """The barycentre of the last five layers of every text, as the authors call it: zero start,
    equal masses.

    In float64: in float32, as published, rounding decides the first plan of some texts, and POT
    does not agree with itself.
    """
    by_text = {}
    for text in dict.fromkeys(texts):
        ids = encoder.tokenise([text])[0].ids
        layers = [
            torch.nn.functional.normalize(layer.double(), dim=1).numpy()
            for layer in encoder.hidden([ids], range(2, 7))
        ]
        zero, even = np.zeros_like(layers[0]), np.full(len(ids), 1 / len(ids))
        by_text[text] = ot.lp.free_support_barycenter(layers, [even] * 5, zero, numItermax=1000)
    return [by_text[text] for text in texts]


def test_release_equals_pot_s_route(pairs):
    our_scores = api.load("baryscore@release").score(*pairs).parts["w"]
    encoder = api.encoder_for("auto")
    clouds = [supports(encoder, texts) for texts in pairs]
    pot_scores = np.array(
        [
            ot.emd2(ot.unif(len(x)), ot.unif(len(y)), ot.dist(x, y))
            for x, y in zip(*clouds, strict=True)
        ]
    )
    assert len(pot_scores) == PAIRS and np.median(pot_scores) > 0.1
    assert our_scores == pytest.approx(pot_scores, rel=1e-6, abs=1e-9)
