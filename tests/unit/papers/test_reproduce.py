"""A published table recomputed in miniature: cells, reasons, the three levels of the verdict, the
command.
"""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from monge.cli.app import run
from monge.errors import DataError, UnknownName
from monge.evaluation import Run, ScoreBook, Setup
from monge.evaluation.task import target_language
from monge.papers import Models, Selection, reproduce
from monge.papers.claims import Tally, claim_columns, holds, judge, margin, scopes
from monge.papers.recompute import Recomputation, told_apart
from monge.papers.reproduction import reproduction_markdown, reproduction_text
from monge.papers.tables import (
    Claim,
    Entry,
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    logged,
    table_named,
)


def table(rows, columns=("sts13 score pearson mean",), **more):
    base = {"name": "t-1", "paper": "P", "citation": "C", "number": "table 1", "caption": "C."}
    parsed = tuple(PublishedColumn.parse(one) for one in columns)
    return PublishedTable(columns=parsed, rows=tuple(rows), **{**base, **more})


def cells(found):
    """Cells of {(block, label): [(reported, ours), ...]}."""
    return {
        key: tuple(Entry(reported, ours) for reported, ours in row) for key, row in found.items()
    }


def line(label, block="", metric="", **more):
    return PublishedRow(label, block=block, metric=metric or label, **more)


@pytest.fixture
def data(tmp_path):
    """Two subsets of STS 2013, where the second is longer, so that its share of the mean is
    larger.
    """
    folder = tmp_path / "data" / "2013"
    folder.mkdir(parents=True)
    one = [
        "5\tthe cat sat\tthe cat sat",
        "3\tthe cat sat\tthe cat ran",
        "0\tthe cat sat\tno dogs here",
    ]
    two = [
        "4\ta b c d\ta b c x",
        "5\ta b c d\ta b c d",
        "1\ta b c d\tw x y z",
        "2\ta b c d\ta x y z",
    ]
    (folder / "FNWN.test.tsv").write_text("\n".join(one) + "\n")
    (folder / "OnWN.test.tsv").write_text("\n".join(two) + "\n")
    return str(tmp_path / "data")


def test_reported_ours_and_difference(data):
    wanted = table(
        [line("chrf", values=(90.0,)), line("sentbleu", values=("illegible",))], scale=100
    )
    found = reproduce(wanted, data, resamples=20).to_dict()
    chrf, bleu = found["readings"][0]["rows"]
    assert chrf["reported"] == [0.9]
    assert chrf["difference"][0] == pytest.approx(chrf["ours"][0] - 0.9)
    assert bleu["reported"] == ["illegible"]
    assert bleu["difference"] == [None]
    assert 0.5 < bleu["ours"][0] <= 1
    assert found["condition"] == "no model needed"


def test_the_mean_of_sts_weighs_subsets_by_size(data):
    columns = ("sts13 score pearson FNWN", "sts13 score pearson OnWN", "sts13 score pearson mean")
    found = reproduce(table([line("chrf", values=(0.5, 0.5, 0.5))], columns), data, resamples=0)
    one, two, mean = (cell.ours for cell in found.readings[0].entries["", "chrf"])
    assert mean == pytest.approx((3 * one + 4 * two) / 7)


def test_a_table_can_declare_the_groups_of_its_mean(data):
    column = ("sts13 score pearson mean",)
    chosen = table([line("chrf", values=(0.5,))], column, open={"sts13": {"pairs": ["FN*"]}})
    alone = table([line("chrf", values=(0.5,))], ("sts13 score pearson FNWN",))
    ours = [
        reproduce(one, data, resamples=0).readings[0].entries["", "chrf"][0].ours
        for one in (chosen, alone)
    ]
    assert ours[0] == ours[1] is not None


def test_data_sets_that_are_not_here_are_left_out_of_a_joint_mean_and_said(data):
    joint = table([line("chrf", values=(0.5,))], ("sts12+sts13 score pearson mean",))
    found = reproduce(joint, data, resamples=0)
    alone = reproduce(table([line("chrf", values=(0.5,))]), data, resamples=0)
    assert (
        found.readings[0].entries["", "chrf"][0].ours
        == alone.readings[0].entries["", "chrf"][0].ours
    )
    assert any(
        "computed on sts13, the others are not here" in note for note in found.readings[0].notes
    )


