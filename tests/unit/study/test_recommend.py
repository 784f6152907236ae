"""`monge recommend`: what is kept, how it is judged, and what is said of it."""

import json

import pytest

import monge
from monge.cli.app import run
from monge.errors import InvalidSetting, UnknownName
from monge.spec.signature import full
from monge.study import kept_results
from monge.study import recommend as module
from monge.study.kept_results import Cost, Measured, judgements, workloads
from monge.study.recommend import TASKS, Budget, Overview, Recommendation, front

KEPT = judgements()


def kept_as(monkeypatch, marks, costs):
    """Judgements of two made-up data sets: metric -> (value, mark) of each, and seconds by metric."""
    data = tuple(
        kept_results.Judgements(
            key, key, "captions", "en", "sentences", key, None, {}, None, "m", "human", "pearson", 1, 9, 9, 1, 9,
            {name: Measured(values[k][0], None, None, values[k][1], "") for name, values in marks.items()},
        )
        for k, key in enumerate(("one", "two"))
    )  # fmt: skip
    measured = {name: {"seconds": seconds, "megabytes": 10 * seconds} for name, seconds in costs.items()}
    about = {"texts": "sentences", "model": "m", "dataset": "one", "pairs": 9, "machine": "none"}
    monkeypatch.setattr(module, "judgements", lambda: data)
    for one in (module, kept_results):
        monkeypatch.setattr(one, "workloads", lambda: ({**about, "metrics": measured},))


def test_every_task_has_judgements_and_every_figure_its_signature():
    assert {one.task for one in KEPT} == set(TASKS)
    for one in KEPT:
        best = max(one.metrics.values(), key=lambda figure: figure.value)
        assert best.mark == ("best" if len(one.metrics) > 1 else "") and one.statistic in kept_results.STATISTICS
        assert [figure.mark for figure in one.metrics.values()].count("best") <= 1, one.key
        for name, figure in one.metrics.items():
            assert figure.low <= figure.value <= figure.high
            assert full(figure.signature)["metric"] == name


def test_cost_is_kept_with_what_it_was_measured_on():
    for one in workloads():
        assert one["machine"] and one["pairs"] and one["texts"] in ("sentences", "documents")
        assert all(Cost(**cost).seconds > 0 and cost["megabytes"] > 50 for cost in one["metrics"].values())
    assert kept_results.cost_of("chrf", "sentences", "all-MiniLM-L6-v2").seconds < 60
    assert kept_results.cost_of("chrf", "sentences", "another model") is not None  # it needs none
    assert kept_results.cost_of("twmd", "sentences", "another model") is None


def test_a_cheaper_metric_is_chosen_only_where_no_data_set_tells_it_apart(monkeypatch):
    marks = {
        "twmd": [(0.7, "best"), (0.6, "best")],
        "chrf": [(0.69, "tied"), (0.5, "")],
        "sbert": [(0.2, ""), (0.2, "")],
    }
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1, "sbert": 15})
    found = monge.recommend("captions")
    assert (found.choice.metric, found.best.metric) == ("twmd", "twmd")
    assert [one.metric for one in found.candidates if one.front] == ["twmd", "chrf"]
    assert "chrf is 20 times as fast and 0.055 lower, significantly worse on 1 of 2" in " ".join(found.advice())
    marks["chrf"][1] = (0.59, "tied")
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1, "sbert": 15})
    found = monge.recommend("captions")
    assert (found.choice.metric, found.best.metric) == ("chrf", "twmd")
    assert found.advice()[0].startswith("Use chrf here: none of the 2 data sets tells it from the best")
    kept_as(monkeypatch, marks, {"twmd": 2.5, "chrf": 1, "sbert": 15})
    assert monge.recommend("captions").choice.metric == "twmd"  # hardly cheaper


def test_a_budget_leaves_out_what_costs_more(monkeypatch):
    marks = {"twmd": [(0.7, "best"), (0.6, "best")], "chrf": [(0.3, ""), (0.3, "")]}
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1})
    assert monge.recommend("captions", budget="5s").choice.metric == "chrf"
    assert monge.recommend("captions", budget="100MB").choice.metric == "chrf"
    assert monge.recommend("captions", budget="20s,1GB").choice.metric == "twmd"
    nothing = monge.recommend("captions", budget="500ms")
    assert nothing.choice is None and nothing.advice() == [
        "No metric stays within 0.5 s a 1,000 pairs; the cheapest is chrf with 1 s a 1,000 pairs, 10 MB."
    ]
    assert "nothing fits" in str(nothing) and "none within" in str(Overview((nothing,)))
    assert not Budget(seconds=1).holds(None) and Budget().holds(None) and Budget(megabytes=3).holds(Cost(9, 3))


def test_a_metric_that_was_not_tried_on_all_data_is_named(monkeypatch):
    marks = {"twmd": [(0.7, "best"), (0.6, "best")], "chrf": [(0.3, ""), (0.3, "")]}
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1})
    del module.judgements()[1].metrics["twmd"]
    found = monge.recommend("captions")
    assert [one.metric for one in found.candidates] == ["chrf"]
    assert found.advice()[-1] == "Not evaluated on all of these data, so not compared: twmd."


def test_the_front_is_what_nothing_beats():
    assert front([(1, 0.5), (2, 0.4), (3, 0.6), (None, 0.9), (3, 0.55), (1, 0.5)]) == {0, 2}


@pytest.mark.parametrize("given", ["fast", "5 hours", "-1s", "0", "5s;800MB"])
def test_a_budget_that_is_none_is_refused(given):
    with pytest.raises(InvalidSetting, match="such as 5s, 800MB"):
        monge.recommend(budget=given)


def test_what_is_not_there_is_said():
    with pytest.raises(UnknownName, match="did you mean summaries"):
        monge.recommend("sumaries")
    with pytest.raises(InvalidSetting, match=r"in Swahili \(sw\) were evaluated; there are results for .*en"):
        monge.recommend("translation", lang="sw")


def test_the_command_shows_what_python_has(capsys, tmp_path):
    picture = tmp_path / "cost.svg"
    assert run(["recommend", "--task", "translation", "-f", "json", "--figure", str(picture)]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = monge.recommend("translation")
    assert isinstance(found, Recommendation) and printed["choice"] == found.choice.metric
    assert printed["metrics"][0]["agreement"]["wmt17"]["value"] == found.candidates[0].figures["wmt17"].value
    assert {one["key"] for one in printed["data"]} >= {"wmt15", "wmt16", "wmt17"}
    assert found.candidates[0].metric in picture.read_text("utf-8")
    assert run(["recommend", "--task", "translation", "--budget", "1s"]) == 0
    shown = capsys.readouterr().out
    assert "\ntwmd " not in shown and "\nchrf " in shown
    assert run(["recommend"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{task} " in shown for task in TASKS)
    assert run(["recommend", "--task", "poetry"]) == 2
