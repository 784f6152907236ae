"""Measure what faster precisions change: segment scores and agreement with people on WMT17.

    python benchmarks/precision.py [--data DIR] [--metrics NAME …] [--json FILE]

For each metric and precision, against fp32: the largest and the mean change of a segment's score,
the largest change as a share of the scores' standard deviation, and the mean Pearson correlation of
seven pairs with its change.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import monge
from monge.api import score_segments
from monge.datasets import open_dataset

METRICS = ("twmd", "bertscore", "moverscore@v2", "sbert", "emd")
PRECISIONS = ("fp32", "bf16", "int8")


def score_groups(
    precision: str, groups: dict, metrics: tuple[str, ...]
) -> dict[str, list[np.ndarray]]:
    """Return the segment scores of each metric, one array per group."""
    loaded = [monge.load(name, precision=precision) for name in metrics]
    scores: dict[str, list[np.ndarray]] = {name: [] for name in metrics}
    for group in groups.values():
        rows = [replace(segment, system="") for segment in group.segments]  # each judged by itself
        for name, result in zip(metrics, score_segments(loaded, rows), strict=True):
            scores[name].append(result.segments)
    return scores


def main() -> None:
    """Score with each precision, and print the changes against fp32."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--json")
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    groups = open_dataset("wmt17", options.data, pairs=["*-en"]).groups
    human = [np.asarray(group.scores) for group in groups.values()]
    scores_by_precision = {
        precision: score_groups(precision, groups, tuple(options.metrics))
        for precision in PRECISIONS
    }
    print(
        f"{sum(map(len, human))} segments of {len(groups)} pairs, all-MiniLM-L6-v2; changes "
        f"against fp32"
    )
    print(
        "| metric | precision | largest change | mean change | largest / sd | mean Pearson | "
        "change |"
    )
    print("|---|---|---|---|---|---|---|")
    rows = []
    for name in options.metrics:
        base = np.concatenate(scores_by_precision["fp32"][name])
        agreement = {
            precision: float(
                np.mean(
                    [
                        np.corrcoef(a, b)[0, 1]
                        for a, b in zip(metric_scores[name], human, strict=True)
                    ]
                )
            )
            for precision, metric_scores in scores_by_precision.items()
        }
        for precision in PRECISIONS:
            changes = np.abs(np.concatenate(scores_by_precision[precision][name]) - base)
            row = {
                "metric": name,
                "precision": precision,
                "largest": float(changes.max()),
                "mean": float(changes.mean()),
                "largest_in_sd": float(changes.max() / base.std()),
                "pearson": agreement[precision],
                "pearson_change": agreement[precision] - agreement["fp32"],
            }
            rows.append(row)
            print(
                f"| `{name}` | {precision} | {row['largest']:.1e} | {row['mean']:.1e} | "
                f"{row['largest_in_sd']:.3f} | "
                f"{row['pearson']:.4f} | {row['pearson_change']:+.4f} |",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
