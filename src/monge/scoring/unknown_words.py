"""Vectors of unknown pieces: one direction per string, so that only equal strings match.

An encoder gives the same [UNK] vector to every piece that its vocabulary lacks, so that all such
pieces match each other. Under `units.unknown=apart` the vector of such a piece is instead

    v = 2^k s,    s in {-1, +1}^d the first d bits of SHAKE-256 of the string

of about the length of the encoder's vector (k is an integer, so that sums of entries are exact).
Equal strings have equal directions in any text. Different strings, and an unknown string and a
known word, have a cosine of mean 0 and standard deviation 1 / sqrt(d), as unrelated words have,
under every ground and in every n-gram, sentence or pooled vector that they are part of. Special
pieces such as [CLS] depend on the whole text: in a text that is mostly unknown they get a direction
too, that of the text as a string.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import shake_256
from math import log2

import numpy as np
import torch
from torch import Tensor

from monge.text.select import MOSTLY, unknown_positions, unknown_share
from monge.types import Tokens


def separate_unknown(
    tokens: Tokens,
    vectors: Tensor,
    unknown: int | None,
    *,
    layers: int = 1,
    around: Tensor | None = None,
) -> Tensor:
    """Return the vectors of a text's pieces [pieces, layers * d], with unknown pieces in the
    direction of their string.

    `unknown` is the id of unknown pieces, None where their vectors are kept. The direction is the
    same in each of several layers side by side. `around` is a mean that will be subtracted from all
    vectors later; it is added here, so that the subtraction leaves the directions.
    """
    places = unknown_positions(tokens, unknown)
    if not places:
        return vectors
    names = {place: tokens.surface((place,)) for place in places}
    if unknown_share(tokens, unknown) > MOSTLY:
        names |= {
            k: f"{tokens.pieces[k]}\0{tokens.text}"
            for k, special in enumerate(tokens.special)
            if special
        }
    separated, width = vectors.clone(), vectors.shape[1]
    shift = around.to(vectors) if around is not None and len(around) == width else 0.0
    for place, name in names.items():
        separated[place] = (
            _signs(name, width // layers).repeat(layers) * _size(vectors[place]) + shift
        )
    return separated


def _size(vector: Tensor) -> float:
    """Return the power of 2 nearest to the root mean square of a vector's entries; 0 for a zero
    vector.
    """
    size = float(vector.detach().square().mean().sqrt())
    return 2.0 ** round(log2(size)) if size else 0.0


@lru_cache(maxsize=1 << 12)
def _signs(name: str, width: int) -> Tensor:
    """Return -1 or +1 for each of the first bits of a string's hash: [width]."""
    data = shake_256(name.encode("utf-8", "surrogatepass")).digest(-(-width // 8))
    bits = np.unpackbits(np.frombuffer(data, np.uint8))[:width]
    return torch.from_numpy(2.0 * bits - 1.0).float()
