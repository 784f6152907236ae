"""Figures of tuned models carry the signature of the adapter whose card is kept."""

import json
from pathlib import Path

import make_adapters
import pytest
from tuning_page import CARDS, MEASURED

from monge.encoders.adapter import read_adapter
from monge.encoders.models import find_model
from monge.encoders.packaged import SHIPPED
from monge.tuning.examples import judged_examples
from monge.tuning.splitting import hold_out

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "src" / "monge" / "encoders" / "adapters"


@pytest.fixture(scope="module")
def figures():
    """The kept figures: `DATASET/ADAPTER` -> rows before and after tuning."""
    return json.loads(MEASURED.read_text("utf-8"))


def test_every_figure_carries_the_signature_of_its_model(figures):
    for key, rows in figures.items():
        recipe = key.partition("/")[2]
        name = {"mean-1": "people"}.get(recipe, recipe)  # what is shipped has another name
        for row in rows:
            assert (f"+{name}#" in row["signature"]) == (row["model"] == "after"), key


def kept_cards():
    """Every adapter whose card is kept or that is shipped: its folder, and its card."""
    cards = [*CARDS.glob("*/card.json"), *ADAPTERS.glob("*/*/card.json")]
    return [(path.parent, json.loads(path.read_text())) for path in sorted(cards)]


def card_of(name):
    """The card of a recipe: in the package where it is shipped, else beside the figures."""
    shipped = make_adapters.RECIPES[name].shipped
    folder = make_adapters.adapter_folder(name) if shipped else CARDS / name
    path = folder / "card.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def test_every_figure_is_of_the_adapter_whose_card_is_kept(figures):
    """The digest in a figure's signature is that of the card: no figure of replaced weights."""
    checked = 0
    for key, rows in figures.items():
        card = card_of(key.partition("/")[2])
        if card is None:
            continue  # adapters of few judgements were measured before cards of them were kept
        digest = card["signature"].partition("|model:")[2].partition("#")[2][:8]
        for row in rows:
            if row["model"] == "after":
                assert f"#{digest}" in row["signature"], key
                checked += 1
    assert checked > 20


def test_no_weights_are_kept_beside_the_cards():
    folders = {name for name, recipe in make_adapters.RECIPES.items() if not recipe.shipped}
    assert {path.name for path in CARDS.iterdir()} <= folders
    assert {path.name for path in CARDS.glob("*/*")} == {"card.json"}


BEFORE = {"german", "germeval", "sts-mpnet", "taught"}
"""Adapters that were made before texts were kept apart; docs/tuning.md says so. None of them is
shipped.
"""


def test_no_adapter_chose_by_what_it_learned_from():
    page = (ROOT / "docs" / "tuning.md").read_text()
    for folder, card in kept_cards():
        if folder.name in BEFORE:
            assert "texts_also_learned" not in card["held_out"], (
                f"{folder} was trained again: take it out of BEFORE"
            )
            assert "still those made before texts were kept apart" in page
            continue
        assert card["held_out"]["texts_also_learned"] == 0, folder
        assert all(one["left_out"] >= 0 for one in card["learned_from"]), folder


def test_shipped_adapters_learned_from_nothing_that_forbids_commerce():
    for folder, card in kept_cards():
        names = [one["data"].lower() for one in card["learned_from"]]
        assert not any("sick" in name for name in names), folder


@pytest.mark.parametrize("seed", [1, 2, 3, 12345])
def test_held_out_translations_share_no_text_with_those_that_are_learned(data_dir, seed):
    """On the judgements that the adapters learned from, seed by seed; 171 of 548 shared a reference
    before.
    """
    examples = judged_examples("wmt15+wmt16", data_dir, ["*-en"], text="raw")
    parts = hold_out([examples], 0.1, seed)
    learned = {
        text
        for row in parts.lessons[0].rows
        for text in (row.hypothesis, *row.references, row.source)
    }
    held = {
        text for row in parts.held.rows for text in (row.hypothesis, *row.references, row.source)
    }
    assert not learned & held
    assert (len(parts.held), parts.left_out) == (536, [0])
    assert len(parts.lessons[0]) + len(parts.held) == len(examples) == 5360


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_adapters_are_whole_small_and_name_no_place(name):
    folders = sorted((ADAPTERS / name).iterdir())
    assert folders
    for folder in folders:
        adapter = read_adapter(folder)
        base = adapter.card["base"]["name"]
        assert adapter.base in ("auto", f"./{base}") or find_model(adapter.base).name == base
        size = (folder / "adapter.safetensors").stat().st_size
        assert size <= (1 << 20) * (1 if adapter.card["base"]["name"] == "all-MiniLM-L6-v2" else 2)
        assert adapter.tuning.slope is not None


SERVED = {"people-source": ("multilingual-e5-small", "multilingual")}
"""Adapters that do not serve the embedded model: the folder of their base, and its name."""


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_adapters_serve_a_packaged_model(name):
    base, model = SERVED.get(name, ("all-MiniLM-L6-v2", "auto"))
    read_adapter(ADAPTERS / name / base).check_base(find_model(model))
