"""A run in blocks is a run: the same results to the last byte, whatever is done when, and again
after a fault.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace

import pyarrow.parquet
import pytest
from cluster_pairs import METRICS, parts, plain, recipe, write_pairs

from monge.cluster import ClusterProgress, ClusterRequest, ParallelFiles, Tables, score, worker
from monge.cluster.parts import write_part
from monge.cluster.run_folder import Folder, write_atomically
from monge.datasets.parallel import read_parallel
from monge.datasets.tables import read_table
from monge.errors import DataError, MongeError, UsageError
from monge.scoring.encoding import Reader

OVERLONG = ("bertscore[weights=idf,encoder.overlong=error]",)


@pytest.fixture
def table(tmp_path):
    return write_pairs(tmp_path / "pairs.jsonl")


def request(tmp_path, name: str = "out", **more) -> ClusterRequest:
    return ClusterRequest(tmp_path / name, "jsonl", seed=12345, **more)


def test_results_equal_those_of_one_machine_byte_by_byte(here, table, tiny_bert, tmp_path):
    found = score(Tables([str(table)]), recipe(tiny_bert), request(tmp_path))
    assert found.result.read_text("utf-8") == plain(read_table(table), tiny_bert)
    assert len({block for _, block in here.done}) >= 3
    assert not (tmp_path / "out" / "work").exists()
    ids = [
        json.loads(line)["id"]
        for data in parts(found.output).values()
        for line in data.splitlines()
    ]
    assert ids == [f"i{item}" for _ in "AB" for item in range(700) for _ in METRICS]


def test_a_run_begun_again_does_what_is_missing_and_ends_with_the_same_bytes(
    here, table, tiny_bert, tmp_path
):
    given, made = Tables([str(table)]), recipe(tiny_bert)
    whole = parts(score(given, made, request(tmp_path, "whole")).output)
    here.dies = {1}
    with pytest.raises(
        MongeError,
        match=r"pairs\.jsonl:\d+ to .*pairs\.jsonl:\d+: given up \(its worker died 4 times",
    ):
        score(given, made, request(tmp_path))
    here.dies = set()
    before = len(here.done)
    found = score(given, made, request(tmp_path))
    assert ("count", 1) in here.done[before:] and ("count", 0) not in here.done[before:]
    assert parts(found.output) == whole
    damaged = sorted((found.output / "parts").iterdir())[2]
    damaged.write_bytes(damaged.read_bytes()[:-1] + b" ")
    before = len(here.done)
    left = [
        found.output / home / f".{name}.4711"
        for home, name in (("parts", damaged.name), ("records", "000002.json"))
    ]
    for one in left:
        one.write_bytes(b"half of it")  # by a worker that was killed
    score(given, made, request(tmp_path))
    assert here.done[before:] == [("score", 2)]
    assert parts(found.output) == whole
    assert not any(one.exists() for one in left)


def test_a_finished_run_is_not_computed_again(here, table, tiny_bert, tmp_path):
    first = score(
        Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path)
    ).result.read_text()
    before = len(here.done)
    assert (
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path)).result.read_text()
        == first
    )
    assert len(here.done) == before


def test_other_settings_and_another_input_are_refused(here, table, tiny_bert, tmp_path):
    score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path))
    with pytest.raises(
        UsageError,
        match=r'metrics was \["twmd"\], is \["bertscore"\]; -o another place, or --fresh',
    ):
        score(Tables([str(table)]), recipe(tiny_bert, "bertscore"), request(tmp_path))
    with pytest.raises(UsageError, match="format was"):
        score(
            Tables([str(table)]), recipe(tiny_bert, "twmd"), replace(request(tmp_path), form="tsv")
        )
    table.write_text(table.read_text("utf-8").replace("cat", "dog", 1), "utf-8")
    with pytest.raises(UsageError, match=r"another input \(1400 rows, now 1400\)"):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path))
    assert (
        score(
            Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, fresh=True)
        ).bad_rows
        == 0
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"holds thesis\.tex and no run of monge"):
        score(
            Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, "mine", fresh=True)
        )


def test_a_table_in_parts_and_files_side_by_side_are_the_same_input(here, tiny_bert, tmp_path):
    rows = [
        json.loads(line)
        for line in write_pairs(tmp_path / "all.jsonl", 300, ("A",)).read_text().splitlines()
    ]
    (tmp_path / "parts").mkdir()
    for number, some in enumerate((rows[:11], rows[11:])):
        lines = [
            json.dumps({"hypothesis": one["hypothesis"], "reference": one["reference"]})
            for one in some
        ]
        (tmp_path / "parts" / f"{number}.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("hypothesis", "reference"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{one[name]}\n" for one in rows))
    files = str(tmp_path / "hypothesis.txt"), str(tmp_path / "reference.txt")
    names = ("twmd", "bertscore[weights=idf]")
    aside = score(
        ParallelFiles([files[0]], [files[1]], None), recipe(tiny_bert, *names), request(tmp_path)
    )
    assert aside.result.read_text() == plain(
        read_parallel([files[0]], [files[1]]), tiny_bert, *names
    )
    one = replace(request(tmp_path, "scores.parquet"), form="parquet")
    joined = score(Tables([str(tmp_path / "parts")]), recipe(tiny_bert, *names), one)
    table = pyarrow.parquet.read_table(joined.output)
    assert table["id"].to_pylist() == [str(number + 1) for number in range(300) for _ in names]
    assert [dict(one, system="") for one in aside.results] == list(joined.results)
    assert sorted(path.name for path in tmp_path.glob("scores*")) == [
        "scores.parquet",
        "scores.result.json",
    ]


def test_poisoned_rows_are_named_and_the_rest_is_scored(here, tiny_bert, tmp_path):
    lines = (
        write_pairs(tmp_path / "clean.jsonl", 400, ("A",)).read_bytes().splitlines(keepends=True)
    )
    poison = {
        6: b'{"id": "n", "system": "A", "hypothesis": null, "reference": "the cat"}\n',
        150: b'{"id": "u", "system": "A", "hypothesis": "the \xff cat", "reference": "the cat"}\n',
        151: b"{not json}\n",
        400: json.dumps(
            {"id": "l", "system": "A", "hypothesis": "cat " * 90, "reference": "cat"}
        ).encode()
        + b"\n",
    }
    for place, line in poison.items():
        lines.insert(place - 1, line)
    (tmp_path / "poisoned.jsonl").write_bytes(b"".join(lines))
    given = Tables([str(tmp_path / "poisoned.jsonl")])
    made = recipe(tiny_bert, *OVERLONG)
    with pytest.raises(DataError, match=r"poisoned\.jsonl:150: not UTF-8: byte 0xff"):
        score(given, made, request(tmp_path))
    found = score(given, made, request(tmp_path, tolerant=True))
    told = [
        json.loads(line)["why"]
        for line in (found.output / "bad-rows.jsonl").read_text().splitlines()[:3]
    ]
    assert [why.split("poisoned.jsonl:")[1].split(":")[0].split(",")[0] for why in told] == [
        "6",
        "150",
        "151",
    ]
    last = json.loads((found.output / "bad-rows.jsonl").read_text().splitlines()[3])
    assert (last["line"], last["file"].endswith("poisoned.jsonl")) == (400, True)
    assert "92 pieces" in last["why"]
    assert found.bad_rows == 4
    clean = json.loads(plain(read_table(tmp_path / "clean.jsonl"), tiny_bert, *OVERLONG))[
        "results"
    ][0]
    assert found.results[0]["n"] == clean["n"] == 400
    assert found.results[0]["score"] == pytest.approx(clean["score"], abs=1e-6)
    assert found.results[0]["signature"] == clean["signature"]


def test_a_block_that_no_worker_survives_is_counted_where_it_may_be(
    here, table, tiny_bert, tmp_path
):
    here.dies = {1}
    found = score(
        Tables([str(table)]),
        recipe(tiny_bert, "bertscore[weights=idf]"),
        request(tmp_path, tolerant=True),
    )
    bad = [json.loads(line) for line in (found.output / "bad-rows.jsonl").read_text().splitlines()]
    assert found.bad_rows == len(bad) == 1400 - sum(one["n"] for one in found.results)
    assert [one["line"] for one in bad] == list(range(bad[0]["line"], bad[-1]["line"] + 1))
    assert "its worker died 4 times" in bad[0]["why"]
    here.dies = set()
    again = score(
        Tables([str(table)]),
        recipe(tiny_bert, "bertscore[weights=idf]"),
        request(tmp_path, fresh=True),
    )
    assert (again.bad_rows, sum(one["n"] for one in again.results)) == (0, 1400)


def test_a_full_disk_ends_a_run_that_can_be_gone_on_with(
    here, table, tiny_bert, tmp_path, monkeypatch
):
    def full(place, *_, **__):
        place.write_bytes(b"half of ")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(worker, "write_part", full)
    with pytest.raises(
        MongeError, match=r"given up \(OSError: \[Errno 28\] No space left on device, 3 times\)"
    ):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path))
    assert not list((tmp_path / "out" / "parts").iterdir())
    monkeypatch.setattr(worker, "write_part", write_part)
    whole = score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, "whole"))
    again = score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path))
    assert parts(again.output) == parts(whole.output)


def test_a_disk_that_is_full_on_one_node_costs_a_second_attempt(
    here, table, tiny_bert, tmp_path, monkeypatch
):
    whole = score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, "whole"))
    tries = []

    def full_for_some(place, *rest, **more):
        tries.append(place.name)
        if len(tries) in (1, 3):
            place.write_bytes(b"half of ")
            raise OSError(28, "No space left on device")
        write_part(place, *rest, **more)

    monkeypatch.setattr(worker, "write_part", full_for_some)
    told = []
    watch = ClusterProgress(block_done=lambda what, about: told.append(about))
    found = score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path), watch=watch)
    assert parts(found.output) == parts(whole.output)
    assert found.result.read_text("utf-8") == whole.result.read_text("utf-8")
    failed = [one["error"] for one in told if one["error"]]
    assert failed == ["OSError: [Errno 28] No space left on device"] * 2
    assert len(tries) == len(parts(whole.output)) + 2


def test_a_worker_that_cannot_load_its_model_says_why(
    here, table, tiny_bert, tmp_path, monkeypatch
):
    def broken(job, encoding):
        raise RuntimeError("no room for the model")

    monkeypatch.setattr(worker, "Worker", broken)
    with pytest.raises(
        MongeError, match=r"given up \(RuntimeError: no room for the model, 3 times\)"
    ):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path))


def test_the_driver_counts_until_there_are_workers(here, table, tiny_bert, tmp_path, monkeypatch):
    here.workers_after = 3  # looks at whether there are any
    told = []
    watch = ClusterProgress(
        block_done=lambda what, about: told.append((what, about["block"], about["rows"]))
    )
    found = score(Tables([str(table)]), recipe(tiny_bert), request(tmp_path), watch=watch)
    assert found.result.read_text("utf-8") == plain(read_table(table), tiny_bert)
    counted = [block for what, block, _ in told if what == "count"]
    by_workers = [block for what, block in here.done if what == "count"]
    assert counted[:2] == [0, 1]
    assert sorted(counted) == sorted([0, 1, *by_workers])
    assert not worker._workers or worker._workers.keys() != {""}


def test_a_worker_cuts_a_text_once_for_counting_and_scoring(
    here, table, tiny_bert, tmp_path, monkeypatch
):
    read, cut = Reader.read, []
    monkeypatch.setattr(Reader, "read", lambda self, texts: cut.extend(texts) or read(self, texts))
    before = len(
        score(
            Tables([str(table)]), recipe(tiny_bert, "bertscore[weights=idf]"), request(tmp_path)
        ).results
    )
    assert before == 2
    looked_at = Counter(cut)
    assert (
        max(looked_at.values()) <= 2
    )  # by the driver, which looks at the first texts, and by the worker


def test_a_file_is_whole_or_not_there(tmp_path):
    def half(place):
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "part", half)
    assert not list(tmp_path.iterdir())


def test_ranges_of_blends_are_those_of_all_pairs(here, table, tiny_bert, tmp_path):
    names = "sentsim", "twmd", "sentsim-wmd"
    lines = table.read_text("utf-8").splitlines(keepends=True)
    lines[3] = (
        json.dumps({"id": "i3", "system": "A", "hypothesis": "", "reference": "the cat"}) + "\n"
    )
    table.write_text("".join(lines), "utf-8")
    found = score(Tables([str(table)]), recipe(tiny_bert, *names), request(tmp_path))
    assert found.result.read_text("utf-8") == plain(read_table(table), tiny_bert, *names)
    assert {what for what, _ in here.done} == {"range", "score"}
    assert len({block for what, block in here.done if what == "range"}) >= 3


def test_a_linear_blend_is_that_of_one_machine(here, table, tiny_bert, tmp_path, monkeypatch):
    """Its members' statistics are fitted over all blocks, beside the ranges of another blend."""
    from monge.metrics.blend import BLENDS, BlendPreset, BlendSpec, LinearSum, LinearTerm
    from monge.metrics.lexical import LexicalSpec
    from monge.metrics.presets import PRESETS

    members = {"moverscore": PRESETS["moverscore"].spec, "chrf": LexicalSpec("chrf")}
    terms = {name: LinearTerm(name, 0.5, 0.4, 0.1) for name in members}
    row = BlendPreset(BlendSpec(members, LinearSum(terms)), "a linear blend", "this test")
    monkeypatch.setitem(BLENDS, "linear", row)
    names = "linear", "sentsim", "twmd"
    outcome = score(Tables([str(table)]), recipe(tiny_bert, *names), request(tmp_path))
    assert outcome.result.read_text("utf-8") == plain(read_table(table), tiny_bert, *names)


