"""Every unit to every unit, in proportion to its mass."""

from __future__ import annotations

from monge.types import Plan, Problem


def independent(problem: Problem) -> Plan:
    """P = hypothesis x reference: <P, similarity> is the mean similarity of all pairs. Shapes: [b, n, m]."""
    return Plan(problem.hypothesis.unsqueeze(2) * problem.reference.unsqueeze(1))
