"""Every metric against every law."""

from __future__ import annotations

import pytest
from law_functions import LAWS, LIGHT, check_metric, lacking

from monge.spec.presets import PRESETS


def breaks(bench, name, law):
    try:
        LAWS[law](bench, name)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", PRESETS)
def test_metric_keeps_the_law_or_says_that_it_does_not(bench, tiny_benches, figures, name, law):
    if law in lacking(name):
        real = any(breaks(each, name, law) for each in (bench, *tiny_benches.values()))
        assert real, f"{name} keeps the law {law!r} on every encoder, yet its row declares that it does not"
    else:
        figures(law, check_metric(name, bench.encoder, bench=bench, only=law)[law], name)


def test_rows_declare_only_laws_that_exist():
    assert {law for row in PRESETS.values() for law in row.lacks} <= set(LAWS)


@pytest.mark.parametrize("law", LIGHT)
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("model", ["bert-pad-3", "roberta", "albert-padded"])
def test_metric_keeps_the_law_on_other_models(tiny_benches, figures, model, name, law):
    if law in lacking(name):
        pytest.skip("the row declares that it does not")
    figures(f"{law} ({model})", LAWS[law](tiny_benches[model], name), name)
