"""Columns and tables of pandas, polars, pyarrow and datasets: in, out, and from disk in batches."""

from __future__ import annotations

import json

import pandas
import polars
import pyarrow
import pytest
from pyarrow import feather, ipc, parquet

import monge
from monge.cli.app import run
from monge.datasets import read_table
from monge.datasets.arrow import read_arrow
from monge.errors import UnknownName, Unreadable

METRIC = "chrf"
pytestmark = pytest.mark.usefixtures("quietly")


@pytest.fixture(scope="module")
def rows(pairs):
    return [{"hypothesis": h, "references": [r, r.upper()]} for h, r in zip(*pairs, strict=True)]


@pytest.fixture(scope="module")
def expected(rows):
    texts = ([row["hypothesis"] for row in rows], [row["references"] for row in rows])
    return monge.score(*texts, metric=METRIC)


def of_datasets(rows):
    import datasets

    return datasets.Dataset.from_list(rows)


MAKERS = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.Table.from_pylist,
    "datasets": of_datasets,
}


@pytest.mark.parametrize("library", MAKERS)
def test_columns_of_every_library(rows, expected, library):
    table = MAKERS[library](rows)
    found = monge.score(table["hypothesis"], table["references"], metric=METRIC)
    assert found.segments.tolist() == expected.segments.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_result_becomes_a_frame_of_every_library(expected, library):
    found = expected.to_frame(library)
    names = found.column_names if library == "pyarrow" else list(found.columns)
    assert names[:2] == ["id", "score"]
    column = found["score"]
    assert (
        column.to_pylist() if library == "pyarrow" else list(column)
    ) == expected.segments.tolist()
    several = monge.score(["a cat"], ["a dog"], metric=["chrf", "ter"]).to_frame(library)
    assert set(several.column_names if library == "pyarrow" else several.columns) == {
        "id",
        "chrf",
        "ter",
    }
    with pytest.raises(UnknownName, match="did you mean polars"):
        expected.to_frame("polar")


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table = pyarrow.Table.from_pylist(rows)
    parquet.write_table(table, folder / "rows.parquet")
    feather.write_feather(table, folder / "rows.feather")
    with ipc.new_stream(folder / "rows.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=3)
    saved = of_datasets(rows)
    saved.save_to_disk(folder / "saved", num_shards=2)
    import datasets

    datasets.DatasetDict({"test": saved, "dev": saved.select([1, 0])}).save_to_disk(
        folder / "splits"
    )
    return folder


@pytest.mark.parametrize(
    "name", ["rows.parquet", "rows.feather", "rows.arrow", "saved", "splits/test"]
)
def test_the_command_reads_tables_of_arrow_and_directories_of_datasets(
    files, expected, name, capsys
):
    assert run(["score", str(files / name), "-m", METRIC, "-f", "json", "--segments"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert [one["score"] for one in found["segments"]] == expected.segments.tolist()


def test_a_selection_is_saved_in_its_own_order(files, rows):
    assert [one.hypothesis for one in read_table(files / "splits" / "dev")] == [
        rows[k]["hypothesis"] for k in (1, 0)
    ]


def test_what_cannot_be_read_is_said_in_a_line(files, tmp_path, capsys):
    assert run(["score", str(files / "splits")]) == 1
    assert "holds several splits: give one, " in capsys.readouterr().err
    (tmp_path / "no.arrow").write_bytes(b"no arrow at all, by any means")
    with pytest.raises(Unreadable, match="not Arrow"):
        list(read_arrow(str(tmp_path / "no.arrow")))
    with pytest.raises(Unreadable, match="standard input"):
        list(read_arrow("-"))


def test_a_large_file_is_not_loaded_whole(tmp_path):
    batch = pyarrow.RecordBatch.from_pylist([{"text": "word " * 200}] * 1000)
    with ipc.new_stream(tmp_path / "large.arrow", batch.schema) as stream:
        for _ in range(20):
            stream.write_batch(batch)
    before, most, count = pyarrow.total_allocated_bytes(), 0, 0
    for count, _ in enumerate(read_arrow(str(tmp_path / "large.arrow")), 1):
        most = max(most, pyarrow.total_allocated_bytes() - before) if count % 1000 == 1 else most
    assert count == 20_000
    assert most < 5_000_000 < (tmp_path / "large.arrow").stat().st_size
