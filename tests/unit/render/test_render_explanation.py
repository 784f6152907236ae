import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
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
    render_explanations,
)
from monge.render.cells import display_width
from monge.render.explanation import worst_units
from monge.render.explanation_page import located
from monge.render.focus import focused
from monge.render.palette import IN_DARK_NOTEBOOK, IN_LIGHT_NOTEBOOK
from monge.types import Side

SVG = "{http://www.w3.org/2000/svg}"
SMALL = explanation(
    ["the", "cat"], ["a", "cat", "."], plans=("precision", "recall"), share_of="precision"
)
LARGE = explanation([f"w{i}" for i in range(60)], [f"v{j}" for j in range(80)])
ONE = explanation(["cat"], ["cat"])
EMPTY = explanation([], ["cat"], flags=("empty-hypothesis",))
WIDE = explanation(["猫", "坐", "了", "سلام"], ["고양이", "が", "שלום"])
NASTY = explanation(
    [HOSTILE, "b"],
    [HOSTILE],
    plans=(HOSTILE, "recall"),
    metric=HOSTILE,
    share_of=HOSTILE,
    flags=(HOSTILE,),
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
    """Of long texts those units that are drawn."""
    root = ElementTree.fromstring(explanation_svg(ALL[name]))
    e = focused(ALL[name])[0]
    labels = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "mg-unit"]
    assert labels == [*e.hypothesis.units, *e.reference.units] * 2 * len(e.plans)  # arcs and grids
    tints = [path for path in root.iter(f"{SVG}path") if path.get("class").startswith("mg-t")]
    assert sum(path.get("d").count("M") for path in tints) == e.similarity.size * len(e.plans)
    arcs = [path for path in root.iter(f"{SVG}path") if path.get("class").startswith("mg-arc")]
    assert len(arcs) == sum(int((plan > 2e-3 * plan.max()).sum()) for plan in e.plans.values())
    for text in root.iter(f"{SVG}text"):
        assert float(text.get("font-size")) >= (12 if name != "large" else 9)


def test_svg_says_score_metric_and_sentences():
    shown = "".join(
        text.text or ""
        for text in ElementTree.fromstring(explanation_svg(SMALL)).iter(f"{SVG}text")
    )
    assert f"wmd  {SMALL.score:.4f}" in shown and "higher is better" in shown
    assert "Hypothesis: the cat" in shown and "Reference: a cat ." in shown
    assert "weight of a word" in shown and "similarity" not in shown


def test_svg_disc_area_is_mass():
    root = ElementTree.fromstring(
        explanation_svg(replace(ONE, **_grid([[0.8, 0.2]], ["cat"], ["cat", "dog"])))
    )
    first, second = [
        float(c.get("r"))
        for g in root.iter(f"{SVG}g")
        if g.get("class") == "mg-move"
        for c in g
        if "r" in c.attrib
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
    ends = [
        20 + float(text.get("x")) + 0.56 * float(text.get("font-size")) * len(text.text or "")
        for text in root.iter(f"{SVG}text")
        if text.get("text-anchor") == "start" and text.get("class") != "mg-unit"
    ]
    assert max(ends) <= float(root.get("width"))


def test_svg_says_when_nothing_was_moved():
    assert "Nothing was moved. The hypothesis is empty." in explanation_svg(EMPTY)


@pytest.mark.parametrize("name", ALL)
def test_html_is_inert_whole_and_carries_its_policy(name):
    source = explanation_html(ALL[name])
    page = assert_inert(source)
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and "http-equiv" in a)
    styles = re.findall(r"<style>(.*?)</style>", source, re.S)
    hashes = [f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in styles]
    assert (
        policy
        == f"default-src 'none'; style-src {' '.join(hashes)}; base-uri 'none'; form-action 'none'"
    )
    assert "prefers-color-scheme: dark" in source
    assert not any("style" in attributes for _, attributes in page.elements)


