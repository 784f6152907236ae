"""Take the pictures of the service for README.md and docs/serve.md: docs/serve/*.png.

python tools/make_screenshots.py       # starts the service and a browser
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

from repository import DOCS

PICTURES = DOCS / "serve"
COMMAND = [sys.executable, "-c", "from monge.cli.main import main; main()", "serve", "--port", "0"]


def take_pictures() -> None:
    """Take a picture of the page of one pair and of the page of systems."""
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
            page.screenshot(path=PICTURES / "pair.png", full_page=True)
            page.goto(f"{base}/systems")
            page.click("#example")
            page.wait_for_selector(".item")
            page.set_viewport_size({"width": 1280, "height": 1100})
            page.screenshot(path=PICTURES / "systems.png")
            browser.close()
        service.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    take_pictures()