def test_ranges_that_are_given_are_not_fitted(here, table, tiny_bert, tmp_path):
    from monge import api

    texts = ["the cat sat", "a dog ran to the house", "hello new world"]
    stats = api.load("sentsim", model=tiny_bert).fit(
        references=texts, hypotheses=[*texts[1:], "it slept"]
    )
    found = score(
        Tables([str(table)]), replace(recipe(tiny_bert, "sentsim"), stats=stats), request(tmp_path),
        corpora=api.Corpora(stats),
    )  # fmt: skip
    metrics = [api.load("sentsim", model=tiny_bert)]
    results = api.with_intervals(
        api.score_segments(metrics, read_table(table), corpora=api.Corpora(stats))
    )
    assert list(found.results) == [one.to_dict(segments=False) for one in results]
    assert {what for what, _ in here.done} == {"score"}


@pytest.mark.parametrize(
    ("name", "says"),
    [("cider", "all segments of a system"), ("twmd[centre=batch(32)]", "32 neighbours")],
)
def test_what_needs_all_segments_in_one_place_is_refused(
    here, table, tiny_bert, tmp_path, name, says
):
    with pytest.raises(UsageError, match=says):
        score(Tables([str(table)]), recipe(tiny_bert, name), request(tmp_path))
    assert not Folder(tmp_path / "out").path.exists()
    shutil.rmtree(tmp_path / "out", ignore_errors=True)


