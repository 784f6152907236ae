import pytest

from monge.render.cells import (
    clip,
    display_width,
    gloss,
    p_value,
    pad,
    printable,
    styled,
    supported_digits,
    table,
    with_minus,
)


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("日本語", 6),
        ("ｱｲｳ", 3),
        ("e\u0301", 1),
        ("", 0),
        ("\x1b[1mab\x1b[0m", 2),
        ("سلام", 4),
        ("Ａ", 2),
        ("🙂", 2),
        ("❤\ufe0f", 2),
        ("👨\u200d👩\u200d👧", 2),
        ("🇩🇪", 2),
        ("\u1112\u1161\u11ab", 2),
    ],
)
def test_display_width(text, width):
    assert display_width(text) == width
    assert display_width(pad(text, 10)) == display_width(pad(text, 10, "r")) == 10


def test_a_terminal_never_sees_control_characters():
    assert (
        printable("a\x1b[31mb\n\t\u202e\u2028\ud800é日")
        == "a\\x1b[31mb\\n\\t\\u202e\\u2028\\ud800é日"
    )


def test_clip_counts_columns_not_characters():
    assert clip("日本語テスト", 7) == "日本語…"
    assert clip("日本語テスト", 6) == "日本…"
    assert clip("short", 5) == "short"


def test_columns_line_up_under_wide_characters():
    lines = table([["名前", "1.0"], ["system", "10.0"], ["日本語の系", "7.25"]], "lr")
    assert lines == ["名前         1.0", "system      10.0", "日本語の系  7.25"]
    assert {display_width(line) for line in lines} == {16}


def test_a_narrow_terminal_clips_names_and_keeps_numbers():
    lines = table([["a" * 40, "0.1234"], ["b", "0.5"]], "lr", width=20)
    assert lines == ["a" * 11 + "…  0.1234", "b" + " " * 16 + "0.5"]
    assert table([["a" * 40, "0.1234"]], "lr", width=3) == ["a" * 7 + "…  0.1234"]


def test_no_rows_no_lines():
    assert table([], "") == []


def test_gloss_breaks_at_the_width():
    lines = gloss([("the", "0.1"), ("日本", "0.25"), ("cat", "0.3")], width=16)
    assert lines == ["  the  日本", "  0.1  0.25", "", "  cat", "  0.3", ""]


def test_styles_only_with_colour():
    assert styled("x", "bold", False) == "x"
    assert styled("x", "bold", True) == "\x1b[1mx\x1b[0m"
    assert styled("", "bold", True) == ""


@pytest.mark.parametrize(
    ("intervals", "digits"),
    [([(56.4123, 61.9876)], 1), ([(50.4, 73.5)], 0), ([(0.66, 0.94), (0.8012, 0.8213)], 3), ([(0.5, 0.5)], 4),
     ([], 4), ([(0.1, 0.1000001)], 4), ([(-250.0, 900.0)], 0)],
)  # fmt: skip
def test_digits_are_those_that_the_narrowest_interval_supports(intervals, digits):
    assert supported_digits(intervals) == digits


@pytest.mark.parametrize(
    ("value", "bound", "text"),
    [(3 / 1001, True, "≤ .003"), (0.0021, True, "≤ .003"), (1 / 10_001, True, "≤ .0001"), (0.2917, False, ".292"),
     (1.0, False, "1.000"), (0.00004, False, ".00004"), (0.0, False, ".000"), (0.003, True, "≤ .003")],
)  # fmt: skip
def test_p_values_say_where_they_are_bounds_and_bounds_are_rounded_up(value, bound, text):
    assert p_value(value, bound=bound) == text


def test_a_number_has_a_minus_sign_and_other_hyphens_stay():
    assert with_minus("-0.1 [-.2, -0.05]") == "−0.1 [−.2, −0.05]"
    assert with_minus("gpt-4 2020-01-02 e5-small 1e-05") == "gpt-4 2020-01-02 e5-small 1e-05"
