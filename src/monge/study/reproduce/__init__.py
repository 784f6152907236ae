"""The papers' tables beside ours."""

from monge.study.reproduce.recompute import reproduce
from monge.study.reproduce.record import Reproduction, render_reproductions, render_tables
from monge.study.reproduce.tables import listed, table_named, tables

__all__ = ["Reproduction", "listed", "render_reproductions", "render_tables", "reproduce", "table_named", "tables"]
