"""Makes src/monge/recommendation/kept/adapters.json: what `monge recommend` says of the tuned
models that are shipped.

python docs/tuning/kept.py             # no runs: from results.json and speed.json, which
docs/tuning/make.py makes
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from monge.metrics.signature import shortened

HERE = Path(__file__).resolve().parent
KEPT = HERE.parents[1] / "src" / "monge" / "recommendation" / "kept" / "adapters.json"
SHIPPED: tuple[dict[str, Any], ...] = (
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
"""Name, the adapter whose figures are quoted, the data they are of, what its time was compared
with, what to mind.
"""


def figure(found: Mapping[str, Any]) -> dict[str, Any]:
    """An agreement with its interval and signature."""
    interval = {name: round(found["mean_interval"][name], 5) for name in ("value", "low", "high")}
    return {**interval, "mark": "", "signature": shortened(found["signature"])}


def compared(rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Before and after, by the first statistic of a data set, and the p of their difference."""
    before, after = rows[0], next(row for row in rows[1:] if row["model"] == "after")
    assert (before["model"], before["statistic"]) == ("before", after["statistic"])
    p = min(one["mean_interval"]["p_value"] for one in (before, after))
    return {
        "statistic": before["statistic"],
        "before": figure(before),
        "after": figure(after),
        "p": round(p, 5),
    }


def kept() -> list[dict[str, Any]]:
    """What is kept of every shipped adapter of the embedded model."""
    results = json.loads((HERE / "results.json").read_text("utf-8"))
    speed = {
        one["what"]: one for one in json.loads((HERE / "speed.json").read_text("utf-8"))["ratios"]
    }
    found = []
    for one in SHIPPED:
        ratio = speed[one["time"]]
        found.append(
            {
                "name": one["name"],
                "base": "all-MiniLM-L6-v2",
                "metric": "twmd",
                "caution": one["caution"],
                "time": round(ratio["median"] if ratio["at_most"] else 1 / ratio["median"], 3),
                "figures": {
                    key: compared(results[f"{key}/{one['measured']}"]) for key in one["data"]
                },
            }
        )
    return found


def text() -> str:
    """The file."""
    return json.dumps(kept(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    KEPT.write_text(text(), encoding="utf-8")
