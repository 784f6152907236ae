"""benchmarks/ledger.py: parts add up to the wall time, whichever threads they ran on."""

import sys
import threading

import pytest
from repository import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import long_texts
from ledger import OTHER, PADDING, WAITING, Ledger, shape_of
from make_measured_pages import (
    NOT_MEASURED,
    draw_ledger,
    make_ledger_table,
    make_long_table,
)


class Clock:
    """A clock that is put forward by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def test_the_time_of_an_inner_part_is_not_that_of_the_outer_one():
    clock = Clock()
    ledger = Ledger(clock)
    with ledger.part(OTHER):
        clock.now += 1
        with ledger.part("inner"):
            clock.now += 2
        clock.now += 4
    assert {name: work.seconds for name, work in ledger.totals().items()} == {OTHER: 5, "inner": 2}


def test_waiting_is_divided_as_the_times_of_the_encoders():
    clock = Clock()
    ledger = Ledger(clock)

    def encode():
        with ledger.part(PADDING):
            clock.now += 3
            with ledger.part("GEMM 2 x 3") as work:
                clock.now += 9
                work.flops += 100

    with ledger.part(OTHER):
        clock.now += 1
        with ledger.part(WAITING):
            thread = threading.Thread(target=encode)
            thread.start()
            thread.join()
    parts = ledger.totals()
    assert sum(work.seconds for work in parts.values()) == pytest.approx(clock.now)
    assert parts["GEMM 2 x 3"].seconds == pytest.approx(9) and parts["GEMM 2 x 3"].flops == 100
    assert parts[PADDING].seconds == pytest.approx(3) and WAITING not in parts


def test_a_wrapped_function_is_counted():
    ledger = Ledger(Clock())
    double = ledger.wrap(lambda x: 2 * x, "part", lambda result, x: (result, x))
    assert double(4) == 8 and ledger.main.parts["part"].flops == 8
    assert ledger.main.parts["part"].bytes == 4
    assert shape_of("GEMM 384 x 1536, int8") == (384, 1536)


LEDGER = {
    "ledgers": [
        {
            "precision": "fp32",
            "seconds": 4.0,
            "parts": [
                {"part": "GEMM 2 x 3", "seconds": 3.0, "best": 1.5},
                {"part": "other", "seconds": 1.0, "best": None},
            ],
        }
    ]
}


def test_the_table_of_the_ledger_has_percentages_and_factors(tmp_path):
    table = make_ledger_table(LEDGER)
    assert "| GEMM 2 x 3 | 75.0 | 2.0 |" in table and "| other | 25.0 |  |" in table
    assert make_ledger_table(None) == make_long_table(None) == NOT_MEASURED
    draw_ledger(tmp_path / "ledger.svg", LEDGER["ledgers"])
    assert "GEMM" in (tmp_path / "ledger.svg").read_text()


def test_growth_is_the_slope_between_the_two_largest_sizes():
    assert long_texts.exponent({"100": 1.0, "1000": 2.0, "2000": 8.0}) == pytest.approx(2)
    assert long_texts.exponent({"100": 1.0}) is None
    row = {"metric": "m", "seconds": {"100": 1.0}, "exponent": None, "ended": "over 20 s"}
    table = make_long_table({"words": [100, 500], "rows": [row]})
    assert "| `m` | 1.000 |  |  | over 20 s |" in table
