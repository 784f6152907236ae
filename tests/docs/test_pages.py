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

from monge.render.palette import COLOURS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def module(name: str, place: Path):
    loader = importlib.util.spec_from_file_location(name, place)
    made = importlib.util.module_from_spec(loader)
    sys.modules[name] = made  # dataclasses look their module up
    loader.loader.exec_module(made)
    return made


reference = module("reference_make", DOCS / "reference" / "make.py")
import metric_pages  # noqa: E402 - beside what was just imported

tutorials = module("tutorials_run", DOCS / "tutorials" / "run.py")


@pytest.mark.parametrize("place", reference.PAGES, ids=lambda place: place.stem)
def test_the_reference_is_what_the_code_says(place):
    made = re.sub(r"\n{3,}", "\n\n", reference.PAGES[place]())
    assert place.read_text("utf-8") == made, "run: python docs/reference/make.py"


def test_the_page_about_the_service_shows_what_was_measured():
    made = module("serve_make", DOCS / "serve" / "make.py")
    assert made.page() == made.PAGE.read_text("utf-8"), "run: python docs/serve/make.py page"


def test_every_metric_is_explained_and_nothing_else():
    known = metric_pages.notes()
    assert set(known) - {"origins"} == set(metric_pages.bare())
    for name in metric_pages.bare():
        assert set(known[name]) == {"formula", "words", "warts"} and known[name]["warts"]
    cited = {one.cites for one in metric_pages.EVERY.values()}
    assert cited == set(known["origins"])


@pytest.mark.parametrize("page", tutorials.PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page):
    faults = tutorials.play(page)
    assert not faults, "run: python docs/tutorials/run.py --write\n\n" + "\n\n".join(faults)


def test_every_tutorial_and_the_first_page_have_commands():
    assert [page.name for page in tutorials.PAGES[:1]] == ["index.md"] and tutorials.PAGES[1:]
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
    assert tutorials.agree(("a", "…", "c"), ["a", "b", "b", "c"]) and not tutorials.agree(
        ("a", "…", "c"), ["a", "b"]
    )


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


def test_the_page_of_recommendations_is_what_is_kept():
    make = module("recommend_make", DOCS / "recommend" / "make.py")
    assert make.PAGE.read_text("utf-8") == make.text(), "run: python docs/recommend/make.py page"


def test_the_page_of_reports_is_what_was_measured():
    make = module("report_benchmark", ROOT / "benchmarks" / "report.py")
    assert make.PAGE.read_text("utf-8") == make.page_text(), "run: python benchmarks/report.py page"
    small, large = json.loads(make.KEPT.read_text("utf-8"))
    assert (small["systems"], small["segments"], len(small["metrics"])) == (5, 1000, 4)
    assert (
        small["bytes"] <= 3e6
        and small["segments_shown_ms"] < 1000
        and small["explained"] == small["segments"]
    )
    assert (large["systems"], large["segments"]) == (20, 3000) and large["explained"] < large[
        "segments"
    ]
    for one in (small, large):
        assert sum(one["parts"].values()) == one["bytes"]


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
        if not page.name.startswith("template")
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text("utf-8"))
    }
    assert all(one.is_file() for one in shown)
    drawn = set((DOCS / "sensitivity" / "figures").iterdir())
    assert drawn <= shown, drawn - shown


def test_the_readme_says_what_is_kept():
    text = (ROOT / "README.md").read_text("utf-8")
    rows = {
        line.split("|")[1].strip(" *"): line for line in text.splitlines() if line.startswith("| ")
    }
    kept = json.loads((ROOT / "src/monge/recommendation/kept/agreement.json").read_text("utf-8"))[
        "wmt17"
    ]
    assert kept["sample"] is None and kept["groups"] == 7
    printed = {**printed_on("results/tables.md", 8), **printed_on("defaults.md", 4)}
    printed["twmd"] = printed.pop("twmd, T = .1")
    for metric, figure in kept["metrics"].items():  # what monge recommend answers from is the same
        if metric in printed:
            assert figure["value"] == pytest.approx(float(printed[metric]), abs=1e-3), metric

    speed = {
        one["what"]: one["median"]
        for one in json.loads((DOCS / "speed/run.json").read_text("utf-8"))["ratios"]
    }
    against = "bertscore@release {} against bert-score 0.3.13"
    assert f"`twmd` {printed['twmd']}" in rows["monge"]
    assert f"| {printed['bertscore']} |" in rows["bert-score"]
    assert f"our `moverscore` {printed['moverscore']}" in rows["MoverScore"]
    assert f"chrF {printed['chrf']}" in rows["sacrebleu"] and "not measured" in rows["COMET"]
    assert (
        f"{speed[against.format('fp32')]:.1f} times as fast (int8: "
        f"{speed[against.format('int8')]:.1f})" in rows["bert-score"]
    )
    loop = speed["moverscore@v2 against the plain MoverScore loop"]
    assert (
        f"`moverscore@v2` is {loop:.1f} times as fast as a plain loop over the same formula"
        in rows["MoverScore"]
    )
    profiles = json.loads((DOCS / "results" / "moverscore-profiles.json").read_text("utf-8"))[
        "results"
    ]
    means = {one["metric"]: f"{one['mean']:.3f}".removeprefix("0") for one in profiles}
    assert f"`@v1` {means['moverscore@v1']}, `@v2` {means['moverscore@v2']}" in rows["MoverScore"]
    assert means["moverscore"] == printed["moverscore"]
    precise = json.loads((DOCS / "speed" / "precision.json").read_text("utf-8"))
    whole = next(
        one["pearson"]
        for one in precise
        if (one["metric"], one["precision"]) == ("moverscore@v2", "fp32")
    )
    assert f"{whole:.3f}".removeprefix("0") == means["moverscore@v2"]
    assert f"{len(metric_pages.bare())} metrics" in rows["monge"]
    assert len(text.splitlines()) <= 70, "one screen"


def test_the_tables_of_results_are_what_is_kept():
    make = module("results_make", DOCS / "results" / "make.py")
    assert make.PAGE.read_text("utf-8") == make.page(), "run: python docs/results/make.py --page"
    short = (DOCS / "results.md").read_text("utf-8")
    for run, model in (
        ("wmt17", "all-MiniLM-L6-v2"),
        ("wmt17-e5", "e5-small"),
        ("wmt17-mpnet", "all-mpnet-base-v2"),
    ):
        (standing,) = json.loads((make.RUNS / f"{run}.json").read_text("utf-8"))["study"][
            "standings"
        ]
        means = [f"{mean['value']:.3f}".removeprefix("0") for mean in standing["mean"]]
        row = next(line for line in short.splitlines() if line.startswith(f"| {model}"))
        assert [cell.strip() for cell in row.split("|")[2:6]] == means[:4], model


def test_the_page_of_claims_is_what_was_simulated():
    """Equal metrics are called different in at most .06 of the runs, for 2 to 20 metrics."""
    claims = module("claims_benchmark", ROOT / "benchmarks" / "claims.py")
    assert claims.PAGE.read_text("utf-8") == claims.page_text(), (
        "run: python benchmarks/claims.py page"
    )
    kept = json.loads(claims.KEPT.read_text("utf-8"))
    *held, before = kept["rows"]
    assert [row["setting"] for row in kept["rows"]] == [setting.name for setting in claims.SETTINGS]
    for row in held:
        assert max(row["false"].values()) <= 0.06, row
    assert held[0]["runs"] >= 2000 and set(held[0]["false"]) == {"2", "3", "5", "10", "20"}
    assert min(before["false"].values()) > 0.2, (
        "resampling outputs of one source as if they were independent"
    )
