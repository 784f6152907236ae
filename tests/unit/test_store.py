"""The store on disk: what it keeps is whole or absent, bounded, and shared without harm."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import monge
from monge.api import score_segments, segments_of
from monge.cache import FILE, Store, key_of
from monge.errors import NotKept, UsageError
from monge.scoring.encoding import Encoding
from monge.scoring.run import ScoringRun

HYPOTHESES = [
    "the cat sat on the mat .",
    "the dog ran",
    "a cat is in the house",
    "unhappily he said hello",
]
REFERENCES = [
    "a cat sat on a mat .",
    "the dog ran to the house",
    "the cat is in it",
    "he said hello world",
]


def entry(number: int) -> tuple[bytes, bytes]:
    return key_of("test", number), bytes([number % 256]) * 100


def test_what_is_put_is_got(tmp_path):
    store = Store(tmp_path)
    store.put("a", [entry(i) for i in range(1200)])
    keys = [entry(i)[0] for i in range(1300)]
    assert Store(tmp_path).get(keys) == dict(entry(i) for i in range(1200))
    assert store.info().entries == {"a": 1200}
    store.clear()
    assert Store(tmp_path).get(keys) == {}


def test_a_store_of_an_earlier_layout_goes_on(tmp_path):
    store = Store(tmp_path)
    store.put("a", [entry(1)])
    store.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        (row,) = db.execute("SELECT key, kind, value, sum, used FROM entries").fetchall()
        db.executescript(
            "DROP TABLE entries; CREATE TABLE entries (key BLOB PRIMARY KEY, kind, value, sum, "
            "used)"
        )
        db.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", row)
    db.close()
    again = Store(tmp_path)
    again.put("a", [entry(2)])
    assert again.get([entry(1)[0], entry(2)[0]]) == dict(entry(i) for i in (1, 2))


def test_keys_tell_parts_apart():
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("ab", "c", "")}) == 4


def test_a_changed_value_is_absent(tmp_path):
    store = Store(tmp_path)
    store.put("a", [entry(1), entry(2)])
    store.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE entries SET value = ? WHERE key = ?", (b"other", entry(1)[0]))
    db.close()
    assert Store(tmp_path).get([entry(1)[0], entry(2)[0]]) == dict([entry(2)])


def test_a_value_under_another_key_is_absent(tmp_path):
    store = Store(tmp_path)
    store.put("a", [entry(1)])
    store.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE entries SET key = ?", (entry(2)[0],))
    db.close()
    assert Store(tmp_path).get([entry(2)[0]]) == {}


@pytest.mark.filterwarnings("ignore::monge.errors.NotKept")
@pytest.mark.parametrize("seed", range(30))
def test_flipped_bits_never_give_a_wrong_value(tmp_path, seed):
    store = Store(tmp_path)
    values = dict(entry(i) for i in range(50))
    store.put("a", values.items())
    store.close()
    draw = random.Random(seed)
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    for _ in range(8):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)
    again = Store(tmp_path)
    found = again.get(list(values))
    assert all(values[key] == value for key, value in found.items())
    again.put("a", [entry(99)])  # and it can still be used
    again.close()


def test_a_file_that_is_no_store_is_set_aside(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    store = Store(tmp_path)
    with pytest.warns(
        NotKept, match="damaged: it is set aside as monge-cache.damaged and begun anew"
    ):
        assert store.get([entry(1)[0]]) == {}
    store.put("a", [entry(1)])
    assert store.get([entry(1)[0]]) == dict([entry(1)])
    assert (tmp_path / FILE).with_suffix(".damaged").exists()


def test_the_size_is_bounded(tmp_path):
    store = Store(tmp_path, limit=300_000)
    for start in range(0, 20_000, 500):
        store.put("a", [entry(i) for i in range(start, start + 500)])
    held = store.info()
    assert 0 < held.size["a"] < 300_000
    assert store.get([entry(19_999)[0]])  # the newest stay


WRITER = """
import sys
from monge.cache import Store, key_of
own, rounds, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for line in sys.stdin:  # a line starts a round: all processes read it at the same moment
    with Store(f"{folder}/{line.strip()}") as store:
        for i in range(3):
            store.put("a", [(key_of("p", i), bytes([i]) * 50), (key_of("own", own, i), b"x" * 3000)])
    print(len(store.troubles), flush=True)
