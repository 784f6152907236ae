"""Mean absolute and root mean square error in studies: less is better, in every table, mark and
figure.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from study_tables import write

from monge.cli.app import run
from monge.datasets import describe, open_dataset
from monge.errors import DataError, InvalidSetting
from monge.evaluation import (
    Resampling,
    ScoreBook,
    Setup,
    Task,
    assess,
    evaluate_task,
    load_variants,
    sweep,
)
from monge.evaluation.evaluation_result import figure_digits
from monge.evaluation.question import named, question
from monge.evaluation.task import joined
from monge.evaluation.variant_scores import join_scores
from monge.render.cells import decimals
from monge.render.table import render_study
from monge.stats import mae100, rmse100

FAST = Resampling(resamples=200)


def unit(human):
    return f"{min(max(human, 0), 1):.4f}"


@pytest.fixture
def table(tmp_path):
    return write(
        tmp_path / "judged.tsv",
        unit=unit,
        five=lambda human: f"{5 * float(unit(human)):.4f}",
        faults=lambda human: f"{10 - 10 * float(unit(human)):.4f}",
    )


def test_values_are_those_of_the_scores(table):
    found = evaluate_task(
        Task("table", table, human="unit", statistic=["mae100", "rmse100"]),
        ["rouge1"],
        resampling=FAST,
    )
    judged = open_dataset("table", table, human="unit")
    scored = ScoreBook().scores(load_variants(["rouge1"]), judged)[0]
    for one, function in zip(found.agreements, (mae100, rmse100), strict=True):
        for name, group in judged.groups.items():
            figure = one.groups[name]
            assert figure.value == pytest.approx(
                function(group.scores, scored.groups[name].segments)
            )
            assert figure.low < figure.value < figure.high
    assert found.agreements[0].mean.value < found.agreements[1].mean.value


def test_the_lowest_is_best_and_what_is_not_told_from_it_is_tied(table):
    metrics = ["rouge2", "rouge1", "rouge1[stem=true]", "rougeL"]
    found = evaluate_task(
        Task("table", table, human="unit", statistic="mae100"), metrics, resampling=FAST
    )
    means = [one.mean.value for one in found.agreements]
    marks = [one.mean.mark for one in found.agreements]
    assert means.index(min(means)) == marks.index("best") == 1
    assert marks[2] == "tied" and marks[0] == "", "rouge2 is far above the others"
    for name in ("one", "two"):
        column = [one.groups[name] for one in found.agreements]
        assert min(column, key=lambda one: one.value).mark == "best"
        assert max(column, key=lambda one: one.value).mark == ""
    (standing,) = found.to_dict()["study"]["standings"]
    assert standing["higher_is_better"] is False
    assert standing["best"] == {"one": "rouge1", "two": "rouge1", "mean": "rouge1"}
    pearson = evaluate_task(Task("table", table, human="unit"), metrics, resampling=FAST).to_dict()[
        "study"
    ]["standings"][0]
    assert pearson["higher_is_better"] is True


def test_a_declared_range_is_mapped(table):
    plain = evaluate_task(
        Task("table", table, human="unit", statistic="mae100"), ["rouge1"], resampling=FAST
    ).agreements[0]
    for human, ends, more in (("five", "0/5", {}), ("faults", "0/10", {"higher_is_better": False})):
        task = Task(
            "table", table, human=human, statistic="mae100", switches={"human_range": ends, **more}
        )
        mapped = evaluate_task(task, ["rouge1"], resampling=FAST).agreements[0]
        assert mapped.mean.value == pytest.approx(plain.mean.value, abs=0.01), human


def test_a_data_set_declares_its_own_range():
    assert describe("stsb").humans["score"]["range"] == [0, 5]
    assert "range" not in describe("wmt17").humans["da"], "z-scores have no ends"


def test_what_is_refused_says_what_was_received_and_what_is_accepted(table, capsys):

    def asked(metrics, human, resampling=FAST, **more):
        return evaluate_task(
            Task("table", table, human=human, statistic="mae100", **more),
            metrics,
            resampling=resampling,
        )

    with pytest.raises(
        DataError, match=r"human scores from 0 to 1, .* got .* human_range=LOW/HIGH"
    ):
        asked(["rouge1"], "five")
    with pytest.raises(DataError, match=r"human scores from 0 to 4, .* got 0\.\d+ to 5"):
        asked(["rouge1"], "five", switches={"human_range": "0/4"})
    with pytest.raises(DataError, match=r"chrf: an error needs metric scores from 0 to 1, .* got"):
        asked(["rouge1", "chrf"], "unit")
    with pytest.raises(DataError, match="ter: an error needs metric scores from 0 to 1"):
        asked(["ter"], "unit")
    for wrong in ("5", "5/0", "0/inf", "a/b", "0/1/2", "nan/1"):
        with pytest.raises(InvalidSetting, match="human_range takes LOW/HIGH"):
            open_dataset("table", table, human_range=wrong)
    with pytest.raises(InvalidSetting, match="standardises"):
        asked(["rouge1", "rouge2"], "unit", Resampling(50, test="perm-both"))
    with pytest.raises(InvalidSetting, match="these are rankings"):
        named("mae100", "rankings", errors=True)
    with pytest.raises(InvalidSetting, match="lower for better: evaluate and sweep"):
        named("rmse100", "scores")
    command = [
        "evaluate",
        "table",
        "--data",
        str(table),
        "-m",
        "chrf",
        "--human",
        "unit",
        "--statistic",
        "rmse100",
    ]
    assert run(command) == 1
    assert "chrf: an error needs metric scores from 0 to 1" in capsys.readouterr().err


def test_lower_human_scores_can_be_better(table):
    group = open_dataset("table", table, human="faults").groups["one"]
    asked = question(group, "mae100", -1, (0.0, 10.0))
    assert asked.value(1 - group.scores / 10) == pytest.approx(0)
    assert asked.value(np.clip(1 - group.scores / 10 - 0.1, 0, 1)) > 5


@pytest.mark.parametrize("form", ["text", "latex", "html"])
def test_every_format_says_which_side_is_better(table, form):
    task = Task("table", table, human="unit", statistic="rmse100")
    found = evaluate_task(task, ["rouge2", "rouge1"], resampling=FAST)
    shown = render_study(found, form, version="9")
    assert "lower is better" in shown and "not significantly above the best" in shown
    digits = figure_digits(one.mean for one in found.agreements)
    best = decimals(min(one.mean.value for one in found.agreements), digits)
    assert {
        "text": f"{best}*",
        "latex": rf"\textbf{{{best}}}",
        "html": f'<span class="best">{best}</span>',
    }[form] in shown
    correlated = evaluate_task(replace(task, statistic=None), ["rouge2", "rouge1"], resampling=FAST)
    pearson = render_study(correlated, form, version="9")
    assert "lower is better" not in pearson and "not significantly below the best" in pearson


def test_orders_go_from_best_to_worst(table):
    judged = open_dataset("table", table, human="unit")
    scored = ScoreBook().scores(load_variants(["rouge2", "rouge1"]), judged)
    found = assess([(judged, [*scored, *scored])], [["mae100"]], resampling=FAST, doubled=True)
    assert [name for name, _ in found.orders[0].own] == ["rouge1", "rouge2"]
    assert "rouge1 " in (text := render_study(found, "text", version="9")) and " < rouge2 " in text


def test_figures_and_json_through_the_command(table, tmp_path, capsys):
    command = [
        "evaluate",
        "table",
        "--data",
        str(table),
        "-m",
        "rouge2",
        "-m",
        "rouge1",
        "--human",
        "five",
        "-q",
    ]
    command += [
        "--statistic",
        "mae100",
        "--switch",
        "human_range=0/5",
        "--resamples",
        "50",
        "-f",
        "json",
    ]
    assert run([*command, "--figures", str(tmp_path / "figures")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["study"]["standings"][0]["best"]["mean"] == "rouge1"
    drawn = (tmp_path / "figures" / "table-five-mae100-bars.svg").read_text()
    assert "lower is better" in drawn


def test_a_sweep_chooses_the_lowest_error(table, tiny_bert):
    task = Task("table", table, human="unit", statistic="mae100")
    setup = Setup(["scale=unit"], model=str(tiny_bert))
    found = sweep(task, ["bertscore"], ["layers=1,3,5"], setup=setup, resampling=FAST)
    means = found.means
    assert (
        found.together
        == found.curves[0].chosen
        == means.index(min(means))
        != means.index(max(means))
    )
    assert "not significantly above the best" in render_study(found, "text", version="9")


def test_joined_data_sets_keep_their_own_ranges(table):
    five = open_dataset("table", table, human="five", human_range="0/5")
    faults = open_dataset(
        "table", table, human="faults", human_range="0/10", higher_is_better=False
    )
    book, variants = ScoreBook(), load_variants(["rouge1"])
    pools = [
        (replace(one, dataset=name), book.scores(variants, one))
        for one, name in ((five, "a"), (faults, "b"))
    ]
    pool = joined([judged for judged, _ in pools]), join_scores(pools)
    found = assess([pool], [["mae100"]], resampling=FAST).agreements[0]
    assert found.groups["a/one"].value == pytest.approx(found.groups["b/one"].value, abs=0.01)
