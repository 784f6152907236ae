"""Split the time of `monge score` into its parts, each beside what the machine could do at best.

    python benchmarks/ledger.py [--data DIR] [--pairs 1500] [--rounds 5] [--threads 2] [--json FILE]

One round runs the command once in each precision (`-m twmd --ci -f json --segments`, embedded
model, files read again, nothing cached), inside this process after a first run that warms up. Every
part is timed by itself: time in a part that it calls is the other part's. Threads that encode keep
their own times; while the command waits for them, its wall time is divided as theirs was. What no
part claims is `other`, so a column adds up to the wall time. Beside a part stands the time it would
take at the machine's best: its multiplications at the rate of the same linear maps alone, its bytes
at the rate of a copy between arrays. The table has the round with the median wall time.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from texts import read_wmt17
from timing import time_call

from monge.encoders import int8
from monge.encoders.packed import PrepackedLinear

READING, OPENING, CUTTING = "reading", "opening the model", "cutting into pieces"
ATTENTION, PADDING, NORMS = "attention", "gather and padding", "normalisation and GELU"
QUANTISING, KEEPING, TRANSPORT = "quantising", "keeping vectors", "transport"
POINTS, STATISTICS, RENDERING = "points of texts", "statistics", "rendering"
WAITING, OTHER = "waiting for encoders", "other"
LARGE = 2048
"""Rows of the products that measure the best rate."""
COPIED = 1 << 26
"""Bytes of the array whose copy measures the bandwidth of memory."""


@dataclass
class Work:
    """Seconds in a part, with the operations and bytes that cannot be avoided."""

    seconds: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0


@dataclass
class ThreadTimes:
    """The parts of one thread, and the parts it is inside of, innermost last."""

    parts: dict[str, Work] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    since: float = 0.0

    def charge(self, now: float) -> None:
        """Add the time since the last change to the innermost part."""
        if self.stack:
            self.parts.setdefault(self.stack[-1], Work()).seconds += now - self.since
        self.since = now


Count = Callable[..., tuple[float, float]]


class Ledger:
    """Exclusive times of wrapped functions, by part and thread."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock, self._threads = clock, threading.local()
        self._all: list[ThreadTimes] = []
        self.main = self._times()

    def _times(self) -> ThreadTimes:
        times: ThreadTimes | None = getattr(self._threads, "times", None)
        if times is None:
            times = self._threads.times = ThreadTimes()
            self._all.append(times)
        return times

    @contextmanager
    def part(self, name: str) -> Iterator[Work]:
        """Charge the time inside to a part."""
        times = self._times()
        times.charge(self._clock())
        times.stack.append(name)
        try:
            yield times.parts.setdefault(name, Work())
        finally:
            times.charge(self._clock())
            times.stack.pop()

    def wrap(self, function: Any, name: str | Callable[..., str], count: Count | None) -> Any:
        """Return a function that is timed; `count` gives its operations and bytes."""

        def timed(*arguments: Any, **options: Any) -> Any:
            if name == ATTENTION and PADDING not in self._times().stack:
                return function(*arguments, **options)  # of transport
            with self.part(name if isinstance(name, str) else name(*arguments)) as work:
                result = function(*arguments, **options)
                if count is not None:
                    flops, size = count(result, *arguments)
                    work.flops, work.bytes = work.flops + flops, work.bytes + size
            return result

        return timed

    def totals(self) -> dict[str, Work]:
        """Return the parts of the main thread; its waiting is divided as the encoders' times."""
        parts = {name: Work(work.seconds) for name, work in self.main.parts.items()}
        encoders = [
            times for times in self._all if times is not self.main and PADDING in times.parts
        ]
        waited = parts.pop(WAITING, Work()).seconds
        busy = sum(work.seconds for times in encoders for work in times.parts.values())
        for times in encoders:
            for name, work in times.parts.items():
                share = parts.setdefault(name, Work())
                share.seconds += waited * work.seconds / busy
        if not encoders and waited:
            parts[OTHER] = Work(parts.get(OTHER, Work()).seconds + waited)
        for times in [self.main, *encoders]:
            for name, work in times.parts.items():
                if name in parts:
                    parts[name].flops += work.flops
                    parts[name].bytes += work.bytes
        return parts


def _size(*tensors: torch.Tensor) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _product_name(linear: Any, x: torch.Tensor, *_: Any) -> str:
    return f"GEMM {x.shape[1]} x {len(linear._bias)}"


