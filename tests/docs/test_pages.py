"""The documentation: the reference is not stale, the site builds strictly, tutorials print what they show."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def module(name: str, place: Path):
    loader = importlib.util.spec_from_file_location(name, place)
    made = importlib.util.module_from_spec(loader)
    sys.modules[name] = made  # dataclasses look their module up
    loader.loader.exec_module(made)
    return made


reference = module("reference_make", DOCS / "reference" / "make.py")
tutorials = module("tutorials_run", DOCS / "tutorials" / "run.py")


@pytest.mark.parametrize("place", reference.PAGES, ids=lambda place: place.stem)
def test_the_reference_is_what_the_code_says(place):
    made = re.sub(r"\n{3,}", "\n\n", reference.PAGES[place]())
    assert place.read_text("utf-8") == made, "run: python docs/reference/make.py"


def test_every_metric_is_explained_and_nothing_else():
    known = reference.notes()
    assert set(known) - {"origins"} == set(reference.bare())
    for name in reference.bare():
        assert set(known[name]) == {"formula", "words", "warts"} and known[name]["warts"]
    cited = {one.cites for one in reference.EVERY.values()}
    assert cited == set(known["origins"])


@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page):
    faults = tutorials.play(page)
    assert not faults, "run: python docs/tutorials/run.py --write\n\n" + "\n\n".join(faults)


def test_there_are_five_tutorials_and_each_has_commands():
    assert len(tutorials.PAGES) == 6
    for page in tutorials.PAGES:
        commands = re.findall(r"^(?:\$ monge|>>> )", page.read_text("utf-8"), re.MULTILINE)
        assert len(commands) >= 4, page.name


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "wrong.md"
    page.write_text(
        "```pycon\n>>> print(1.5, 'a')\n1.501 a\n>>> print(1.5)\n1.6\n```\n"
        "```console\n$ monge show nothing\n$ echo $?\n2\n```\n"
    )
    first, second = tutorials.play(page)
    assert "print(1.5)" in first and "unknown metric" in second
    tutorials.play(page, write=True)
    assert "1.501 a" in page.read_text() and not tutorials.play(page)
    assert tutorials.agree(("a", "…", "c"), ["a", "b", "b", "c"]) and not tutorials.agree(("a", "…", "c"), ["a", "b"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        str(folder),
        "--config-file",
        str(ROOT / "mkdocs.yml"),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "no_proxy": "*", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(command, text=True, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_strictly_and_asks_for_nothing_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        text = page.read_text("utf-8")
        loaded = re.findall(
            r'(?:<script[^>]+src|<img[^>]+src|<link[^>]+rel="(?:stylesheet|preconnect|preload)"[^>]+href)="([^"]+)"',
            text,
        )
        assert not [one for one in loaded if one.startswith(("http:", "https:", "//"))], page.name
    for page in (site / "sensitivity.html", site / "results.html", site / "reproduction.html"):
        assert page.stat().st_size < 100_000, "a short page is short"


def test_search_works_from_a_directory(site):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    assert any("Sinkhorn" in one["text"] for one in index["docs"])
    assert (site / "search" / "search_index.js").is_file(), "what a browser may read from a file"


def test_every_page_is_in_the_navigation_and_every_readme_link_leads_somewhere():
    named = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if not path.name.startswith("template")}
    missing = {page for page in pages if f" {page}\n" not in named} - {"tuning/adapters"}
    assert not {page for page in missing if not page.startswith("tuning/")}
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)|src=\"([^\"]+)\"", readme):
        assert (ROOT / (target[0] or target[1])).exists(), target


def test_the_readme_says_what_is_kept():
    text = (ROOT / "README.md").read_text("utf-8")
    rows = {line.split("|")[1].strip(" *"): line for line in text.splitlines() if line.startswith("| ")}
    kept = json.loads((ROOT / "src/monge/study/kept/agreement.json").read_text("utf-8"))["wmt17"]
    assert kept["sample"] is None and kept["groups"] == 7

    def printed(metric: str) -> str:
        return f"{kept['metrics'][metric]['value']:.3f}".lstrip("0")

    speed = {one["what"]: one["median"] for one in json.loads((DOCS / "speed/run.json").read_text("utf-8"))["ratios"]}
    against = "bertscore@release {} against bert-score 0.3.13"
    assert f"`twmd` {printed('twmd')}" in rows["monge"]
    assert f"| {printed('bertscore')} |" in rows["bert-score"] and f"| {printed('moverscore')} |" in rows["MoverScore"]
    assert f"chrF {printed('chrf')}" in rows["sacrebleu"] and "not measured" in rows["COMET"]
    assert (
        f"{speed[against.format('fp32')]:.1f} times as fast (int8: {speed[against.format('int8')]:.1f})"
        in rows["bert-score"]
    )
    assert f"{speed['moverscore@v2 against the plain MoverScore loop']:.1f} times" in rows["MoverScore"]
    assert f"{len(reference.bare())} metrics" in rows["monge"]
    assert len(text.splitlines()) <= 70, "one screen"
