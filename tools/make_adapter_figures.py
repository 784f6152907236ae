"""Write src/monge/recommendation/kept/adapters.json: figures of the shipped tuned models.

python tools/make_adapter_figures.py    # no runs: from results/tuning, for `monge recommend`
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from repository import PACKAGE, RESULTS, Pages, read_json, write_pages

from monge.metrics.signature import shortened

ADAPTER_FIGURES = PACKAGE / "recommendation" / "kept" / "adapters.json"
TUNING = RESULTS / "tuning"
SHIPPED: tuple[dict[str, Any], ...] = (
    {
        "name": "people",
        "measured": "mean-1",
        "data": ("wmt17",),
        "time": "with an adapter: our time / without",
        "caution": "people has the weights of the metric monge; it learned from WMT15, WMT16, "
        "WMT18 and the training part of the STS benchmark, so do not report it on those.",
    },
    {
        "name": "mt",
        "measured": "mini-1",
        "data": ("wmt17", "wmt18"),
        "time": "with an adapter: our time / without",
        "caution": "The figure is that of a sibling which learned from WMT15 and WMT16 alone; mt "
        "itself learned from "
        "WMT15 to WMT18, so do not report it on those years.",
    },
    {
        "name": "broad",
        "measured": "broad",
        "data": ("stsb", "summeval", "tac08", "bagel", "sfhotel", "flickr8k"),
        "time": "with an adapter: our time / without",
        "caution": "broad learned from translations and from the training part of the STS "
        "benchmark, some of whose "
        "captions describe pictures of Flickr8k; it was tuned through twmd, and makes sbert worse "
        "on most kinds.",
    },
    {
        "name": "fast",
        "measured": "fast",
        "data": ("wmt17",),
        "time": "--model fast against the default",
        "caution": "",
    },
)
"""Name, adapter whose figures are quoted, their data, the label of its speed, and a caution."""


def read_figure(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agreement with its interval and signature."""
    interval = {name: round(row["mean_interval"][name], 5) for name in ("value", "low", "high")}
    return {**interval, "mark": "", "signature": shortened(row["signature"])}


def compare_rows(rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures before and after tuning and the p-value of their difference."""
    before, after = rows[0], next(row for row in rows[1:] if row["model"] == "after")
    assert (before["model"], before["statistic"]) == ("before", after["statistic"])
    p = min(row["mean_interval"]["p_value"] for row in (before, after))
    return {
        "statistic": before["statistic"],
        "before": read_figure(before),
        "after": read_figure(after),
        "p": round(p, 5),
    }


def collect_figures() -> list[dict[str, Any]]:
    """Return the figures of every shipped adapter of the embedded model."""
    results = read_json(TUNING / "results.json")
    speed = {ratio["what"]: ratio for ratio in read_json(TUNING / "speed.json")["ratios"]}
    figures = []
    for adapter in SHIPPED:
        ratio = speed[adapter["time"]]
        figures.append(
            {
                "name": adapter["name"],
                "base": "all-MiniLM-L6-v2",
                "metric": "twmd",
                "caution": adapter["caution"],
                "time": round(ratio["median"] if ratio["at_most"] else 1 / ratio["median"], 3),
                "figures": {
                    key: compare_rows(results[f"{key}/{adapter['measured']}"])
                    for key in adapter["data"]
                },
            }
        )
    return figures


def make_json() -> str:
    """Return the content of the file."""
    return json.dumps(collect_figures(), indent=1, ensure_ascii=False) + "\n"


def make_pages() -> Pages:
    """Return the file."""
    return {ADAPTER_FIGURES: make_json()}


if __name__ == "__main__":
    write_pages(make_pages())
