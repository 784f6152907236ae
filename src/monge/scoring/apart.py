"""Vectors of unknown pieces: a direction of its own for every string, so that only equal strings match.

An encoder gives every piece that its vocabulary lacks the vector of one and the same [UNK], so that any two of them
look like one word. Under `units.unknown=apart` the vector of such a piece is instead

    v = 2^k s,    s in {-1, +1}^d the first d bits of SHAKE-256 of the string

about as long as what the encoder gave (k whole, so that sums of entries are exact). Equal strings have equal
directions wherever they stand; different ones, and an unknown string and a known word, have a cosine of mean 0 and
standard deviation 1 / sqrt(d): the cost of unrelated words under every ground, and in every n-gram, sentence or pooled
vector that they are part of. Special pieces such as [CLS] speak for the whole text: in one that is mostly unknown they
are unknown with it, their string being the text.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import shake_256
from math import log2

import numpy as np
import torch
from torch import Tensor

from monge.text.unknown import MOSTLY, unknown_positions, unknown_share
from monge.types import Tokens


def apart(
    tokens: Tokens, vectors: Tensor, unknown: int | None, *, layers: int = 1, around: Tensor | None = None
) -> Tensor:
    """The vectors of a text's pieces [pieces, layers * d], unknown ones in the direction of their string.

    `unknown` is the id of such pieces, None where they stay as they are. Where several layers stand side by side, the
    direction is the same in each. `around` is a mean that will be subtracted from all vectors: it is added here, so
    that the directions are what is left.
    """
    places = unknown_positions(tokens, unknown)
    if not places:
        return vectors
    names = {place: tokens.surface((place,)) for place in places}
    if unknown_share(tokens, unknown) > MOSTLY:
        names |= {k: f"{tokens.pieces[k]}\0{tokens.text}" for k, special in enumerate(tokens.special) if special}
    found, width = vectors.clone(), vectors.shape[1]
    shift = around.to(vectors) if around is not None and len(around) == width else 0.0
    for place, name in names.items():
        found[place] = _signs(name, width // layers).repeat(layers) * _size(vectors[place]) + shift
    return found


def _size(vector: Tensor) -> float:
    """The power of 2 that is nearest to the root mean square of a vector's entries; 0 for a zero vector."""
    size = float(vector.detach().square().mean().sqrt())
    return 2.0 ** round(log2(size)) if size else 0.0


@lru_cache(maxsize=1 << 12)
def _signs(name: str, width: int) -> Tensor:
    """-1 or +1 for each of the first bits of a string's hash: [width]."""
    data = shake_256(name.encode("utf-8", "surrogatepass")).digest(-(-width // 8))
    bits = np.unpackbits(np.frombuffer(data, np.uint8))[:width]
    return torch.from_numpy(2.0 * bits - 1.0).float()