def test_another_input_leaves_the_unfinished_run_as_it_was(here, table, tiny_bert, tmp_path):
    """Blocks were overwritten before the digest was compared: the run was refused, and the one it
    met damaged.
    """
    given, made = Tables([str(table)]), recipe(tiny_bert, "twmd")
    whole = parts(score(given, made, request(tmp_path, "whole")).output)
    here.dies = {1}
    with pytest.raises(MongeError, match="given up"):
        score(given, made, request(tmp_path))
    work = tmp_path / "out" / "work" / "blocks"
    before = {path.name: path.read_bytes() for path in work.iterdir()}
    other = write_pairs(tmp_path / "other.jsonl")
    other.write_text(other.read_text("utf-8").replace("cat", "dog"), "utf-8")
    with pytest.raises(UsageError, match="another input"):
        score(Tables([str(other)]), made, request(tmp_path))
    assert {path.name: path.read_bytes() for path in work.iterdir()} == before
    assert not list((tmp_path / "out" / "work").glob("new-blocks*"))
    here.dies = set()
    assert parts(score(given, made, request(tmp_path)).output) == whole


@pytest.mark.parametrize("form", ["parquet", "tsv", "jsonl"])
def test_a_first_block_without_a_good_row_does_not_break_joining(here, tiny_bert, tmp_path, form):
    texts = ["the cat " * 80] * 300 + ["the cat"] * 400
    rows = [
        {"id": f"i{k}", "hypothesis": text, "reference": "a cat"} for k, text in enumerate(texts)
    ]
    table = tmp_path / "pairs.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    asked = ClusterRequest(tmp_path / f"out.{form}", form, seed=12345, tolerant=True)
    found = score(
        Tables([str(table)]), recipe(tiny_bert, "bertscore[encoder.overlong=error]"), asked
    )
    assert found.bad_rows == 300
    data = found.output.read_bytes()
    if form == "parquet":
        joined = pyarrow.parquet.read_table(found.output)
        assert joined.num_rows == 400 and "precision" in joined.column_names
    else:
        lines = data.decode().splitlines()
        assert len(lines) == 400 + (form == "tsv") and "precision" in lines[0]


