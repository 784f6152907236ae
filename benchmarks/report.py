"""Size of reports, time to make them, time to open them in Chromium.

    python benchmarks/report.py --sizes 5x1000,20x3000 -o docs/report

Systems are made from the lines of a corpus by dropping, exchanging and repeating words, a little more for each further
system, so that any number of them can be had without a download. Metrics: twmd, bertscore, moverscore, chrf.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

METRICS = ("twmd", "bertscore", "moverscore", "chrf")
OPENED = """() => performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"""


def corpus(lines: int, path: str | None) -> list[str]:
    """So many lines: of a file, or sentences put together from the bundled example, all different."""
    if path:
        found = [line for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
        return [found[k % len(found)] for k in range(lines)]
    words = (files("monge") / "example" / "reference.txt").read_text("utf-8").split()
    draw = random.Random(1)
    return [" ".join(draw.choices(words, k=draw.randint(8, 32))) for _ in range(lines)]


def worse(line: str, share: float, draw: random.Random, words: list[str]) -> str:
    """The line with a share of its words dropped, exchanged or said twice."""
    found: list[str] = []
    for word in line.split():
        at = draw.random() / share if share else 9.0
        found += [] if at < 0.3 else [draw.choice(words)] if at < 0.7 else [word, word] if at < 1 else [word]
    return " ".join(found) or line


def texts(folder: Path, systems: int, lines: list[str]) -> list[str]:
    """The files of systems and reference; the arguments that name them."""
    (folder / "reference").write_text("\n".join(lines) + "\n", "utf-8")
    words = " ".join(lines).split()
    given = ["-r", str(folder / "reference")]
    for k in range(systems):
        draw = random.Random(k + 7)
        name = folder / f"system-{k + 1:02d}"
        name.write_text("\n".join(worse(line, 0.06 * (k + 1), draw, words) for line in lines) + "\n", "utf-8")
        given += ["-t", str(name)]
    return given


def opening(path: Path, times: int = 3) -> dict[str, float]:
    """Milliseconds until the page can be used, and until its segments are shown; medians of some openings."""
    from playwright.sync_api import sync_playwright

    loaded, ready = [], []
    with sync_playwright() as driver:
        where = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=where, args=["--no-sandbox"])
        for _ in range(times):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready] .item", timeout=120_000)
            ready.append(1000 * (time.perf_counter() - began))
            loaded.append(page.evaluate(OPENED))
            page.close()
        browser.close()
    return {"loaded_ms": sorted(loaded)[times // 2], "segments_shown_ms": round(sorted(ready)[times // 2])}


def measured(systems: int, segments: int, path: str | None, metrics: tuple[str, ...]) -> dict[str, object]:
    """One size: what is made, how long that takes, how large it is, how fast it opens."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        given = texts(where, systems, corpus(segments, path))
        asked = [part for name in metrics for part in ("-m", name)]
        command = [sys.executable, "-m", "monge", "report", *given, *asked, "-o", str(where / "report.html"), "-q"]
        began = time.perf_counter()
        subprocess.run(command, check=True)
        made = time.perf_counter() - began
        page = where / "report.html"
        size = page.stat().st_size
        return {
            "systems": systems, "segments": segments, "metrics": list(metrics), "seconds_to_make": round(made, 1),
            "bytes": size, **opening(page),
        }  # fmt: skip


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sizes", default="5x1000,20x3000", help="systems x segments, a comma between sizes")
    asked.add_argument("--corpus", help="a file of lines to make the texts from")
    asked.add_argument("--metrics", default=",".join(METRICS))
    asked.add_argument("-o", "--output", help="a directory for report.json")
    given = asked.parse_args()
    found = []
    for size in given.sizes.split(","):
        systems, segments = map(int, size.split("x"))
        found.append(measured(systems, segments, given.corpus, tuple(given.metrics.split(","))))
        print(json.dumps(found[-1]), flush=True)
    if given.output:
        Path(given.output).mkdir(parents=True, exist_ok=True)
        (Path(given.output) / "report.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
