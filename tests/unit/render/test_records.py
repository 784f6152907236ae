"""Tables as records, and the formats that every command has."""

import csv
import io
import json

import pytest
from render_markup import assert_inert
from render_samples import HOSTILE, explanation, result

from monge.render import View, explanation_text, render_explanation, render_results, results_text
from monge.render.cells import number_cell
from monge.render.records import sheets_jsonl, sheets_tsv
from monge.render.table import render_study, sheets_latex, sheets_markdown, sheets_text
from monge.render.table_page import sheets_html
from monge.types import Segment
from monge.types.table import STUDY_FORMATS, Cell, Listing, Sheet, Span, facts_sheet

LIST = facts_sheet("", {"a\tb": "1", "c": "x\ny"})
STUDY = Sheet(
    "two groups",
    ("metric", "reported", "ours", "reported", "ours"),
    (
        (
            Cell("m"),
            Cell("0.5"),
            Cell("0.6", "[0.5, 0.7]", "best"),
            Cell("0.1"),
            Cell("0.2", mark="tied"),
        ),
    ),
    over=(("", 1), ("cs-en", 2), ("de-en", 2)),
    tied="by a test",
)


def read(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_a_list_is_a_record_a_row():
    assert [json.loads(line) for line in sheets_jsonl([LIST]).splitlines()] == [
        {"setting": "a\tb", "value": "1"},
        {"setting": "c", "value": "x\ny"},
    ]
    assert read(sheets_tsv([LIST])) == [
        {"setting": "a\\tb", "value": "1"},
        {"setting": "c", "value": "x\\ny"},
    ]


def test_a_study_is_a_record_a_cell():
    rows = [json.loads(line) for line in sheets_jsonl([STUDY, LIST]).splitlines()]
    assert rows[1] == {
        "table": "two groups",
        "row": "m",
        "column": "cs-en: ours",
        "value": "0.6",
        "low": None,
        "high": None,
        "detail": "[0.5, 0.7]",
        "mark": "best",
    }
    assert [row["column"] for row in rows[:4]] == [
        "cs-en: reported",
        "cs-en: ours",
        "de-en: reported",
        "de-en: ours",
    ]
    assert [row["value"] for row in read(sheets_tsv([STUDY, LIST]))] == [
        *("0.5", "0.6", "0.1", "0.2", "1", "x\\ny")
    ]


def test_numbers_of_records_have_all_their_digits():
    cells = (Cell("m"), number_cell(2 / 3, 1 / 3, 0.9, digits=2), Cell("", span=Span(0, 1, 2)))
    sheet = Sheet("study", ("metric", "r", "interval"), (cells,))
    assert (cells[1].text, cells[1].detail) == ("0.67", "[0.33, 0.90]")
    assert json.loads(sheets_jsonl([sheet, LIST]).splitlines()[0]) == {
        "table": "study",
        "row": "m",
        "column": "r",
        "value": 2 / 3,
        "low": 1 / 3,
        "high": 0.9,
        "detail": "",
        "mark": "",
    }
    row, *_ = read(sheets_tsv([sheet, LIST]))
    assert (row["value"], row["low"], row["high"]) == (repr(2 / 3), repr(1 / 3), "0.9")


def test_columns_of_one_name_are_told_apart():
    sheet = Sheet("", ("system", "p", "Holm", "q", "Holm"), (tuple(map(Cell, "abcde")),))
    assert list(json.loads(sheets_jsonl([sheet]))) == ["system", "p", "Holm", "q", "Holm (2)"]


def test_titles_over_columns_are_not_lost_where_nothing_stands_above_the_head():
    assert "cs-en: ours" in sheets_latex([STUDY])
    assert "cs-en: ours" in sheets_html([STUDY])
    assert "| metric | cs-en: reported | cs-en: ours |" in sheets_markdown([STUDY])


@pytest.mark.parametrize("form", STUDY_FORMATS)
def test_every_format_of_a_listing(form):
    shown = render_study(Listing({"c": 1}, [LIST]), form, version="")
    assert "c" in shown and shown.endswith("\n")


LONG = "|".join(f"key{k}:value{k}" for k in range(60))


@pytest.mark.parametrize("draw", [sheets_text, sheets_html, sheets_markdown])
def test_a_long_signature_is_never_broken(draw):
    sheet = Sheet("", ("a", "b"), ((Cell("x"), Cell("1")),), signatures=(LONG,))
    assert any(LONG in line for line in draw([sheet]).splitlines())
    assert any(
        LONG in line for line in draw([sheet], signed=lambda line: line[:9]).splitlines()
    ) is (draw is not sheets_text)


def test_a_long_signature_of_an_explanation_is_never_broken():
    e = explanation(["a"], ["b"])
    assert any(
        LONG in line for line in explanation_text(e, width=40, signed=lambda _: LONG).splitlines()
    )


def test_the_short_signature_is_shown_and_the_long_one_kept():
    view = View(signed=lambda line: "short")
    long = "metric:twmd|layers:last5:mean|version:0.1.0"
    assert "signature  short\n" in results_text([result()], view=view)
    latex = "".join(render_results([result()], "latex", view=view))
    assert latex.startswith(f"% {long}\n") and r"\ttfamily short" in latex
    for form in ("html", "markdown"):
        shown = "".join(render_results([result()], form, view=view))
        assert "short" in shown and long in shown
    for form in ("json", "jsonl", "tsv"):
        shown = "".join(render_results([result()], form, view=view))
        assert "short" not in shown and long in shown


SEGMENTS = [
    Segment("1", "a\thyp", ("first", "second"), "quelle", "system-a.txt"),
    Segment("2", HOSTILE, ("only",), None, "system-a.txt"),
]


def with_texts(form):
    return "".join(render_results([result()], form, view=View("1", True, lambda _: iter(SEGMENTS))))


def test_segments_carry_their_texts():
    rows = json.loads(with_texts("json"))["results"][0]["segments"]
    assert [row["hypothesis"] for row in rows] == ["a\thyp", HOSTILE]
    assert (rows[0]["references"], rows[0]["source"], rows[1]["source"]) == (
        ["first", "second"],
        "quelle",
        None,
    )
    lines = [json.loads(line) for line in with_texts("jsonl").splitlines()]
    assert [line.get("references") for line in lines] == [["first", "second"], ["only"], None]
    table = read(with_texts("tsv").encode("utf-8", "replace").decode())
    names = ("hypothesis", "reference_1", "reference_2", "source")
    assert [table[0][name] for name in names] == ["a\\thyp", "first", "second", "quelle"]
    assert table[1]["reference_2"] == table[1]["source"] == ""


def test_texts_are_harmless_wherever_they_stand():
    assert_inert(with_texts("html"))
    assert "\x1b" not in with_texts("text") and "first | second" in with_texts("text")
    assert "<script>" not in with_texts("markdown")


def test_texts_that_do_not_match_the_scores_are_not_written():
    with pytest.raises(ValueError, match="zip"):
        "".join(
            render_results([result()], "json", view=View("1", True, lambda _: iter(SEGMENTS[:1])))
        )


@pytest.mark.parametrize("form", ["jsonl", "tsv", "markdown", "latex"])
def test_an_explanation_as_tables(form):
    e = explanation(["cat", HOSTILE], ["dog"], flags=("odd",))
    shown = render_explanation(e, form, signed=lambda _: "signed")
    assert "cat" in shown and "moves" in shown
    if form in ("markdown", "latex"):
        assert "signed" in shown and "odd" in shown and "\x1b" not in shown


def test_where_a_best_score_is_marked_it_is_said_that_nothing_was_tested():
    two = [result(system="a"), result(system="b", score=0.5)]
    for form in ("text", "markdown", "latex", "html"):
        assert "not tested here" in " ".join("".join(render_results(two, form)).split())
        assert "not tested here" not in "".join(render_results(two[:1], form))
