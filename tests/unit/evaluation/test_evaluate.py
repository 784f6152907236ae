"""`evaluate` on a small table, with metrics of words so that no model is needed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from study_tables import write

from monge.cli.app import run
from monge.datasets import open_dataset
from monge.errors import DataError, InvalidSetting, UnknownName
from monge.evaluation import Resampling, ScoreBook, Task, assess, evaluate_task, load_variants
from monge.evaluation.agreement import Column, standing
from monge.evaluation.evaluate import figure as figure_of
from monge.evaluation.evaluation_result import figure_digits
from monge.render.cells import decimals
from monge.render.table import render_study
from monge.stats import pearson

FAST = Resampling(resamples=100)


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "judged.tsv")


def test_values_intervals_and_means(table):
    found = evaluate_task(Task("table", table), ["chrf", "rouge1", "ter"], resampling=FAST)
    judged = open_dataset("table", table)
    scored = ScoreBook().scores(load_variants(["chrf", "ter"]), judged)
    chrf, ter = found.agreements[0], found.agreements[2]
    for name, group in judged.groups.items():
        assert chrf.groups[name].value == pytest.approx(
            pearson(group.scores, scored[0].groups[name].segments)
        )
        assert ter.groups[name].value == pytest.approx(
            -pearson(group.scores, scored[1].groups[name].segments)
        )
        assert chrf.groups[name].low < chrf.groups[name].value < chrf.groups[name].high
    assert ter.mean.value > 0.5, "a distance agrees with people when it is low"
    assert chrf.mean.value == pytest.approx(np.mean([one.value for one in chrf.groups.values()]))
    assert sum(one.mean.mark == "best" for one in found.agreements) == 1


def test_the_json_is_that_of_the_design(table):
    found = json.loads(
        render_study(
            evaluate_task(Task("table", table), ["chrf"], resampling=FAST), "json", version="9"
        )
    )
    (result,) = found["results"]
    keys = [
        "metric",
        "signature",
        "dataset",
        "text",
        "level",
        "human",
        "statistic",
        "groups",
        "mean",
        "excluded",
    ]
    assert list(result) == keys
    assert (found["monge"], result["metric"], result["statistic"], result["level"]) == (
        "9",
        "chrf",
        "pearson",
        "segment",
    )
    assert set(result["groups"]["one"]) == {"value", "low", "high", "n"}
    assert found["study"]["seed"] == 12345


def test_one_result_a_metric_a_human_column_and_a_statistic(tmp_path):
    table = write(tmp_path / "t.tsv", other=lambda human: f"{human**2:.4f}")
    task = Task("table", table, human=["human", "other"], statistic=["pearson", "kendall"])
    found = evaluate_task(task, ["chrf", "rouge1"], resampling=FAST)
    shown = [(one.human, one.statistic, one.metric) for one in found.agreements]
    assert found.tests["human", "pearson"]["groups"] == "paired bootstrap"
    assert found.tests["human", "kendall"]["groups"] == "paired bootstrap"
    assert shown == [
        (h, s, m)
        for h in ("human", "other")
        for s in ("pearson", "kendall")
        for m in ("chrf", "rouge1")
    ]


def test_a_seed_means_the_same_intervals(table):
    one, same, other = (
        evaluate_task(Task("table", table), ["chrf"], resampling=Resampling(50, seed=s)).agreements[
            0
        ]
        for s in (1, 1, 2)
    )
    assert one.groups == same.groups
    assert one.groups["one"].low != other.groups["one"].low


def test_equal_groups_are_drawn_apart(tmp_path):
    table = write(tmp_path / "t.tsv", groups=("one",))
    judged = open_dataset("table", table)
    group = judged.groups["one"]
    twice = replace(judged, groups={"a": group, "b": group})
    scored = ScoreBook().scores(load_variants(["chrf"]), twice)
    found = assess([(twice, scored)], [["pearson"]], resampling=FAST).agreements[0]
    assert found.groups["a"].value == found.groups["b"].value
    assert found.groups["a"].low != found.groups["b"].low


def test_a_group_without_a_value_is_left_out_and_told(tmp_path):
    table = write(tmp_path / "t.tsv")
    lines = table.read_text().splitlines()
    head = lines[0].split("\t")
    place = head.index("human")
    rows = [line.split("\t") for line in lines[1:]]
    for row in rows:
        if "two" in row:
            row[place] = "0.5"
    table.write_text("\n".join(["\t".join(head), *("\t".join(row) for row in rows)]) + "\n")
    found = evaluate_task(Task("table", table), ["chrf"], resampling=FAST)
    (one,) = found.agreements
    assert list(one.groups) == ["one"]
    assert one.excluded["groups without a value"] == 1
    assert any("constant" in line for line in found.warnings)
    with pytest.raises(DataError, match="no value on any group"):
        evaluate_task(Task("table", table, pairs=["two"]), ["chrf"], resampling=FAST)


def test_systems_are_judged_by_their_mean(tmp_path):
    table = write(tmp_path / "t.tsv", systems=("a", "b", "c", "d", "e"), groups=("one",))
    found = evaluate_task(
        Task("table", table, level="system", statistic=["pearson", "acc23"]),
        ["rouge1"],
        resampling=FAST,
    )
    assert [(one.level, one.statistic, one.groups["one"].n) for one in found.agreements] == [
        ("system", "pearson", 5),
        ("system", "pairwise_accuracy", 5),
    ]


@pytest.mark.parametrize(
    ("drawn", "there"),
    [([0.97, 0.98, 0.99], True), ([0.98 + 1e-12] * 3, True), ([0.99, 1, 1], False)],
)
def test_an_interval_that_leaves_its_value_out_is_none(drawn, there):
    values, draws = np.array([0.98]), np.array([drawn])
    column = Column(values, draws, 4)
    figure = figure_of(column, standing(column), 0, FAST)
    assert (figure.low is not None, figure.high is not None, figure.value) == (there, there, 0.98)


def test_mistakes_are_named_before_anything_is_read(tmp_path):
    with pytest.raises(UnknownName, match="did you mean chrf"):
        evaluate_task(Task("table", tmp_path / "none.tsv"), ["chrff"])
    with pytest.raises(InvalidSetting, match="twice"):
        evaluate_task(Task("table", tmp_path / "none.tsv"), ["chrf", "chrf"])
    with pytest.raises(InvalidSetting, match="resamples"):
        Resampling(resamples=0)


@pytest.mark.parametrize("form", ["text", "latex", "html", "markdown"])
def test_every_format_shows_values_marks_test_and_seed(table, form):
    found = evaluate_task(Task("table", table), ["chrf", "rouge1", "rouge2"], resampling=FAST)
    shown = render_study(found, form, version="9")
    assert shown.endswith("\n")
    digits = figure_digits(one.mean for one in found.agreements)
    assert digits == 2 and decimals(found.agreements[0].mean.value, digits) in shown
    assert f"{found.agreements[0].mean.value:.3f}" not in shown, (
        "no more digits than the intervals support"
    )
    assert (
        "paired bootstrap; two-sided" in shown
        and "seed 12345" in shown
        and "max-T over 3 pairs" in shown
    )
    assert {"text": "* best", "latex": r"\textbf{", "html": 'class="best"', "markdown": "| **0."}[
        form
    ] in shown


def test_many_groups_stand_below_each_other(tmp_path):
    table = write(tmp_path / "t.tsv", groups=[f"g{k}" for k in range(12)], n=6)
    lines = render_study(
        evaluate_task(Task("table", table), ["chrf", "ter"], resampling=FAST), "text", version="9"
    ).split("\n")
    assert lines[1].split() == ["chrf", "ter"]
    assert [line.split()[0] for line in lines if line.startswith("g")] == [
        f"g{k}" for k in range(12)
    ]


def test_the_command(table, capsys):
    options = [
        "--data",
        str(table),
        "-m",
        "chrf",
        "-m",
        "ter",
        "--pairs",
        "one",
        "--resamples",
        "50",
    ]
    assert run(["evaluate", "table", *options, "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["metric"] for one in found["results"]] == ["chrf", "ter"]
    assert list(found["results"][0]["groups"]) == ["one"]
    assert run(["evaluate", "table", *options, "--set", "layers=3"]) == 2
    assert "chrf" in capsys.readouterr().err
    assert run(["evaluate", "table", *options, "--human", "nope"]) != 0
    assert "human" in capsys.readouterr().err


def test_the_wrong_column_guard_reaches_the_user(tmp_path, capsys):
    table = write(
        tmp_path / "t.tsv", groups=("one",), model_scores=lambda human: f"{2 * human + 1:.6f}"
    )
    assert (
        run(
            [
                "evaluate",
                "table",
                "--data",
                str(table),
                "-m",
                "chrf",
                "--human",
                "model_scores",
                "-q",
            ]
        )
        == 0
    )
    said = capsys.readouterr().err
    assert "warning" in said and "model_scores" in said


def test_figures(table, tmp_path, capsys):
    options = ["--data", str(table), "-m", "chrf", "-m", "rouge1", "--resamples", "50", "-q"]
    folder = tmp_path / "figures"
    assert run(["evaluate", "table", *options, "--figures", str(folder)]) == 0
    drawn = sorted(path.name for path in folder.iterdir())
    assert drawn == [
        "table-distributions.svg",
        "table-human-pearson-bars.svg",
        "table-metrics.svg",
        "table-scatter.svg",
    ]
    first = (folder / "table-metrics.svg").read_bytes()
    assert run(["evaluate", "table", *options, "--figures", str(folder)]) == 0
    assert (folder / "table-metrics.svg").read_bytes() == first, "the same figure tomorrow"
    capsys.readouterr()


def test_a_switch_given_twice_is_read_both_ways(table, capsys):
    """Two tables, one a reading; the readings are told apart in the title, the JSON and the
    tests.
    """
    options = [
        "evaluate",
        "table",
        "--data",
        str(table),
        "-m",
        "chrf",
        "-m",
        "rouge1",
        "--resamples",
        "20",
        "-q",
    ]
    both = ["--switch", "higher_is_better=true", "--switch", "higher-is-better=false"]
    assert run([*options, *both]) == 0
    shown = capsys.readouterr().out
    assert "pearson with human, higher_is_better=true, segment level" in shown
    assert "pearson with human, higher_is_better=false, segment level" in shown
    assert run([*options, *both, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first, _, second, _ = found["results"]
    assert [first["reading"], second["reading"]] == [
        "higher_is_better=true",
        "higher_is_better=false",
    ]
    assert first["mean"] == pytest.approx(-second["mean"])
    assert len(found["study"]["standings"]) == 2
    assert run([*options, "--switch", "higher_is_better=false", "--format", "json"]) == 0
    assert "reading" not in json.loads(capsys.readouterr().out)["results"][0]


def test_judgements_that_every_metric_contradicts_are_said_to_be_turned_around(tmp_path):
    """MQM is a penalty: read as a score, the least bad metric was called the best."""
    table = write(tmp_path / "t.tsv", other=lambda human: f"{-human:.4f}")
    found = evaluate_task(Task("table", table, human="other"), ["chrf", "rouge1"], resampling=FAST)
    said = [line for sheet in found.sheets() for line in sheet.said]
    assert len(said) == 1 and said[0].startswith(
        "Every metric anti-correlates with other (pearson -"
    )
    assert "--switch higher_is_better=no" in said[0] and "agrees best" not in said[0]
    turned = evaluate_task(
        Task("table", table, human="other", switches={"higher_is_better": False}),
        ["chrf", "rouge1"],
        resampling=FAST,
    )
    assert "agrees best" in turned.sheets()[0].said[0]
    assert not any("anti-correlates" in line for line in turned.warnings)


@pytest.mark.parametrize("metrics", [["chrf", "rouge1"], ["chrf"]])
def test_turned_judgements_are_warned_of_in_text_and_json(tmp_path, capsys, metrics):
    table = write(tmp_path / "t.tsv", other=lambda human: f"{-human:.4f}")
    options = ["evaluate", "table", "--data", str(table), "--human", "other", "--resamples", "50"]
    options += [word for name in metrics for word in ("-m", name)]
    who = "Every metric" if len(metrics) > 1 else "chrf"
    assert run(options) == 0
    shown, warned = capsys.readouterr()
    assert f"warning: {who} anti-correlates with other (pearson -" in warned
    assert "--switch higher_is_better=no" in warned
    assert "Nothing is ranked." in shown and "agrees best" not in shown
    assert "*" not in shown.partition("Nothing")[0]  # no metric is marked as the best
    assert run([*options, "--format", "json"]) == 0
    study = json.loads(capsys.readouterr().out)["study"]
    assert any("--switch higher_is_better=no" in line for line in study["warnings"])
    assert not any(study["standings"][0].get("best", {}).values())
    assert not any(study["standings"][0].get("tied", {}).values())
    assert run([*options, "--switch", "higher_is_better=no", "--format", "json"]) == 0
    assert not json.loads(capsys.readouterr().out)["study"]["warnings"]


def test_people_read_no_more_digits_than_the_interval_supports():
    from monge.evaluation.evaluation_result import Figure

    cell = Figure(0.41234, -0.31, 0.92, 10).cell(1)
    assert (cell.text, cell.detail) == ("0.4", "[-0.3, 0.9]")
    assert (cell.value, cell.ends) == (0.41234, (-0.31, 0.92))  # records have all digits


def test_the_map_of_metrics_has_a_row_of_people():
    """Pearson's r by hand; a distance counts by its negative, so that higher is better for all."""
    from monge.datasets.judged import Judged, scored
    from monge.evaluation.variant_scores import RowScores, VariantScores
    from monge.report.evaluation import correlate
    from monge.types import Segment, Signature

    rows = [Segment(str(k), "a", ("b",)) for k in range(4)]
    dataset = Judged(
        dataset="d", text="raw", level="segment", human="h", statistic="pearson", direction=1,
        groups={"g": scored(rows, [1.0, 2.0, 3.0, 4.0])}, mean="unweighted", references="max",
        against="references", excluded={}, warnings=(), switches={}, licence="", citation="",
    )  # fmt: skip

    class Named:
        def __init__(self, label):
            self.label = self.name = label

    def row(label, scores, higher=True):
        scores = RowScores(np.array(scores), {}, Signature.parse("metric:x"), higher)
        return VariantScores(Named(label), {"g": scores})

    scored_rows = [row("same", [2.0, 4.0, 6.0, 8.0]), row("distance", [4.0, 3.0, 1.0, 2.0], False)]
    names, matrix = correlate(dataset, scored_rows)
    assert names == ["people", "same", "distance"]
    assert matrix[0, 1] == pytest.approx(1.0)
    assert matrix[0, 2] == matrix[1, 2] == pytest.approx(0.8)
    ranked = replace(dataset.groups["g"], scores=None, rankings=np.array([[3, 0]]))
    names, matrix = correlate(replace(dataset, groups={"g": ranked}), scored_rows)
    assert names == ["same", "distance"] and matrix.shape == (2, 2)
