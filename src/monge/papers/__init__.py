"""The papers' tables beside ours."""

from monge.papers.recompute import Models, Selection, reproduce
from monge.papers.reproduction import Reproduction, render_reproductions, render_tables
from monge.papers.tables import listed, table_named, tables

__all__ = [
    "Models",
    "Reproduction",
    "Selection",
    "listed",
    "render_reproductions",
    "render_tables",
    "reproduce",
    "table_named",
    "tables",
]
