import torch

from monge.encoders import batching
from monge.encoders.batching import Memory


def group(*names, pieces=2, width=4):
    return {
        (name,): (torch.full((pieces, width), float(name)), torch.full((pieces, 1), -float(name)))
        for name in names
    }


def held(store, *names):
    return [store.get((name,)) is not None for name in names]


def test_vectors_come_back_as_they_went_in():
    store, given = Memory(1 << 20), group(1, 2, 3)
    kept = store.keep(given)
    for ids, vectors in given.items():
        for one, there, again in zip(vectors, kept[ids], store.get(ids), strict=True):
            assert torch.equal(one, there)
            assert there.data_ptr() == again.data_ptr() != one.data_ptr()
    assert store.get((4,)) is None


def test_the_slab_used_least_recently_goes_first(monkeypatch):
    monkeypatch.setattr(batching, "SLAB", 20)  # two texts of 10 entries each
    store = Memory(3 * 20 * 4)
    for names in ((1, 2), (3,), (4,), (5, 6)):
        store.keep(group(*names))
    assert held(store, 1, 2, 3, 4, 5, 6) == [True] * 6
    store.get((1,))
    store.keep(group(7))
    assert held(store, 1, 2, 5, 6, 7, 3, 4) == [True] * 5 + [False] * 2


def test_slabs_stay_within_the_limit(monkeypatch):
    monkeypatch.setattr(batching, "SLAB", 100)
    store = Memory(5000)
    for name in range(100):
        store.keep(group(name, pieces=1 + name % 7))
        assert sum(4 * slab.size for slab in store._slabs.values()) <= 5000
    assert set(store._places) == {text for slab in store._slabs.values() for text in slab.texts}


def test_the_slab_that_is_being_filled_may_go_too(monkeypatch):
    monkeypatch.setattr(batching, "SLAB", 20)
    store = Memory(2 * 20 * 4)
    store.keep(group(1, 2))
    store.keep(group(3))
    store.get((1,))
    store.keep(group(4, 5, 6))  # larger than a slab: alone, in place of all others
    assert held(store, 1, 2, 3, 4, 5, 6) == [False] * 3 + [True] * 3
    assert torch.equal(store.keep(group(7))[(7,)][0], group(7)[(7,)][0])


def test_vectors_in_use_outlive_the_memory(monkeypatch):
    monkeypatch.setattr(batching, "SLAB", 10)
    store = Memory(10 * 4)
    first = store.keep(group(1))[(1,)][0]
    for name in range(2, 9):
        store.keep(group(name))
    assert store.get((1,)) is None
    assert torch.equal(first, torch.ones(2, 4))


def test_many_small_texts_fill_a_slab(monkeypatch):
    monkeypatch.setattr(batching, "SLAB", 1000)
    monkeypatch.setattr(batching, "TEXTS", 20)
    store = Memory(5 * 4000)
    for name in range(500):
        store.keep(group(name))
    assert held(store, *range(500)) == [False] * 400 + [True] * 100


def test_no_texts_are_no_trouble():
    assert Memory(100).keep({}) == {}
