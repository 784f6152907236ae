"""Reduced precision states its own bounds: what company may do to a score, and how far it is from
fp32.
"""

from __future__ import annotations

import numpy as np
import pytest
from law_bench import Bench, deviation
from law_functions import AWAY, TOLERANCE
from law_samples import SAMPLE

from monge.encoders import int8
from monge.encoders.transformer import open_encoder
from monge.metrics.presets import PRESETS

NO_INT8 = pytest.mark.skipif(not int8.available(), reason="no exact int8 products on this machine")
REDUCED = ("bf16", pytest.param("int8", marks=NO_INT8))
JUMPS = {
    "wmdo@release": "its order counts chunks of matches: a plan of nearly the same cost can match "
    "otherwise"
}
"""Metrics with a part that is counted, and why a segment may jump: one of 24 may have another
count.
"""


@pytest.fixture(scope="module")
def reduced(names):
    usable = ("bf16", "int8") if int8.available() else ("bf16",)
    return {
        name: Bench(
            open_encoder("auto", precision=name, device="cpu"),
            [name for name in names if name in PRESETS],
        )
        for name in usable
    }


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("precision", REDUCED)
def test_company_moves_a_score_no_further_than_stated(reduced, figures, precision, name):
    usual = reduced[precision].run(SAMPLE, raw=True)[name]
    elsewhere = [
        reduced[precision].run(SAMPLE, raw=True, batch_pieces=1)[name],
        reduced[precision].run(SAMPLE, raw=True, window=5)[name],
        reduced[precision].run(SAMPLE, raw=True, threads=1)[name],
    ]
    gap = max(deviation(result, usual) for result in elsewhere)
    figures(f"company in {precision}", gap, name)
    assert gap <= TOLERANCE[precision]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("precision", REDUCED)
def test_reduced_precision_stays_near_fp32(bench, reduced, figures, precision, name):
    full, less = bench.run(SAMPLE, raw=True)[name], reduced[precision].run(SAMPLE, raw=True)[name]
    gap = deviation(less, full)
    figures(f"{precision} from fp32, worst segment", gap, name)
    figures(
        f"{precision} from fp32, mean of 24",
        abs(less.score - full.score) / max(1.0, abs(full.score)),
        name,
    )
    if name in JUMPS and gap > AWAY[precision]:
        same = less.parts["order"] == full.parts["order"]
        assert same.sum() >= len(SAMPLE) - 1
        gap = float(np.abs(less.segments - full.segments)[same].max())
    assert 0 < gap <= AWAY[precision]


@pytest.mark.parametrize("precision", REDUCED)
def test_precision_is_in_the_signature(bench, reduced, precision):
    full, less = bench.run(SAMPLE, raw=True), reduced[precision].run(SAMPLE, raw=True)
    for name in PRESETS:
        assert full[name].signature["precision"] == "fp32"
        assert less[name].signature["precision"] == precision
        assert np.isfinite(less[name].segments).all()
