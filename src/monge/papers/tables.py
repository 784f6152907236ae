"""The papers' result tables as data: published figures and how we compute them (`reported/*.toml`).

A column is `DATASET HUMAN STATISTIC GROUP`; several data sets are joined by `+`, the group `mean`
is the mean over the table's groups. A value is a number as printed (nan: the table prints a dash)
or "illegible": what the extracted text has lost is never guessed.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import isnan
from pathlib import Path
from typing import Any

from monge.datasets import dataset_names, describe
from monge.datasets.files import Files
from monge.errors import UnknownName, Unreadable, UsageError
from monge.evaluation.variants import check_names

ILLEGIBLE = "illegible"
PAPERS = ("moverscore", "tempered", "reproducibility", "lazy-emd", "germeval")
LOG, LOG_FILE = "wmt18-log", "wmt18_log.csv"
Value = float | str


@dataclass(frozen=True)
class PublishedColumn:
    """A statistic of the judgements `human` of some data sets, on a group."""

    datasets: tuple[str, ...]
    human: str
    statistic: str
    group: str

    @classmethod
    def parse(cls, text: str) -> PublishedColumn:
        """Return the inverse of `str`."""
        datasets, human, statistic, group = text.split(" ", 3)
        return cls(tuple(datasets.split("+")), human, statistic, group)

    def __str__(self) -> str:
        return f"{'+'.join(self.datasets)} {self.human} {self.statistic} {self.group}"


@dataclass(frozen=True)
class PublishedRow:
    """A row of a table: label, block, model, figures, and how we compute it, or why not.

    `metric` with `set` (and `set_for` some groups) is ours; `human` replaces the columns' human
    scores; `sign` -1 marks figures printed for a distance; rows without `values` are beside the
    published ones.
    """

    label: str
    model: str = ""
    block: str = ""
    metric: str = ""
    set: tuple[str, ...] = ()
    set_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
    human: str = ""
    unavailable: str = ""
    note: str = ""
    sign: int = 1
    hypothesis: str = ""
    reference: str = ""
    values: tuple[Value, ...] = ()

    def metric_for(self, group: str) -> str:
        """Return the metric as `NAME[settings]` on a group."""
        changes = ",".join((*self.set, *self.set_for.get(group, ())))
        return f"{self.metric}[{changes}]" if changes else self.metric

    def reported(self, index: int, scale: float) -> float | None:
        """Return the figure of a column as a correlation; None if absent or illegible."""
        value = self.values[index] if index < len(self.values) else ILLEGIBLE
        return None if isinstance(value, str) or isnan(value) else self.sign * value / scale


@dataclass(frozen=True)
class Entry:
    """A figure of a table: as published (None if absent or illegible), ours, or why not."""

    reported: float | None
    ours: float | None
    why: str = ""
    illegible: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the published figure."""
        return None if self.ours is None or self.reported is None else self.ours - self.reported


@dataclass(frozen=True)
class Claim:
    """What a table is printed to show, as a comparison of its rows.

    Every row of `better` is above every row of `worse` (by no less than minus `within`, which is
    negative where a claim is about a size; `both`: differs by no more), or the rows of block
    `flatter` spread less than those of block `than`. `column`, `to`, `out_of` (languages) and
    `blocks` limit where. With `as_printed` the rows of `worse` are not computed: their published
    figures are taken as they are.
    """

    says: str
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    within: float = 0.0
    both: bool = False
    flatter: str = ""
    than: str = ""
    column: str = ""
    to: str = ""
    out_of: str = ""
    blocks: tuple[str, ...] = ()
    as_printed: bool = False


@dataclass(frozen=True)
class PublishedTable:
    """A published table.

    `open` opens its data sets; `variants` differ between readings; `layers` are those the paper
    takes of its own models, by their names.
    """

    name: str
    paper: str
    citation: str
    number: str
    caption: str
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    claims: tuple[Claim, ...] = ()
    scale: float = 1.0
    listed: str = ""
    beside: tuple[PublishedColumn, ...] = ()
    metrics: tuple[str, ...] = ()
    open: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    layers: Mapping[str, int] = field(default_factory=dict)
    variants: tuple[Mapping[str, Any], ...] = ({},)

    @property
    def figures(self) -> list[Value]:
        """Every published figure, row by row."""
        return [value for row in self.rows for value in row.values]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets of its published columns."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.datasets))


@cache
def tables() -> Mapping[str, PublishedTable]:
    """Return all tables by name, paper by paper."""
    by_name = {}
    for paper in PAPERS:
        text = (files("monge.papers") / "reported" / f"{paper}.toml").read_text(encoding="utf-8")
        data = tomllib.loads(text)
        for table in data["tables"]:
            by_name[table["name"]] = _table(table, data)
    return by_name


def table_named(name: str, data: str | Path | None = None) -> PublishedTable:
    """Return the table of a name; `wmt18-log` is read from the data directory."""
    if name == LOG:
        return logged(data)
    if name not in tables():
        raise UnknownName("table", name, [*tables(), LOG], "(monge reproduce lists them)")
    return tables()[name]


