"""Size of reports, time to make them, time to open them in Chromium, and the table of
docs/report.md.

    MONGE_DATA=DIR python benchmarks/report.py make --keep DIR   # the reports: half an hour of CPU
    python benchmarks/report.py open --keep DIR                  # on a quiet machine: docs/report/report.json
    python benchmarks/report.py page                             # no runs: the table, from what is kept

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
DOCS = Path(__file__).resolve().parents[1] / "docs"
KEPT, PAGE = DOCS / "report" / "report.json", DOCS / "report.md"
BEGIN, END = "<!-- sizes: made by benchmarks/report.py -->", "<!-- end of sizes -->"
WORSE = 0.1
"""Share of words that a made system changes of the real one behind it."""
TIMES = """() => {
  const page = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return { loaded_ms: page.domContentLoadedEventEnd, painted_ms: paint ? paint.startTime : null };
}"""


def worse(line: str, share: float, draw: random.Random, words: list[str]) -> str:
    """The line with a share of its words dropped, exchanged or said twice."""
    found: list[str] = []
    for word in line.split():
        at = draw.random() / share
        found += (
            []
            if at < 0.3
            else [draw.choice(words)]
            if at < 0.7
            else [word, word]
            if at < 1
            else [word]
        )
    return " ".join(found) or line


def texts(folder: Path, data: Path, systems: int, segments: int) -> list[str]:
    """The files of systems and reference; the arguments that name them."""
    real = sorted((data / WMT17 / "system-outputs" / "newstest2017" / "de-en").iterdir())
    lines = (
        (data / WMT17 / "references" / "newstest2017-deen-ref.en")
        .read_text("utf-8")
        .splitlines()[:segments]
    )
    (folder / "reference").write_text("\n".join(lines) + "\n", "utf-8")
    words = " ".join(lines).split()
    given = ["-r", str(folder / "reference")]
    for k in range(systems):
        behind = real[k % len(real)]
        rows = behind.read_text("utf-8").splitlines()[:segments]
        name = behind.name.removeprefix("newstest2017.").removesuffix(".de-en")
        if k >= len(real):
            draw = random.Random(k)
            name, rows = f"{name}-worse", [worse(row, WORSE, draw, words) for row in rows]
        (folder / name).write_text("\n".join(rows) + "\n", "utf-8")
        given += ["-t", str(folder / name)]
    return given


def make(size: str, data: Path, keep: Path) -> None:
    """One report, and beside it the CPU time that it took; nothing where it is there already."""
    page, note = keep / f"{size}.html", keep / f"{size}.json"
    if note.is_file():
        return
    systems, segments = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        given = texts(Path(folder), data, systems, segments)
        asked = [part for name in METRICS for part in ("-m", name)]
        line = [sys.executable, "-m", "monge", "report", *given, *asked, "-o", str(page), "-q"]
        began = _spent()
        subprocess.run(line, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        made = _spent() - began
    about = {
        "systems": systems,
        "segments": segments,
        "metrics": list(METRICS),
        "cpu_seconds_to_make": round(made, 1),
    }
    note.write_text(json.dumps(about) + "\n", "utf-8")
    print(size, f"{made:.1f} s of CPU", flush=True)


def _spent() -> float:
    """Seconds of CPU that the finished children of this process took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def parts(source: str) -> dict[str, int]:
    """Bytes of a page by what they are: packed segments, pictures, scripts, style, and the rest,
    which is tables.
    """
    found = {
        name: sum(len(one.encode()) for one in re.findall(pattern, source, re.S))
        for name, pattern in (
            ("segments", r'<script type="text/plain".*?</script>'),
            ("pictures", r"<svg.*?</svg>"),
            ("script", r"<script>.*?</script>"),
            ("style", r"<style>.*?</style>"),
        )
    }
    return {**found, "tables": len(source.encode()) - sum(found.values())}


