"""Seconds per pair of every metric on long texts, and how they grow with the number of words.

    python benchmarks/long_texts.py [--data DIR] [--words 100 500 2000 5000] [--json FILE]

Texts are judged segments of WMT17 laid end to end, cut to the number of words; both sides of a pair
tell the same story. Texts longer than the model reads are read in windows. Every metric scores the
same pairs, alone, with the embedded model, `--repeat` times; the least time counts, and vectors are
encoded again each time. The exponent is the slope of log seconds over log words between the two
largest sizes that ended. A metric that took longer than --limit seconds per pair is not tried on
longer texts; a metric that fails says why.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import torch
from texts import read_wmt17

import monge
from monge.errors import MongeError
from monge.metrics.catalogue import LEXICAL

METRICS = [
    *("twmd", "bertscore", "moverscore", "moverscore@v2", "emd", "sbert", "baryscore", "trwmd"),
    *("yisi-1", "wmd", "rwmd", "wms", "smd", "hmd", "lazy-emd", "wmdo", "chrf", "bleu", "rougeL"),
    *("rougeSU4", "meteor", "ter", "nist", "cider"),
]
SIZES = [100, 500, 2000, 5000]


def long_texts(directory: str, words: int, count: int) -> tuple[list[str], list[str]]:
    """Return hypotheses and references of so many words."""
    segments = read_wmt17(directory, 3500)
    step = len(segments) // count
    sides: tuple[list[str], list[str]] = [], []
    for k in range(count):
        rows = segments[k * step :] + segments[: k * step]
        for side, texts in zip(
            sides,
            ((row.hypothesis for row in rows), (row.references[0] for row in rows)),
            strict=True,
        ):
            words_of_text: list[str] = []
            for text in texts:
                words_of_text += text.split()
                if len(words_of_text) >= words:
                    break
            side.append(" ".join(words_of_text[:words]))
    return sides


def time_metric(name: str, sides: tuple[list[str], list[str]], repeat: int) -> float:
    """Return the least seconds per pair."""
    full_name = name if name in LEXICAL else f"{name}[encoder.overlong=window]"
    metric, times = monge.load(full_name), []
    for _ in range(repeat):
        start = time.perf_counter()
        metric.score(*sides)
        times.append(time.perf_counter() - start)
    return min(times) / len(sides[0])


def exponent(seconds: dict[str, float]) -> float | None:
    """Return the slope of log seconds over log words between the two largest sizes."""
    sizes = sorted(map(int, seconds))[-2:]
    if len(sizes) < 2:
        return None
    low, high = sizes
    return math.log(seconds[str(high)] / seconds[str(low)]) / math.log(high / low)


def measure(
    names: list[str], texts: dict[int, tuple[list[str], list[str]]], repeat: int, limit: float
) -> list[dict[str, Any]]:
    """Return seconds per pair by size, and the exponent, of every metric; print them."""
    rows = []
    for name in names:
        seconds: dict[str, float] = {}
        problem = ""
        for words, sides in texts.items():
            try:
                seconds[str(words)] = time_metric(name, sides, repeat)
            except (MongeError, ImportError) as error:
                problem = f"{words} words: {error}".splitlines()[0]
                break
            if seconds[str(words)] > limit:
                problem = f"over {limit:g} s at {words} words"
                break
        row = {"metric": name, "seconds": seconds, "exponent": exponent(seconds)}
        rows.append({**row, "ended": problem})
        cells = "".join(f"{seconds.get(str(words), math.nan):10.4f}" for words in texts)
        growth = "" if row["exponent"] is None else f"{row['exponent']:8.2f}"
        print(f"{name:16}{cells}{growth}  {problem}", flush=True)
    return rows


def main() -> None:
    """Measure the metrics, and keep the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--words", type=int, nargs="+", default=SIZES)
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--pairs", type=int, default=4, help="2 or more: idf needs several texts")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    texts = {words: long_texts(options.data, words, options.pairs) for words in options.words}
    monge.load("twmd").score(*long_texts(options.data, 20, 4))  # warms up
    print(f"seconds per pair{''.join(f'{words:>10}' for words in texts)}  exponent")
    rows = measure(options.metrics, texts, options.repeat, options.limit)
    if options.json:
        facts = {"pairs": options.pairs, "threads": options.threads, "words": options.words}
        options.json.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
