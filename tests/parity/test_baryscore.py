"""BaryScore against POT's own barycentre, on the embedded model's vectors of the bundled example."""

from importlib.resources import files

import numpy as np
import ot
import torch

from monge import api


def texts(name):
    return (files("monge") / "example" / f"{name}.txt").read_text("utf-8").split("\n")[:-1]


def test_release_equals_pot_s_route():
    hypotheses, references = [*texts("system-a"), *texts("system-b")], texts("reference") * 2
    metric = api.load("baryscore@release")
    encoder = metric.prepared.reader.encoder

    def support(text):
        ids = encoder.tokenise([text])[0].ids
        layers = [
            torch.nn.functional.normalize(one.double(), dim=1).numpy() for one in encoder.hidden([ids], range(2, 7))
        ]
        n = len(ids)
        zero = np.zeros_like(layers[0])
        return ot.lp.free_support_barycenter(layers, [np.full(n, 1 / n)] * 5, zero, numItermax=1000)

    ours = metric.score(hypotheses, references).parts["w"]
    theirs = []
    for one, other in zip(hypotheses, references, strict=True):
        x, y = support(one), support(other)
        theirs.append(ot.emd2(ot.unif(len(x)), ot.unif(len(y)), ot.dist(x, y)))
    gaps = np.abs(ours - np.array(theirs)) / np.array(theirs).clip(1e-9)
    assert np.median(gaps) <= 1e-3
    assert (gaps <= 0.02).mean() >= 0.65
