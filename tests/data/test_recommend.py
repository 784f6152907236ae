"""What `monge recommend` answers from is what is computed: figures, intervals and signatures of two
sets.
"""

import warnings
from importlib.resources import files
from pathlib import Path

import make_recommend as make
import pytest

from monge.encoders.packaged import SHIPPED
from monge.errors import Notice
from monge.evaluation import Run, Task, evaluate_task
from monge.metrics.signature import shortened
from monge.recommendation.kept_results import judgements, tuned

ADAPTERS = Path(str(files("monge.encoders") / "adapters"))
KEPT = {one.key: one for one in judgements()}


@pytest.mark.parametrize(
    ("key", "names"),
    [("bagel", ["chrf", "rougeL", "twmd", "moverscore"]), ("stsb-de", ["chrf", "sentbleu"])],
)
def test_figures_are_what_is_computed(data_dir, key, names):
    (planned,) = [one for one in make.list_judgements() if one.key == key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        found = make.make_record(
            planned, evaluate_task(planned.make_task(data_dir), names, setup=planned.setup())
        )
    kept = KEPT[key]
    for name, one in found["metrics"].items():
        then = kept.metrics[name]
        assert (one["value"], one["low"], one["high"]) == pytest.approx(
            (then.value, then.low, then.high), abs=1e-3
        )
        assert one["signature"] == then.signature
    assert {field: getattr(kept, field) for field in found if field != "metrics"} == {
        field: value for field, value in found.items() if field != "metrics"
    }


def test_what_is_kept_was_planned():
    assert list(KEPT) == [one.key for one in make.list_judgements() if one.key in KEPT]
    for one in make.list_judgements():
        if one.key in KEPT:
            wanted = {name for tier in make.TIERS for name in tier[one.kind]}
            assert set(KEPT[one.key].metrics) <= wanted, one.key


def test_every_shipped_model_of_the_embedded_base_has_figures():
    shipped = {name for name in SHIPPED if (ADAPTERS / name / "all-MiniLM-L6-v2").is_dir()}
    assert len(shipped) > 3
    assert {model.name for model in tuned()} == shipped


def test_a_figure_of_a_tuned_model_is_what_is_computed(data_dir):
    (broad,) = [one for one in tuned() if one.name == "broad"]
    change = broad.figures["bagel"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        found = evaluate_task(
            Task("bagel", data_dir), ["twmd", "twmd[encoder.model=auto+broad]"], run=Run()
        ).agreements
    for one, kept in zip(found, (change.before, change.after), strict=True):
        assert (one.mean.value, one.mean.low, one.mean.high) == pytest.approx(
            (kept.value, kept.low, kept.high), abs=1e-3
        )
        assert shortened(one.signature) == kept.signature
