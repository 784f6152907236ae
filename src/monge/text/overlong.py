"""Texts with more pieces than a model reads."""

from __future__ import annotations

from dataclasses import replace

from monge.errors import DataError
from monge.types import Tokens


def fit_length(tokens: Tokens, longest: int, policy: str, name: str) -> Tokens:
    """Return the tokens to encode, cut to `longest` pieces if allowed; raise if the policy says so.

    `truncate` keeps the special pieces at both ends; `window` keeps everything (the encoder joins
    overlapping slices); `error` raises. `name` names the text in the message.
    """
    over = len(tokens.ids) - longest
    if over <= 0 or policy == "window":
        return tokens
    if policy == "error":
        raise DataError(
            f"{name}: {len(tokens.ids)} pieces, the limit is {longest} (--on-overlong truncate or "
            "window)"
        )
    tail = 0
    while tail < len(tokens.ids) and tokens.special[-1 - tail]:
        tail += 1
    cut = len(tokens.ids) - tail - over
    keep = [*range(cut), *range(len(tokens.ids) - tail, len(tokens.ids))]
    return replace(
        tokens,
        ids=tuple(tokens.ids[i] for i in keep),
        pieces=[tokens.pieces[i] for i in keep],
        spans=[tokens.spans[i] for i in keep],
        special=[tokens.special[i] for i in keep],
        continues=[tokens.continues[i] for i in keep],
        truncated=over,
    )
