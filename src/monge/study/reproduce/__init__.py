"""The papers' tables beside ours."""

from monge.study.reproduce.listing import listed
from monge.study.reproduce.page import render_reproductions, render_tables
from monge.study.reproduce.recompute import reproduce
from monge.study.reproduce.record import Reproduction
from monge.study.reproduce.tables import table_named, tables

__all__ = [
    "Reproduction",
    "listed",
    "render_reproductions",
    "render_tables",
    "reproduce",
    "table_named",
    "tables",
]
