"""Every data set has a complete file of data."""

import pytest

from monge.datasets import dataset_names, describe
from monge.datasets.opening import READERS
from monge.errors import InvalidSetting, UnknownName

NAMES = dataset_names()


@pytest.mark.parametrize("name", NAMES)
def test_a_description_is_whole(name):
    dataset = describe(name)
    assert dataset.title
    assert dataset.licence
    assert dataset.citation or name == "table"
    assert dataset.reader in {*READERS, "table"}
    assert dataset.human in dataset.humans
    assert set(dataset.levels) <= {"segment", "system", "document", "domain"}
    assert dataset.mean == ("weighted" if name.startswith("sts1") else "unweighted")
    assert dataset.references == ("mean" if name.startswith("tac") else "max")
    assert {row["statistic"] for row in dataset.humans.values()} <= {
        "pearson",
        "spearman",
        "kendall",
        "darr",
    }
    assert set(dataset.expected) <= set(dataset.humans)


def test_unknown_names_offer_the_nearest():
    with pytest.raises(UnknownName, match="did you mean wmt17"):
        describe("wmt-17")
    with pytest.raises(UnknownName, match="did you mean responsiveness"):
        describe("tac08").resolve_human("responsivness", "segment")


def test_a_human_column_may_go_by_its_name_in_the_file():
    assert describe("tac08").resolve_human("pyr_score", "segment") == "pyramid"
    assert describe("wmt18").resolve_human(None, "segment") == "darr"
    assert describe("wmt18").resolve_human(None, "system") == "da"


def test_switches_are_checked():
    wmt17 = describe("wmt17")
    assert wmt17.resolve_switches("raw", {})["entities"] is False
    assert wmt17.resolve_switches("tokenised", {})["entities"] is True
    assert wmt17.resolve_switches("tokenised", {"entities": False})["entities"] is False
    with pytest.raises(UnknownName, match="did you mean detokenise"):
        wmt17.resolve_switches("raw", {"detokenize": True})
    with pytest.raises(InvalidSetting, match="fill takes bool, got 'no'"):
        wmt17.resolve_switches("raw", {"fill": "no"})


def test_what_the_published_experiment_did_is_on_record():
    assert describe("wmt17").published["keep_subwords_for"] == ["fi-en", "lv-en"]
    assert describe("tac08").published["include_human_peers"] is True
