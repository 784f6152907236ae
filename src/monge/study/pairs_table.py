"""A published table whose figures are scores of given sentences, not correlations (Lazy-EMD, table 1)."""

from __future__ import annotations

from monge.study.bench import Bench, Missing
from monge.study.scores import score_rows
from monge.study.tables import Cell, Table
from monge.types import Segment


def score_pairs(table: Table, bench: Bench) -> tuple[dict[tuple[str, str], tuple[Cell, ...]], tuple[int, ...]]:
    """Cells of a table whose rows are sentence pairs and whose columns are metrics, and each column's direction."""
    rows = [Segment(str(number), row.hypothesis, (row.reference,)) for number, row in enumerate(table.rows)]
    columns: list[list[tuple[float | None, str]]] = []
    signs = []
    for name in table.metrics:
        asked = bench.load(name, "en", "max")
        if isinstance(asked, Missing):
            columns.append([(None, asked.why)] * len(rows))
            signs.append(1)
            continue
        part = score_rows([asked], rows)[0]
        bench.signatures[name] = str(part.signature)
        columns.append([(float(value), "") for value in part.segments])
        signs.append(1 if asked.higher_is_better else -1)
    cells = {
        (row.block, row.label): tuple(
            Cell(row.reported(k, table.scale), *column[number]) for k, column in enumerate(columns)
        )
        for number, row in enumerate(table.rows)
    }
    return cells, tuple(signs)
