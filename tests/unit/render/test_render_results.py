import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from render_markup import assert_inert
from render_samples import HOSTILE, result

from monge.errors import DataError, InvalidProblem, UnknownName
from monge.render import (
    FORMATS,
    render_results,
    results_html,
    results_json,
    results_jsonl,
    results_latex,
    results_text,
    results_tsv,
)
from monge.render.cells import display_width
from monge.types import Result


def test_text_shows_direction_best_parts_signature_once():
    shown = results_text(
        [
            result("twmd", "a", 0.75, interval=(0.7, 0.8)),
            result("wmd", "a", 0.5, parts=(), higher_is_better=False),
            result("twmd", "b", 0.25),
            result("wmd", "b", 0.9, parts=(), higher_is_better=False),
        ]
    )
    assert shown == (
        "metric  system  score      interval  precision  recall    f1  n\n"
        "twmd ↑  a       0.75*  [0.70, 0.80]       0.75    0.76  0.77  2\n"
        "        b       0.25                      0.25    0.26  0.27  2\n\n"
        "metric  system    score  n\n"
        "wmd ↓   a       0.5000*  2\n"
        "        b       0.9000   2\n\n"
        "* the best score; whether it is more than chance is not tested here: monge compare tests "
        "it\n\n"
        "signature  metric:twmd|layers:last5:mean|version:0.1.0\n"
        "signature  metric:wmd|layers:last5:mean|version:0.1.0\n"
    )


def test_text_of_one_unnamed_system_has_no_system_column_and_no_star():
    shown = results_text([result(system="", parts=())])
    assert shown.splitlines()[:2] == ["metric   score  n", "twmd ↑  0.7500  2"]


def test_equal_systems_are_both_best():
    assert (
        results_text([result(system="a"), result(system="b", score=0.75 + 1e-9)]).count("0.7500*")
        == 2
    )


def test_text_lines_up_with_wide_names():
    lines = results_text(
        [result(system="日本語.txt"), result(system="plain.txt", score=0.5)]
    ).splitlines()
    assert len({display_width(line) for line in lines[:3]}) == 1


def test_a_table_continues_below_where_the_terminal_is_narrow():
    results = [
        result(system="system-a.txt", interval=(0.7, 0.8)),
        result(system="system-b.txt", score=0.5),
    ]
    assert results_text(results, width=42).splitlines()[:8] == [
        "metric  system    score      interval",
        "twmd ↑  system-a  0.75*  [0.70, 0.80]",
        "        system-b  0.50",
        "",
        "metric  system    precision  recall    f1",
        "twmd ↑  system-a       0.75    0.76  0.77",
        "        system-b       0.50    0.51  0.52",
        "",
    ]
    assert results_text(results, width=200) == results_text(results)


def test_text_notes_only_what_happened():
    assert "note" not in results_text([result()])
    flagged = result(flags=((), ("empty-hypothesis",)), truncated=3)
    notes = [
        line
        for line in results_text([flagged, replace(flagged, metric="bertscore")]).splitlines()
        if "note" in line
    ]
    assert notes == [
        "note       system-a: 1 × the hypothesis is empty (twmd, bertscore)",
        "note       system-a: 3 × a text was longer than the model reads, and was cut (twmd, "
        "bertscore)",
    ]


def test_text_segments():
    shown = results_text(
        [result(ids=("x", "日本"), flags=((), ("empty-hypothesis",)))], segments=True
    )
    assert "twmd · system-a.txt\nid     score  precision  recall      f1  flags\n" in shown
    assert "x     0.7000     0.7000  0.7100  0.7200\n" in shown
    assert "日本  0.8000     0.8000  0.8100  0.8200  empty-hypothesis\n" in shown
    several = replace(result(), references=np.array([0, 1]))
    assert "reference" in results_text([several], segments=True)


def test_text_is_safe_for_a_terminal():
    shown = results_text([result(HOSTILE, HOSTILE, ids=(HOSTILE, "\n"))], segments=True, width=60)
    assert "\x1b" not in shown
    assert "\x00" not in shown
    shown.encode("utf-8")
    assert "\x1b[1m" in results_text([result()], colour=True)


@pytest.mark.parametrize("segments", [True, False])
def test_json_is_the_object_of_the_design(segments):
    both = [result(), result(system="b")]
    shown = "".join(results_json(both, version="0.1.0", segments=segments))
    assert shown.endswith("}\n")
    assert shown.count("\n") == 1
    data = json.loads(shown)
    assert list(data) == ["monge", "schema", "results"]
    keys = ["metric", "system", "score", "higher_is_better", "n", "parts", "signature", "run"]
    assert list(data["results"][0]) == keys + ["segments"] * segments
    assert data["results"][1]["system"] == "b"
    rows = [one.to_dict(segments=segments) for one in both]
    whole = {"monge": "0.1.0", "schema": 1, "results": rows}
    assert shown == json.dumps(whole, ensure_ascii=False) + "\n"


def test_json_round_trip():
    one = result(
        system="süß 日本\u2028\t", flags=((), ("empty-hypothesis",)), interval=(0.1, 1 / 3)
    )
    (row,) = json.loads("".join(results_json([one], version="1", segments=True)))["results"]
    back = Result.from_dict(row)
    assert back.to_dict() == one.to_dict()
    assert np.array_equal(back.segments, one.segments)
    assert back.interval == one.interval
    assert "süß 日本\\u2028" in "".join(results_json([one], version="1"))


