"""An explanation of long texts in few bytes: the largest moves and the sum of the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from monge.render.checks import checked_explanation, dumps
from monge.types import Explanation

FULL_CELLS, WHOLE_CELLS = 10_000, 100_000
"""Pairs of units up to which all costs and masses are written: by default, and on request."""
MOST_MOVES = 2_000
"""Moves of a plan, the largest first."""


def bounded_json(e: Explanation, cells: int = FULL_CELLS) -> str:
    """Return `explanation_json`, shortened for long texts.

    Matrices of more than so many cells are empty, and of each plan the largest MOST_MOVES moves are
    there; `left_out` then says how many cells there are, and of each plan how many moves are not
    listed and their mass.
    """
    checked_explanation(e)
    if e.cost.size <= FULL_CELLS:
        return dumps(e.to_dict()) + "\n"
    has_all_cells = e.cost.size <= cells
    moves, rest = [], {}
    for plan in e.plans:
        plan_moves = [move for move in e.moves if move.plan == plan]  # largest mass first
        moves += plan_moves[:MOST_MOVES]
        small_moves = plan_moves[MOST_MOVES:]
        rest[plan] = {"moves": len(small_moves), "mass": sum(move.mass for move in small_moves)}
    short, nothing = replace(e, moves=tuple(moves)), np.zeros((0, 0))
    if not has_all_cells:
        short = replace(
            short, cost=nothing, similarity=nothing, plans=dict.fromkeys(e.plans, nothing)
        )
    # they come from the matrices
    vars(short).update(full=e.full, dearest=e.dearest, most_lost=e.most_lost)
    return (
        dumps(
            {
                **short.to_dict(),
                "left_out": {"cells": 0 if has_all_cells else e.cost.size, "moves": rest},
            }
        )
        + "\n"
    )
