"""Figures of pages: drawn for a desk and a phone, in colours of the palette, with words for screen
readers.
"""

import re

import pytest

from monge.render.figures import Mark, Series, Ticks, curves, dots, nice_ticks, scatter_plot
from monge.render.table_page import sheets_html
from monge.types.table import Cell, Sheet, Span

TICKS = Ticks([0.0, 0.5, 1.0], ["1", "2", "<3>"])
LINE = Series("mean", [0.1, 0.4, 0.3], [0.0, 0.3, 0.2], [0.2, 0.5, 0.4])
DRAWN = {
    "curves": curves("t & u", [LINE], TICKS, "layers", ends=(0, 0.6), chosen=1),
    "dots": dots(
        "t & u",
        [("a", "0.5 [0.4, 0.6]", Span(0.4, 0.5, 0.6)), ("b", "0.1", Span(0, 0.1, 0.2, False))],
        "r",
    ),
    "scatter": scatter_plot(
        "t & u", [Mark(0.1, 3, "chrf", "grey"), Mark(12, 1, "twmd", large=True)], "seconds", "rank"
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_drawn_for_a_desk_and_a_phone_without_colours_of_its_own(name):
    drawn = DRAWN[name]
    assert [drawn.count(f'class="plot {kind}"') for kind in ("broad", "slim")] == [1, 1]
    assert (
        drawn.count('role="img"') == 2 and 'aria-label="t &amp; u: ' in drawn and "<3>" not in drawn
    )
    assert not re.search(r"#[0-9a-f]{3,6}\b|style=", drawn)
    for width, inside in re.findall(r'viewBox="0 0 (\d+) \d+">(.*?)</svg>', drawn, re.S):
        places = [float(value) for value in re.findall(r'\bc?x[12]?="(-?[\d.]+)"', inside)]
        assert all(0 <= place <= float(width) for place in places)


def test_the_chosen_value_is_named_and_a_worse_one_is_hollow():
    assert DRAWN["curves"].count(">2: 0.400</text>") == 2
    assert DRAWN["dots"].count('class="hollow"') == 2 and DRAWN["dots"].count('class="dot"') == 2


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.55, 0.72, [0.55, 0.6, 0.65, 0.7]),
     (-0.1, 0.1, [-0.1, -0.05, 0, 0.05, 0.1])],
)  # fmt: skip
def test_ticks_are_round_numbers_between_the_ends(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


def test_a_page_says_what_is_found_then_shows_it_then_lists_it():
    span = Cell("", span=Span(0.1, 0.2, 0.3))
    sheet = Sheet(
        "all",
        ("metric", "r", "drawn"),
        ((Cell("a"), Cell("0.20"), span),),
        said=("first", "second", "third"),
    )
    page = sheets_html([sheet], title="heading", figures=[DRAWN["dots"]])
    order = [
        page.index(text)
        for text in ("<h1>", ">first<", ">second<", "<figure>", ">third<", "<table")
    ]
    assert order == sorted(order)
    assert 'class="span"' not in page, "the figure shows the intervals"


@pytest.mark.parametrize(
    ("columns", "kind"), [(3, ""), (6, "under-40"), (14, "under-80"), (30, "under-any")]
)
def test_a_table_that_needs_more_room_than_there_is_stands_with_its_cells_below_each_other(
    columns, kind
):
    row = (Cell("a"), *(Cell("0.123") for _ in range(columns)))
    page = sheets_html(
        [Sheet("t", ("metric", *(f"group{k}" for k in range(columns))), (row,))], title="t"
    )
    assert (f'<table class="stacked {kind}">' if kind else "<table>") in page
    assert page.count('data-head="group') == (columns if kind else 0)
