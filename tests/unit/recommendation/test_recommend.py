"""`monge recommend`: what is kept, how it is judged, and what is said of it."""

import json

import pytest

import monge
from monge.cli.app import run
from monge.errors import InvalidSetting, UnknownName
from monge.metrics.signature import full
from monge.recommendation import kept_results, sheets
from monge.recommendation import recommend as module
from monge.recommendation.budget import Budget
from monge.recommendation.kept_results import Change, Cost, Measured, Tuned, judgements, workloads
from monge.recommendation.recommend import TASKS, Overview, Recommendation, front

KEPT = judgements()


def kept_as(monkeypatch, marks, costs, models=()):
    """Judgements of two made-up data sets: metric -> (value, mark) of each, seconds by metric, and
    tuned models.
    """
    data = tuple(
        kept_results.KeptAgreements(
            key, key, "captions", "en", "sentences", key, None, {}, None, "m", "human", "pearson", 1, 9, 9, 1, 9,
            {name: Measured(values[k][0], None, None, values[k][1], "") for name, values in marks.items()},
        )
        for k, key in enumerate(("one", "two"))
    )  # fmt: skip
    measured = {
        name: {"seconds": seconds, "megabytes": 10 * seconds} for name, seconds in costs.items()
    }
    about = {"texts": "sentences", "model": "m", "dataset": "one", "pairs": 9, "machine": "none"}
    monkeypatch.setattr(module, "judgements", lambda: data)
    monkeypatch.setattr(module, "tuned", lambda: models)
    for one in (sheets, kept_results):
        monkeypatch.setattr(one, "workloads", lambda: ({**about, "metrics": measured},))


def test_every_task_has_judgements_and_every_figure_its_signature():
    assert {one.task for one in KEPT} == set(TASKS)
    for one in KEPT:
        best = max(one.metrics.values(), key=lambda figure: figure.value)
        assert (
            best.mark == ("best" if len(one.metrics) > 1 else "")
            and one.statistic in kept_results.STATISTICS
        )
        assert [figure.mark for figure in one.metrics.values()].count("best") <= 1, one.key
        for name, figure in one.metrics.items():
            assert figure.low <= figure.value <= figure.high
            assert full(figure.signature)["metric"] == name


def test_cost_is_kept_with_what_it_was_measured_on():
    for one in workloads():
        assert one["machine"] and one["pairs"] and one["texts"] in ("sentences", "documents")
        assert all(
            Cost(**cost).seconds > 0 and cost["megabytes"] > 50 for cost in one["metrics"].values()
        )
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
    said = (
        "chrf is 20 times as fast (0.690 on one and 0.500 on two); it is significantly worse "
        "on 1 of 2 data sets."
    )
    assert said in found.advice()
    marks["chrf"][1] = (0.59, "tied")
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1, "sbert": 15})
    found = monge.recommend("captions")
    assert (found.choice.metric, found.best.metric) == ("chrf", "twmd")
    assert found.advice()[0].startswith(
        "Use chrf. On each of the 2 data sets it is not significantly worse than the best, and it "
        "is 20 times as fast."
    )
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
        "No metric stays within 0.5 s a 1,000 pairs; the cheapest is chrf (1 s and 10 MB for 1,000 "
        "pairs)."
    ]
    assert "nothing fits" in str(nothing) and "none within" in str(Overview((nothing,)))
    assert (
        not Budget(seconds=1).holds(None)
        and Budget().holds(None)
        and Budget(megabytes=3).holds(Cost(9, 3))
    )


def test_a_metric_that_was_not_tried_on_all_data_is_named(monkeypatch):
    marks = {"twmd": [(0.7, "best"), (0.6, "best")], "chrf": [(0.3, ""), (0.3, "")]}
    kept_as(monkeypatch, marks, {"twmd": 20, "chrf": 1})
    del module.judgements()[1].metrics["twmd"]
    found = monge.recommend("captions")
    assert [one.metric for one in found.candidates] == ["chrf"]
    assert found.advice()[-1] == "Not compared, because not tried on all of these data: twmd."


