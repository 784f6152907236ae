"""Comparisons and evaluations from their JSON forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monge.evaluation.agreement import MEAN, Resampling
from monge.evaluation.compare import TESTS
from monge.evaluation.comparison import Comparison, Standings, SystemScore, Versus
from monge.evaluation.evaluation_result import Agreement, Evaluation, Figure, MetricOrder


def comparison_of(data: Mapping[str, Any]) -> Comparison:
    """Return the comparison whose JSON form this is."""
    standings = []
    for row in data["results"]:
        same = {name: row[name] for name in ("metric", "signature", "higher_is_better", "n", "of")}
        pairs = tuple(
            Versus(
                *(pair[name] for name in ("first", "second", "difference")),
                *(pair.get(end, pair["difference"]) for end in ("low", "high")),
                *(pair[test][p] for test in TESTS for p in ("p", "holm")),
            )
            for pair in row["pairs"]
        )
        systems = tuple(SystemScore(**system) for system in row["systems"])
        standings.append(
            Standings(**same, label=row.get("label", row["metric"]), systems=systems, pairs=pairs)
        )
    how = {
        name: data["study"][name] for name in ("seed", "resamples", "confidence", "alpha", "test")
    }
    return Comparison(tuple(standings), Resampling(**how), data["study"].get("language", ""))


def evaluation_of(data: Mapping[str, Any]) -> Evaluation:
    """Return the evaluation whose JSON form this is, without the scores behind it."""
    rows, how = iter(data["results"]), data["study"]
    agreements: list[Agreement] = []
    tests = {}
    for table in how["standings"]:
        tests[table["human"], table["statistic"]] = table.get("tests", {})
        agreements += [_read(next(rows), table, k) for k in range(len(table["metrics"]))]
    orders = [
        MetricOrder(
            order["human"],
            order["statistic"],
            tuple(order["own"].items()),
            tuple(order["uniform"].items()),
        )
        for order in how.get("orders", ())
    ]
    same = {name: how[name] for name in ("seed", "resamples", "confidence", "alpha")}
    return Evaluation(
        tuple(agreements), Resampling(**same), tests, tuple(how["warnings"]), tuple(orders)
    )


def _read(row: Mapping[str, Any], table: Mapping[str, Any], k: int) -> Agreement:
    """Return the agreement of metric k of a table, from its row and how the metrics stand."""
    label = table["metrics"][k]

    def read(name: str, plain: Mapping[str, Any], n: int) -> Figure:
        best, tied = table.get("best", {}).get(name), table.get("tied", {}).get(name, ())
        mark = "best" if best == label else "tied" * (label in tied)
        p = table.get("p_values", {}).get(name)
        return Figure(
            plain["value"], plain["low"], plain["high"], n, mark, 1.0 if p is None else p[k]
        )

    groups = {name: read(name, record, record["n"]) for name, record in row["groups"].items()}
    same = {
        name: row[name]
        for name in ("metric", "signature", "dataset", "text", "level", "human", "statistic")
    }
    return Agreement(
        **same,
        label=label,
        groups=groups,
        mean=read(MEAN, table["mean"][k], sum(figure.n for figure in groups.values())),
        excluded=row["excluded"],
        reading=row.get("reading", ""),
    )
