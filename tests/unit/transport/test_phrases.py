"""Phrases of consecutive units against the sums written out one by one."""

import pytest
import torch

from monge.transport.phrases import phrases
from monge.types import Problem


def batch(lengths, size=7, seed=0):
    """Random problems of pairs of lengths, padded to one size."""
    random = torch.Generator().manual_seed(seed)
    rows, columns = (torch.tensor(one) for one in zip(*lengths, strict=True))
    places = torch.arange(size)
    present = (places < rows[:, None])[:, :, None] & (places < columns[:, None])[:, None, :]
    similarity = (
        torch.rand(len(lengths), size, size, generator=random, dtype=torch.float64) * present
    )
    masses = []
    for side in (rows, columns):
        weights = torch.rand(len(lengths), size, generator=random, dtype=torch.float64) * (
            places < side[:, None]
        )
        masses.append(weights / weights.sum(1, keepdim=True))
    return Problem((1 - similarity) * present, similarity, *masses, present)


LENGTHS = [(5, 7), (2, 6), (1, 3), (4, 4), (7, 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 0])
def test_sums_written_out(n):
    problem = batch(LENGTHS)
    found = phrases(problem, n)
    for b, (rows, columns) in enumerate(LENGTHS):
        width = min(n or 99, rows, columns)
        whole = sum(problem.hypothesis[b, i : i + width].sum() for i in range(rows - width + 1))
        for i in range(7):
            for j in range(7):
                inside = i + width <= rows and j + width <= columns
                assert bool(found.present[b, i, j]) is inside
                if not inside:
                    assert found.similarity[b, i, j] == found.cost[b, i, j] == 0
                    continue
                weights = problem.hypothesis[b, i : i + width]
                diagonal = torch.stack([problem.similarity[b, i + k, j + k] for k in range(width)])
                value = float((weights * diagonal).sum() / weights.sum())
                assert float(found.similarity[b, i, j]) == pytest.approx(value, abs=1e-12)
                assert float(found.cost[b, i, j]) == pytest.approx(1 - value, abs=1e-12)
            mass = (
                float(problem.hypothesis[b, i : i + width].sum() / whole)
                if i + width <= rows
                else 0.0
            )
            assert float(found.hypothesis[b, i]) == pytest.approx(mass, abs=1e-12)
    assert torch.allclose(found.reference.sum(1), torch.ones(len(LENGTHS), dtype=torch.float64))


def test_phrases_of_one_unit_are_the_problem_itself():
    problem = batch(LENGTHS)
    found = phrases(problem, 1)
    for name in ("cost", "similarity", "hypothesis", "reference"):
        assert torch.allclose(getattr(found, name), getattr(problem, name), atol=1e-15), name


def test_a_phrase_without_mass_is_finite():
    problem = batch([(3, 3)])
    light = torch.tensor([[0.0, 0.0, 1.0, 0, 0, 0, 0]], dtype=torch.float64)
    found = phrases(
        Problem(problem.cost, problem.similarity, light, problem.reference, problem.present), 2
    )
    assert torch.isfinite(found.similarity).all() and found.hypothesis[0].tolist()[:2] == [0.0, 1.0]