def _table(table: Mapping[str, Any], paper: Mapping[str, Any]) -> PublishedTable:
    return PublishedTable(
        **{
            **table,
            "paper": paper["paper"],
            "citation": paper["citation"],
            "layers": paper.get("layers", {}),
            "columns": tuple(PublishedColumn.parse(text) for text in table["columns"]),
            "beside": tuple(PublishedColumn.parse(text) for text in table.get("beside", ())),
            "rows": tuple(_row(row) for row in table["rows"]),
            "claims": tuple(_claim(claim) for claim in table.get("claims", ())),
            "metrics": tuple(table.get("metrics", ())),
            "variants": tuple(table.get("variants", ({},))),
        }
    )


def _row(row: Mapping[str, Any]) -> PublishedRow:
    return PublishedRow(
        **{**row, "set": tuple(row.get("set", ())), "values": tuple(row.get("values", ()))}
    )


def _claim(claim: Mapping[str, Any]) -> Claim:
    def several(key: str) -> tuple[str, ...]:
        value = claim.get(key, ())
        return (value,) if isinstance(value, str) else tuple(value)

    return Claim(
        **{
            **claim,
            "better": several("better"),
            "worse": several("worse"),
            "blocks": several("blocks"),
        }
    )


LOGGED = {
    "bertscore (idf)": ("bertscore@release", ("weights=idf",), 1),
    "moverscore (idf)": ("moverscore@v1", (), 1),
    "baryscore (idf)": ("baryscore@release", (), -1),
}


def logged(data: str | Path | None) -> PublishedTable:
    """Return the full-precision tau values that the reproducibility study logged on WMT18."""
    if data is None:
        raise Unreadable(f"{LOG} is a file of the data: give --data DIR with {LOG_FILE}")
    with Files(data).one((LOG_FILE,)).open(encoding="utf-8", newline="") as lines:
        head, *runs = list(csv.reader(lines))
    pairs = head[1:-1]
    rows = []
    for number, (name, *values) in enumerate(runs, start=1):
        metric, changes, sign = LOGGED[name]
        rows.append(
            PublishedRow(
                label=f"{number} {name}",
                model="bert-base-uncased",
                metric=metric,
                set=changes,
                sign=sign,
                values=tuple(float(value) for value in values[:-1]),
            )
        )
    return PublishedTable(
        name=LOG,
        paper="Reproducibility",
        citation="Chen, Belouadi, Eger 2022",
        number="log of table 1",
        caption="daRR tau on WMT18 in full precision, several runs a metric; distances were logged "
        "with their sign.",
        columns=tuple(PublishedColumn(("wmt18",), "darr", "darr", pair) for pair in pairs),
        rows=tuple(rows),
    )


def listed(data: str | None) -> list[dict[str, Any]]:
    """Return one row per table; with data also whether its data sets are there."""
    files = Files(data) if data is not None else None
    all_tables = list(tables().values())
    if files is not None and any(files.match((LOG_FILE,))):
        all_tables.append(logged(data))
    return [_describe_table(table, files) for table in all_tables]


def _describe_table(table: PublishedTable, files: Files | None) -> dict[str, Any]:
    missing = [name for name in table.datasets if files is not None and not present(name, files)]
    computable = 0 if table.listed else sum(not _why_not_computed(row) for row in table.rows)
    everything = bool(missing) and len(missing) == len(table.datasets)
    return {
        "table": table.name,
        **{name: getattr(table, name) for name in ("paper", "number", "caption")},
        "rows": len(table.rows),
        "figures": len(table.figures),
        "illegible": sum(value == ILLEGIBLE for value in table.figures),
        "computable": 0 if everything else computable,
        "why": table.listed or _describe_data(table, missing, files),
    }


def _describe_data(table: PublishedTable, missing: list[str], files: Files | None) -> str:
    if missing:
        return f"data not here: {', '.join(missing)}"
    if not table.metrics:
        has = "has" if files is not None else "needs"
        return f"{has} {', '.join(table.datasets)}{_describe_stand_ins(table)}"
    return ""


def _describe_stand_ins(table: PublishedTable) -> str:
    """Return which models of the paper can be replaced to compute their rows, or an empty text."""
    models = dict.fromkeys(row.model for row in table.rows if row.unavailable and row.metric)
    return f"; --stand-in for {', '.join(models)}" if models else ""


def _why_not_computed(row: PublishedRow) -> str:
    """Why a row is never computed with any model but its own, or nothing."""
    if row.unavailable or not (row.metric or row.hypothesis):
        return row.unavailable or "metric not here"
    try:
        if row.metric:
            check_names([row.metric])
    except UsageError as error:
        return str(error)
    return ""


def present(dataset: str, files: Files) -> bool:
    """Return whether the judgements of a data set seem to be there, by the names of its files."""
    if dataset in ("pair", LOG):
        return True
    if dataset not in dataset_names():
        return False
    description = describe(dataset)
    roles: Mapping[str, tuple[str, ...]] = description.files
    judgements = [
        role for role in roles if role not in ("outputs", "references", "sources", "systems")
    ] or list(roles)
    return any(True for role in judgements for _ in files.match(roles[role], description.year))