def _count_product(out: torch.Tensor, _: Any, x: torch.Tensor, *__: Any) -> tuple[float, float]:
    return 2.0 * x.numel() * out.shape[1], 0.0


def _count_int8_product(out: torch.Tensor, x: torch.Tensor, *_: Any) -> tuple[float, float]:
    return 2.0 * x.numel() * out.shape[1], 0.0


def _count_bmm(out: torch.Tensor, queries: torch.Tensor, *_: Any) -> tuple[float, float]:
    return 2.0 * out.numel() * queries.shape[2], 0.0


def _count_attend(_: Any, __: Any, qkv: torch.Tensor, context: torch.Tensor, *___: Any) -> Any:
    return 0.0, 2.0 * _size(qkv, context)


def _count_elementwise(out: torch.Tensor, x: torch.Tensor, *_: Any) -> tuple[float, float]:
    return 0.0, float(_size(x, out))


def _count_quantised(out: Any, _: Any, x: torch.Tensor, *__: Any) -> tuple[float, float]:
    # beside these counts, the product is read again and scaled
    return 0.0, float(_size(x, out[0]))


def hooks() -> list[tuple[Any, str, Any, Count | None]]:
    """Return what is timed: the owner and name of a function, its part, and its count."""
    from monge import api
    from monge.cli import score
    from monge.encoders import batching, packed, transformer, workers
    from monge.scoring import measure, run

    kernels = torch.ops.onednn
    return [
        (score, "read_input", READING, None),
        (score.option_groups.SetupOptions, "load", OPENING, None),
        (transformer.TransformerEncoder, "tokenise", CUTTING, None),
        (run.ScoringRun, "_prepare", STATISTICS, None),
        (packed.PackedEncoder, "hidden", PADDING, None),
        (packed.PackedEncoder, "_embed", PADDING, None),
        (packed.Bucket, "attend", PADDING, _count_attend),
        (torch, "bmm", ATTENTION, _count_bmm),
        (torch, "softmax", ATTENTION, _count_elementwise),
        (packed.PrepackedLinear, "__call__", _product_name, _count_product),
        (torch.nn.functional, "layer_norm", NORMS, _count_elementwise),
        (torch.nn.functional, "gelu", NORMS, _count_elementwise),
        (int8.Int8Linear, "__call__", QUANTISING, None),
        (int8.Int8Linear, "_quantised", QUANTISING, _count_quantised),
        (kernels, "qlinear_pointwise", _int8_product_name, _count_int8_product),
        (batching, "pool_layers", KEEPING, None),
        (batching.Memory, "keep", KEEPING, None),
        (workers.Workers, "wait", WAITING, None),
        (measure, "WindowTexts", POINTS, None),
        (measure, "score_pairs", TRANSPORT, None),
        (api, "with_intervals", STATISTICS, None),
        (score, "_emit", RENDERING, None),
    ]


def _int8_product_name(x: torch.Tensor, *arguments: Any) -> str:
    return f"GEMM {x.shape[1]} x {len(arguments[3])}, int8"


def run_command(files: Path, precision: str, ledger: Ledger | None) -> float:
    """Return the wall time of one run of the command in this process."""
    from monge.api import metric
    from monge.cli.app import run

    command = ["score", "-t", str(files / "h"), "-r", str(files / "r"), "-m", "twmd", "-q"]
    command += ["--precision", precision, "--ci", "-f", "json", "--segments"]
    metric._encoders.clear()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(io.StringIO()))
        if ledger is not None:
            for owner, name, part, count in hooks():
                timed = ledger.wrap(getattr(owner, name), part, count)
                stack.enter_context(patch.object(owner, name, timed))
            stack.enter_context(ledger.part(OTHER))
        start = time.perf_counter()
        code = run(command)
        seconds = time.perf_counter() - start
    if code:
        sys.exit(f"monge score failed with {code}")
    return seconds


