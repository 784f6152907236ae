"""Vectors of fixed texts stay as they are.

    MONGE_WRITE_GOLDEN=1 pytest tests/unit/encoders/test_golden_vectors.py

writes the values again. That moves scores: say so under "Scores changed" in CHANGELOG.md. Caches
need no attention, their keys hold a hash of the code.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from monge.encoders.batching import Vectors
from monge.encoders.protocol import Request
from monge.encoders.transformer import open_encoder
from monge.encoders.words import StaticEncoder

GOLDEN = Path(__file__).with_name("golden_vectors.json")
TEXTS = [
    "The cat didn't sit on the mat.",
    "",
    "Überraschung: 猫 [SEP] 3.14!",
    "a very long text " * 200,
]
REQUESTS = (
    Request((0,)),
    Request((4,)),
    Request((5, 6), "mean", unit_layers=True),
    Request((4, 5, 6), "pmeans", (1.0, float("inf"))),
    Request((4, 5, 6), "routing"),
)
STATIC = "the 1 2\ncat 3 4\nn't 5 6\ndid 7 8\n3.14 0.5 0.25\n"


def embedded(_):
    """Some numbers of every pooled vector of the embedded model, one text longer than it reads."""
    encoder = open_encoder("auto", device="cpu")
    found = Vectors(encoder, REQUESTS).of(encoder.tokenise(TEXTS))
    return [[text[request][::7, ::97].flatten().tolist() for request in REQUESTS] for text in found]


def static(folder):
    """Every number of the static vectors of the texts, a zero vector for words without one."""
    (folder / "v.txt").write_text(STATIC, "utf-8")
    encoder = StaticEncoder(folder / "v.txt", unknown="zero")
    return [
        encoder.hidden([tokens.ids], [0])[0].flatten().tolist()
        for tokens in encoder.tokenise(TEXTS[:3])
    ]


@pytest.mark.parametrize("kind", [embedded, static])
def test_vectors_have_not_moved(kind, tmp_path):
    name, found = kind.__name__, kind(tmp_path)
    golden = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("MONGE_WRITE_GOLDEN"):
        golden[name] = json.loads(json.dumps(found), parse_float=lambda x: float(f"{float(x):.7g}"))
        GOLDEN.write_text(json.dumps(golden) + "\n", "utf-8")
    advice = "vectors have moved: if they must, write the golden file again (see above)"
    then, now = (
        np.array([x for text in one for part in text for x in np.atleast_1d(part)])
        for one in (golden[name], found)
    )
    assert then.shape == now.shape, advice
    assert float(np.abs(then - now).max()) < 1e-5 * max(1.0, float(np.abs(then).max())), advice