@pytest.mark.parametrize("share_of", ["cost", "similarity"])
def test_orange_marks_what_hurt_whatever_is_shared_out(share_of):
    plan = np.array([[0.5, 0.0], [0.0, 0.5]])
    cost = np.array([[0.0, 0.9], [0.9, 0.8]])
    worth = plan * (cost if share_of == "cost" else 1 - cost)
    words = {
        name: Side("good bad", ("good", "bad"), plan.sum(1), worth.sum(1))
        for name in ("hypothesis", "reference")
    }
    e = replace(
        ONE,
        plans={"plan": plan},
        cost=cost,
        similarity=1 - cost,
        share_of=share_of,
        moves=(),
        **words,
    )
    assert e.lost("hypothesis") == pytest.approx([0.0, 0.4]) and e.most_lost == pytest.approx(0.4)
    source = re.sub(r' data-tip="[^"]*"', "", explanation_html(e))
    assert (
        'class="unit l0" tabindex="0">good' in source
        and 'class="unit l9" tabindex="0">bad' in source
    )
    assert re.search(r'rect class="mg-l9"', explanation_svg(e))


def test_a_pair_without_fault_has_no_marks():
    plan, cost = np.eye(2) / 2, np.array([[0.0, 0.9], [0.9, 0.01]])
    words = {
        name: Side("a b", ("a", "b"), plan.sum(1), (plan * cost).sum(1))
        for name in ("hypothesis", "reference")
    }
    e = replace(
        ONE,
        plans={"plan": plan},
        cost=cost,
        similarity=1 - cost,
        share_of="cost",
        moves=(),
        **words,
    )
    assert not re.search(r'class="unit l[2-9]"', explanation_html(e))


def test_moves_of_precision_and_recall_are_one_and_the_worst_comes_first():
    routes = SMALL.routes
    assert (
        len({(one.hypothesis, one.reference) for one in routes})
        == len(routes)
        == len(SMALL.moves) // 2
    )
    assert [one.lost for one in routes] == sorted((one.lost for one in routes), reverse=True)
    for one in routes:
        mine = [
            move
            for move in SMALL.moves
            if (move.hypothesis, move.reference) == (one.hypothesis, one.reference)
        ]
        assert one.masses == {move.plan: move.mass for move in mine}
        assert one.lost == pytest.approx(
            sum(move.mass * (1 - move.similarity) for move in mine) / 2
        )


def test_a_negated_cost_is_not_called_similarity():
    assert "similarity" not in json.loads(explanation_json(replace(ONE, distance=True)))
    for form in ("text", "html", "svg", "markdown"):
        assert "similarity" not in render_explanation(replace(ONE, distance=True), form)


def test_html_keeps_the_text_as_written_and_marks_its_units():
    e = explanation(["the", "cat"], ["cat"], text="The old  CAT!")
    source = explanation_html(e)
    paragraph = re.search(r'<p class="text" dir="auto">(.*?)</p>', source, re.S)[
        1
    ]  # tips are no part of the text
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
    style = "\n".join(re.findall(r"<style>(.*?)</style>", source, re.S))
    for theme in (IN_LIGHT_NOTEBOOK, IN_DARK_NOTEBOOK):  # a rule behind one, or rules inside it
        style = style.replace(f"{theme} {{\n", "").replace(f"{theme} ", "")
    rules = re.findall(r"^([^@{}\n]+?) \{", style, re.M)
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
    assert "moves, worst first" in shown and "precision  recall" in shown
    assert any(line.startswith("  the →") for line in lines)
    assert any(line.startswith("  a   ←") for line in lines)
    assert shown.endswith("signature  metric:wmd|version:0.1.0\n")


def test_text_counts_what_it_leaves_out():
    shown = explanation_text(LARGE, moves=5)
    assert f"moves, worst first (5 of {len(LARGE.moves)})" in shown


@pytest.mark.parametrize("name", ["small", "large", "one", "empty", "wide"])
def test_text_keeps_to_its_width(name):
    shown = explanation_text(ALL[name], width=60)
    assert all(
        display_width(line) <= 60 for line in shown.splitlines() if not line.startswith("signature")
    )


def test_text_lines_up_wide_units():
    lines = explanation_text(WIDE).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("alignment"))
    assert len({display_width(line.split("→")[0]) for line in lines[at + 1 : at + 5]}) == 1


