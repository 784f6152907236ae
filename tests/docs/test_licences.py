"""Every file of the package has a licence entry, and nothing ships that may not be passed on."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from release_files import LICENCE_FILES, list_package_files, read_project
from repository import PACKAGE, ROOT

from monge.datasets import dataset_names, describe
from monge.encoders import model_cards
from monge.encoders.model_cards import describe_model, match_licences, read_licences
from monge.encoders.packaged import PACKAGED, SHIPPED
from monge.errors import ModelError
from monge.metrics.blend import BLENDS
from monge.metrics.lexical import LEXICAL
from monge.metrics.presets import PRESETS

NEEDED = {
    "own": set(),
    "computed": {"data"},
    "learned": {"data", "base", "base_licence"},
    "facts": {"source"},
    "third-party": {"source", "copyright"},
}
ACCEPTED = {"Apache-2.0", "MIT", "MIT AND Apache-2.0"}
REFUSED = re.compile(r"non-?commercial|\bNC\b|NIST|not to be passed on", re.I)
"""Terms of data that nothing in the package may be learned from."""


def count_entries(paths):
    return {path: len(match_licences(path)) for path in paths}


def test_every_file_of_the_wheel_has_one_licence_entry():
    paths = list_package_files()
    assert len(paths) > 450
    assert {path: count for path, count in count_entries(paths).items() if count != 1} == {}


def test_a_file_without_an_entry_is_noticed():
    assert count_entries(["text/stopwords/xx.txt", "encoders/adapters/new/model/card.json"]) == {
        "text/stopwords/xx.txt": 0,
        "encoders/adapters/new/model/card.json": 0,
    }


@pytest.mark.parametrize("entry", read_licences(), ids=lambda entry: entry["paths"][0])
def test_an_entry_is_complete_and_matches_files(entry):
    assert NEEDED[entry["origin"]] <= entry.keys()
    assert entry["licence"] in ACCEPTED
    for pattern in entry["paths"]:
        assert list(PACKAGE.rglob(pattern)), pattern


def test_notice_holds_every_copyright_and_goes_into_the_wheel():
    notice = (ROOT / "NOTICE").read_text("utf-8")
    for entry in read_licences():
        assert entry.get("copyright", "") in notice
        if entry["origin"] == "third-party":
            for path in entry["paths"]:
                assert path.rpartition("/")[2] in notice
    assert read_project()["project"]["license-files"] == list(LICENCE_FILES)


CARDS = sorted((PACKAGE / "encoders" / "adapters").rglob("card.json"))


@pytest.mark.parametrize("path", CARDS, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_an_adapter_learned_from_what_its_entry_says_and_from_nothing_refused(path):
    card = json.loads(path.read_text("utf-8"))
    (entry,) = match_licences(path.relative_to(PACKAGE).as_posix())
    assert entry["base"] == card["base"]["name"] == path.parent.name
    assert entry["data"] == list(dict.fromkeys(lesson["data"] for lesson in card["learned_from"]))
    for name in "+".join(entry["data"]).split("+"):
        assert name in dataset_names()
        assert not REFUSED.search(describe(name).licence), name
    assert all(lesson["licence"] for lesson in card["learned_from"])


def test_the_refused_terms_are_those_of_real_data_sets():
    refused = {name for name in dataset_names() if REFUSED.search(describe(name).licence)}
    assert refused == {"flickr8k", "tac08", "tac09"}


def test_a_base_that_is_packaged_has_the_licence_of_its_row():
    licences = {
        entry["base"]: entry["base_licence"] for entry in read_licences() if "base" in entry
    }
    rows = {row.name: row.licence for row in PACKAGED if row.name in licences}
    assert rows and rows.items() <= licences.items()


def test_names_of_models_are_not_names_of_metrics():
    assert not set(model_cards.model_names()) & {*PRESETS, *BLENDS, *LEXICAL}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_card_of_a_shipped_adapter_has_every_base_and_its_terms(name):
    data = describe_model(name).to_dict()
    folders = [path.parent.name for path in CARDS if path.parts[-3] == name]
    assert [card["base"] for card in data["adapters"]] == folders
    for card in data["adapters"]:
        assert card["licence"] in ACCEPTED and card["base_licence"] in ACCEPTED
        assert all(lesson["licence"] for lesson in card["learned_from"])
        assert card["signature"].startswith("metric:")


def test_the_card_of_an_adapter_on_disk_and_of_a_broken_one(tmp_path):
    source = CARDS[0].parent
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "card.json").write_bytes((source / "card.json").read_bytes())
    (card,) = describe_model(str(folder)).to_dict()["adapters"]
    assert card["licence"] == "not stated" and card["base_licence"] == "Apache-2.0"
    (folder / "card.json").write_text("{}")
    with pytest.raises(ModelError, match="it lacks 'base'"):
        describe_model(f"auto+{folder}")
    with pytest.raises(ModelError, match="no adapter fast for all-mpnet-base-v2"):
        describe_model("all-mpnet-base-v2+fast")
    with pytest.raises(ModelError, match="neither a directory"):
        describe_model(f"auto+{Path(tmp_path, 'missing')}")


def test_no_file_stands_in_two_entries_by_name():
    patterns = Counter(path for entry in read_licences() for path in entry["paths"])
    assert [path for path, count in patterns.items() if count > 1] == []
