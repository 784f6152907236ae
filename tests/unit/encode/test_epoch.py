"""Vectors of fixed texts, as this epoch of the code makes them: who moves them raises the epoch.

    MONGE_WRITE_GOLDEN=1 pytest tests/unit/encode/test_epoch.py

writes the values anew, under the epoch that `monge.encode.protocol.ENCODER_EPOCH` says.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from monge.encode.batching import Vectors
from monge.encode.protocol import ENCODER_EPOCH, Request
from monge.encode.transformer import open_encoder
from monge.encode.words import StaticEncoder

GOLDEN = Path(__file__).with_name("golden_vectors.json")
TEXTS = ["The cat didn't sit on the mat.", "", "Überraschung: 猫 [SEP] 3.14!", "a very long text " * 200]
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
    return [encoder.hidden([tokens.ids], [0])[0].flatten().tolist() for tokens in encoder.tokenise(TEXTS[:3])]


@pytest.mark.parametrize("kind", [embedded, static])
def test_vectors_are_those_of_this_epoch(kind, tmp_path):
    name, found = kind.__name__, kind(tmp_path)
    golden = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("MONGE_WRITE_GOLDEN"):
        golden |= {
            "epoch": ENCODER_EPOCH,
            name: json.loads(json.dumps(found), parse_float=lambda x: float(f"{float(x):.7g}")),
        }
        GOLDEN.write_text(json.dumps(golden) + "\n", "utf-8")
    advice = (
        f"vectors have moved: set ENCODER_EPOCH to {golden['epoch'] + 1}, and write the golden file anew (see above)"
    )
    assert golden["epoch"] == ENCODER_EPOCH, "the golden file is of another epoch: write it anew (see above)"
    then, now = (
        np.array([x for text in one for part in text for x in np.atleast_1d(part)]) for one in (golden[name], found)
    )
    assert then.shape == now.shape, advice
    assert float(np.abs(then - now).max()) < 1e-5 * max(1.0, float(np.abs(then).max())), advice
