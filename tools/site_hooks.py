"""Hooks of mkdocs: the icon and colours of the service, a sample report, nothing remote."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

from monge.cli.app import run
from monge.render.palette import COLOURS

REMOTE_SCRIPT, LOCAL_SCRIPT = "https://unpkg.com/iframe-worker/shim", "site/worker.js"
SOURCE = Path(__file__).resolve().parents[1] / "src" / "monge"
SCHEMES = ("default", "slate")
REPORT = "sample-report.html"
_THEME = {
    "primary-fg-color": "header",
    "primary-bg-color": "on-header",
    "primary-bg-color--light": "on-header",
    "accent-fg-color": "accent",
    "typeset-a-color": "accent",
    "default-fg-color": "ink",
    "default-fg-color--light": "soft",
    "default-bg-color": "card",
    "code-bg-color": "ground",
    "code-fg-color": "ink",
}
"""Variable of the theme -> colour of our palette."""
_HEADER = {"header": ("#1864ab", "#12406e"), "on-header": ("#ffffff", "#ffffff")}
_IMAGE = re.compile(r'<img (?P<rest>[^>]*src="(?P<source>[^":]+\.svg)"[^>]*)>')
_ELEMENTS = [
    (
        '<div class="md-search" data-md-component="search" role="dialog">',
        '<div class="md-search" data-md-component="search" role="dialog" aria-label="Search">',
    ),
    (
        '<input class="md-toggle" data-md-toggle="search" type="checkbox" id="__search"',
        '<input class="md-toggle" data-md-toggle="search" type="checkbox" aria-label="Search" '
        'id="__search"',
    ),
    (
        '<input class="md-toggle" data-md-toggle="drawer" type="checkbox" id="__drawer"',
        '<input class="md-toggle" data-md-toggle="drawer" type="checkbox" aria-label="Navigation" '
        'id="__drawer"',
    ),
]
"""Elements of the theme without a name -> the same with one, for screen readers."""


def make_palette_css() -> str:
    """Return the theme's colours in both schemes, from the palette of pages and service."""
    colours = COLOURS | _HEADER
    rules = []
    for scheme, dark in zip(SCHEMES, (False, True), strict=True):
        lines = " ".join(
            f"--md-{name}: {colours[colour][dark]};" for name, colour in _THEME.items()
        )
        rules.append(
            f'[data-md-color-scheme="{scheme}"] {{ {lines} --monge-hurt: {COLOURS["hurt"][dark]}; '
            f"}}"
        )
    return "\n".join(rules) + "\n"


def make_sample_report() -> str:
    """Return a report on the bundled example, made by `monge report`."""
    example = SOURCE / "example"
    texts = [
        word for name in ("system-a", "system-b") for word in ("-t", str(example / f"{name}.txt"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / REPORT
        command = [
            "report",
            *texts,
            "-r",
            str(example / "reference.txt"),
            "-m",
            "twmd",
            "-m",
            "chrf",
            "-q",
        ]
        if run([*command, "-o", str(page)]):
            raise RuntimeError("the sample report could not be made: see the message above")
        return page.read_text("utf-8")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the generated files to the site: colours, icon and sample report."""
    mark = (SOURCE / "server" / "static" / "icon.svg").read_text("utf-8")
    for name, content in (
        ("site/palette.css", make_palette_css()),
        ("site/icon.svg", mark),
        (REPORT, make_sample_report()),
    ):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(html: str, *, page: Any, config: Any, files: Files) -> str:
    """Mark pictures by whether they follow the colour scheme."""

    def mark(match: re.Match[str]) -> str:
        picture = Path(config["docs_dir"]) / Path(page.file.src_uri).parent / match["source"]
        follows = picture.is_file() and "prefers-color-scheme" in picture.read_text("utf-8")
        return f'<img class="{"follows" if follows else "literal"}" {match["rest"]}>'

    return _IMAGE.sub(mark, html)


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """Replace the remote search script of a page by the local one."""
    return _name_elements(output.replace(REMOTE_SCRIPT, get_relative_url(LOCAL_SCRIPT, page.url)))


def on_post_template(output: str, *, template_name: str, config: Any) -> str:
    """Do the same for pages that are no documents, such as 404.html."""
    return _name_elements(output.replace(REMOTE_SCRIPT, LOCAL_SCRIPT))


def _name_elements(output: str) -> str:
    """Give names to the theme's elements that have none, for screen readers."""
    for element, replacement in _ELEMENTS:
        output = output.replace(element, replacement)
    return output