def test_text_is_safe_for_a_terminal_and_without_flags_has_no_note():
    shown = explanation_text(NASTY)
    assert "\x1b" not in shown
    shown.encode("utf-8")
    assert "\x1b[1m" in explanation_text(ONE, colour=True)


def test_text_of_an_empty_side():
    shown = explanation_text(EMPTY)
    assert "hypothesis  (no units)" in shown
    assert "The hypothesis is empty." in shown


def test_two_hypotheses_are_set_against_each_other():
    cost = np.array([[0.0, 0.9, 0.9], [0.9, 0.0, 0.9], [0.9, 0.9, 0.1]])
    plan = np.eye(3) / 3

    def of(words, last):
        mine = cost.copy()
        mine[2, 2] = last
        sides = {"hypothesis": words, "reference": ("the", "cat", "sat")}
        share = (plan * mine).sum(1)
        given = {
            name: Side(" ".join(some), tuple(some), plan.sum(1), share)
            for name, some in sides.items()
        }
        moved = {
            "plans": {"plan": plan},
            "cost": mine,
            "similarity": 1 - mine,
            "share_of": "cost",
            "moves": (),
        }
        return replace(ONE, score=float(share.sum()), higher_is_better=False, **moved, **given)

    found = [of(("the", "cat", "sat"), 0.1), of(("the", "cat", "ran"), 0.7)]
    for form in ("text", "html", "markdown"):
        shown = render_explanations(found, ["A", "B"], form)
        assert "B is worse than A by 0.2000" in shown and "“sat” (+0.2000)" in shown
        assert "“ran” (0.2333)" in shown
    assert_inert(render_explanations(found, ["A", "B"], "html"))
    data = json.loads(render_explanations(found, ["A", "B"], "json"))
    assert [one["name"] for one in data["explanations"]] == ["A", "B"]
    by_two = [*found, *(replace(one, metric="other") for one in found)]
    assert "A, by other" in render_explanations(by_two, ["A", "B", "A", "B"], "markdown")
    shown = render_explanations(by_two, ["A", "B", "A", "B"], "html")
    assert shown.count("<h2>A</h2>") == 2 and shown.count("<h1>other <span") == 2
    one_pair = render_explanations(
        [found[0], replace(found[0], metric="other[a=1]")], ["A", "A"], "html"
    )
    assert "<h2>A</h2>" not in one_pair and "One pair by wmd, other" in one_pair


def test_an_unknown_format_is_named():
    with pytest.raises(UnknownName, match="did you mean html"):
        render_explanation(SMALL, "htm")


@pytest.mark.parametrize("name", ["small", "large"])
def test_the_worst_units_come_first_by_what_they_cost(name):
    e = ALL[name]
    side, half = e.hypothesis, len(e.hypothesis.units) // 2
    every = list(range(len(side.units)))
    assert (
        worst_units(e, "hypothesis", None) == worst_units(e, "hypothesis", len(side.units)) == every
    )
    for share_of, loss in (("cost", side.shares), ("similarity", side.weights - side.shares)):
        worst = worst_units(replace(e, share_of=share_of), "hypothesis", half)
        assert worst == sorted(range(len(side.units)), key=lambda k: -loss[k])[:half]


def test_the_mark_of_a_word_s_beginning_is_a_blank_and_the_words_after_it_are_found():
    from monge.render.explanation_page import located
    from monge.types import Side
    from monge.types.text import BLANK, Tokens, Units

    text, pieces = "猫が 👍", ("▁", "猫", "が", "▁", "👍")
    spans = ((0, 1), (0, 1), (1, 2), (2, 3), (3, 4))
    flags = (False,) * 5
    tokens = Tokens(text, (1, 2, 3, 1, 4), pieces, spans, flags, (False, True, True, False, True))
    labels = Units(tokens, tuple((k,) for k in range(5)), flags).labels
    assert labels == (BLANK, "猫", "が", BLANK, "👍")
    ones = np.ones(5)
    assert located(Side(text, labels, ones, ones)) == [(0, 0), (0, 1), (1, 2), (2, 2), (3, 4)]
