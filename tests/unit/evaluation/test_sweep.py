"""`sweep`: the points, one pass for all of them, development and test data apart."""

import json
from dataclasses import replace

import pytest
from study_tables import write

from monge import api
from monge.cli.app import run
from monge.errors import InvalidSetting, UsageError
from monge.evaluation import Resampling, Setup, Task, evaluate_task, sweep
from monge.evaluation.evaluate import MetricOrder
from monge.evaluation.variants import grid, variation
from monge.render.table import render_study

FAST = Resampling(resamples=50)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    return write(folder / "dev.tsv", n=10, seed=1), write(folder / "test.tsv", n=10, seed=2)


def test_values_are_lists_ranges_and_pooled_layers():
    assert variation("layers=1..3,last").values == ("1", "2", "3", "last")
    assert variation("layers=last2:pmeans(-inf,1,inf),2").values == (
        "last2:pmeans(-inf,1,inf)",
        "2",
    )
    assert grid([variation("a.b=1,2"), variation("c=x,y")]) == [
        ("a.b=1", "c=x"),
        ("a.b=1", "c=y"),
        ("a.b=2", "c=x"),
        ("a.b=2", "c=y"),
    ]


@pytest.mark.parametrize("text", ["layers", "layers=3", "=1,2", "layers=3,3"])
def test_what_does_not_vary_is_refused(text):
    with pytest.raises(InvalidSetting):
        variation(text)


def test_curves_are_evaluations_and_the_best_is_tried_elsewhere(tables, tiny_bert):
    dev, held = tables
    model = str(tiny_bert)
    found = sweep(
        Task("table", dev), ["twmd", "bertscore"], ["layers=1,3,5"], test=Task("table", held),
        setup=Setup(model=model), resampling=FAST,
    )  # fmt: skip
    for curve in found.curves:
        for point, one in zip(("1", "3", "5"), curve.points, strict=True):
            setup = Setup([f"layers={point}"], model=model)
            alone = evaluate_task(Task("table", dev), [curve.metric], setup=setup, resampling=FAST)
            assert one.groups["one"].value == pytest.approx(
                alone.agreements[0].groups["one"].value, abs=1e-6
            )
            assert f"layers:{point}" in one.signature
        values = [one.mean.value for one in curve.points]
        assert curve.chosen == values.index(max(values))
        setup = Setup(found.points[curve.chosen], model=model)
        expected = evaluate_task(Task("table", held), [curve.metric], setup=setup, resampling=FAST)
        assert curve.test.mean.value == pytest.approx(expected.agreements[0].mean.value, abs=1e-6)
    assert found.means[found.together] == max(found.means)


def test_all_points_share_one_pass_a_group(tables, tiny_bert, monkeypatch):
    calls = []
    score = api.score_segments
    monkeypatch.setattr(
        api,
        "score_segments",
        lambda metrics, *a, **k: calls.append(len(metrics)) or score(metrics, *a, **k),
    )
    setup = Setup(model=str(tiny_bert))
    sweep(Task("table", tables[0]), ["twmd", "emd"], ["layers=1..4"], setup=setup, resampling=FAST)
    assert calls == [8, 8], "two groups, eight variants each"


def test_development_data_is_never_test_data(tables):
    with pytest.raises(UsageError, match="development data"):
        sweep(
            Task("wmt15+wmt16", "nowhere"),
            ["twmd"],
            ["layers=1,2"],
            test=Task("wmt17+wmt16", "nowhere"),
        )
    with pytest.raises(UsageError, match="development data"):
        sweep(Task("table", tables[0]), ["twmd"], ["layers=1,2"], test=Task("table", tables[0]))


def test_a_bracket_may_not_fix_what_varies():
    with pytest.raises(UsageError, match="varies"):
        sweep(Task("wmt15", "nowhere"), ["twmd[layers=3]"], ["layers=1,2"])


def test_a_field_of_a_choice_in_the_bracket_varies(tables, tiny_bert):
    development, _ = (Task("table", path) for path in tables)
    setup = Setup(model=str(tiny_bert))
    inside = sweep(development, ["twmd[surface=form]"], ["surface.case=0,0.5"], setup=setup)
    outside = sweep(
        development,
        ["twmd"],
        ["surface.case=0,0.5"],
        setup=replace(setup, settings=("surface=form",)),
    )
    values = [
        [point.mean.value for point in result.curves[0].points] for result in (inside, outside)
    ]
    assert values[0] == values[1]


