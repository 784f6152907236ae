"""MoverScore's releases 1 and 2 against a reference written loop by loop."""

import string

import numpy as np
import pytest
from scipy.optimize import linprog

import monge

from .reference import idf_table, plain_model, real_pairs

COUNT, TOLERANCE = 60, 5e-6


def least_cost(a, b, cost):
    """Least <P, cost> with row sums a and column sums b, by linear programming."""
    n, m = cost.shape
    constraints = np.zeros((n + m, n * m))
    for i in range(n):
        constraints[i, i * m : (i + 1) * m] = 1
    for j in range(m):
        constraints[n + j, j::m] = 1
    found = linprog(cost.ravel(), A_eq=constraints, b_eq=np.concatenate([a, b]), method="highs")
    assert found.status == 0
    return found.fun


def emd_with_extra_mass(first, second, cost, price):
    """pyemd: the surplus of the heavier side is charged at the largest entry of the joint cost
    matrix.
    """
    gap = first.sum() - second.sum()
    if gap > 0:
        return least_cost(
            first, np.append(second, gap), np.hstack([cost, np.full((len(first), 1), price)])
        )
    return least_cost(
        np.append(first, -gap), second, np.vstack([cost, np.full((1, len(second)), price)])
    )


def kept_positions(pieces):
    return [
        k
        for k, piece in enumerate(pieces)
        if piece not in set(string.punctuation) and "##" not in piece
    ]


def release_1_grams(text, idf, n):
    """Steps 2 to 6: unit length a layer, minimum | mean | maximum of the last five, filters,
    windows.
    """
    model = plain_model()
    pieces, ids, layers = model.pieces(text), model.ids(text), model.layers(text)
    vectors, weights = [], []
    for k in kept_positions(pieces):
        last_five = [layer[k] / np.linalg.norm(layer[k]) for layer in layers[-5:]]
        pooled = [np.min(last_five, axis=0), np.mean(last_five, axis=0), np.max(last_five, axis=0)]
        vectors.append(np.concatenate(pooled))
        weights.append(idf(ids[k]))
    if len(vectors) < n:
        spans = [range(len(vectors))]
    else:
        spans = [range(start, start + n) for start in range(len(vectors) - n + 1)]
    grams, masses = [], []
    for span in spans:
        total = sum(weights[k] for k in span)
        grams.append(sum(weights[k] / (total + 1e-5) * vectors[k] for k in span))
        masses.append(total)
    return np.array(grams), np.array(masses)


def release_1(hypothesis, reference, idf_hypothesis, idf_reference, n):
    """Steps 7 to 11."""
    x, wx = release_1_grams(hypothesis, idf_hypothesis, n)
    y, wy = release_1_grams(reference, idf_reference, n)
    joint = np.vstack([y, x])
    joint = np.array([vector / (np.linalg.norm(vector) + 1e-6) for vector in joint])
    cost = np.array([[max(((u - v) ** 2).sum(), 0) for v in joint] for u in joint])
    first, second = wy / (wy.sum() + 1e-5), wx / (wx.sum() + 1e-5)
    return 1 - emd_with_extra_mass(first, second, cost[: len(y), len(y) :], cost.max())


def release_2(hypothesis, reference, idf_hypothesis, idf_reference):
    model, sides = plain_model(), []
    for text, idf in ((hypothesis, idf_hypothesis), (reference, idf_reference)):
        pieces, ids, last = model.pieces(text), model.ids(text), model.layers(text)[-1]
        keep = kept_positions(pieces)
        vectors = np.array([last[k] / (np.linalg.norm(last[k]) + 1e-30) for k in keep])
        weights = np.array([idf(ids[k]) for k in keep])
        sides.append((vectors, weights / (weights.sum() + 1e-30)))
    (x, a), (y, b) = sides
    cost = np.array([[np.sqrt(max(((u - v) ** 2).sum(), 1e-30)) for v in y] for u in x])
    return 1 / (1 + least_cost(a, b, cost))


@pytest.fixture(scope="module")
def pairs(data_dir):
    return real_pairs(data_dir, COUNT)


@pytest.fixture(scope="module")
def tables(pairs):
    return idf_table(pairs[0]), idf_table(pairs[1])


@pytest.mark.parametrize("name", ["moverscore@v1", "moverscore-2@v1", "moverscore@v2"])
def test_equal_to_the_reference(pairs, tables, name, capsys):
    hypotheses, references = pairs
    ours = monge.score(hypotheses, references, metric=name).segments
    theirs = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        if name == "moverscore@v2":
            theirs.append(release_2(hypothesis, reference, *tables))
        else:
            theirs.append(release_1(hypothesis, reference, *tables, n=2 if "-2" in name else 1))
    worst = float(np.abs(ours - theirs).max())
    with capsys.disabled():
        print(f"\n{name}: largest difference {worst:.2e}")
    assert worst <= TOLERANCE
