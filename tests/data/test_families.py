"""The figures of docs/families.md: every job was run, and a part of them computed again."""

import make_families as make
import pytest

from monge.datasets import open_dataset
from monge.evaluation import Resampling, Setup, Task, evaluate_task
from monge.metrics.signature import difference

MODEL = "multilingual-e5-small"


def test_every_job_has_kept_figures():
    assert len(make.read_results()) == len(list(make.list_jobs()))


def test_figures_are_what_is_computed(data_dir, models_dir):
    kept = make.read_results()[f"{MODEL} mlqe-pe ro-en without"]
    names = ["sentsim", "sbert"]
    setup = Setup(model=str(models_dir / MODEL))
    task = Task("mlqe-pe", data_dir, pairs=["ro-en"])
    found = evaluate_task(task, names, setup=setup, resampling=Resampling(resamples=2))
    for one in found.agreements:
        assert one.mean.value == pytest.approx(kept[one.label]["value"], abs=1e-3)
        changed = {key for key, _, _ in difference(one.signature, kept[one.label]["signature"])}
        units = {key for key in changed if key.rpartition(".")[2] == "units"}
        assert changed - units <= {"tokenizer", "config", "stats", "against", "nrefs"}, (
            "kept before configurations, sides and numbers of references were signed, and unknown "
            "pieces told apart"
        )
    assert found.agreements[0].mean.value >= 0.58


def test_maps_learn_from_other_texts_than_they_are_tried_on(data_dir):
    where = type("Where", (), {"data": data_dir})
    for pair in make.PAIRS:
        taught = make.read_parallel(pair, where)
        tried = open_dataset("mlqe-pe", data_dir, pairs=[pair]).groups[pair].segments
        assert 400 <= len(taught) <= make.MAX_PARALLEL
        assert not {source for source, _ in taught} & {one.source for one in tried}
