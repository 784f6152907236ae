"""A study by workers of Ray is the study, on every group of published judgements."""

import pytest

from monge.cluster import Engine, passes_on_ray
from monge.evaluation import Run, Setup, Task, evaluate_task

pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray itself
MODEL = "multilingual-e5-small"  # of the packaged models the one that knows all languages of WMT17
METRICS = ["twmd", "bertscore", "moverscore", "chrf"]


def test_evaluate_wmt17_by_workers_is_evaluate(data_dir):
    task = Task("wmt17", str(data_dir), sample=8)
    here = evaluate_task(task, METRICS, setup=Setup(model=MODEL))
    with passes_on_ray(Engine(workers=2)) as passes:
        there = evaluate_task(task, METRICS, setup=Setup(model=MODEL), run=Run(elsewhere=passes))
    found = here.to_dict()
    assert there.to_dict() == found
