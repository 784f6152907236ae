"""The documentation: the reference is not stale, the site builds strictly, tutorials print what
they show.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import run_tutorials
from reference_pages import metrics as metric_pages

from monge.render.palette import COLOURS

ROOT = Path(__file__).resolve().parents[2]
DOCS, RESULTS = ROOT / "docs", ROOT / "results"


def test_docs_holds_pages_and_their_pictures_only():
    suffixes = {".md", ".svg", ".png", ".css", ".js"}
    others = [path for path in DOCS.rglob("*") if path.is_file() and path.suffix not in suffixes]
    assert others == [DOCS / "reference" / "score.schema.json"]


def test_every_metric_has_notes_and_every_note_a_metric():
    notes = metric_pages.read_notes()
    assert set(notes) - {"origins"} == set(metric_pages.bare_names())
    for name in metric_pages.bare_names():
        assert set(notes[name]) - {"more"} == {"formula", "words", "warts"} and notes[name]["warts"]
    cited = {preset.cites for preset in metric_pages.EVERY.values()}
    assert cited == set(notes["origins"])


@pytest.mark.parametrize("page", run_tutorials.PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page):
    faults = run_tutorials.run_page(page)
    assert not faults, "run: python tools/run_tutorials.py --write\n\n" + "\n\n".join(faults)


def test_every_tutorial_and_the_first_page_have_commands():
    assert [page.name for page in run_tutorials.PAGES[:1]] == ["index.md"] and run_tutorials.PAGES[
        1:
    ]
    for page in run_tutorials.PAGES:
        commands = re.findall(r"^(?:\$ monge|>>> )", page.read_text("utf-8"), re.MULTILINE)
        assert len(commands) >= 4, page.name


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = tmp_path / "wrong.md"
    page.write_text(
        "```pycon\n>>> print(1.5, 'a')\n1.501 a\n>>> print(1.5)\n1.6\n```\n"
        "```console\n$ monge show nothing\n$ echo $?\n2\n```\n"
    )
    first, second = run_tutorials.run_page(page)
    assert "print(1.5)" in first and "unknown metric" in second
    run_tutorials.run_page(page, write=True)
    assert "1.501 a" in page.read_text() and not run_tutorials.run_page(page)
    assert run_tutorials.is_same_output(
        ("a", "…", "c"), ["a", "b", "b", "c"]
    ) and not run_tutorials.is_same_output(("a", "…", "c"), ["a", "b"])


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
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "no_proxy": "*",
        "https_proxy": "http://127.0.0.1:9",
    }
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


def test_the_home_page_has_a_picture_and_an_example_above_the_fold(site, browser):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto((site / "index.html").as_uri())
    bottoms = [
        page.locator(one).first.bounding_box()
        for one in (".hero h1", ".hero img", ".md-content pre")
    ]
    to_report = page.locator(".hero a", has_text="sample report").get_attribute("href")
    page.close()
    assert all(box["y"] + box["height"] < 900 for box in bottoms)
    report = (site / to_report).read_text("utf-8")
    assert "system-a" in report and len(report) < 300_000, "small enough to be opened at once"


def test_the_site_has_the_mark_and_colours_of_the_service(site):
    static = ROOT / "src" / "monge" / "server" / "static"
    assert (site / "site" / "icon.svg").read_bytes() == (static / "icon.svg").read_bytes()
    colours = (site / "site" / "palette.css").read_text("utf-8")
    for dark, scheme in enumerate(("default", "slate")):
        (rule,) = [line for line in colours.splitlines() if f'"{scheme}"' in line]
        assert f"--md-typeset-a-color: {COLOURS['accent'][dark]};" in rule
        assert f"--md-default-fg-color: {COLOURS['ink'][dark]};" in rule


def test_no_backslash_is_left_in_what_people_read(site):
    """Markdown takes backslashes before punctuation away, but not inside of code."""
    for path in site.rglob("*.html"):
        if path.name == "sample-report.html":
            continue
        text = re.sub(r"(?s)<(pre|script|style)\b.*?</\1>", "", path.read_text("utf-8"))
        assert not re.findall(r"\\[|_*<>\[\]`#]", re.sub(r"<[^>]+>", "", text)), path.name


KINDS = ["index.html", "tutorials/paper-table.html", "metrics/twmd.html", "results.html", "serve.html", "404.html",
         "reference/commands.html"]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing_serious_on_a_page_of_each_kind(site, browser, name, scheme):
    package = pytest.importorskip("axe_playwright_python")
    page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    page.goto((site / name).as_uri())
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text("utf-8"))
    violations = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    drawn = page.evaluate(
        "[...document.querySelectorAll('.md-content img[src$=\".svg\"]')].map((one) => "
        "one.className)"
    )
    page.close()
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
    assert set(drawn) <= {"follows", "literal"}, (
        "a figure follows the colour scheme, or is turned for a dark ground"
    )


def test_search_works_from_a_directory_and_nothing_is_asked_elsewhere(site, browser):
    asked = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "metrics" / "chrf.html").as_uri())
    page.locator(".md-search__input").click()
    page.keyboard.type("sinkhorn")
    page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
    first_result = page.locator(".md-search-result__item").first.inner_text()
    page.close()
    assert "twmd" in first_result
    assert all(url.startswith("file:") for url in asked)


def test_every_link_of_the_readme_leads_somewhere():
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)|src=\"([^\"]+)\"", readme):
        assert (ROOT / (target[0] or target[1])).exists(), target


def test_reports_are_small_and_open_quickly():
    small, large = json.loads((RESULTS / "report" / "report.json").read_text("utf-8"))
    assert (small["systems"], small["segments"], len(small["metrics"])) == (5, 1000, 4)
    assert small["bytes"] <= 3e6 and small["segments_shown_ms"] < 1000
    assert small["explained"] == small["segments"]
    assert (large["systems"], large["segments"]) == (20, 3000)
    assert large["explained"] < large["segments"]
    for report in (small, large):
        assert sum(report["parts"].values()) == report["bytes"]


def printed_on(page: str, column: int) -> dict[str, str]:
    """Metric -> its mean on WMT17 as the first table of a page that has it in this column prints
    it, without the 0.
    """
    found: dict[str, str] = {}
    for line in (DOCS / page).read_text("utf-8").splitlines():
        cells = [cell.strip(" *") for cell in line.split("|")[1:-1]]
        if (
            line.startswith("| `")
            and len(cells) > column
            and re.fullmatch(r"0?\.\d{3}", cells[column])
        ):
            found.setdefault(cells[0].replace("`", ""), cells[column].removeprefix("0"))
    return found


def test_the_pages_of_long_studies_are_what_is_kept():
    """No page shows a picture that is not made any more, and none lacks one."""
    shown = {
        (page.parent / target).resolve()
        for page in DOCS.rglob("*.md")
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text("utf-8"))
    }
    assert all(one.is_file() for one in shown)
    drawn = set((DOCS / "sensitivity" / "figures").iterdir())
    assert drawn <= shown, drawn - shown


def test_the_readme_agrees_with_the_pages():
    """The figures of README's table are made from kept results; the pages print the same."""
    text = (ROOT / "README.md").read_text("utf-8")
    kept = json.loads((ROOT / "src/monge/recommendation/kept/agreement.json").read_text("utf-8"))
    wmt17 = kept["wmt17"]
    assert wmt17["sample"] is None and wmt17["groups"] == 7
    printed = {**printed_on("results/tables.md", 8), **printed_on("defaults.md", 4)}
    printed["twmd"] = printed.pop("twmd, T = .1")
    compared = [metric for metric in wmt17["metrics"] if metric in printed]
    assert {"twmd", "bertscore", "moverscore", "chrf"} <= set(compared)
    for metric in compared:
        assert wmt17["metrics"][metric]["value"] == pytest.approx(float(printed[metric]), abs=1e-3)
    assert f"`twmd` {printed['twmd']} |" in text and f"chrF {printed['chrf']} |" in text
    assert f"| {printed['bertscore']} |" in text
    profiles = json.loads((RESULTS / "tables" / "moverscore-profiles.json").read_text("utf-8"))
    means = {
        result["metric"]: f"{result['mean']:.3f}".removeprefix("0")
        for result in profiles["results"]
    }
    assert means["moverscore"] == printed["moverscore"]
    precisions = json.loads((RESULTS / "speed" / "precision.json").read_text("utf-8"))
    whole = next(
        row["pearson"]
        for row in precisions
        if (row["metric"], row["precision"]) == ("moverscore@v2", "fp32")
    )
    assert f"{whole:.3f}".removeprefix("0") == means["moverscore@v2"]
    lines = [line for line in text.splitlines() if not line.startswith("<!--")]
    assert len(lines) <= 70, "one screen"


