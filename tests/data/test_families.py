"""The table of docs/families.md: what is printed is what was kept, and what is kept is what is
computed.
"""

import importlib.util
from pathlib import Path

import pytest

from monge.datasets import open_dataset
from monge.evaluation import Resampling, Setup, Task, evaluate
from monge.metrics.signature import difference

PLACE = Path(__file__).parents[2] / "docs" / "families" / "make.py"
MODEL = "multilingual-e5-small"


@pytest.fixture(scope="module")
def make():
    loader = importlib.util.spec_from_file_location("families_make", PLACE)
    module = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(module)
    return module


def test_the_page_has_the_table_of_the_kept_results(make):
    shown = make.PAGE.read_text("utf-8").partition(make.BEGIN)[2].partition(make.END)[0]
    assert shown.strip().split("\n") == make.table(make.kept(), MODEL)
    assert len(make.kept()) == len(list(make.jobs()))


def test_figures_are_what_is_computed(make, data_dir, models_dir):
    kept = make.kept()[f"{MODEL} mlqe-pe ro-en without"]
    names = ["sentsim", "sbert"]
    setup = Setup(model=str(models_dir / MODEL))
    task = Task("mlqe-pe", data_dir, pairs=["ro-en"])
    found = evaluate(task, names, setup=setup, resampling=Resampling(resamples=2))
    for one in found.agreements:
        assert one.mean.value == pytest.approx(kept[one.label]["value"], abs=1e-3)
        changed = {key for key, _, _ in difference(one.signature, kept[one.label]["signature"])}
        units = {key for key in changed if key.rpartition(".")[2] == "units"}
        assert changed - units <= {"tokenizer", "config", "stats", "against", "nrefs"}, (
            "kept before configurations, sides and numbers of references were signed, and unknown "
            "pieces told apart"
        )
    assert found.agreements[0].mean.value >= 0.58


def test_maps_learn_from_other_texts_than_they_are_tried_on(make, data_dir):
    where = type("Where", (), {"data": data_dir})
    for pair in make.PAIRS:
        taught = make.parallel(pair, where)
        tried = open_dataset("mlqe-pe", data_dir, pairs=[pair]).groups[pair].segments
        assert 400 <= len(taught) <= make.MOST
        assert not {source for source, _ in taught} & {one.source for one in tried}