@pytest.mark.parametrize("manifest", ['{"name": "my experiment"}', "not JSON", None])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_directory_of_somebody_else_is_never_emptied(
    here, table, tiny_bert, tmp_path, manifest, fresh
):
    folder = tmp_path / "out"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "chapter-1.txt").write_text("mine")
    (folder / "result.json").write_text("{}")
    if manifest is not None:
        (folder / "manifest.json").write_text(manifest)
    with pytest.raises(UsageError, match="no run of monge: give -o another directory"):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, fresh=fresh))
    assert (folder / "parts" / "chapter-1.txt").read_text() == "mine" and (
        folder / "result.json"
    ).read_text() == "{}"


def test_fresh_takes_away_what_the_run_wrote_and_nothing_else(here, table, tiny_bert, tmp_path):
    given, made = Tables([str(table)]), recipe(tiny_bert, "twmd")
    found = score(given, made, request(tmp_path))
    for name in ("notes.txt", "parts/notes.txt", "records/notes.txt"):
        (found.output / name).write_text("mine")
    (found.output / "manifest.json").write_text("damaged")
    with pytest.raises(UsageError, match="--fresh"):
        score(given, made, request(tmp_path))
    again = score(given, recipe(tiny_bert, "bertscore"), request(tmp_path, fresh=True))
    names = ("notes.txt", "parts/notes.txt", "records/notes.txt")
    assert all((again.output / name).read_text() == "mine" for name in names)
    assert '"bertscore"' in again.result.read_text()


@pytest.mark.parametrize("error", [MemoryError("no room"), RuntimeError("a kernel")])
def test_only_wrong_data_make_a_row_bad(here, table, tiny_bert, tmp_path, monkeypatch, error):
    """Memory may be there next time: a row that failed for want of it is not left out for good."""
    real, calls = worker.Worker._score_rows, []

    def failing(self, rows, windows):
        calls.append(windows)
        raise error

    monkeypatch.setattr(worker.Worker, "_score_rows", failing)
    with pytest.raises(MongeError, match="given up"):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, tolerant=False))
    assert all(len(windows[0]) > 1 for windows in calls), "no row was tried by itself"
    monkeypatch.setattr(worker.Worker, "_score_rows", real)
    found = score(
        Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path, tolerant=False)
    )
    assert found.bad_rows == 0
