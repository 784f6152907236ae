"""The time of the metric monge relative to twmd, on outputs of WMT17 into English.

    python benchmarks/flagship.py --data DIR [--pairs 1500] [--rounds 5]

Both are loaded and warmed, then scored in turn in one process with two threads; printed are the
median and the range of the ratio.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

import torch

import monge
from monge.datasets import open_dataset


def score_seconds(name: str, hypotheses: list[str], references: list[str]) -> float:
    """Return the seconds that a freshly bound metric takes for all pairs."""
    metric = monge.load(name)
    began = time.perf_counter()
    metric.score(hypotheses, references)
    return time.perf_counter() - began


def main() -> None:
    """Time both metrics in turn and print the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(2)
    groups = open_dataset("wmt17", options.data, pairs=["*-en"]).groups.values()
    rows = [row for group in groups for row in group.segments][: options.pairs]
    texts = [row.hypothesis for row in rows], [row.references[0] for row in rows]
    names = ["monge", "twmd"]
    for name in names:
        score_seconds(name, texts[0][:64], texts[1][:64])
    ratios = []
    for _ in range(options.rounds):
        seconds = {name: score_seconds(name, *texts) for name in names}
        ratios.append(seconds["monge"] / seconds["twmd"])
        names.reverse()
    print(
        f"monge / twmd, {len(rows)} pairs, {options.rounds} rounds: "
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    main()
