"""What the site needs beside its theme: nothing is loaded from elsewhere, and search works in a directory too."""

from __future__ import annotations

from typing import Any

from mkdocs.utils import get_relative_url

ELSEWHERE, OURS = "https://unpkg.com/iframe-worker/shim", "site/worker.js"


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """A page whose script for search from a directory is ours, not one from a server."""
    return output.replace(ELSEWHERE, get_relative_url(OURS, page.url))


def on_post_template(output: str, *, template_name: str, config: Any) -> str:
    """The same for pages that are no documents, such as 404.html."""
    return output.replace(ELSEWHERE, OURS)
