"""`monge score --engine ray` as a user gives it; the workers are this process."""

from __future__ import annotations

import csv
import json

import pyarrow
import pyarrow.parquet
import pytest
from cluster_pairs import write_pairs

from monge.cli.app import run

METRICS = ("-m", "twmd", "-m", "chrf", "-m", "bertscore[weights=idf]")


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A directory with the same 400 pairs of one system in every format."""
    monkeypatch.chdir(tmp_path)
    lines = write_pairs(tmp_path / "pairs.jsonl", 400, ("A",)).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for name, delimiter in (("pairs.tsv", "\t"), ("pairs.csv", ",")):
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "pairs.parquet")
    for name in ("hypothesis", "reference"):
        (tmp_path / name).write_text("".join(f"{one[name]}\n" for one in rows))
    for number, part in enumerate((lines[:50], lines[50:])):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "part.jsonl").write_text("\n".join(part) + "\n")
    return tmp_path


@pytest.fixture
def monge(capsys, here, tiny_bert, workplace):
    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["score", *arguments, *METRICS, "--model", str(tiny_bert)])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def results(path) -> list[dict]:
    return json.loads(path.read_text("utf-8"))["results"]


@pytest.mark.parametrize(
    "given",
    [
        ("pairs.jsonl",),
        ("pairs.tsv",),
        ("pairs.csv",),
        ("pairs.parquet",),
        ("0", "1"),
        ("file://{here}/pairs.parquet",),
        ("file://{here}/0/part.jsonl", "file://{here}/1/part.jsonl"),
        ("file://{here}/0", "1/part.jsonl"),
        ("-t", "hypothesis", "-r", "reference"),
        ("-t", "file://{here}/hypothesis", "-r", "reference"),
    ],
)
def test_every_kind_of_input_gives_the_results_of_one_machine(monge, workplace, given):
    code, _, err = monge(
        *(one.format(here=workplace) for one in given), "--engine", "ray", "-o", "out", "--ci"
    )
    assert code == 0, err
    code, out, _ = monge("pairs.jsonl", "--ci", "-f", "json")
    expected = [{**one, "system": ""} for one in json.loads(out)["results"]]
    assert [{**one, "system": ""} for one in results(workplace / "out" / "result.json")] == expected
    assert not list(workplace.glob("*.input"))


def test_an_address_that_cannot_be_read_is_named(monge, workplace):
    code, _, err = monge(f"file://{workplace}/nowhere.jsonl", "--engine", "ray", "-o", "out")
    assert code == 1
    assert f"file://{workplace}/nowhere.jsonl: cannot be read" in err
    assert not (workplace / "out").exists()


@pytest.mark.parametrize("form", ["parquet", "jsonl", "tsv"])
def test_a_file_is_all_parts_one_after_another(monge, workplace, form):
    assert monge("pairs.jsonl", "--engine", "ray", "-o", f"all.{form}")[0] == 0
    assert monge("pairs.jsonl", "--engine", "ray", "-o", "out", "-f", form)[0] == 0
    parts = sorted((workplace / "out" / "parts").iterdir())
    assert len(parts) > 1
    whole = workplace / f"all.{form}"
    if form == "parquet":
        every = pyarrow.concat_tables([pyarrow.parquet.read_table(one) for one in parts])
        assert pyarrow.parquet.read_table(whole).equals(every)
        assert every["id"].to_pylist() == [f"i{k}" for k in range(400) for _ in range(3)]
    else:
        each = [one.read_text("utf-8").splitlines(keepends=True) for one in parts]
        head = each[0][:1] if form == "tsv" else []
        assert whole.read_text("utf-8") == "".join(
            [*head, *(line for some in each for line in some[len(head) :])]
        )
    assert results(workplace / "all.result.json") == results(workplace / "out" / "result.json")
    assert not list(workplace.glob("*.partial"))


def test_progress_for_machines_accounts_for_every_row(monge, workplace):
    code, _, err = monge("pairs.jsonl", "--engine", "ray", "-o", "out", "--log-json", "-q")
    assert code == 0
    events = [json.loads(line) for line in err.splitlines()]
    assert [one["pass"] for one in events if one["event"] == "began"] == [
        "read",
        "start",
        "count",
        "score",
    ]
    for what in ("count", "score"):
        done = [one for one in events if one["event"] == "done" and one["pass"] == what]
        assert sum(one["rows"] for one in done) == 400
        assert all(one["fresh"] and not one["error"] and one["seconds"] > 0 for one in done)


def test_texts_stand_beside_scores(monge, workplace):
    assert monge("pairs.jsonl", "--engine", "ray", "-o", "all.parquet", "--with-texts")[0] == 0
    found = pyarrow.parquet.read_table(workplace / "all.parquet").to_pylist()
    rows = [
        json.loads(line) for line in (workplace / "pairs.jsonl").read_text("utf-8").splitlines()
    ]
    assert [one["hypothesis"] for one in found[::3]] == [one["hypothesis"] for one in rows]
    assert [one["references"] for one in found[::3]] == [[one["reference"]] for one in rows]
    assert monge("pairs.jsonl", "-f", "parquet", "-o", "plain.parquet", "--with-texts")[0] == 0
    plain = pyarrow.parquet.read_table(workplace / "plain.parquet").to_pylist()
    key = lambda one: (one["metric"], int(one["id"][1:]))  # noqa: E731
    assert sorted(found, key=key) == sorted(plain, key=key)