def tuned_model(before, after, *, low, p=0.001, time=1.0):
    change = Change(
        "pearson",
        Measured(before, None, None, "", ""),
        Measured(after, low, after + 0.1, "", "signed"),
        p,
    )
    return Tuned("t", "m", "twmd", "Mind this.", time, {"one": change})


def test_a_tuned_model_is_recommended_where_it_is_surely_above_all_metrics(monkeypatch):
    marks = {"twmd": [(0.5, "tied"), (0.5, "tied")], "sbert": [(0.6, "best"), (0.6, "best")]}
    costs = {"twmd": 20, "sbert": 10}
    kept_as(monkeypatch, marks, costs, [tuned_model(0.5, 0.7, low=0.65)])
    found = monge.recommend("captions")
    assert found.use == "twmd --model t" and found.choice.metric == "sbert"
    first, second, third = found.advice()[:3]
    assert first.startswith("Use twmd with --model t") and "by 0.700 [0.650, 0.800] on one" in first
    assert (
        "the best plain metric, sbert, has 0.600; it takes 20 s and 200 MB" in first
        and second == "Mind this."
    )
    assert third.startswith("Without a tuned model use sbert")
    assert "signed" in found.sheets()[0].signatures and "twmd --model t  0.700" in str(found)
    assert "twmd --model t" in str(Overview((found,)))
    within = monge.recommend("captions", budget="15s")
    assert within.use == "sbert" and "--model" not in " ".join(within.advice())

    marks["twmd"][0] = (
        0.5,
        "",
    )  # sbert is significantly above the metric that was tuned: not surely
    kept_as(monkeypatch, marks, costs, [tuned_model(0.5, 0.7, low=0.65)])
    found = monge.recommend("captions")
    assert found.use == "sbert"
    assert any(
        line.startswith("If you take twmd, take it with --model t") for line in found.advice()
    )
    kept_as(
        monkeypatch, marks, costs, [tuned_model(0.4, 0.7, low=0.65)]
    )  # other judgements than those kept
    assert monge.recommend("captions").use == "sbert"
    kept_as(monkeypatch, marks, costs, [tuned_model(0.5, 0.51, low=0.4, p=0.3)])
    assert any(
        "makes no sure difference here" in line for line in monge.recommend("captions").advice()
    )
    kept_as(monkeypatch, marks, costs, [tuned_model(0.5, 0.5, low=0.4, time=0.25)])
    assert any(
        "is 4.0 times as fast as twmd" in line for line in monge.recommend("captions").advice()
    )


@pytest.mark.parametrize("value", [-0.1, 0.0, 0.19])
def test_what_hardly_agrees_with_people_is_not_recommended(monkeypatch, value):
    kept_as(monkeypatch, {"chrf": [(value, ""), (value, "")]}, {"chrf": 1})
    found = monge.recommend("captions")
    assert found.use == "" and found.to_dict()["choice"] is None and found.to_dict()["use"] is None
    assert found.advice()[0].startswith(
        "Nothing here is good enough: even the best, chrf, agrees with people by"
    )
    assert not any(line.startswith("Use") for line in found.advice())
    assert "nothing is good enough" in str(found) and "nothing (best: chrf)" in str(
        Overview((found,))
    )


def test_what_is_kept_never_recommends_what_hardly_agrees():
    for lang in sorted({one.lang for one in KEPT}):
        for found in monge.recommend(lang=lang).every:
            told = found.advice()[0]
            assert (
                told.startswith("Use ")
                if found.use
                else told.startswith("Nothing here is good enough")
            ), found.task
            assert found.usable or found.ahead is not None or not found.use


def test_the_front_is_what_nothing_beats():
    assert front([(1, 0.5), (2, 0.4), (3, 0.6), (None, 0.9), (3, 0.55), (1, 0.5)]) == {0, 2}


@pytest.mark.parametrize("given", ["fast", "5 hours", "-1s", "0", "5s;800MB"])
def test_a_budget_that_is_none_is_refused(given):
    with pytest.raises(InvalidSetting, match="such as 5s, 800MB"):
        monge.recommend(budget=given)