def opened(browser: Browser, path: Path) -> dict[str, float]:
    """Milliseconds until the page is read, painted, and shows its segments."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    began = time.perf_counter()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector("html[data-ready] .item", timeout=120_000)
    shown = 1000 * (time.perf_counter() - began)
    found = {**page.evaluate(TIMES), "segments_shown_ms": shown}
    page.close()
    return found


def measured(size: str, keep: Path, times: int) -> dict[str, Any]:
    """What is kept of one report: its parts in bytes, medians of some openings, what it says that
    it leaves out.
    """
    path = keep / f"{size}.html"
    source = path.read_text("utf-8")
    with sync_playwright() as driver:
        where = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=where, args=["--no-sandbox"])
        runs = [opened(browser, path) for _ in range(times + 1)][
            1:
        ]  # the first one warms the browser
        version = browser.version
        browser.close()
    medians = {name: round(sorted(one[name] for one in runs)[times // 2]) for name in runs[0]}
    said = re.search(
        r"Words are marked and plans can be opened in (\d+) of the \d+ segments", source
    )
    note, (systems, segments) = keep / f"{size}.json", map(int, size.split("x"))
    about = {"systems": systems, "segments": segments, "metrics": list(METRICS)}
    about |= json.loads(note.read_text("utf-8")) if note.is_file() else {}
    explained = int(said[1]) if said else about["segments"]
    return {
        **about, "bytes": path.stat().st_size, "parts": parts(source), "explained": explained, **medians,
        "openings": times, "chromium": version,
    }  # fmt: skip


def table(kept: list[dict[str, Any]]) -> str:
    """The table of the page."""
    lines = [
        "| systems × segments × metrics | file | read | segments shown | plans can be opened in | "
        "CPU time to make |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one['systems']} × {one['segments']:,} × {len(one['metrics'])} | "
        f"{one['bytes'] / 1e6:.1f} MB "
        f"| {one['loaded_ms'] / 1000:.2f} s | {one['segments_shown_ms'] / 1000:.2f} s "
        f"| {one['explained']:,} segments | {_minutes(one.get('cpu_seconds_to_make'))} |"
        for one in kept
    ]
    return "\n".join(lines)


def _minutes(seconds: float | None) -> str:
    return "not measured" if seconds is None else f"{seconds / 60:.0f} min"


def page_text() -> str:
    """docs/report.md with the table of what is kept."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{head}{BEGIN}\n{table(json.loads(KEPT.read_text('utf-8')))}\n{END}{rest.partition(END)[2]}"


def sizes(given: str) -> Iterator[str]:
    for size in given.split(","):
        if not re.fullmatch(r"\d+x\d+", size):
            raise SystemExit(f"--sizes takes SYSTEMSxSEGMENTS, such as {SIZES}; got {size}")
        yield size


def main() -> None:
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("step", choices=("make", "open", "page"))
    asked.add_argument("--sizes", default=SIZES, help="systems x segments, a comma between sizes")
    asked.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("MONGE_DATA"),
        help="directory of the judged data",
    )
    asked.add_argument("--keep", type=Path, help="directory of the reports")
    asked.add_argument("--times", type=int, default=5, help="openings, of which the median counts")
    asked.add_argument("-o", "--output", type=Path, default=KEPT, help="what is measured, as JSON")
    given = asked.parse_args()
    if given.step != "page" and (
        given.keep is None or (given.step == "make" and given.data is None)
    ):
        asked.error("give --keep DIR, and --data DIR to make reports")
    if given.step == "make":
        given.keep.mkdir(parents=True, exist_ok=True)
        for size in sizes(given.sizes):
            make(size, given.data, given.keep)
    elif given.step == "open":
        before = json.loads(given.output.read_text("utf-8")) if given.output.is_file() else []
        kept = {(one["systems"], one["segments"]): one for one in before}
        for size in sizes(given.sizes):
            one = measured(size, given.keep, given.times)
            kept[one["systems"], one["segments"]] = one
            print(json.dumps(one), flush=True)
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_text(
            json.dumps([kept[size] for size in sorted(kept)], indent=1) + "\n", "utf-8"
        )
    else:
        PAGE.write_text(page_text(), "utf-8")


if __name__ == "__main__":
    main()
