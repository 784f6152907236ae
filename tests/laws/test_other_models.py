"""The laws of encoding on other models: another tokenizer, another padding, a family that runs
padded.
"""

from __future__ import annotations

import pytest
from law_functions import LAWS, LIGHT, lacking

from monge.metrics.presets import PRESETS


@pytest.mark.parametrize("law", LIGHT)
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("model", ["bert-pad-3", "roberta", "albert-padded"])
def test_metric_keeps_the_law_on_other_models(tiny_benches, figures, model, name, law):
    if law in lacking(name):
        pytest.skip("the row declares that it does not")
    figures(f"{law} ({model})", LAWS[law](tiny_benches[model], name), name)
