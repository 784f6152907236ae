import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from render_markup import assert_inert
from render_samples import HOSTILE, explanation

from monge.errors import InvalidProblem, UnknownName
from monge.render import (
    EXPLANATION_FORMATS,
    explanation_fragment,
    explanation_html,
    explanation_json,
    explanation_svg,
    explanation_text,
    render_explanation,
)
from monge.render.cells import display_width
from monge.render.explanation import worst_units
from monge.render.explanation_page import located
from monge.types import Side

SVG = "{http://www.w3.org/2000/svg}"
SMALL = explanation(["the", "cat"], ["a", "cat", "."], plans=("precision", "recall"), share_of="precision")
LARGE = explanation([f"w{i}" for i in range(60)], [f"v{j}" for j in range(80)])
ONE = explanation(["cat"], ["cat"])
EMPTY = explanation([], ["cat"], flags=("empty-hypothesis",))
WIDE = explanation(["猫", "坐", "了", "سلام"], ["고양이", "が", "שלום"])
NASTY = explanation(
    [HOSTILE, "b"], [HOSTILE], plans=(HOSTILE, "recall"), metric=HOSTILE, share_of=HOSTILE, flags=(HOSTILE,)
)
ALL = {"small": SMALL, "large": LARGE, "one": ONE, "empty": EMPTY, "wide": WIDE, "nasty": NASTY}


@pytest.mark.parametrize("name", ALL)
def test_svg_is_well_formed_and_inert(name):
    e = ALL[name]
    root = ElementTree.fromstring(explanation_svg(e))
    assert root.tag == f"{SVG}svg"
    allowed = {"svg", "title", "desc", "style", "rect", "g", "path", "circle", "text"}
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in allowed
        assert not any(key.startswith("on") or "href" in key for key in element.attrib)


@pytest.mark.parametrize("name", ["small", "large", "one", "wide"])
def test_svg_labels_every_unit_in_every_panel(name):
    e = ALL[name]
    root = ElementTree.fromstring(explanation_svg(e))
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "mg-unit"]
    assert labels == [*e.hypothesis.units, *e.reference.units] * len(e.plans)
    cells = sum(path.get("d").count("M") for path in root.iter(f"{SVG}path"))
    assert cells == e.similarity.size * len(e.plans)
    for text in root.iter(f"{SVG}text"):
        assert float(text.get("font-size")) >= 9


def test_svg_disc_area_is_mass():
    root = ElementTree.fromstring(explanation_svg(replace(ONE, **_grid([[0.8, 0.2]], ["cat"], ["cat", "dog"]))))
    first, second = [
        float(c.get("r")) for g in root.iter(f"{SVG}g") if g.get("class") == "mg-move" for c in g if "r" in c.attrib
    ]
    assert (first / second) ** 2 == pytest.approx(4, rel=0.01)


def _grid(plan, hypothesis, reference):
    plan = np.array(plan)
    return {
        "plans": {"plan": plan},
        "similarity": np.ones_like(plan),
        "cost": np.zeros_like(plan),
        "hypothesis": Side("", tuple(hypothesis), plan.sum(1), plan.sum(1)),
        "reference": Side("", tuple(reference), plan.sum(0), plan.sum(0)),
        "moves": (),
    }


@pytest.mark.parametrize("name", ["one", "small", "large"])
def test_svg_has_room_for_its_legend(name):
    root = ElementTree.fromstring(explanation_svg(ALL[name]))
    (legend,) = [
        g for g in root.iter(f"{SVG}g") if any("mass moved" in (t.text or "") for t in g.findall(f"{SVG}text"))
    ]
    left = float(legend.get("transform").removeprefix("translate(").split()[0])
    ends = [
        left + float(text.get("x")) + 0.6 * float(text.get("font-size")) * len(text.text or "")
        for text in legend.iter(f"{SVG}text")
        if text.get("text-anchor") == "start"
    ]
    assert max(ends) <= float(root.get("width"))


def test_svg_says_when_nothing_was_moved():
    assert "Nothing was moved (empty-hypothesis)." in explanation_svg(EMPTY)


@pytest.mark.parametrize("name", ALL)
def test_html_is_inert_whole_and_carries_its_policy(name):
    source = explanation_html(ALL[name])
    page = assert_inert(source)
    assert page.count("svg") == 1
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and "http-equiv" in a)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert "prefers-color-scheme: dark" in source
    for _, attributes in page.elements:
        if "style" in attributes:
            assert re.fullmatch(r"--a:\d\.\d\d|width:\d\.\d\drem", attributes["style"])