"""
PROCESSES, ROUNDS = 8, int(os.environ.get("MONGE_STORE_ROUNDS", "40"))


def test_processes_that_open_and_fill_a_new_directory_at_once_lose_nothing(tmp_path):
    """Before: healthy files were set aside as damaged, and entries were lost, in one round of
    ten.
    """
    command = [sys.executable, "-W", "error", "-c", WRITER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [
        subprocess.Popen([*command, str(k), str(ROUNDS), str(tmp_path)], **pipes)
        for k in range(PROCESSES)
    ]
    keys = [key_of("p", i) for i in range(3)] + [
        key_of("own", k, i) for k in range(PROCESSES) for i in range(3)
    ]
    for number in range(ROUNDS):
        for process in running:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
        assert [process.stdout.readline() for process in running] == ["0\n"] * PROCESSES
        with Store(tmp_path / str(number)) as store:
            assert len(store.get(keys)) == len(keys), f"round {number}"
        assert [path.name for path in (tmp_path / str(number)).iterdir()] == [FILE]
    for process in running:
        process.communicate()
    assert [process.returncode for process in running] == [0] * PROCESSES


HOLDER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
print("free", flush=True)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that locks the file of a store until it is sent a line."""
    started = []

    def hold():
        command = [sys.executable, "-c", HOLDER, str(tmp_path / FILE)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in started:
        process.communicate("\n")


def released(process):
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "free\n"


@pytest.mark.parametrize("new", [True, False])
def test_entries_wait_for_a_lock_and_are_kept_when_it_is_gone(tmp_path, holder, new):
    """Before: `generator didn't yield` ended the run, or one time-out turned writing off."""
    if not new:
        with Store(tmp_path) as store:
            store.put("a", [entry(0)])
    process = holder()
    with Store(tmp_path, patience=0.2) as store:
        for i in range(1, 5):
            store.put("a", [entry(i)])
        assert store.get([entry(i)[0] for i in range(1, 5)]) == dict(entry(i) for i in range(1, 5))
        released(process)
        store.put("a", [entry(5)])
    assert store.troubles == []
    first = 1 if new else 0
    with Store(tmp_path) as store:
        assert len(store.get([entry(i)[0] for i in range(first, 6)])) == 6 - first


def test_a_lock_that_is_held_to_the_end_costs_the_entries_and_is_said_once(tmp_path, holder):
    with Store(tmp_path) as store:
        store.put("a", [entry(0)])
    holder()
    begun = time.monotonic()
    with (
        pytest.warns(NotKept, match="locked: 20 new entries") as caught,
        Store(tmp_path, patience=0.3) as store,
    ):
        for i in range(1, 21):
            store.put("a", [entry(i)])
        assert store.get([entry(0)[0]]) == dict([entry(0)])
        assert "locked" in store.refusal()
    assert len(caught) == len(store.troubles) == 1
    assert time.monotonic() - begun < 3, (
        "a lock is waited for twice: when it is met, and on closing"
    )
    assert not (tmp_path / FILE).with_suffix(".damaged").exists()


def test_scores_come_out_under_a_lock(tmp_path, tiny_bert, holder, monkeypatch):
    monkeypatch.setattr("monge.cache.entries._WAIT", 0.1)
    metric = monge.load("bertscore", model=str(tiny_bert))
    rows = segments_of(HYPOTHESES, REFERENCES)
    holder()
    with pytest.warns(NotKept, match="locked"), Store(tmp_path, patience=0.1) as store:
        found = score_segments([metric], rows, cache=store)[0]
    assert found.segments.tolist() == score_segments([metric], rows)[0].segments.tolist()


def test_too_much_to_wait_in_memory_is_given_up(tmp_path, holder, monkeypatch):
    monkeypatch.setattr("monge.cache.entries._WAITING_BYTES", 1000)
    holder()
    with (
        pytest.warns(NotKept, match="locked: 12 new entries") as caught,
        Store(tmp_path, patience=0.0) as store,
    ):
        for i in range(12):
            store.put("a", [entry(i)])
    assert len(caught) == 1


def test_another_versions_file_is_left_alone(tmp_path):
    """Before: its entries were read and written, whatever they meant."""
    with Store(tmp_path) as store:
        store.put("a", [entry(1)])
    for change in (
        "PRAGMA user_version=7",
        "PRAGMA user_version=0; ALTER TABLE entries RENAME COLUMN value TO data",
    ):
        db = sqlite3.connect(tmp_path / FILE)
        db.executescript(change)
        db.close()
        before = (tmp_path / FILE).read_bytes()
        with Store(tmp_path) as store:
            with pytest.warns(
                NotKept, match="written by another version of monge and is left as it is"
            ) as caught:
                assert store.get([entry(1)[0]]) == {}
                store.put("a", [entry(2)])
                store.put("a", [entry(3)])
            assert len(caught) == 1
            assert "another version" in store.refusal()
            with pytest.raises(UsageError, match="another version"):
                store.info()
        assert (tmp_path / FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


UNPRIVILEGED = """
import os, sys, warnings
from monge.cache import Store, key_of
if os.getuid() == 0:
    os.setuid(65534)
with warnings.catch_warnings(record=True) as caught, Store(sys.argv[1]) as store:
    warnings.simplefilter("always")
    print(len(store.get([key_of("test", 1)])), store.info().entries)
    store.put("a", [(key_of("new"), b"x")])
    store.put("a", [(key_of("newer"), b"x")])
    print(len(caught), caught[0].message if caught else "")
    print(store.refusal())
"""


@pytest.fixture
def open_folder():
    """A directory that another user can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def unprivileged(folder):
    command = [sys.executable, "-c", UNPRIVILEGED, str(folder)]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()


def test_a_read_only_directory_is_read(open_folder):
    """Before: it seemed empty."""
    with Store(open_folder) as store:
        store.put("a", [entry(1)])
    open_folder.chmod(0o555)
    found, said, refusal = unprivileged(open_folder)
    assert found == "1 {'a': 1}"
    assert (
        said.startswith("1 ")
        and "cannot be written" in said
        and said.endswith("nothing more is kept")
    )
    assert "cannot be written" in refusal
    assert [path.name for path in open_folder.iterdir()] == [FILE]


def test_a_directory_that_cannot_be_made(open_folder):
    open_folder.chmod(0o555)
    found, said, refusal = unprivileged(open_folder / "new")
    assert found == "0 {}"
    assert (
        said.startswith("1 ") and "cannot be made (Permission denied): nothing more is kept" in said
    )
    assert "cannot be made" in refusal


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 300 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(disk)], capture_output=True
    )
    if made.returncode:
        pytest.skip("only root can make a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("filled", [0, 1, 40, 60, 70])
def test_a_full_disk_keeps_what_was_there(small_disk, filled):
    """Before: writing went off without a word."""
    with Store(small_disk) as store:
        store.put("a", [entry(i) for i in range(20)])
    (small_disk / "other").write_bytes(bytes(filled * 4096 // 2))
    with (
        pytest.warns(NotKept, match="the disk is full: nothing more is kept") as caught,
        Store(small_disk) as store,
    ):
        for start in range(100, 2000, 100):
            store.put("a", [(entry(i)[0], bytes(200)) for i in range(start, start + 100)])
        assert store.refusal() == "the disk is full"
        assert len(store.get([entry(i)[0] for i in range(20)])) == 20
    assert len(caught) == 1
    with Store(small_disk) as store:
        assert len(store.get([entry(i)[0] for i in range(20)])) == 20
    assert not (small_disk / FILE).with_suffix(".damaged").exists()


def test_a_disk_that_is_full_from_the_start(small_disk):
    with suppress(OSError), (small_disk / "other").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with Store(small_disk / "new") as store:
        assert "full" in store.refusal() or "space" in store.refusal()
        assert store.get([entry(1)[0]]) == {}
        store.put("a", [entry(1)])  # without a further word: whoever asked has been told
    with pytest.warns(NotKept, match="full|space"), Store(small_disk / "new") as store:
        store.put("a", [entry(1)])
    assert not list(small_disk.glob("new/*-wal"))


def test_what_can_be_kept_is_not_refused(tmp_path):
    with Store(tmp_path) as store:
        assert store.refusal() == ""
        assert store.info().entries == {}


def test_processes_that_find_one_damage_set_it_aside_once(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    stores = [Store(tmp_path) for _ in range(4)]
    with pytest.warns(NotKept) as caught:
        for store in stores:
            store.put("a", [entry(1)])
        for number, store in enumerate(stores):
            store.put("a", [entry(10 + number)])
            store.close()
    assert len(caught) == 1
    with Store(tmp_path) as store:
        assert len(store.get([entry(10 + number)[0] for number in range(4)])) == 4


@pytest.mark.parametrize(
    "name", ["bertscore", "moverscore", "twmd-b", "twmd-b@release", "lazy-emd"]
)
def test_cold_warm_and_without_give_the_same_bits(tmp_path, tiny_bert, name):
    metric = monge.load(name, model=str(tiny_bert))
    rows = segments_of(HYPOTHESES, REFERENCES)
    plain, cold, warm = (
        score_segments([metric], rows, cache=where)[0] for where in (None, tmp_path, tmp_path)
    )
    assert plain.segments.tolist() == cold.segments.tolist() == warm.segments.tolist()
    assert plain.to_dict() == cold.to_dict() == warm.to_dict()
    assert warm.work["encoded"] == 0


def test_other_settings_share_vectors_but_not_scores(tmp_path, tiny_bert):
    rows = segments_of(HYPOTHESES, REFERENCES)
    one = monge.load("bertscore", model=str(tiny_bert))
    other = monge.load("twmd[transport.temperature=0.1]", model=str(tiny_bert))
    score_segments([one], rows, cache=tmp_path)
    found = score_segments([other], rows, cache=tmp_path)[0]
    assert found.work["encoded"] == 0
    assert np.array_equal(found.segments, score_segments([other], rows)[0].segments)


def test_new_rows_are_scored_and_old_ones_recalled(tmp_path, tiny_bert):
    metric = monge.load("bertscore", model=str(tiny_bert))
    score_segments([metric], segments_of(HYPOTHESES[:2], REFERENCES[:2]), cache=tmp_path)
    found = score_segments([metric], segments_of(HYPOTHESES, REFERENCES), cache=tmp_path)[0]
    assert found.work["encoded"] == 4  # the texts of the two new rows
    assert np.allclose(found.segments, metric.score(HYPOTHESES, REFERENCES).segments, atol=1e-6)


def test_texts_are_cut_ahead_unless_their_scores_are_remembered(tmp_path, tiny_bert, monkeypatch):
    metric = monge.load("bertscore", model=str(tiny_bert)).scorer
    rows = segments_of([f"{one} {i}" for i in range(5) for one in HYPOTHESES], REFERENCES * 5)
    asked: list[str] = []
    pieces = Encoding.pieces

    def noted(self, texts):
        asked.append(threading.current_thread().name)
        return pieces(self, texts)

    monkeypatch.setattr(Encoding, "pieces", noted)
    with Store(tmp_path) as store:
        first = ScoringRun([metric], rows, window=4, store=store).results()[0]
    assert 3 <= len(asked) <= 5  # all but the first two, before anything was missed
    assert all(name.startswith("ahead") for name in asked)
    asked.clear()
    with Store(tmp_path) as store:
        again = ScoringRun([metric], rows, window=4, store=store).results()[0]
    assert asked == []
    assert again.segments.tolist() == first.segments.tolist()


def test_a_corrupted_score_is_recomputed(tmp_path, tiny_bert):
    metric = monge.load("bertscore", model=str(tiny_bert))
    rows = segments_of(HYPOTHESES, REFERENCES)
    first = score_segments([metric], rows, cache=tmp_path)[0]
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE entries SET value = ?", (b'[{"score": 1.0}, 0, []]',))
    db.close()
    again = score_segments([metric], rows, cache=tmp_path)[0]
    assert again.segments.tolist() == first.segments.tolist()
    assert again.work["encoded"] == 8


def test_vectors_give_way_to_scores(tmp_path):
    limit = 400_000
    Store(tmp_path, limit=limit).put("scores", [entry(i) for i in range(200)])
    for start in range(1000, 9000, 1000):  # runs of 100,000 bytes of vectors each
        vectors = [(entry(start + i)[0], bytes(1000)) for i in range(100)]
        Store(tmp_path, limit=limit).put("vectors", vectors)
    kept = Store(tmp_path).info()
    assert kept.entries["scores"] == 200
    assert 0 < kept.entries["vectors"] < 400


def test_a_run_writes_no_more_vectors_than_the_next_run_will_find(tmp_path):
    store = Store(tmp_path, limit=400_000)
    for start in range(0, 2000, 100):
        store.put("vectors", [(entry(start + i)[0], bytes(1000)) for i in range(100)])
    assert (
        0 < store.info().entries["vectors"] <= 200
    )  # a quarter of the limit, and what went over it
    assert store.get([entry(i)[0] for i in range(200, 2000)]) == {}


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500 * 2**20), ("2G", 2 * 2**30), ("1.5 kib", 1536), ("4096", 4096)]
)
def test_the_limit_is_that_of_the_environment(text, size, tmp_path, monkeypatch):
    monkeypatch.setenv("MONGE_CACHE_LIMIT", text)
    with Store(tmp_path) as store:
        assert store.info().limit == size


@pytest.mark.parametrize("text", ["much", "-1", "0", "2 X"])
def test_a_limit_that_is_no_size_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.setenv("MONGE_CACHE_LIMIT", text)
    with pytest.raises(UsageError, match=f"takes a size such as 500MB or 2GB, got '{text}'"):
        Store(tmp_path)
