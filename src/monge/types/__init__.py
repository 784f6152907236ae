"""The data types of the pipeline, from texts to a score. All are frozen; none imports torch.

Segment --tokenise--> Tokens --select--> Units --vectors--> Cloud
Cloud x Cloud --ground--> Problem --transport--> TransportPlan --readout--> Result
"""

from monge.types.explanation import Explanation, Move, Route, Side, Transported
from monge.types.result import Pooled, Result, Signature
from monge.types.statistics import CorpusStats
from monge.types.sums import (
    DIGEST_SPACE,
    Array,
    DocumentCounts,
    MatrixSum,
    PartSums,
    Range,
    VectorSum,
)
from monge.types.table import Cell, Sheet, Span
from monge.types.text import Segment, Tokens, Units
from monge.types.transport import Cloud, PairBatch, Problem, TransportPlan

__all__ = [
    "DIGEST_SPACE", "Array", "Cell", "Cloud", "CorpusStats", "DocumentCounts", "Explanation",
    "MatrixSum", "Move",
    "PairBatch", "PartSums", "Pooled", "Problem", "Range", "Result", "Route", "Segment", "Sheet",
    "Side", "Signature",
    "Span", "Tokens", "TransportPlan", "Transported", "Units", "VectorSum",
]  # fmt: skip
