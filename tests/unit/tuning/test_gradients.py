"""The loss of tuning is the score itself: its gradients against finite differences, for every kind
of metric.
"""

import numpy as np
import pytest
import torch

from monge.api import bind
from monge.metrics.presets import resolve
from monge.scoring.measure import measure
from monge.scoring.windows import Window
from monge.types import CorpusStats, Segment

ROWS = [
    Segment("1", "the cat sat on the mat", ("a cat was on the mat",)),
    Segment("2", "the dog ran", ("a dog ran home",)),
]
KINDS = [
    "twmd", "trwmd", "bertscore", "emd", "moverscore[weights=uniform]", "lazy-emd", "wmd", "rwmd", "sbert",
    "twmd[centre=batch(2)]", "twmd[centre=sentence]", "twmd[centre=dimension]", "twmd@release",
    "bertscore[layers=last2:mean]", "twmd[layers=last2:pmeans(1,3)]", "wordset-cka", "smd[weights=uniform]",
    "yisi-1[weights=uniform]", "wms[weights=uniform]", "baryscore[weights=uniform]",
]  # fmt: skip


class Fixed:
    """Vectors of texts that are given, whatever the model would say."""

    def __init__(self, metric, vectors):
        self.metric, self.vectors = metric, vectors

    def read(self, texts, reader, pieces=None):
        read = reader.read(texts)
        return {
            t: (tokens, {self.metric.request: self.vectors[t]})
            for t, tokens in zip(texts, read, strict=True)
        }


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_finite_differences(tiny_bert, kind):
    name, spec = resolve(kind)
    metric = bind(name, spec, model=str(tiny_bert)).by_transport("tune")
    texts = list(dict.fromkeys(t for row in ROWS for t in (row.hypothesis, *row.references)))
    torch.manual_seed(1)
    width = 8 * (len(metric.request.layers) if metric.request.pool == "barycentre" else 1)
    start = {
        t: torch.randn(len(k.ids), width, dtype=torch.float64)
        for t, k in zip(texts, metric.reader.read(texts), strict=True)
    }
    stats = {"": CorpusStats(metric.reader.key)}

    def total(vectors):
        return measure(Window(ROWS, Fixed(metric, vectors)), metric, stats).parts["score"]

    leaves = {t: v.clone().requires_grad_() for t, v in start.items()}
    scores = total(leaves)
    weights = torch.tensor([1.0, -2.0], dtype=torch.float64)
    (weights * scores).sum().backward()
    random = np.random.default_rng(3)
    for t in texts:
        direction = torch.from_numpy(random.normal(size=start[t].shape))
        step = 1e-5
        ends = [
            (weights * total({**start, t: start[t] + sign * step * direction})).sum()
            for sign in (1, -1)
        ]
        slope = float((ends[0] - ends[1]) / (2 * step))
        assert float((leaves[t].grad * direction).sum()) == pytest.approx(slope, rel=1e-4, abs=1e-7)
