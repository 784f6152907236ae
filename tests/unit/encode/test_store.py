"""The store on disk: what it keeps is whole or absent, bounded, and shared without harm."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

import monge
from monge.api import score_segments, segments_of
from monge.encode.cache import FILE, Store, key_of
from monge.scoring.pipeline import Windows
from monge.scoring.run import run

HYPOTHESES = ["the cat sat on the mat .", "the dog ran", "a cat is in the house", "unhappily he said hello"]
REFERENCES = ["a cat sat on a mat .", "the dog ran to the house", "the cat is in it", "he said hello world"]


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
        db.executescript("DROP TABLE entries; CREATE TABLE entries (key BLOB PRIMARY KEY, kind, value, sum, used)")
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
from monge.encode.cache import Store, key_of
store = Store(sys.argv[1])
for i in range(300):
    store.put("a", [(key_of("p", i), bytes([i % 256]) * 50), (key_of("own", sys.argv[2], i), b"x")])
"""


def test_several_processes_lose_nothing(tmp_path):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(k)]) for k in range(4)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]
    store = Store(tmp_path)
    keys = [key_of("p", i) for i in range(300)] + [key_of("own", str(k), i) for k in range(4) for i in range(300)]
    assert len(store.get(keys)) == 1500


@pytest.mark.parametrize("name", ["bertscore", "moverscore", "twmd-b", "twmd-b@release", "lazy-emd"])
def test_cold_warm_and_without_give_the_same_bits(tmp_path, tiny_bert, name):
    metric = monge.load(name, model=str(tiny_bert))
    rows = segments_of(HYPOTHESES, REFERENCES)
    plain, cold, warm = (score_segments([metric], rows, cache=where)[0] for where in (None, tmp_path, tmp_path))
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
    metric = monge.load("bertscore", model=str(tiny_bert)).prepared
    rows = segments_of([f"{one} {i}" for i in range(5) for one in HYPOTHESES], REFERENCES * 5)
    asked: list[str] = []
    pieces = Windows.pieces

    def noted(self, texts):
        asked.append(threading.current_thread().name)
        return pieces(self, texts)

    monkeypatch.setattr(Windows, "pieces", noted)
    first = run([metric], rows, window=4, store=Store(tmp_path))[0]
    assert len(asked) == 5
    assert sum(name.startswith("ahead") for name in asked) >= 3  # but the first two, before anything was missed
    asked.clear()
    again = run([metric], rows, window=4, store=Store(tmp_path))[0]
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
    assert 0 < store.info().entries["vectors"] <= 200  # a quarter of the limit, and what went over it
    assert store.get([entry(i)[0] for i in range(200, 2000)]) == {}
