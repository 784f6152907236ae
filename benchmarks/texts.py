"""The texts that benchmarks run on."""

from __future__ import annotations

from monge.datasets import open_dataset
from monge.types import Segment


def read_wmt17(directory: str, count: int) -> list[Segment]:
    """Return judged segments of WMT17 into English, spread over the language pairs."""
    dataset = open_dataset("wmt17", directory, pairs=["*-en"])
    rows = [
        segment
        for group in dataset.groups.values()
        for segment in group.segments
        if segment.hypothesis.strip()
    ]
    return [rows[i * len(rows) // count] for i in range(min(count, len(rows)))]