def test_html_keeps_the_text_as_written_and_marks_its_units():
    e = explanation(["the", "cat"], ["cat"], text="The old  CAT!")
    source = explanation_html(e)
    shown = re.sub(r'<span class="tip".*?</span></span>', "", source)
    paragraph = re.search(r'<p class="text" dir="auto">(.*?)</p>', shown)[1]
    assert re.sub(r"<[^>]+>", "", paragraph) == "The old  CAT!"
    assert 'tabindex="0"' in source


@pytest.mark.parametrize(
    ("text", "units", "spans"),
    [
        ("The Cat", ("the", "cat"), [(0, 3), (4, 7)]),
        ("a b", ("a", "c"), None),
        ("a b", ("[CLS]", "a", "b"), None),
        ("b a", ("a", "b"), None),
        ("", (), []),
        ("a", ("",), None),
    ],
)
def test_located(text, units, spans):
    zeros = np.zeros(len(units))
    assert located(Side(text, units, zeros, zeros)) == spans


def test_fragment_styles_nothing_but_itself():
    source = explanation_fragment(SMALL)
    rules = re.findall(r"^([^@{}\n]+?) \{", "\n".join(re.findall(r"<style>(.*?)</style>", source, re.S)), re.M)
    assert rules
    assert all(rule.strip().startswith((".monge", ".mg")) for rule in rules)
    assert "<html" not in source


def test_json_holds_everything():
    data = json.loads(explanation_json(SMALL))
    assert data == SMALL.to_dict()
    assert explanation_json(SMALL).count("\n") == 1


@pytest.mark.parametrize("form", EXPLANATION_FORMATS)
def test_no_format_shows_nan(form):
    with pytest.raises(InvalidProblem, match="cost holds nan"):
        render_explanation(replace(SMALL, cost=np.full((2, 3), np.nan)), form)
    with pytest.raises(InvalidProblem, match="score holds inf"):
        render_explanation(replace(SMALL, score=float("inf")), form)


def test_text_tells_the_moves_of_each_direction():
    shown = explanation_text(SMALL)
    lines = shown.splitlines()
    assert lines[0].startswith("wmd ↑  ")
    assert "precision 0.5000   recall 0.2500" in lines[0]
    assert "largest moves (precision)" in shown
    assert any(line.startswith("  the →") for line in lines)
    assert any(line.startswith("  a   ←") for line in lines)
    assert shown.endswith("signature  metric:wmd|version:0.1.0\n")


def test_text_counts_what_it_leaves_out():
    shown = explanation_text(LARGE, moves=5)
    assert f"largest moves, 5 of {len(LARGE.moves)}" in shown


@pytest.mark.parametrize("name", ["small", "large", "one", "empty", "wide"])
def test_text_keeps_to_its_width(name):
    shown = explanation_text(ALL[name], width=60)
    assert all(display_width(line) <= 60 for line in shown.splitlines() if not line.startswith("signature"))


def test_text_lines_up_wide_units():
    lines = explanation_text(WIDE).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("alignment"))
    assert len({display_width(line.split("→")[0]) for line in lines[at + 1 : at + 5]}) == 1


def test_text_is_safe_for_a_terminal_and_without_flags_has_no_note():
    shown = explanation_text(NASTY)
    assert "\x1b" not in shown
    shown.encode("utf-8")
    assert "note" in shown
    assert "note" not in explanation_text(ONE)
    assert "\x1b[1m" in explanation_text(ONE, colour=True)


def test_text_of_an_empty_side():
    shown = explanation_text(EMPTY)
    assert "hypothesis  (no units)" in shown
    assert "note  empty-hypothesis" in shown


def test_an_unknown_format_is_named():
    with pytest.raises(UnknownName, match="did you mean html"):
        render_explanation(SMALL, "htm")


@pytest.mark.parametrize("name", ["small", "large"])
def test_the_worst_units_come_first_by_what_they_cost(name):
    e = ALL[name]
    side, half = e.hypothesis, len(e.hypothesis.units) // 2
    assert worst_units(e, side, None) == worst_units(e, side, len(side.units)) == list(range(len(side.units)))
    for share_of, loss in (("cost", side.shares), ("similarity", side.weights - side.shares)):
        worst = worst_units(replace(e, share_of=share_of), side, half)
        assert worst == sorted(range(len(side.units)), key=lambda k: -loss[k])[:half]
