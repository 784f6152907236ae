"""What data sets need and what is there: every set, every role that a reader asks for."""

import pytest

from monge.datasets import dataset_names, describe, open_dataset
from monge.datasets.inventory import OPTIONAL, take_stock
from monge.errors import UnknownName, Unreadable

PUBLISHED = [name for name in dataset_names() if name != "table"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_human_column_says_which_files_it_needs(name):
    dataset = describe(name)
    for human in dataset.humans:
        assert dataset.needs(human), human
        assert {role for some in dataset.needs(human) for role in some} <= set(dataset.files)
    (stock,) = take_stock([name]).datasets
    assert {file_role.role for file_role in stock.file_roles if not file_role.used_by} <= set(
        OPTIONAL
    )
    assert stock.readable is None


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_empty_directory_has_none_of_them_and_the_error_says_so(name, tmp_path):
    (stock,) = take_stock([name], tmp_path).datasets
    assert stock.readable == ()
    assert all(one.state == "missing" for one in stock.file_roles)
    with pytest.raises(Unreadable) as caught:
        open_dataset(name, tmp_path, level=describe(name).levels[0])
    assert f"{name}: no file " in str(caught.value)
    assert f"monge data {name} {tmp_path} lists" in str(caught.value)


def test_what_is_there_is_found_and_what_can_be_read_is_what_opens(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "sts-test.csv").write_text(
        "g\tf\ty\t01\t2.5\ta\tb\ng\tf\ty\t02\t3\tc\td\n"
    )
    found = take_stock(directory=tmp_path)
    assert [one.dataset.name for one in found.datasets] == PUBLISHED
    assert {one.dataset.name: one.readable for one in found.datasets if one.readable} == {
        "stsb": ("score",)
    }
    assert open_dataset("stsb", tmp_path).n == 2
    stsb = next(one for one in found.to_dict()["datasets"] if one["name"] == "stsb")
    assert stsb["files"][0]["found"] == [str(tmp_path / "deep" / "sts-test.csv")]
    (sheet,) = take_stock(["stsb"], tmp_path).sheets()
    assert [sheet.rows[0][k].text for k in (0, 3, 4)] == ["original", "1 file", "deep/sts-test.csv"]
    assert sheet.rows[1][3].text == "missing"


def test_a_wrong_name_or_directory(tmp_path):
    with pytest.raises(UnknownName, match="did you mean wmt17"):
        take_stock(["wmt-17"])
    with pytest.raises(Unreadable, match="no such directory"):
        take_stock([], tmp_path / "none")
