"""Plain arrays through the real path: units, n-grams, centring, unit length, ground, transport,
readout.

`X`, `Y`, `WX`, `WY` are the toy problem that the closed forms share; `X2`, `Y2` its second layer.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch

from monge.encoders.protocol import Request
from monge.metrics.presets import resolve
from monge.scoring.clouds import CentredText, build_points, pad_texts
from monge.scoring.measure import measure, score_clouds
from monge.scoring.transport import TransportMetric
from monge.scoring.windows import Window
from monge.text.select import select
from monge.types import CorpusStats, Segment, Tokens

X = np.array([[1.0, 0.0], [0.6, 0.8]])
Y = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
X2 = np.array([[0.8, 0.6], [0.0, 1.0]])
Y2 = np.array([[0.6, 0.8], [1.0, 0.0], [-0.6, 0.8]])
WX, WY = (1.0, 3.0), (1.0, 2.0, 1.0)
ONES = (1.0, 1.0, 1.0, 1.0, 1.0)


class Spelling:
    """What cuts arrays: nothing is unknown to it."""

    unknown = None
    name, precision, device, tuning = "toy", "fp32", "cpu", None
    weights_digest = config_digest = tokenizer_digest = "0" * 64


class Toy:
    """What reads arrays."""

    encoder, key = Spelling(), "toy"


def prepared(name, *changes, reader=Toy()):  # noqa: B008 - holds nothing
    """A preset with changes, bound to no model: arrays take the place of its vectors."""
    name, spec = resolve(name, changes)
    return TransportMetric(name, spec, reader, Request((1,)), frozenset())


def tokens(count, special=(), label="w"):
    """A text of `count` words, one piece each; `special` are positions of special pieces."""
    text = " ".join(f"{label}{k}" for k in range(count))
    starts = [len(" ".join(f"{label}{j}" for j in range(k))) + (k > 0) for k in range(count)]
    return Tokens(
        text=text,
        ids=tuple(range(count)),
        pieces=tuple(f"{label}{k}" for k in range(count)),
        spans=tuple((start, start + len(f"{label}{k}")) for k, start in enumerate(starts)),
        special=tuple(k in special for k in range(count)),
        continues=(False,) * count,
    )


def text(vectors, weights, metric, special=(), mean=None):
    """The text's cloud as the pipeline makes it, its vectors and weights given as arrays."""
    vectors = torch.as_tensor(np.asarray(vectors), dtype=torch.float64)
    weigh = None if weights is None else (lambda piece: float(weights[piece]))
    raw = build_points(
        tokens(len(vectors), special),
        vectors,
        metric,
        weigh,
        lambda text_tokens: select(text_tokens, metric.spec.units, frozenset()),
    )
    mean = None if mean is None else torch.as_tensor(np.asarray(mean))
    return CentredText(raw, mean)


def pair(name, *changes, x=X, y=Y, wx=None, wy=None, special_x=(), special_y=()):
    """Metric and both sides' clouds, a batch of one each."""
    metric = prepared(name, *changes)
    sides = text(x, wx, metric, special_x), text(y, wy, metric, special_y)
    return metric.spec, pad_texts([sides[0]], metric.spec), pad_texts([sides[1]], metric.spec)


def scored(name, *changes, **sides):
    """The parts of the score of one pair of arrays."""
    spec, hypothesis, reference = pair(name, *changes, **sides)
    return {
        part: float(value[0])
        for part, value in score_clouds(hypothesis, reference, spec)[1].items()
    }


def scored_window(name, *changes, rows):
    """Scores of several segments through pass 2: rows of (hypothesis array, [reference arrays])."""
    metric = prepared(name, *changes)
    arrays, segments = {}, []
    for index, (hypothesis, references) in enumerate(rows):
        names = [f"h{index}", *(f"r{index}.{j}" for j in range(len(references)))]
        arrays.update(zip(names, (hypothesis, *references), strict=True))
        segments.append(Segment(str(index), names[0], tuple(names[1:])))

    def read(texts, reader, pieces=None):
        by_text = {}
        for text in texts:
            vectors = torch.as_tensor(np.asarray(arrays[text]), dtype=torch.float64)
            by_text[text] = tokens(len(vectors), label=text), {metric.request: vectors}
        return by_text

    measured = measure(
        Window(segments, SimpleNamespace(read=read)), metric, {"": CorpusStats("toy")}
    )
    return [
        SimpleNamespace(
            parts={name: float(values[k]) for name, values in measured.parts.items()},
            winner=int(measured.winners[k]),
        )
        for k in range(len(rows))
    ]
