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


def supports(encoder, texts, dtype):
    """The barycentre of the last five layers of every text, as the authors call it: zero start,
    equal masses.
    """
    found = {}
    for text in dict.fromkeys(texts):
        ids = encoder.tokenise([text])[0].ids
        layers = [
            torch.nn.functional.normalize(one.to(dtype), dim=1).numpy()
            for one in encoder.hidden([ids], range(2, 7))
        ]
        zero, even = np.zeros_like(layers[0]), np.full(len(ids), 1 / len(ids))
        found[text] = ot.lp.free_support_barycenter(layers, [even] * 5, zero, numItermax=1000)
    return [found[text] for text in texts]


@pytest.fixture(scope="module")
def ours(pairs):
    return api.load("baryscore@release").score(*pairs).parts["w"]


@pytest.mark.parametrize(
    ("dtype", "within"),
    [
        pytest.param(torch.float64, 1.0, id="double: the zero start is stable, every pair is met"),
        pytest.param(
            torch.float32,
            0.65,
            id="single, as published: rounding decides the first plan of some pairs",
        ),
    ],
)
def test_release_equals_pot_s_route(pairs, ours, dtype, within):
    encoder = api.encoder_for("auto")
    clouds = [supports(encoder, texts, dtype) for texts in pairs]
    theirs = np.array(
        [
            ot.emd2(ot.unif(len(x)), ot.unif(len(y)), ot.dist(x, y))
            for x, y in zip(*clouds, strict=True)
        ]
    )
    gaps = np.abs(ours - theirs) / theirs.clip(1e-6)  # below it two texts have the same pieces
    assert len(gaps) == PAIRS and np.median(theirs) > 0.1
    assert np.median(gaps) <= 1e-3
    assert (gaps <= 0.02).mean() >= within
