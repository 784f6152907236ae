"""What `monge recommend` answers from is what is computed: figures, intervals and signatures of two sets."""

import importlib.util
import sys
import warnings
from pathlib import Path

import pytest

from monge.errors import Notice
from monge.study import evaluate
from monge.study.kept_results import judgements

PLACE = Path(__file__).parents[2] / "docs" / "recommend" / "make.py"
KEPT = {one.key: one for one in judgements()}


@pytest.fixture(scope="module")
def make():
    loader = importlib.util.spec_from_file_location("recommend_make", PLACE)
    module = importlib.util.module_from_spec(loader)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("key", "names"), [("bagel", ["chrf", "rougeL", "twmd", "moverscore"]), ("stsb-de", ["chrf", "sentbleu"])]
)
def test_figures_are_what_is_computed(make, data_dir, key, names):
    (planned,) = [one for one in make.plan() if one.key == key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        found = make.record(planned, evaluate(planned.asked(data_dir), names, setup=planned.setup()))
    kept = KEPT[key]
    for name, one in found["metrics"].items():
        then = kept.metrics[name]
        assert (one["value"], one["low"], one["high"]) == pytest.approx((then.value, then.low, then.high), abs=2e-4)
        assert one["signature"] == then.signature
    assert {field: getattr(kept, field) for field in found if field != "metrics"} == {
        field: value for field, value in found.items() if field != "metrics"
    }


def test_what_is_kept_was_planned(make):
    assert list(KEPT) == [one.key for one in make.plan() if one.key in KEPT]
    for one in make.plan():
        if one.key in KEPT:
            wanted = {name for tier in make.TIERS for name in tier[one.kind]}
            assert set(KEPT[one.key].metrics) <= wanted, one.key
