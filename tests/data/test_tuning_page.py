"""docs/tuning.md shows what is kept in docs/tuning, and what is shipped is what was made."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from monge.encode.adapter import read_adapter
from monge.encode.models import find
from monge.encode.packaged import SHIPPED

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "src" / "monge" / "encode" / "adapters"


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make_tuning", ROOT / "docs" / "tuning" / "make.py")
    module = sys.modules["make_tuning"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_of_what_is_kept(make):
    assert make.page() == (ROOT / "docs" / "tuning.md").read_text()


def test_every_figure_carries_the_signature_of_its_model(make):
    kept = json.loads(make.RESULTS.read_text())
    for key, found in kept.items():
        name = key.partition("/")[2]
        for one in found:
            assert (f"+{name}#" in one["signature"]) == (one["model"] == "after"), key


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_adapters_are_whole_small_and_name_no_place(name):
    folders = sorted((ADAPTERS / name).iterdir())
    assert folders
    for folder in folders:
        adapter = read_adapter(folder)
        assert adapter.base in ("auto", f"./{adapter.card['base']['name']}")
        size = (folder / "adapter.safetensors").stat().st_size
        assert size <= (1 << 20) * (1 if adapter.card["base"]["name"] == "all-MiniLM-L6-v2" else 2)
        assert adapter.tuning.slope is not None


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_shipped_adapters_serve_the_embedded_model(name):
    folder = ADAPTERS / name / "all-MiniLM-L6-v2"
    read_adapter(folder).check_base(find("auto"))