def test_what_is_not_there_is_said():
    with pytest.raises(UnknownName, match="did you mean summaries"):
        monge.recommend("sumaries")
    with pytest.raises(
        InvalidSetting, match=r"in Swahili \(sw\) were evaluated; there are results for .*en"
    ):
        monge.recommend("translation", lang="sw")


def test_the_command_shows_what_python_has(capsys, tmp_path):
    picture = tmp_path / "cost.svg"
    assert run(["recommend", "--task", "translation", "-f", "json", "--figure", str(picture)]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = monge.recommend("translation")
    assert isinstance(found, Recommendation) and printed["choice"] == found.choice.metric
    assert (
        printed["use"] == found.use == "twmd --model people"
        and printed["tuned"][0]["figures"]["wmt17"]["p"] < 0.05
    )
    assert (
        printed["metrics"][0]["agreement"]["wmt17"]["value"]
        == found.candidates[0].figures["wmt17"].value
    )
    assert {one["key"] for one in printed["data"]} >= {"wmt15", "wmt16", "wmt17"}
    assert found.candidates[0].metric in picture.read_text("utf-8")
    assert run(["recommend", "--task", "translation", "--budget", "1s"]) == 0
    shown = capsys.readouterr().out
    assert "\ntwmd " not in shown and "\nchrf " in shown
    assert run(["recommend"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{task} " in shown for task in TASKS)
    assert run(["recommend", "--task", "poetry"]) == 2


def test_ranks_are_averaged_where_statistics_differ(monkeypatch):
    """Pearson's r of .9 and .1 would outweigh two ranks of 1 by Kendall's tau."""
    marks = {
        "twmd": [(0.80, "tied"), (0.31, "best")],
        "chrf": [(0.95, "best"), (0.30, "tied")],
        "sbert": [(0.70, ""), (0.30, "tied")],
    }
    kept_as(monkeypatch, marks, {"twmd": 2, "chrf": 1, "sbert": 2})
    found = monge.recommend("captions")
    assert {one.metric: one.rank for one in found.candidates} == {
        "twmd": 1.5,
        "chrf": 1.75,
        "sbert": 2.75,
    }
    marks["twmd"][0] = (0.80, "")
    kept_as(monkeypatch, marks, {"twmd": 2, "chrf": 1, "sbert": 2})
    assert monge.recommend("captions").best.metric == "chrf", "a test counts for more than a rank"
    kept_as(
        monkeypatch,
        {**marks, "twmd": [(0.80, "tied"), (0.31, "best")]},
        {"twmd": 2, "chrf": 1, "sbert": 2},
    )
    found = monge.recommend("captions")
    assert "mean rank" in found.sheets()[0].head and "mean" not in found.to_dict()["metrics"][0]


def test_development_data_are_shown_and_count_for_nothing(monkeypatch):
    marks = {"twmd": [(0.9, "best"), (0.5, "tied")], "sbert": [(0.1, ""), (0.6, "best")]}
    kept_as(monkeypatch, marks, {"twmd": 2, "sbert": 2})
    chosen_on = {"one": "its temperature was chosen on it"}
    for one in (module, sheets):
        monkeypatch.setattr(one, "DEVELOPMENT", chosen_on)
    found = monge.recommend("captions")
    assert [data.key for data in found.data] == ["two"] and [
        data.key for data in found.development
    ] == ["one"]
    assert found.best.metric == "sbert" and "one (dev)" in found.sheets()[0].head
    assert any(
        "one is development data (its temperature was chosen on it)" in note
        for note in found.sheets()[0].notes
    )
    assert any(
        "one are not counted" in line or "one is not counted" in line for line in found.advice()
    )


def test_what_was_chosen_on_is_left_out_of_the_kept_answers():
    found = monge.recommend("translation")
    assert [data.key for data in found.development] == ["wmt15", "wmt16"]
    assert not {data.key for data in found.data} & set(module.DEVELOPMENT)


def test_the_figure_of_a_sibling_is_called_so():
    shown = str(monge.recommend("translation"))
    assert "twmd --model mt (sibling)" in shown and "learned from WMT15 and WMT16 alone" in shown
