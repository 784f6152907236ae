"""Measure reports: their size, the time to make them and the time to open them in Chromium.

    MONGE_DATA=DIR python benchmarks/report.py make --keep DIR   # the reports: half an hour of CPU
    python benchmarks/report.py open --keep DIR   # on a quiet machine
    python tools/make_measured_pages.py                          # the table of docs/report.md

Texts are outputs of WMT17, German into English (11 systems, 3,004 segments). Further systems are
made from those by dropping, exchanging and repeating words. Metrics: twmd, bertscore, moverscore,
chrf.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

METRICS = ("twmd", "bertscore", "moverscore", "chrf")
SIZES = "5x1000,20x3000"
WMT17 = "wmt17-seg-da/wmt17-raw-to-and-from-english"
RESULT = Path(__file__).resolve().parents[1] / "results" / "report" / "report.json"
WORSE = 0.1
"""Share of words that a corrupted system changes."""
TIMES = """() => {
  const page = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return { loaded_ms: page.domContentLoadedEventEnd, painted_ms: paint ? paint.startTime : null };
}"""


def corrupt(line: str, share: float, rng: random.Random, words: list[str]) -> str:
    """Drop, exchange or repeat a share of the words of a line."""
    words_of_line: list[str] = []
    for word in line.split():
        position = rng.random() / share
        words_of_line += (
            []
            if position < 0.3
            else [rng.choice(words)]
            if position < 0.7
            else [word, word]
            if position < 1
            else [word]
        )
    return " ".join(words_of_line) or line


def write_texts(folder: Path, data: Path, systems: int, segments: int) -> list[str]:
    """Write the files of systems and reference; return the arguments that name them."""
    real = sorted((data / WMT17 / "system-outputs" / "newstest2017" / "de-en").iterdir())
    lines = (
        (data / WMT17 / "references" / "newstest2017-deen-ref.en")
        .read_text("utf-8")
        .splitlines()[:segments]
    )
    (folder / "reference").write_text("\n".join(lines) + "\n", "utf-8")
    words = " ".join(lines).split()
    arguments = ["-r", str(folder / "reference")]
    for number in range(systems):
        path = real[number % len(real)]
        rows = path.read_text("utf-8").splitlines()[:segments]
        name = path.name.removeprefix("newstest2017.").removesuffix(".de-en")
        if number >= len(real):
            rng = random.Random(number)
            name, rows = f"{name}-worse", [corrupt(row, WORSE, rng, words) for row in rows]
        (folder / name).write_text("\n".join(rows) + "\n", "utf-8")
        arguments += ["-t", str(folder / name)]
    return arguments


def make_report(size: str, data: Path, keep: Path) -> None:
    """Make a report and note the CPU time it took, unless it exists already."""
    page, note = keep / f"{size}.html", keep / f"{size}.json"
    if note.is_file():
        return
    systems, segments = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        text_arguments = write_texts(Path(folder), data, systems, segments)
        metric_arguments = [part for name in METRICS for part in ("-m", name)]
        command = [
            sys.executable,
            "-m",
            "monge",
            "report",
            *text_arguments,
            *metric_arguments,
            "-o",
            str(page),
            "-q",
        ]
        start = _cpu_seconds()
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        seconds = _cpu_seconds() - start
    facts = {
        "systems": systems,
        "segments": segments,
        "metrics": list(METRICS),
        "cpu_seconds_to_make": round(seconds, 1),
    }
    note.write_text(json.dumps(facts) + "\n", "utf-8")
    print(size, f"{seconds:.1f} s of CPU", flush=True)


def _cpu_seconds() -> float:
    """Return the CPU seconds of the finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def count_bytes(source: str) -> dict[str, int]:
    """Return the bytes of a page by kind: segments, pictures, scripts, style, tables."""
    sizes = {
        name: sum(len(element.encode()) for element in re.findall(pattern, source, re.S))
        for name, pattern in (
            ("segments", r'<script type="text/plain".*?</script>'),
            ("pictures", r"<svg.*?</svg>"),
            ("script", r"<script>.*?</script>"),
            ("style", r"<style>.*?</style>"),
        )
    }
    return {**sizes, "tables": len(source.encode()) - sum(sizes.values())}


def time_opening(browser: Browser, path: Path) -> dict[str, float]:
    """Return milliseconds until a page is read, painted, and shows its segments."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    start = time.perf_counter()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector("html[data-ready] .item", timeout=120_000)
    milliseconds = 1000 * (time.perf_counter() - start)
    times = {**page.evaluate(TIMES), "segments_shown_ms": milliseconds}
    page.close()
    return times


def measure_report(size: str, keep: Path, times: int) -> dict[str, Any]:
    """Return the figures of a report: bytes, medians of openings, explained segments."""
    path = keep / f"{size}.html"
    source = path.read_text("utf-8")
    with sync_playwright() as driver:
        browser_path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        runs = [time_opening(browser, path) for _ in range(times + 1)][
            1:
        ]  # the first one warms the browser
        version = browser.version
        browser.close()
    medians = {name: round(sorted(run[name] for run in runs)[times // 2]) for name in runs[0]}
    match = re.search(
        r"Words are marked and plans can be opened in (\d+) of the \d+ segments", source
    )
    note, (systems, segments) = keep / f"{size}.json", map(int, size.split("x"))
    facts = {"systems": systems, "segments": segments, "metrics": list(METRICS)}
    facts |= json.loads(note.read_text("utf-8")) if note.is_file() else {}
    explained = int(match[1]) if match else facts["segments"]
    return {
        **facts,
        "bytes": path.stat().st_size,
        "parts": count_bytes(source),
        "explained": explained,
        **medians,
        "openings": times,
        "chromium": version,
    }


def parse_sizes(text: str) -> Iterator[str]:
    """Yield the sizes of a comma-separated list."""
    for size in text.split(","):
        if not re.fullmatch(r"\d+x\d+", size):
            raise SystemExit(f"--sizes takes SYSTEMSxSEGMENTS, such as {SIZES}; got {size}")
        yield size


def main() -> None:
    """Make reports, or measure how they open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("make", "open"))
    parser.add_argument("--sizes", default=SIZES, help="systems x segments, a comma between sizes")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("MONGE_DATA"),
        help="directory of the judged data",
    )
    parser.add_argument("--keep", type=Path, help="directory of the reports")
    parser.add_argument("--times", type=int, default=5, help="openings, of which the median counts")
    parser.add_argument(
        "-o", "--output", type=Path, default=RESULT, help="what is measured, as JSON"
    )
    options = parser.parse_args()
    if options.keep is None or (options.step == "make" and options.data is None):
        parser.error("give --keep DIR, and --data DIR to make reports")
    if options.step == "make":
        options.keep.mkdir(parents=True, exist_ok=True)
        for size in parse_sizes(options.sizes):
            make_report(size, options.data, options.keep)
    else:
        old = json.loads(options.output.read_text("utf-8")) if options.output.is_file() else []
        figures = {(entry["systems"], entry["segments"]): entry for entry in old}
        for size in parse_sizes(options.sizes):
            figure = measure_report(size, options.keep, options.times)
            figures[figure["systems"], figure["segments"]] = figure
            print(json.dumps(figure), flush=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(
            json.dumps([figures[size] for size in sorted(figures)], indent=1) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