def test_jsonl_lines_stand_on_their_own():
    lines = list(results_jsonl([result(system="a\u2028b\x85"), result(system="c\ud800")]))
    assert "\n".join(lines).splitlines() == lines
    "".join(lines).encode("utf-8")
    rows = [json.loads(line) for line in lines]
    assert [row["type"] for row in rows] == ["segment", "segment", "result"] * 2
    assert list(rows[0]) == [
        "type",
        "metric",
        "system",
        "id",
        "score",
        "parts",
        "best_reference",
        "flags",
    ]
    assert {"score", "n", "signature"} <= set(rows[2])
    assert "segments" not in rows[2]


def test_tsv_escapes_tabs_and_keeps_numbers_in_full():
    shown = results_tsv([result(system="a\tb\nc\\d", score=1 / 3), result("wmd", parts=("cost",))])
    header, first, second = csv.reader(
        io.StringIO("".join(shown)), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    assert header[:8] == ["metric", "system", "score", "low", "high", "precision", "recall", "f1"]
    assert len({len(header), len(first), len(second)}) == 1
    assert first[1] == "a\\tb\\nc\\\\d"
    assert float(first[2]) == 1 / 3
    row = dict(zip(header, second, strict=True))
    assert row["precision"] == row["low"] == ""
    assert row["cost"] == "0.75"
    assert row["higher_is_better"] == "true"


def test_tsv_of_segments():
    shown = "".join(
        results_tsv([result(ids=("a\tb", "2"), flags=((), ("x", "y")))], segments=True)
    ).splitlines()
    assert shown[0] == "metric\tsystem\tid\tscore\tprecision\trecall\tf1\tbest_reference\tflags"
    assert [len(line.split("\t")) for line in shown] == [9, 9, 9]
    assert shown[1].split("\t")[2] == "a\\tb"
    assert shown[2].endswith("\t1\tx,y")


def test_latex_escapes_and_marks_the_best():
    hostile = '[a_b] 50% & {x} $y$ #1 ~^ <|>" \\input{/etc/passwd}\n\\end{table}'
    shown = results_latex(
        [result(system=hostile), result(system="b", score=0.5, interval=(0.4, 0.6))]
    )
    assert r"\textbf{0.75} \\" in shown
    assert r"b & 0.50 {\scriptsize {[}0.40, 0.60]} \\" in shown
    assert r"\textbackslash{}input\{/etc/passwd\}" in shown
    assert r"{[}a\_b] 50\% \& \{x\} \$y\$ \#1 \textasciitilde{}\textasciicircum{}" in shown
    assert shown.count(r"\end{table}") == 1
    assert "\\input" not in shown
    assert shown.startswith("% metric:twmd|layers:last5:mean|version:0.1.0\n")
    assert r"\footnotesize" in shown
    assert r"twmd $\uparrow$" in shown


def test_latex_has_a_dash_where_a_system_has_no_score():
    shown = results_latex([result("m"), result("w", "b", higher_is_better=False)])
    assert r"system-a & 0.7500 & -- \\" in shown
    assert r"b & -- & 0.7500 \\" in shown
    assert r"\downarrow" in shown


def test_two_settings_of_one_metric_stand_in_two_columns():
    assert r"twmd $\uparrow$ & twmd $\uparrow$" in results_latex([result(), result(score=0.5)])


def test_html_is_inert_and_whole():
    hostile = result(
        HOSTILE,
        HOSTILE,
        ids=(HOSTILE, "2"),
        flags=((HOSTILE,), ()),
        parts=(HOSTILE,),
        interval=(0.1, 0.2),
    )
    page = assert_inert(
        results_html([hostile, result(HOSTILE, "b", 0.5, parts=(HOSTILE,))], segments=True)
    )
    assert any("alert(" in text for text in page.text)
    assert page.count("details") == 3  # two tables of segments, and the signatures
    assert any(attributes.get("class") == "best" for _, attributes in page.elements)
    policy = next(a["content"] for name, a in page.elements if name == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert assert_inert(results_html([result()])).count("details") == 1


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_no_format_ever_shows_nan(form, bad):
    whole = result()
    broken = [
        replace(whole, score=bad),
        replace(whole, segments=np.array([0.1, bad])),
        replace(whole, parts={"f1": np.array([0.1, bad])}),
        replace(whole, interval=(0.0, bad)),
    ]
    for one in broken:
        with pytest.raises(InvalidProblem, match=r"twmd of system-a\.txt"):
            render_results([whole, one], form, version="1", segments=True)


def test_json_refuses_nan_among_the_facts_of_a_run():
    with pytest.raises(InvalidProblem, match="JSON"):
        next(
            results_json([result(), replace(result(), run={"seconds": float("nan")})], version="1")
        )


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_ends_with_one_newline(form):
    shown = "".join(render_results([result()], form, version="1", segments=True))
    assert shown.endswith("\n")
    assert not shown.endswith("\n\n")


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_to_show_is_an_error(form):
    with pytest.raises(DataError, match="no results"):
        render_results([], form, version="1")
    with pytest.raises(DataError, match="no segments"):
        render_results([result(ids=(), flags=())], form, version="1")


def test_an_unknown_format_names_the_nearest():
    with pytest.raises(UnknownName, match="did you mean json"):
        render_results([result()], "jsom", version="1")