def test_the_command(tables, tiny_bert, tmp_path, capsys):
    dev, held = (str(path) for path in tables)
    figure = tmp_path / "curves.svg"
    given = [
        "sweep",
        "table",
        "--data",
        dev,
        "-m",
        "twmd",
        "--vary",
        "transport.temperature=0.02,0.1,0.5",
    ]
    given += [
        "--model",
        str(tiny_bert),
        "--resamples",
        "50",
        "--test",
        "table",
        "--test-data",
        held,
    ]
    assert run([*given, "-f", "json", "--figure", str(figure)]) == 0
    found = json.loads(capsys.readouterr().out)["sweep"]
    (curve,) = found["curves"]
    assert [one["point"] for one in curve["points"]] == [
        [f"transport.temperature={t}"] for t in ("0.02", "0.1", "0.5")
    ]
    assert curve["chosen"] in [one["point"] for one in curve["points"]]
    assert set(curve["test"]["groups"]) == {"one", "two"}
    assert figure.read_text().startswith("<?xml")
    assert run(given) == 0
    shown = capsys.readouterr().out
    assert "chosen on table, tried on table" in shown and "seed 12345" in shown
    assert run([*given[:-2], "-q"]) == 2
    assert "development data" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["latex", "html", "markdown"])
def test_formats_without_test_data_say_so(tables, tiny_bert, form):
    setup = Setup(model=str(tiny_bert))
    found = sweep(Task("table", tables[0]), ["twmd"], ["layers=1,2"], setup=setup, resampling=FAST)
    assert "optimistic" in render_study(found, form, version="9")


def test_uniform_units_and_the_order_of_metrics(tables, tiny_bert):
    setup = Setup(model=str(tiny_bert))
    metrics = ["moverscore[layers=2]", "twmd[layers=2]", "chrf"]
    found = evaluate_task(
        Task("table", tables[0]), metrics, uniform_units=True, setup=setup, resampling=FAST
    )
    mover, twmd, _ = found.agreements
    for one in (mover, twmd):
        assert "subwords=all,punctuation=keep,stopwords=none" in one.signature
        assert "|weights:uniform|" in one.signature
    (order,) = found.orders
    alone = evaluate_task(Task("table", tables[0]), metrics, setup=setup, resampling=FAST)
    own = {name: each.mean.value for name, each in zip(metrics, alone.agreements, strict=True)}
    uniform = dict(zip(metrics, (each.mean.value for each in found.agreements), strict=True))
    assert own[metrics[0]] != uniform[metrics[0]] and own["chrf"] == uniform["chrf"]
    for values, shown in ((own, order.own), (uniform, order.uniform)):
        assert [name for name, _ in shown] == sorted(values, key=values.get, reverse=True)
        assert dict(shown) == pytest.approx(values)


@pytest.mark.parametrize(("first", "changed"), [("a", False), ("b", True)])
def test_an_order_changes_where_a_metric_takes_the_place_of_another(first, changed):
    second = "b" if first == "a" else "a"
    order = MetricOrder("human", "pearson", (("a", 0.5), ("b", 0.4)), ((first, 0.6), (second, 0.3)))
    assert order.changed is changed


def test_each_data_set_is_scored_by_its_own_rule_over_references(tables, tiny_bert, monkeypatch):
    """Development data take the best reference, test data the mean of them."""
    dev, held = tables
    real = Task.open

    def opened(task, seed=12345):
        rule = "mean" if task.data == held else "max"
        return [
            replace(
                judged,
                references=rule,
                groups={name: _doubled(group) for name, group in judged.groups.items()},
            )
            for judged in real(task, seed)
        ]

    def _doubled(group):
        rows = tuple(
            replace(row, references=(*row.references, "something else")) for row in group.segments
        )
        return replace(group, segments=rows)

    monkeypatch.setattr(Task, "open", opened)
    setup = Setup(model=str(tiny_bert))
    found = sweep(
        Task("table", dev),
        ["twmd"],
        ["layers=1,3"],
        test=Task("table", held),
        setup=setup,
        resampling=FAST,
    )
    assert "|references:mean|" in found.curves[0].test.signature
    assert all("|references:max|" in one.signature for one in found.curves[0].points)
    alone = evaluate_task(
        Task("table", held), ["twmd"], setup=Setup(found.points[found.curves[0].chosen], model=str(tiny_bert)),
        resampling=FAST,
    )  # fmt: skip
    assert found.curves[0].test.mean.value == pytest.approx(
        alone.agreements[0].mean.value, abs=1e-9
    )
