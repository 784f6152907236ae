"""The pictures of the README and the figures of docs/serve.md.

python docs/serve/make.py             # starts the service, writes docs/serve/pair.png and
docs/serve/systems.png python docs/serve/make.py page        # the table of docs/serve.md from
docs/serve/load.json (benchmarks/serve.py)
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE, LOAD = HERE.parent / "serve.md", HERE / "load.json"
BEGIN, END = "<!-- load: made by docs/serve/make.py page -->", "<!-- end of load -->"
COMMAND = [sys.executable, "-c", "from monge.cli.main import main; main()", "serve", "--port", "0"]


def pictures() -> None:
    """Take both."""
    from playwright.sync_api import sync_playwright

    with subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        base = service.stderr.readline().split()[3].rstrip(",").rstrip("/")
        while "ready" not in service.stderr.readline():
            pass
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(base)
            page.wait_for_selector(".arc")
            page.wait_for_timeout(1000)
            page.locator(".word[data-unit='5']").first.hover()
            page.screenshot(path=HERE / "pair.png", full_page=True)
            page.goto(f"{base}/systems")
            page.click("#example")
            page.wait_for_selector(".item")
            page.set_viewport_size({"width": 1280, "height": 1100})
            page.screenshot(path=HERE / "systems.png")
            browser.close()
        service.send_signal(signal.SIGTERM)


def table(found: Mapping[str, Any]) -> str:
    """What a run of benchmarks/serve.py saw."""
    many, own, over = found["64 clients"], found["64 clients, sharing off"], found["overload"]
    rows = [
        ("`monge score` on the same distinct texts", f"{found['monge score']:.0f} pairs/s"),
        (
            "64 clients, one pair a request",
            f"{many['pairs_per_second']:.0f} pairs/s, {found['of monge score']:.2f} x",
        ),
        (
            "their p50, p95, p99",
            ", ".join(f"{many[one]:.2f}" for one in ("p50", "p95", "p99")) + " s",
        ),
        ("the same with sharing switched off", f"{own['pairs_per_second']:.0f} pairs/s"),
        (
            "sharing is worth; at most, on these texts",
            f"{found['of sharing off']:.2f} x; {found['of sharing off, at most']:.2f} x",
        ),
        (
            "4 x capacity: answers",
            ", ".join(f"{code}: {n:,}" for code, n in sorted(over["4 x"]["statuses"].items())),
        ),
        ("4 x capacity: p99 of the accepted", f"{over['p99 ratio']:.2f} x that at capacity"),
        ("4 x capacity: back to normal after", f"{over['recovered_s']:.2f} s"),
    ]
    if "soak" in found:
        soak = found["soak"]
        said = ", ".join(f"{code}: {n:,}" for code, n in sorted(soak["after"]["statuses"].items()))
        minutes = soak["after"]["statuses"]["200"] / soak["after"]["pairs_per_second"] / 60
        rows.append((f"100 clients, {minutes:.0f} minutes after the first: answers", said))
        wrong, growth = soak["after"]["wrong"], 100 * soak["growth"]
        rows.append(("their wrong scores; growth of memory", f"{wrong}; {growth:+.1f} %"))
    return "\n".join(["| | |", "|---|---:|", *(f"| {one} | {other} |" for one, other in rows)])


def page() -> str:
    """docs/serve.md with its figures as they are kept."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{head}{BEGIN}\n{table(json.loads(LOAD.read_text('utf-8')))}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("pictures", "page"), nargs="?", default="pictures")
    if parser.parse_args().what == "page":
        PAGE.write_text(page(), "utf-8")
    else:
        pictures()


if __name__ == "__main__":
    main()
