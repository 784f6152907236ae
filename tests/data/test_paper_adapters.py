"""Figures of docs/tuning-papers.md carry the signature of the adapter whose card is kept."""

import json

import make_paper_adapters
import pytest
from paper_tuning_page import CARDS, MEASURED, show_seeds

FIGURES = json.loads(MEASURED.read_text("utf-8"))


def read_card(name):
    return json.loads((CARDS / name / "card.json").read_text("utf-8"))


def digest(signature):
    return signature.partition("|model:")[2].partition("#")[2][:8]


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_every_figure_is_of_the_adapter_whose_card_is_kept(name):
    card = read_card(name)
    for row in FIGURES[name]:
        assert (f"+{name}#" in row["signature"]) == (row["model"] == "after")
        if row["model"] == "after":
            assert digest(row["signature"]) == digest(card["signature"])
        assert row["mean_interval"]["low"] <= row["mean"] <= row["mean_interval"]["high"]


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_every_adapter_is_of_its_recipe_and_chose_by_other_data(name):
    card, recipe = read_card(name), make_paper_adapters.RECIPES[name]
    assert card["metric"] == recipe.metric
    assert card["base"]["name"] == recipe.base
    assert card["held_out"]["texts_also_learned"] == 0
    names = [lesson["data"] for lesson in (*card["learned_from"], card["held_out"])]
    assert not any("wmt17" in data or "wmt18" in data for data in names)


def test_only_cards_of_recipes_are_kept_and_nothing_names_a_place():
    assert {path.name for path in CARDS.iterdir()} == set(FIGURES)
    assert {path.name for path in CARDS.glob("*/*")} == {"card.json"}
    kept = [*CARDS.glob("*/card.json"), MEASURED]
    assert not any("/build/" in path.read_text("utf-8") for path in kept)


def test_every_question_has_figures():
    questions = {make_paper_adapters.RECIPES[name].question for name in FIGURES}
    assert questions == set(make_paper_adapters.TASKS)


def make_rows(before, after):
    return [
        {"model": stage, "statistic": "pearson", "mean": mean}
        for stage, mean in (("before", before), ("after", after))
    ]


def test_seeds_are_shown_by_median_and_range():
    results = {
        "mini-a": make_rows(0.5, 0.51),
        "mini-a-seed-2": make_rows(0.5, 0.49),
        "mini-a-seed-3": make_rows(0.5, 0.503),
        "mini-b": make_rows(0.5, 0.6),
    }
    assert show_seeds("mini-a", results) == "+0.0030 (-0.0100 … +0.0100), 3 seeds"
    assert show_seeds("mini-b", results) == ""
