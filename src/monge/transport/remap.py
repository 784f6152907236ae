"""Linear maps from one language's vectors to another's, from sums of outer products over aligned
words.
"""

from __future__ import annotations

import torch
from torch import Tensor

from monge.transport.pooling import unit


def outer_products(source: Tensor, target: Tensor, kind: str) -> tuple[Tensor, int]:
    """Return the sum of outer products of the aligned words of two texts [d, d], and the number of
    aligned words.

    Two words are aligned where each is the other's nearest by cosine; source [n, d], target [m, d].
    With x, y their unit vectors, clp sums x' y and umd sums (x - y)' (x - y).
    """
    x, y = unit(source), unit(target)
    similarity = x @ y.T
    forth, back = similarity.argmax(1), similarity.argmax(0)
    mutual = back[forth] == torch.arange(len(x))
    x, y = x[mutual], y[forth[mutual]]
    return (x.T @ y if kind == "clp" else (x - y).T @ (x - y)), len(x)


def linear_map(total: Tensor, kind: str) -> Tensor:
    """Return the map M [d, d], to be applied as e M, from a sum of `outer_products`.

    clp: the orthogonal U V' of total = U S V'; umd: I - v v', v being the first eigenvector.
    """
    if kind == "clp":
        u, _, v = torch.linalg.svd(total)
        return torch.matmul(u, v)
    first = torch.linalg.eigh(total).eigenvectors[:, -1]
    return torch.eye(len(total), dtype=total.dtype) - torch.outer(first, first)