def test_the_short_page_of_results_agrees_with_the_kept_runs():
    short = (DOCS / "results.md").read_text("utf-8")
    for run, model in (
        ("wmt17", "all-MiniLM-L6-v2"),
        ("wmt17-e5", "e5-small"),
        ("wmt17-mpnet", "all-mpnet-base-v2"),
    ):
        output = json.loads((RESULTS / "tables" / f"{run}.json").read_text("utf-8"))
        (standing,) = output["study"]["standings"]
        means = [f"{mean['value']:.3f}".removeprefix("0") for mean in standing["mean"]]
        row = next(line for line in short.splitlines() if line.startswith(f"| {model}"))
        assert [cell.strip() for cell in row.split("|")[2:6]] == means[:4], model


def names_of_settings():
    """The settings that benchmarks/claims.py simulates."""
    loader = importlib.util.spec_from_file_location("claims", ROOT / "benchmarks" / "claims.py")
    module = importlib.util.module_from_spec(loader)
    sys.modules["claims"] = module  # dataclasses look their module up
    loader.loader.exec_module(module)
    return [setting.name for setting in module.SETTINGS]


def test_equal_metrics_are_seldom_called_different():
    """Equal metrics are called different in at most .06 of the runs, for 2 to 20 metrics."""
    kept = json.loads((RESULTS / "claims" / "claims.json").read_text("utf-8"))
    *held, before = kept["rows"]
    assert [row["setting"] for row in kept["rows"]] == names_of_settings()
    for row in held:
        assert max(row["false"].values()) <= 0.06, row
    assert held[0]["runs"] >= 2000 and set(held[0]["false"]) == {"2", "3", "5", "10", "20"}
    assert min(before["false"].values()) > 0.2, (
        "resampling outputs of one source as if they were independent"
    )
