"""The pictures of the README: starts the service with the embedded model, and takes them in a browser.

python docs/serve/make.py        # writes docs/serve/pair.png and docs/serve/systems.png
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-c", "from monge.cli.main import main; main()", "serve", "--port", "0"]


def main() -> None:
    """Take both."""
    with subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        base = service.stderr.readline().split()[3].rstrip(",").rstrip("/")
        while "ready" not in service.stderr.readline():
            pass
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
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


if __name__ == "__main__":
    main()
