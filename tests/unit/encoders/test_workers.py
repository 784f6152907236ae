"""Batches encoded side by side: the same vectors, in order, with errors of their own."""

import pytest
import torch

from monge.encoders import batching
from monge.encoders.batching import Vectors
from monge.encoders.protocol import Request
from monge.encoders.workers import MOST, Workers, open_workers

LAST = Request((0,))


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


class Squares:
    """An encoder of single numbers: piece i has the vector (i, i * i)."""

    depth, longest, frame = 1, 64, ((), ())
    encodes_side_by_side = True

    def __init__(self):
        self.threads = []

    def hidden(self, ids, layers):
        self.threads.append(torch.get_num_threads())
        pieces = torch.tensor([i for text in ids for i in text], dtype=torch.float32)
        return [torch.stack([pieces, pieces**2], 1) for _ in layers]


class Read:
    def __init__(self, ids):
        self.ids = ids


def test_results_come_in_the_order_of_the_items():
    workers = Workers(3, 1)
    assert list(workers.map(lambda n: n * n, range(50))) == [n * n for n in range(50)]
    assert list(workers.map(lambda n: n, [])) == []


def test_an_error_ends_the_results_where_it_belongs():
    results = Workers(2, 1).map(lambda n: 1 // n, [1, 1, 0, 1])
    assert [next(results), next(results)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_workers_share_the_threads_and_leave_those_of_others(two_threads):
    workers = open_workers(2)
    assert workers is open_workers(2)
    assert set(workers.map(lambda _: torch.get_num_threads(), range(8))) == {1}
    assert torch.get_num_threads() == 2
    assert open_workers(2 * MOST).count == MOST


def test_batches_side_by_side_give_the_vectors_of_batches_in_turn(two_threads):
    texts = [Read(tuple(range(n % 9 + 1))) for n in range(40)]
    encoder = Squares()
    together = Vectors(encoder, [LAST], batch_pieces=8)
    beside = [vectors[LAST] for vectors in together.of(texts)]
    assert set(encoder.threads) == {1} and len(encoder.threads) > 4
    torch.set_num_threads(1)
    alone = [vectors[LAST] for vectors in Vectors(Squares(), [LAST], batch_pieces=8).of(texts)]
    assert all(map(torch.equal, beside, alone))
    assert together.counters.encoded == 9


def test_one_batch_has_all_threads(two_threads, monkeypatch):
    monkeypatch.setattr(batching, "open_workers", None)
    encoder = Squares()
    Vectors(encoder, [LAST]).of([Read((1, 2)), Read((3,))])
    assert encoder.threads == [2]
