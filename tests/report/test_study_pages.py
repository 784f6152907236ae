"""Pages of studies in a browser: the answer comes first, nothing runs off the card, axe finds
nothing serious.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from monge.cli.app import run

GROUPS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "dog",
    "ran",
    "to",
    "house",
    "and",
    "slept",
    "a",
    "is",
    "of",
    "in",
    "he",
    "said",
    "warm",
    "red",
    "old",
]
LINES = {
    "evaluate": "evaluate table --data judged.tsv --resamples 50 -m chrf -m bleu -m twmd --model "
    "MODEL",
    "sweep": "sweep table --data judged.tsv --resamples 50 -m twmd -m bertscore --vary layers=1,2 "
    "--model MODEL",
    "analyse": "analyse texts.txt --sentences 50 --pairs 50 --model MODEL",
    "recommend": "recommend --task translation",
    "recommend every task": "recommend",
    "sensitivity": "sensitivity table --data judged.tsv --resamples 50 -m twmd --factor "
    "punctuation --model MODEL",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory, tiny_bert):
    """Name -> the page that the command wrote."""
    folder, draw = tmp_path_factory.mktemp("pages"), random.Random(5)

    def sentence():
        return " ".join(draw.choices(WORDS, k=12))

    rows = [
        f"{k}\t{GROUPS[k % 7]}\t{sentence()}\t{sentence()}\t{draw.random():.3f}" for k in range(140)
    ]
    judged = "\n".join(["id\tgroup\thypothesis\treference\thuman", *rows]) + "\n"
    (folder / "judged.tsv").write_text(judged, "utf-8")
    (folder / "texts.txt").write_text("\n".join(sentence() for _ in range(80)) + "\n", "utf-8")
    made = {}
    for name, line in LINES.items():
        made[name] = folder / f"{name.replace(' ', '-')}.html"
        asked = line.replace("MODEL", str(tiny_bert))
        asked = asked.replace("judged.tsv", str(folder / "judged.tsv")).replace(
            "texts.txt", str(folder / "texts.txt")
        )
        assert run([*asked.split(), "-f", "html", "-o", str(made[name])]) == 0
    return made


@pytest.mark.parametrize("name", LINES)
def test_a_page_says_what_was_found_shows_it_and_then_lists_it(pages, name):
    text = pages[name].read_text("utf-8")
    first = [text.index(part) for part in ("<h1>", '<p class="verdict">', "<svg", "<tbody>")]
    expected = (
        first if name != "sensitivity" else [*first[:2], first[3], first[2]]
    )  # its figure stands in the table
    assert expected == sorted(expected)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 375])
@pytest.mark.parametrize("name", LINES)
def test_nothing_runs_off_a_page_and_axe_finds_nothing_serious(pages, browser, name, width, scheme):
    package = pytest.importorskip("axe_playwright_python")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(pages[name].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    boxes = page.evaluate(
        "[document.documentElement, ...document.querySelectorAll('.scroll')].map((e) => "
        "[e.scrollWidth, e.clientWidth])"
    )
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text("utf-8"))
    violations = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    page.close()
    assert [box for box in boxes if box[0] > box[1] + 1] == []
    assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