def test_why_a_figure_could_not_be_had(data):
    rows = [
        line(
            "RUSE",
            metric="chrf",
            unavailable="model not here: RUSE",
            model="ruse",
            values=(0.5, 0.5),
        ),
        line("nosuch", values=(0.5, 0.5)),
        line("chrf", values=(0.5, 0.5)),
    ]
    wanted = table(rows, ("sts13 score pearson mean", "tac09 pyramid pearson mean"))
    shown = reproduction_text(reproduce(wanted, data, resamples=0).to_dict())
    assert "not computed: RUSE: model not here: RUSE" in shown
    assert "metric not here: unknown metric 'nosuch'" in shown
    assert "not computed: nosuch, chrf [tac09 pyramid pearson mean]: data not here: tac09" in shown
    assert "reported   ours    diff" in shown


def test_pairs_leave_the_mean_out(data):
    columns = ("sts13 score pearson FNWN", "sts13 score pearson OnWN", "sts13 score pearson mean")
    found = reproduce(
        table([line("chrf", values=(0.5,) * 3)], columns),
        data,
        selection=Selection(["FNWN"]),
        resamples=0,
    )
    one, two, mean = found.readings[0].entries["", "chrf"]
    assert one.ours is not None
    assert (two.ours, mean.ours) == (None, None)
    assert "--pairs" in two.why


def test_all_pairs_give_the_mean_in_any_order(data):
    columns = ("sts13 score pearson OnWN", "sts13 score pearson FNWN", "sts13 score pearson mean")
    wanted = table([line("chrf", values=(0.5,) * 3)], columns)
    every, named = (
        reproduce(wanted, data, selection=Selection(pairs), resamples=0) for pairs in (None, ["*N"])
    )
    assert named.readings[0].entries["", "chrf"][2].ours is not None
    assert named.readings[0].entries == every.readings[0].entries


def test_pairs_are_patterns_of_names_that_exist(data):
    columns = ("sts13 score pearson FNWN", "sts13 score pearson OnWN")
    wanted = table([line("chrf", values=(0.5,) * 2)], columns)
    one, two = (
        reproduce(wanted, data, selection=Selection(["F*"]), resamples=0)
        .readings[0]
        .entries["", "chrf"]
    )
    assert one.ours is not None and two.ours is None
    assert all(
        cell.ours is None
        for cell in reproduce(wanted, data, selection=Selection([])).readings[0].entries["", "chrf"]
    )
    with pytest.raises(UnknownName, match=r"unknown .* group 'FNWM'; did you mean FNWN"):
        reproduce(wanted, data, selection=Selection(["FNWM"]))


