"""Sheets: marks, details, escapes, turning."""

from monge.render.cells import decimals, span
from monge.render.table import sheets_latex, sheets_markdown, sheets_text
from monge.render.table_page import sheets_html
from monge.types.table import Cell, Sheet

SHEET = Sheet(
    "a & b <c>",
    ("metric", "cs-en", "mean"),
    (
        (Cell("m_1"), Cell("0.5", "[0.4, 0.6]", "best"), Cell("0.50", mark="tied")),
        (Cell("\x1b[31mred"), Cell("0.1"), Cell("0.10")),
    ),
    notes=("a note",),
    signatures=("k:v|l:w", "k:v|l:w"),
    tied="by a test",
)


def test_text_lines_up_with_marks_behind_numbers_and_details_below():
    lines = sheets_text([SHEET]).split("\n")
    assert lines[0] == "a & b <c>"
    assert lines[2].split() == ["m_1", "0.5*", "0.50~"]
    assert lines[3].split() == ["[0.4,", "0.6]"]
    assert len({len(line.rstrip()) for line in (lines[1], lines[2])}) <= 2
    assert "\\x1b" in lines[4], "a name cannot colour the terminal"
    assert "* best, ~ by a test" in lines and lines.count("signature  k:v|l:w") == 1


def test_latex_is_escaped_bold_and_underlined():
    shown = sheets_latex([SHEET])
    assert r"\caption{a \& b \textless{}c\textgreater{}}" in shown
    assert r"m\_1 & \textbf{0.5} {\scriptsize {[}0.4, 0.6]} & \underline{0.50} \\" in shown
    assert "underlined: by a test" in shown and shown.count("% k:v|l:w") == 1


def test_html_is_escaped_and_names_its_marks():
    shown = sheets_html([SHEET])
    assert "a &amp; b &lt;c&gt;" in shown and '<span class="best">0.5</span>' in shown
    assert shown.count("<code") == 1 and "\x1b" not in shown


def test_markdown_is_escaped_bold_and_underlined():
    lines = sheets_markdown([SHEET]).split("\n")
    assert lines[0] == r"**a & b \<c\>**"
    assert lines[2:4] == ["| metric | cs-en | mean |", "| --- | ---: | ---: |"]
    assert lines[4] == r"| `m_1` | **0.5** <small>\[0.4, 0.6\]</small> | <u>0.50</u> |"
    assert "\x1b" not in lines[5]
    assert "bold: best; underlined: by a test" in lines and lines.count("k:v|l:w") == 1


def test_turning_exchanges_rows_and_columns():
    turned = SHEET.turned()
    assert turned.head == ("", "m_1", "\x1b[31mred")
    assert [[cell.text for cell in row] for row in turned.rows] == [
        ["cs-en", "0.5", "0.1"],
        ["mean", "0.50", "0.10"],
    ]


def test_numbers():
    assert decimals(-0.0001) == "0.000"
    assert span(None, None) == "" and span(0.1, 0.25, 2) == "[0.10, 0.25]"
