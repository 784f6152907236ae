"""Distinct texts once, order restored, batches by length, and texts longer than the model reads."""

import numpy as np
import pytest
import torch

from monge.encoders import batching
from monge.encoders.batching import Vectors, make_batches, plan_slices
from monge.encoders.protocol import Request
from monge.encoders.transformer import open_encoder
from monge.errors import DataError

LAST, POOLED = (
    Request((6,)),
    Request((2, 3, 4, 5, 6), "pmeans", (float("-inf"), 1.0, float("inf")), unit_layers=True),
)
WORDS = ["the", "cat", "sat", "on", "mat", "dog", "ran", "to", "house", "and", "slept"]


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return open_encoder(str(tiny_bert))


def texts(count, seed=0, longest=20):
    generator = np.random.default_rng(seed)
    return [
        " ".join(generator.choice(WORDS, size=generator.integers(1, longest))) for _ in range(count)
    ]


def test_distinct_texts_are_encoded_once(encoder):
    vectors = Vectors(encoder, [LAST])
    read = encoder.tokenise(["the cat", "the dog", "the cat", " the cat ", "the dog"])
    found = vectors.of(read)
    assert (vectors.counters.texts, vectors.counters.encoded, vectors.counters.pieces) == (5, 2, 8)
    assert torch.equal(found[0][LAST], found[2][LAST])
    vectors.of(read[:1])
    assert vectors.counters.encoded == 2


def test_one_encoding_for_all_requests(encoder):
    calls = []

    class Counted:
        longest, frame = encoder.longest, encoder.frame

        def hidden(self, ids, layers):
            calls.append(list(layers))
            return encoder.hidden(ids, layers)

    vectors = Vectors(Counted(), [LAST, POOLED])
    (found,) = vectors.of(encoder.tokenise(["the cat sat"]))
    assert calls == [[2, 3, 4, 5, 6]]
    assert found[LAST].shape == (5, 32)
    assert found[POOLED].shape == (5, 96)


def test_order_is_restored_whatever_the_batches(encoder):
    read = encoder.tokenise(texts(40))
    alone = [Vectors(encoder, [LAST]).of([one])[0][LAST] for one in read]
    for budget in (1, 17, 64, 10_000):
        together = Vectors(encoder, [LAST], batch_pieces=budget).of(read)
        for one, other, tokens in zip(together, alone, read, strict=True):
            assert one[LAST].shape == (len(tokens.ids), 32)
            assert float((one[LAST] - other).abs().max()) < 1e-5


def test_pooling_is_unit_length_then_power_means(encoder):
    (tokens,) = encoder.tokenise(["the cat sat"])
    (found,) = Vectors(encoder, [POOLED]).of([tokens])
    layers = [
        layer / layer.norm(dim=1, keepdim=True)
        for layer in encoder.hidden([tokens.ids], [2, 3, 4, 5, 6])
    ]
    stacked = torch.stack(layers)
    wanted = torch.cat([stacked.amin(0), stacked.mean(0), stacked.amax(0)], dim=1)
    assert torch.allclose(found[POOLED], wanted, atol=1e-6)


def test_batches_are_filled_longest_first():
    sizes = [3, 9, 1, 5, 5, 2]
    made = list(make_batches([tuple(range(n)) for n in sizes], 10))
    assert [[len(one) for one in batch] for batch in made] == [[9], [5, 5], [3, 2, 1]]
    assert [len(batch) for batch in make_batches([tuple(range(50))] * 3, 10)] == [1, 1, 1]
    assert list(make_batches([], 10)) == []


def test_memory_is_bounded(encoder, monkeypatch):
    read = encoder.tokenise(sorted(set(texts(30))))
    one = sum(len(tokens.ids) for tokens in read) * 32 * 4
    monkeypatch.setattr(batching, "MEMORY_BYTES", one // 3)
    monkeypatch.setattr(batching, "SLAB", one // 4 // 10)
    vectors = Vectors(encoder, [LAST], batch_pieces=32)
    first = vectors.of(read)
    again = vectors.of(read)
    assert vectors.counters.encoded > len(read)
    assert all(
        torch.allclose(a[LAST], b[LAST], atol=1e-5) for a, b in zip(first, again, strict=True)
    )


@pytest.mark.parametrize("longest", [2, 3, 7, 10, 46])
def test_windows_cover_every_piece_once(longest):
    for length in range(longest + 1, 6 * longest + 3):
        plan = plan_slices(length, longest)
        kept = [k for _, _, first, last in plan for k in range(first, last)]
        assert kept == list(range(length))
        for start, end, first, last in plan:
            assert 0 <= start <= first < last <= end <= length
            assert end - start == longest


def test_a_model_that_reads_nothing():
    with pytest.raises(DataError, match="in slices"):
        plan_slices(5, 1)


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_long_texts_are_joined_from_windows(encoder, factor):
    """Every piece gets a vector, taken from the window in which it stands farthest from an inner
    edge.
    """
    text = " ".join(np.random.default_rng(factor).choice(WORDS, size=factor * encoder.longest + 5))
    (tokens,) = encoder.tokenise([text])
    assert len(tokens.ids) > factor * encoder.longest
    (found,) = Vectors(encoder, [LAST, POOLED]).of([tokens])
    assert found[LAST].shape == (len(tokens.ids), 32)
    assert found[POOLED].shape == (len(tokens.ids), 96)
    assert bool(torch.isfinite(found[LAST]).all())
    body, room = tokens.ids[1:-1], encoder.longest - 2
    centre = len(body) // 2
    for piece in (0, centre, len(body) - 1):
        near = [
            start
            for start, end, first, last in plan_slices(len(body), room)
            if first <= piece < last
        ]
        (start,) = near
        (alone,) = encoder.hidden(
            [(tokens.ids[0], *body[start : start + room], tokens.ids[-1])], [6]
        )
        assert torch.allclose(found[LAST][piece + 1], alone[piece - start + 1], atol=1e-5)


def test_windows_change_nothing_for_short_texts(tiny_bert):
    import monge

    hypotheses, references = texts(12, 1), texts(12, 2)
    plain = monge.score(hypotheses, references, metric="bertscore", model=str(tiny_bert))
    windowed = monge.score(
        hypotheses,
        references,
        metric="bertscore",
        model=str(tiny_bert),
        settings=["encoder.overlong=window"],
    )
    assert np.array_equal(plain.segments, windowed.segments)


def test_windows_read_to_the_end(tiny_bert):
    """A text cut into windows still is itself: identity holds, and the far end matters."""
    import monge

    options = {
        "metric": "bertscore",
        "model": str(tiny_bert),
        "settings": ["encoder.overlong=window"],
    }
    long = " ".join(np.random.default_rng(5).choice(WORDS, size=150))
    other = long.rsplit(" ", 40)[0] + " x y z" * 13
    result = monge.score([long, long], [long, other], **options)
    assert result.segments[0] == pytest.approx(1, abs=1e-6)
    assert result.segments[1] < 1 - 1e-4
    assert result.run["truncated"] == 0
    cut = monge.score([long], [other], metric="bertscore", model=str(tiny_bert))
    assert cut.segments[0] == pytest.approx(1, abs=1e-6)
    assert cut.run["truncated"] == 2
    assert set(cut.flags[0]) == {"truncated-hypothesis", "truncated-reference"}