def test_claims_have_intervals_and_are_seeded(data):
    claim = Claim("character n-grams beat words", better=("chrf",), worse=("sentbleu",))
    wanted = table([line("chrf", values=(0.9,)), line("sentbleu", values=(0.5,))], claims=(claim,))
    first, again, other = (
        reproduce(wanted, data, resamples=40, seed=seed).readings[0].verdict.conclusion[0]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert first.low <= first.ours <= first.high
    assert first.reported == (pytest.approx(0.4),)


def test_a_claim_can_take_published_figures_as_they_are_printed(data):
    rows = [
        line("chrf", values=(0.9,)),
        PublishedRow("RUSE", unavailable="metric not here: RUSE", values=(0.3,)),
    ]
    claims = [
        Claim("above", better=("chrf",), worse=("RUSE",), as_printed=True),
        Claim("above, computed", better=("chrf",), worse=("RUSE",)),
    ]
    found = reproduce(table(rows, claims=tuple(claims)), data, resamples=50)
    printed, computed = found.readings[0].verdict.conclusion
    (cell,) = found.readings[0].entries["", "chrf"]
    assert printed.ours == pytest.approx(cell.ours - 0.3)
    assert printed.low <= printed.ours <= printed.high and printed.holds
    assert printed.reported == pytest.approx((0.6,))
    assert computed.ours is None and computed.sure is None


def test_value_counts_figures_within_a_hundredth():
    wanted = table([line("a"), line("b"), line("c")])
    verdict = judge(
        wanted,
        cells({("", "a"): [(0.5, 0.51)], ("", "b"): [(0.5, 0.511)], ("", "c"): [(None, 0.5)]}),
    )
    assert (verdict.value.held, verdict.value.of) == (1, 2)
    assert verdict.value.word == "fails"
    assert Tally(2, 2).word == "holds"
    assert Tally(2, 3).word == "partly"
    assert Tally(0, 0).word == "nothing to compare"


def test_finding_counts_pairs_in_the_published_order():
    wanted = table([line("a"), line("b"), line("c")])
    same = cells({("", "a"): [(0.3, 0.1)], ("", "b"): [(0.2, 0.05)], ("", "c"): [(0.2, 0.07)]})
    verdict = judge(wanted, same)
    assert (verdict.finding.held, verdict.finding.of) == (2, 2)  # b and c are tied in print
    turned = cells({("", "a"): [(0.3, 0.1)], ("", "b"): [(0.2, 0.5)], ("", "c"): [(0.1, 0.07)]})
    verdict = judge(wanted, turned)
    assert (verdict.finding.held, verdict.finding.of) == (2, 3)


def test_blocks_that_repeat_labels_are_compared_within_and_claims_on_equal_rows_are_one():
    rows = [line(label, block) for block in ("base", "large") for label in ("a", "b")]
    claim = Claim("a beats b", better=("a",), worse=("b",))
    wanted = table(rows, claims=(claim,))
    assert [len(scope) for scope in scopes(wanted)] == [2, 2]
    values = {
        (block, label): [(0.5 if label == "a" else x, 0.3)]
        for block, x in (("base", 0.4), ("large", 0.6))
        for label in "ab"
    }
    found = judge(wanted, cells(values)).conclusion
    assert len(found) == 1
    assert found[0].blocks == ("base", "large")
    assert found[0].reported == (pytest.approx(0.1), pytest.approx(-0.1))
    assert found[0].reported_holds == (True, False)
    assert found[0].holds is False  # 0.3 is not above 0.3


def test_margins_of_the_kinds_of_claim():
    values = np.array([0.6, 0.5, 0.55, 0.58])
    above = Claim("", better=("a",), worse=("b", "c", "d"))
    assert margin(above, values, 1) == (pytest.approx(0.02), (0, 3))
    near = Claim("", better=("a",), worse=("b",), within=0.01)
    much = Claim("", better=("a",), worse=("b",), within=-0.01)
    assert holds(much, 0.02) and not holds(much, 0.005)
    assert holds(near, -0.01)
    assert not holds(near, -0.011)
    alike = Claim("", better=("a",), worse=("b",), within=0.01, both=True)
    assert not holds(alike, 0.02)
    flat = Claim("", flatter="x", than="y")
    assert margin(flat, values, 2)[0] == pytest.approx(0.03 - 0.1)


def test_claims_are_judged_on_the_means_of_pearson_where_there_are_any():
    columns = [f"wmt17 da {s} {g}" for g in ("cs-en", "mean") for s in ("kendall", "pearson")]
    wanted = table([line("a")], columns)
    assert claim_columns(wanted, Claim("")) == [3]
    assert claim_columns(wanted, Claim("", column="wmt17 da kendall cs-en")) == [0]
    assert claim_columns(wanted, Claim("", to="en")) == [1]


def test_signs_turn_distances():
    wanted = table(
        [line("a"), line("b")], claims=(Claim("a is better", better=("a",), worse=("b",)),)
    )
    found = judge(
        wanted, cells({("", "a"): [(0.1, 0.2)], ("", "b"): [(0.3, 0.4)]}), signs=(-1,)
    ).conclusion[0]
    assert found.holds
    assert found.reported_holds == (True,)


def test_target_language():
    assert [target_language(group) for group in ("cs-en", "en-zh", "FNWN", "D0801-A")] == [
        "en",
        "zh",
        "en",
        "en",
    ]


def test_metric_of_a_group():
    row = line(
        "x",
        metric="moverscore@v1",
        set=("layers=last",),
        set_for={"fi-en": ("units.subwords=all",)},
    )
    assert row.metric_for("cs-en") == "moverscore@v1[layers=last]"
    assert row.metric_for("fi-en") == "moverscore@v1[layers=last,units.subwords=all]"


def test_the_log_of_wmt18_is_read_from_the_data(tmp_path):
    (tmp_path / "wmt18_log.csv").write_text(
        "model_type,cs-en,avg\nbertscore (idf),0.375,0.375\nbaryscore (idf),-0.36,-0.36\n"
    )
    found = logged(tmp_path)
    assert [row.values for row in found.rows] == [(0.375,), (-0.36,)]
    assert found.rows[1].reported(0, 1) == 0.36
    assert table_named("wmt18-log", tmp_path).columns == found.columns


def test_every_metric_of_the_tables_resolves_or_says_why():
    from monge.errors import UsageError
    from monge.metrics.presets import resolve
    from monge.papers.tables import tables

    unknown = set()
    for one in tables().values():
        for row in one.rows:
            if row.metric:
                try:
                    resolve(row.metric_for("fi-en").replace("layers=last-", "layers="))
                except UsageError as error:
                    assert "unknown metric" in str(error), (one.name, row.label, str(error))
                    unknown.add(row.metric)
    assert unknown <= {"baryscore@release", "sentsim", "sentsim-wmd"}


def test_every_table_opens_its_data_sets_as_it_declares(tmp_path):
    """Five tables ended in a TypeError because `text` was given twice; without data each says what
    is missing.
    """
    from monge.evaluation.score_book import ScoreBook
    from monge.papers.recompute import Recomputation
    from monge.papers.tables import tables

    opened = 0
    for published in tables().values():
        for column in (*published.columns, *published.beside):
            for dataset in column.datasets:
                work = Recomputation(published, str(tmp_path), Models(), ScoreBook(Run()))
                why = work.judged(dataset, column.human).why
                assert "data not here" in why and str(tmp_path) not in why, (
                    published.name,
                    dataset,
                    why,
                )
                opened += 1
    assert opened > 50


def test_command_lists_the_tables(capsys):
    assert run(["reproduce"]) == 0
    shown = capsys.readouterr().out
    assert "tempered-figure-4" in shown
    assert "data not here: the captions of the COCO 2015 systems" in shown
    assert run(["reproduce", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["tables"]
    assert {one["table"]: one["figures"] for one in found}["tempered-2"] == 384
    assert (
        "--stand-in for roberta-base-tuned"
        in {one["table"]: one["why"] for one in found}["tempered-4"]
    )


def test_command_refuses(capsys, data):
    assert run(["reproduce", "tempered-9", "--data", data]) == 2
    assert "did you mean tempered-" in capsys.readouterr().err
    assert run(["reproduce", "tempered-2"]) == 2
    assert "--data" in capsys.readouterr().err
    assert run(["reproduce", "tempered-2", "--data", data, "--format", "htm"]) == 2
    assert run(["reproduce", "wmt18-log", "--data", data]) == 1


def test_command_prints_a_table_whose_data_are_missing(capsys, data):
    assert run(["reproduce", "germeval-3", "--data", data]) == 0
    shown = capsys.readouterr().out
    assert "31.992" in shown
    assert "illegible" in shown
    assert "not computed: all 5 rows: data not here: the 216 German summaries" in shown
    assert "nothing to compare" in shown


def test_a_cache_keeps_the_scores_of_a_table_for_the_next(data, tmp_path, monkeypatch):
    wanted = table([line("sbert", values=(0.9,))])
    first = reproduce(wanted, data, resamples=0, run=Run(tmp_path / "kept"))

    def hidden(*_: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr("monge.encoders.transformer.TransformerEncoder.hidden", hidden)
    again = reproduce(wanted, data, resamples=0, run=Run(tmp_path / "kept"))
    assert again.readings[0].entries == first.readings[0].entries
    with pytest.raises(AssertionError, match="encoded again"):
        reproduce(wanted, data, resamples=0)


def test_markdown_has_ours_the_reported_figure_and_the_claims(data):
    claims = (
        Claim("character n-grams beat words", better=("chrf",), worse=("sentbleu",)),
        Claim("RUSE is best", better=("RUSE",), worse=("chrf",)),
    )
    rows = [
        line("chrf", values=(0.9,)),
        line("sentbleu", values=("illegible",)),
        line("RUSE", unavailable="not here", values=(0.95,)),
    ]
    found = reproduce(table(rows, claims=claims), data, resamples=20).to_dict()
    shown = reproduction_markdown(found).split("\n")
    ours = found["readings"][0]["rows"][0]["ours"][0]
    assert "| ours (reported) | sts13 score pearson mean |" in shown
    assert f"| chrf | {ours:.3f} (0.900) |" in shown
    assert any(one.startswith("| sentbleu |") and one.endswith("(illegible) |") for one in shown)
    assert not any(one.startswith("| RUSE |") for one in shown)
    assert "- not computed: RUSE: not here" in shown
    lead = ours - found["readings"][0]["rows"][1]["ours"][0]
    start = f"| character n-grams beat words | chrf − sentbleu | illegible | {lead:+.3f} |"
    assert any(one.startswith(start) for one in shown)
    assert "| RUSE is best |  | +0.050 |  |  | not tested |" in shown


def test_a_spread_is_named_as_one(data):
    rows = [
        line(f"T={k}", block, metric="chrf", values=(0.5,)) for block in ("x", "y") for k in (1, 2)
    ]
    wanted = table(rows, claims=(Claim("x is flatter", flatter="x", than="y"),))
    (claim,) = reproduce(wanted, data, resamples=0).readings[0].verdict.conclusion
    assert claim.pair == ("spread of y", "spread of x")


@pytest.fixture
def spoken(monkeypatch):
    """Judgements of two language pairs out of English, and one into it."""
    from monge.datasets.judged import Judged, scored
    from monge.types import Segment

    def group(words):
        rows = [Segment(str(k), " ".join(words[: k + 1]), (" ".join(words),)) for k in range(4)]
        return scored(rows, [1.0, 2.0, 3.0, 4.0])

    groups = {
        "cs-en": group(["the", "cat", "sat", "on"]),
        "en-de": group(["mat", "dog", "ran", "to"]),
        "en-zh": group(["house", "and", "slept", "a"]),
    }
    plain = dict.fromkeys(("text", "licence", "citation"), "")
    found = Judged(
        **plain, dataset="wmt17", level="segment", human="da", statistic="pearson", direction=1, groups=groups,
        mean="unweighted", references="max", against="references", excluded={}, warnings=(), switches={},
    )  # fmt: skip

    def opened(dataset, data, *, pairs=None, **_):
        return replace(found, groups={name: groups[name] for name in pairs or groups})

    monkeypatch.setattr("monge.evaluation.task.open_dataset", opened)
    return found


def test_a_metric_that_differs_by_language_has_a_signature_for_each(spoken, tiny_bert):
    columns = tuple(f"wmt17 da pearson {name}" for name in spoken.groups)
    rows = [line("lazy-emd", values=(0.5,) * 3), line("bertscore[layers=2]", values=(0.5,) * 3)]
    found = reproduce(
        table(rows, columns), "", models=Models(Setup(model=str(tiny_bert))), resamples=0
    ).to_dict()
    assert list(found["signatures"]) == [
        "lazy-emd (en)",
        "lazy-emd (de)",
        "lazy-emd (zh)",
        "bertscore[layers=2]",
    ]
    said = {name: one for name, one in found["signatures"].items() if name.startswith("lazy")}
    assert len({re.search(r"slack=[^,|]*", one)[0] for one in said.values()}) > 1, (
        "each says its own settings"
    )


def test_signatures_are_told_apart_by_what_they_belong_to():
    assert told_apart("m", {("wmt17", "en", "cs-en"): "x", ("sts12", "en", "MSR"): "x"}) == {
        "m": "x"
    }
    both = {
        ("wmt17", "en", "cs-en"): "x",
        ("wmt17", "en", "de-en"): "x",
        ("sts12", "en", "MSR"): "y",
    }
    assert told_apart("m", both) == {"m (wmt17)": "x", "m (sts12)": "y"}
    groups = {("wmt17", "en", "cs-en"): "x", ("wmt17", "en", "de-en"): "y"}
    assert told_apart("m", groups) == {"m (cs-en)": "x", "m (de-en)": "y"}


def test_a_group_without_a_value_is_left_out_of_the_mean_with_its_reason(spoken, monkeypatch):
    constant = replace(spoken.groups["en-de"], scores=np.ones(4))
    groups = {"cs-en": spoken.groups["cs-en"], "en-de": constant}
    monkeypatch.setattr(
        "monge.evaluation.task.open_dataset", lambda *_, **__: replace(spoken, groups=groups)
    )
    wanted = table([line("chrf", values=(0.5,))], ("wmt17 da pearson mean",))
    (reading,) = reproduce(wanted, "", resamples=0).readings
    alone = reproduce(
        replace(wanted, columns=(PublishedColumn.parse("wmt17 da pearson cs-en"),)), "", resamples=0
    )
    assert reading.entries["", "chrf"][0].ours == alone.readings[0].entries["", "chrf"][0].ours
    (note,) = [one for one in reading.notes if "has no value" in one]
    assert "on 1 group " in note and "en-de: human is constant" in note


def test_any_other_error_in_a_group_surfaces(spoken, monkeypatch):
    """A missing human score is a mistake in the data, no statistic without a value."""
    broken = replace(spoken.groups["en-de"], scores=np.array([1.0, np.nan, 2.0, 3.0]))
    groups = {"cs-en": spoken.groups["cs-en"], "en-de": broken}
    monkeypatch.setattr(
        "monge.evaluation.task.open_dataset", lambda *_, **__: replace(spoken, groups=groups)
    )
    wanted = table([line("chrf", values=(0.5,))], ("wmt17 da pearson mean",))
    with pytest.raises(DataError, match="chrf: human has 1 missing or infinite values"):
        reproduce(wanted, "", resamples=0)


@pytest.mark.parametrize(
    ("model", "metric", "expected"),
    [
        ("roberta-large", "twmd@release", "twmd@release[layers=19]"),
        ("models/roberta-base", "emd[centre=none]", "emd[layers=10,centre=none]"),
        ("roberta-base", "emd[layers=4]", "emd[layers=4]"),
        ("all-MiniLM-L6-v2", "twmd@release", "twmd@release"),
        ("roberta-base", "chrf", "chrf"),
    ],
)
def test_the_papers_own_model_runs_on_the_papers_layer(monkeypatch, model, metric, expected):
    from types import SimpleNamespace

    recomputation = Recomputation(table_named("tempered-2"), "", Models(), ScoreBook())
    monkeypatch.setattr(
        "monge.papers.recompute.load_encoder", lambda _: SimpleNamespace(name=model, depth=12)
    )
    assert recomputation._concrete(metric, Setup()) == expected


def test_requested_layers_are_those_of_metrics_that_name_none(monkeypatch):
    from types import SimpleNamespace

    recomputation = Recomputation(table_named("tempered-2"), "", Models(layers="3"), ScoreBook())
    monkeypatch.setattr(
        "monge.papers.recompute.load_encoder",
        lambda _: SimpleNamespace(name="roberta-base", depth=12),
    )
    metrics = ("emd[centre=none]", "emd[layers=4]", "chrf")
    assert [recomputation._concrete(metric, Setup()) for metric in metrics] == [
        "emd[layers=3,centre=none]",
        "emd[layers=4]",
        "chrf",
    ]


def test_hard_and_soft_alignments_of_table_5_have_the_same_units():
    rows = {row.label: row for row in table_named("moverscore-5").rows}
    units = [rows[f"{name} + BERT"].set_for for name in ("HMD-F1", "HMD-RECALL", "HMD-PREC")]
    assert all(unit == rows["WMD-UNIGRAM + BERT"].set_for for unit in units)


def test_a_stand_in_computes_the_rows_of_another_model(spoken, tiny_bert):
    static = line(
        "static",
        metric="bertscore[layers=1]",
        model="word2vec",
        unavailable="model not here: word2vec",
        values=(0.5,),
    )
    claims = (Claim("static beats lexical", better=("static",), worse=("lexical",)),)
    rows = [static, line("lexical", metric="chrf", values=(0.6,))]
    wanted = table(rows, ("wmt17 da pearson cs-en",), claims=claims)
    without = reproduce(wanted, "", resamples=0)
    assert without.readings[0].entries["", "static"][0].ours is None
    models = Models(stand_ins={"word2vec": str(tiny_bert)})
    found = reproduce(wanted, "", models=models, resamples=20)
    assert found.readings[0].entries["", "static"][0].ours is not None
    assert found.condition == f"no model needed; {tiny_bert.name} instead of word2vec"
    alone = reproduce(table([static], ("wmt17 da pearson cs-en",)), "", models=models, resamples=0)
    assert alone.condition == f"{tiny_bert.name} instead of word2vec"
    beside = line("plain", metric="bertscore[layers=1]", model="word2vec2")
    setup = Models(Setup(model=str(tiny_bert)), {"word2vec": str(tiny_bert)})
    both = reproduce(
        table([static, beside], ("wmt17 da pearson cs-en",)), "", models=setup, resamples=0
    )
    assert both.condition.startswith(f"varied ({tiny_bert.name} instead of word2vec2); ")
    assert list(found.signatures) == [f"bertscore[layers=1] with {tiny_bert.name}", "chrf"]
    assert found.readings[0].verdict.conclusion[0].low is not None
    with pytest.raises(UnknownName, match="unknown model of the table 'word2vek'; did you mean"):
        reproduce(wanted, "", models=Models(stand_ins={"word2vek": str(tiny_bert)}))


def test_a_stand_in_is_written_as_a_pair(capsys, data):
    assert run(["reproduce", "moverscore-1", "--data", data, "--stand-in", "word2vec"]) == 2
    assert "--stand-in takes MODEL=DIR" in capsys.readouterr().err


def test_a_sample_is_drawn_and_said(data):
    wanted = table([line("chrf", values=(0.5,))], ("sts13 score pearson OnWN",))
    whole = reproduce(wanted, data, resamples=0)
    part = reproduce(wanted, data, selection=Selection(sample=3), resamples=0)
    assert "sts13: a sample of 3 source segments per group" in part.readings[0].notes
    assert part.readings[0].entries != whole.readings[0].entries
    declared = table([line("chrf", values=(0.5,))], ("sts13 score pearson OnWN",))
    declared = replace(declared, open={"sts13": {"sample": 3}})
    assert reproduce(declared, data, resamples=0).readings[0].entries == part.readings[0].entries
    smaller = replace(declared, open={"sts13": {"sample": 2}})
    again = reproduce(smaller, data, selection=Selection(sample=3), resamples=0)
    assert again.readings[0].entries == part.readings[0].entries


def test_a_claim_about_several_rows_is_settled_only_by_all_of_them():
    from monge.papers.claims import _is_sure

    claim = Claim("best", better=("a",), worse=("b", "c"))
    assert _is_sure(claim, [(0.01, 0.02), (0.03, 0.04)])
    assert not _is_sure(claim, [(0.01, 0.02), (-0.01, 0.3)])
    assert _is_sure(claim, [(-0.02, -0.01), (-0.01, 0.3)])
    alike = Claim("on par", better=("a",), worse=("b",), within=0.01, both=True)
    assert _is_sure(alike, [(-0.009, 0.009)]) and not _is_sure(alike, [(-0.011, 0.009)])


def test_columns_out_of_a_language():
    columns = ("wmt18 darr darr cs-en", "wmt18 darr darr en-cs", "wmt18 darr darr en-de")
    wanted = table([line("a")], columns)
    assert claim_columns(wanted, Claim("c", out_of="en-")) == [1, 2]
    assert claim_columns(wanted, Claim("c", to="en")) == [0]


def test_groups_of_one_item_are_resampled_as_groups(monkeypatch):
    """Topics: a bootstrap within a group of one source item would have no spread."""
    from monge.datasets.judged import Judged, scored
    from monge.types import Segment

    def topic(name, numbers):
        texts = ["a b c d", "a b c", "a b", "a x y"]
        rows = [Segment(name, text, ("a b c d",), system=str(k)) for k, text in enumerate(texts)]
        return scored(rows, numbers)

    groups = {
        "t1": topic("t1", [4.0, 3.0, 2.0, 1.0]),
        "t2": topic("t2", [1.0, 3.0, 2.0, 4.0]),
        "t3": topic("t3", [2.0, 4.0, 1.0, 3.0]),
    }
    found = Judged(
        dataset="tac08", text="raw", level="segment", human="pyramid", statistic="pearson",
        direction=1, groups=groups, mean="unweighted", licence="", citation="",
        references="mean", against="references", excluded={}, warnings=(), switches={},
    )  # fmt: skip
    monkeypatch.setattr("monge.evaluation.task.open_dataset", lambda *_, **__: found)
    claim = Claim("characters beat words", better=("chrf",), worse=("sentbleu",))
    wanted = table(
        [line("chrf"), line("sentbleu")], ("tac08 pyramid pearson mean",), claims=(claim,)
    )
    outcome = reproduce(wanted, "", resamples=50).readings[0].verdict.conclusion[0]
    assert outcome.low < outcome.ours < outcome.high
