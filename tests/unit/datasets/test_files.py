"""Published files found by name, at any depth, of the right year."""

import pytest

from monge.datasets.files import Files
from monge.errors import Unreadable


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "collection"
    for name in [
        "wmt17-seg-da/DA-syslevel.csv",
        "wmt18-darr/DA-syslevel.csv",
        "wmt18-darr/scores/ad-seg-scores-cs-en.csv.xz",
        "sts-2012-2014/2013/OnWN.test.tsv",
    ]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


def test_the_year_tells_equal_names_apart(root):
    files = Files(root)
    assert files.one(["DA-syslevel.csv"], 17) == root / "wmt17-seg-da/DA-syslevel.csv"
    assert files.one(["DA-syslevel.csv"], 18) == root / "wmt18-darr/DA-syslevel.csv"
    assert files.year_of(root / "sts-2012-2014/2013/OnWN.test.tsv") == 13
    with pytest.raises(
        Unreadable, match=r"not found of 2019 below .*; looked for DA-syslevel\.csv"
    ):
        files.one(["DA-syslevel.csv"], 19)


def test_a_directory_without_a_year_is_taken_at_its_word(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "DA-syslevel.csv").write_text("x\n")
    assert Files(folder).one(["DA-syslevel.csv"], 17).parent == folder


def test_templates_tell_what_varies_and_compression_does_not_matter(root):
    [(path, fields)] = Files(root).match(["ad-seg-scores-{pair}.csv"])
    assert path.name.endswith(".xz")
    assert fields == {"pair": "cs-en"}


def test_no_directory(tmp_path):
    with pytest.raises(Unreadable, match="no such directory"):
        Files(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unreadable, match="is a file; expected the directory"):
        Files(tmp_path / "file")
