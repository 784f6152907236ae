"""What the site needs beside its theme: the mark and colours of the service, a sample report,
nothing remote.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

from monge.cli.app import run
from monge.render.palette import COLOURS

ELSEWHERE, OURS = "https://unpkg.com/iframe-worker/shim", "site/worker.js"
SOURCE = Path(__file__).resolve().parents[2] / "src" / "monge"
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
    ('<div class="md-search" data-md-component="search" role="dialog">',
     '<div class="md-search" data-md-component="search" role="dialog" aria-label="Search">'),
    ('<input class="md-toggle" data-md-toggle="search" type="checkbox" id="__search"',
     '<input class="md-toggle" data-md-toggle="search" type="checkbox" aria-label="Search" '
     'id="__search"'),
    ('<input class="md-toggle" data-md-toggle="drawer" type="checkbox" id="__drawer"',
     '<input class="md-toggle" data-md-toggle="drawer" type="checkbox" aria-label="Navigation" '
     'id="__drawer"'),
]  # fmt: skip
"""Elements of the theme without a name -> the same with one, for screen readers."""


def palette_css() -> str:
    """The colours of the theme in both schemes, from the palette that pages and the service
    have.
    """
    colours = COLOURS | _HEADER
    rules = []
    for scheme, dark in zip(SCHEMES, (False, True), strict=True):
        lines = " ".join(f"--md-{name}: {colours[ours][dark]};" for name, ours in _THEME.items())
        rules.append(
            f'[data-md-color-scheme="{scheme}"] {{ {lines} --monge-hurt: {COLOURS["hurt"][dark]}; '
            f"}}"
        )
    return "\n".join(rules) + "\n"


def sample_report() -> str:
    """A report on the bundled example, as `monge report` makes it."""
    example = SOURCE / "example"
    texts = [
        word for name in ("system-a", "system-b") for word in ("-t", str(example / f"{name}.txt"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / REPORT
        asked = [
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
        if run([*asked, "-o", str(page)]):
            raise RuntimeError("the sample report could not be made: see the message above")
        return page.read_text("utf-8")


def on_files(files: Files, *, config: Any) -> Files:
    """The files of the site with those that are made: colours, the mark, and the sample report."""
    mark = (SOURCE / "server" / "static" / "icon.svg").read_text("utf-8")
    for name, content in (
        ("site/palette.css", palette_css()),
        ("site/icon.svg", mark),
        (REPORT, sample_report()),
    ):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(html: str, *, page: Any, config: Any, files: Files) -> str:
    """A page whose pictures say whether they follow the colour scheme, and whose wide tables can be
    reached by keys.
    """

    def marked(found: re.Match[str]) -> str:
        drawn = Path(config["docs_dir"]) / Path(page.file.src_uri).parent / found["source"]
        follows = drawn.is_file() and "prefers-color-scheme" in drawn.read_text("utf-8")
        return f'<img class="{"follows" if follows else "literal"}" {found["rest"]}>'

    return _IMAGE.sub(marked, html)


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """A page whose script for search from a directory is ours, not one from a server."""
    return _named(output.replace(ELSEWHERE, get_relative_url(OURS, page.url)))


def on_post_template(output: str, *, template_name: str, config: Any) -> str:
    """The same for pages that are no documents, such as 404.html."""
    return _named(output.replace(ELSEWHERE, OURS))


def _named(output: str) -> str:
    for without, named in _ELEMENTS:
        output = output.replace(without, named)
    return output
