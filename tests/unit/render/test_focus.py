"""Explanations of long texts have a bounded size in every form, and say what is left out."""

from __future__ import annotations

import re

import numpy as np
import pytest

from monge.render import explanation_fragment, explanation_html, explanation_svg
from monge.render.focus import focused
from monge.types import Explanation, Move, Side, Signature


def explained(count: int) -> Explanation:
    """A pair of texts of so many words, each matched a little with every other."""
    draw = np.random.default_rng(count)
    cost = draw.uniform(0.1, 1, size=(count, count))
    plan = draw.uniform(0.5, 1, size=(count, count))
    plan /= plan.sum()
    words = tuple(f"word{k}" for k in range(count))
    similarity = 1 - cost

    def side(axis: int) -> Side:
        return Side(" ".join(words), words, plan.sum(axis), (plan * similarity).sum(axis))

    moves = tuple(
        Move("plan", i, j, float(plan[i, j]), float(cost[i, j]), float(similarity[i, j]), 0.0)
        for i in range(count)
        for j in range(count)
    )
    return Explanation(
        hypothesis=side(1), reference=side(0), cost=cost, similarity=similarity, plans={"plan": plan},
        share_of="similarity", metric="twmd", score=0.5, parts={}, higher_is_better=True,
        signature=Signature((("metric", "twmd"),)), moves=moves,
    )  # fmt: skip


@pytest.mark.parametrize("count", [61, 254])
def test_pictures_and_pages_of_long_texts_are_bounded(count, tmp_path):
    e = explained(count)
    page, svg = explanation_html(e), explanation_svg(e)
    assert len(page) < 2_500_000 and page.count("<") < 25_000 and "The texts are long" in page
    width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', svg).groups())
    assert width < 1500 and height < 4000 and len(svg) < 2_000_000 and "The texts are long" in svg
    assert len(explanation_fragment(e, cell=True)) < 100_000
    pytest.importorskip("matplotlib", reason="install the extra plots")
    image = pytest.importorskip("PIL.Image", reason="install pillow")
    from monge.report.picture import explanation_png

    with image.open(explanation_png(e, str(tmp_path / "e.png"))) as drawn:
        assert drawn.width < 4000 and drawn.height < 1500


def test_the_units_that_are_drawn_are_those_of_the_worst_moves():
    e = explained(100)
    part, told = focused(e)
    assert (
        len(part.hypothesis.units) == len(part.reference.units) == 40
        and "100" in told
        and "40" in told
    )
    worst = e.routes[0]
    assert e.hypothesis.units[worst.hypothesis] in part.hypothesis.units
    assert e.reference.units[worst.reference] in part.reference.units
    for move in part.moves[:50]:
        mine = e.hypothesis.units.index(part.hypothesis.units[move.hypothesis])
        theirs = e.reference.units.index(part.reference.units[move.reference])
        assert move.cost == e.cost[mine, theirs] == part.cost[move.hypothesis, move.reference]
    assert (part.most_lost, part.dearest, part.full) == (e.most_lost, e.dearest, e.full)
    places = [e.hypothesis.units.index(one) for one in part.hypothesis.units]
    assert places == sorted(places)


def test_short_texts_are_drawn_whole():
    e = explained(60)
    assert focused(e) == (e, "") and "The texts are long" not in explanation_html(e)