def measure_rates(shapes: set[tuple[int, int]], precision: str) -> dict[tuple[int, int], float]:
    """Return the operations per second of linear maps alone, by shape: the best of ten."""
    rates = {}
    with torch.inference_mode():
        for width, out in shapes:
            weight, bias = torch.randn(out, width) * 0.05, torch.zeros(out)
            if precision == "int8":
                linear = int8.Int8Linear(weight, bias)
                counts = torch.randint(0, 255, (LARGE, width), dtype=torch.uint8)
                tail = (*linear._weight, None, 1.0, 0, torch.bfloat16, "none", [], "")
                work = partial(torch.ops.onednn.qlinear_pointwise, counts, 1.0, 128, *tail)
            else:
                dtype = torch.float32 if precision == "fp32" else torch.bfloat16
                plain, x = PrepackedLinear(weight, bias, dtype), torch.randn(LARGE, width).to(dtype)
                work = partial(plain, x)
            seconds = min(time_call(work) for _ in range(10))
            rates[width, out] = 2.0 * LARGE * width * out / seconds
    return rates


def measure_bandwidth() -> float:
    """Return the bytes per second, read and written, of a copy between arrays."""
    source = torch.ones(COPIED // 4)
    target = torch.empty_like(source)
    return 2.0 * COPIED / min(time_call(lambda: target.copy_(source)) for _ in range(10))


def shape_of(name: str) -> tuple[int, int]:
    """Return the shape in the name of a linear map."""
    width, out = name.removeprefix("GEMM ").partition(",")[0].split(" x ")
    return int(width), int(out)


def add_bests(parts: dict[str, Work], precision: str, bandwidth: float) -> list[dict[str, Any]]:
    """Return the parts as rows, longest first, with the time at the machine's best."""
    plain = "fp32" if precision == "fp32" else "bf16"
    names = [name for name in parts if name.startswith("GEMM")]
    rates = {
        kind: measure_rates({shape_of(n) for n in names if n.endswith("int8") == is_int8}, kind)
        for kind, is_int8 in ((plain, False), ("int8", True))
    }
    usual = statistics.median(rates[plain].values())
    rows = []
    for name, work in sorted(parts.items(), key=lambda item: -item[1].seconds):
        rate = usual
        if name.startswith("GEMM"):
            rate = rates["int8" if name.endswith("int8") else plain][shape_of(name)]
        best = work.flops / rate + work.bytes / bandwidth
        rows.append({"part": name, "seconds": work.seconds, "best": best or None})
    return rows


def measure_precision(
    files: Path, precision: str, rounds: int, bandwidth: float
) -> dict[str, object]:
    """Return the ledger of a precision: the round with the median wall time."""
    run_command(files, precision, None)
    plain, timed = [], []
    for _ in range(rounds):
        plain.append(run_command(files, precision, None))
        ledger = Ledger()
        timed.append((run_command(files, precision, ledger), ledger.totals()))
    wall, parts = sorted(timed, key=lambda run: run[0])[len(timed) // 2]
    return {
        "precision": precision,
        "seconds": wall,
        "without timing": statistics.median(plain),
        "parts": add_bests(parts, precision, bandwidth),
    }


def print_ledger(ledger: dict[str, Any]) -> None:
    """Print the parts of a precision in percent of its wall time."""
    seconds = ledger["seconds"]
    print(
        f"{ledger['precision']}: {seconds:.2f} s ({ledger['without timing']:.2f} s without timing)"
    )
    for row in ledger["parts"]:
        best = (
            "" if row["best"] is None else f"{row['best']:9.3f}{row['seconds'] / row['best']:7.1f}"
        )
        share = row["seconds"] / seconds
        print(f"  {row['part']:28}{row['seconds']:8.3f}{share:8.1%}{best}", flush=True)


def main() -> None:
    """Measure each precision, print the parts, and keep the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16", "int8"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    torch.set_num_threads(options.threads)
    segments, bandwidth = read_wmt17(options.data, options.pairs), measure_bandwidth()
    with tempfile.TemporaryDirectory() as name:
        for file, texts in (
            ("h", [segment.hypothesis for segment in segments]),
            ("r", [segment.references[0] for segment in segments]),
        ):
            Path(name, file).write_text("\n".join(map(" ".join, map(str.split, texts))) + "\n")
        ledgers = []
        for precision in options.precisions:
            ledger = measure_precision(Path(name), precision, options.rounds, bandwidth)
            print_ledger(ledger)
            ledgers.append(ledger)
    if options.json:
        facts = {"pairs": len(segments), "threads": options.threads, "rounds": options.rounds}
        facts |= {"torch": torch.__version__, "bandwidth GB/s": bandwidth / 1e9}
        options.json.write_text(json.dumps({**facts, "ledgers": ledgers}, indent=1) + "\n")


if __name__ == "__main__":
    main()
