"""Measure pairs per second of `twmd` on static vectors, beside chrF.

    python benchmarks/static.py [--data DIR] [--pairs 1500] [--repeat 5] [--json FILE]

DIR has the published WMT17 files (default: MONGE_DATA). A call scores all pairs into English, with
the model open and every contestant warmed; contestants take turns. The median of the rounds is
printed, with the slowest and the fastest. Torch has one thread: the products are small, and with
two threads wait for each other; monge reads texts beside it. Also printed: CPU seconds of the main
thread. A rate counts only if nothing else runs on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from functools import partial
from pathlib import Path

import torch
from texts import read_wmt17
from timing import run_rounds

import monge
from monge.types import Segment

BAR = 3000
"""Pairs per second that the static vectors have to reach on two cores."""


def measure(segments: list[Segment], repeat: int) -> dict[str, dict[str, float]]:
    """Return the pairs per second of every contestant: median, slowest and fastest round."""
    hypotheses, references = [s.hypothesis for s in segments], [s.references[0] for s in segments]
    metrics = {
        "twmd, static": monge.load("twmd", model="static"),
        "chrf": monge.load("chrf"),
    }
    work = {name: partial(metric.score, hypotheses, references) for name, metric in metrics.items()}
    times = run_rounds(work, repeat=repeat)
    for name, call in work.items():
        start = time.thread_time()
        call()
        print(f"{name}: main thread {time.thread_time() - start:.2f} s of CPU for {len(segments)}")
    rates = {name: [len(segments) / t for t in seconds] for name, seconds in times.items()}
    return {
        name: {"median": statistics.median(values), "low": min(values), "high": max(values)}
        for name, values in rates.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rates = measure(read_wmt17(options.data, options.pairs), options.repeat)
    for name, rate in rates.items():
        goal = f"  bar {BAR}" if name == "twmd, static" else ""
        print(f"{name:<16}{rate['median']:8.0f} [{rate['low']:.0f}, {rate['high']:.0f}]{goal}")
    if options.json:
        options.json.write_text(json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    main()
