"""The tables of docs/tuning-papers.md, from results/tuning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from repository import DOCS, RESULTS, Pages, fill_block, make_table, read_json
from tuning_page import CARDS as TUNING_CARDS
from tuning_page import MEASURED as TUNING

MEASURED = RESULTS / "tuning" / "papers.json"
CARDS = RESULTS / "tuning" / "papers"
"""Card of each adapter that the figures are of: CARDS / NAME / card.json."""
PAGE = DOCS / "tuning-papers.md"
OURS = {"mini-twmd-score": "mini-1", "e5-twmd-score": "e5-8"}
"""Rows of table 4 that are adapters of tools/make_adapters.py."""
BASES = {"mini": "all-MiniLM-L6-v2", "e5": "e5-small"}
TASKS = {
    "entailment": "entailment, three labels (`classify`)",
    "paraphrase": "paraphrase or not (`classify`)",
    "entailment-apart": "entailment, apart (`nli`)",
    "grades": "grades of relatedness, apart (`paraphrase`)",
}
SEEDS = 1, 2, 3
"""Seeds of the adapters of figure 4; intervals are of the first."""
PUBLISHED = (
    ("TWMD, roberta-base (published)", "all, mse", 0.810, 0.617),
    ("TWMD-b, roberta-base (published)", "all, mse", 0.807, 0.611),
    ("TWMD, roberta-large (published)", "all, mse", 0.817, 0.628),
    ("TWMD-b, roberta-large (published)", "all, mse", 0.829, 0.634),
)
"""Tempered WMD, table 4: Pearson's r and Kendall's tau on WMT17 into English."""
Row = Mapping[str, Any]


def _pairs(rows: Sequence[Row], **chosen: str) -> Iterator[tuple[Row, Row]]:
    """Yield before and after of the rows that have the chosen values."""
    matching = [row for row in rows if all(row[key] == value for key, value in chosen.items())]
    yield from zip(matching[0::2], matching[1::2], strict=True)


def pick_pair(rows: Sequence[Row], **chosen: str) -> tuple[Row, Row]:
    """Return before and after of the one pair of rows that has the chosen values."""
    ((before, after),) = _pairs(rows, **chosen)
    assert (before["model"], after["model"]) == ("before", "after")
    return before, after


def read_rows(name: str) -> Sequence[Row]:
    """Return the kept rows of an adapter, by its name here or as a row of table 4."""
    is_ours = name in OURS
    rows: Sequence[Row] = read_json(TUNING if is_ours else MEASURED)[
        f"wmt17/{OURS[name]}" if is_ours else name
    ]
    return rows


def show_interval(row: Row) -> str:
    """Return a mean with its interval."""
    interval = row["mean_interval"]
    return f"{row['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]"


def read_p(before: Row, after: Row) -> float:
    """Return the p of the paired test of two means, which the worse of them carries."""
    return float(min(row["mean_interval"]["p_value"] for row in (before, after)))


def _change(before: Row, after: Row) -> str:
    """Return the change of the mean with its interval, or with the p of the paired test."""
    change = after["mean"] - before["mean"]
    if "change" in after:
        return f"{change:+.3f} [{after['change']['low']:+.3f}, {after['change']['high']:+.3f}]"
    return f"{change:+.3f} (p {read_p(before, after):.3f})"


def _held_out(folder: Path) -> str:
    """Return the agreement on held-out data before and after, from the card in a folder."""
    card = read_json(folder / "card.json")
    return f"{card['curve'][0]['agreement']:.3f} → {card['held_out']['agreement']:.3f}"


def name_seed(name: str, seed: int) -> str:
    """Return the name of an adapter trained with a seed; the first seed's has no ending."""
    return name if seed == 1 else f"{name}-seed-{seed}"


def show_seeds(name: str, results: Mapping[str, Sequence[Row]]) -> str:
    """Return the median and the range of the change over seeds, or nothing if there is one."""
    pairs = [
        pick_pair(results[seeded], statistic="pearson")
        for seed in SEEDS
        if (seeded := name_seed(name, seed)) in results
    ]
    changes = [after["mean"] - before["mean"] for before, after in pairs]
    if len(changes) < 2:
        return ""
    return (
        f"{median(changes):+.4f} ({min(changes):+.4f} … {max(changes):+.4f}), {len(changes)} seeds"
    )


def make_pairs_table(results: Mapping[str, Sequence[Row]]) -> str:
    """Return what tuning on pairs of sentences does to MoverScore on WMT17."""
    rows = []
    for base, model in BASES.items():
        names = [name for name in results if name.partition("-")[0] == base]
        tasks = [task for task in TASKS if f"{base}-{task}" in names]
        for task in tasks[:1]:
            before, _ = pick_pair(results[f"{base}-{task}"], statistic="pearson")
            rows.append((model, "neither", "", show_interval(before), "", ""))
        for task in tasks:
            name = f"{base}-{task}"
            pair = pick_pair(results[name], statistic="pearson")
            cells = _held_out(CARDS / name), show_interval(pair[1]), _change(*pair)
            rows.append((model, TASKS[task], *cells, show_seeds(name, results)))
    head = ("model", "tuned on", "held-out pairs", "r on WMT17", "change", "median and range")
    width = len(head) if any(row[-1] for row in rows) else len(head) - 1
    return make_table(head[:width], [row[:width] for row in rows])


def make_tempered_table(results: Mapping[str, Sequence[Row]]) -> str:
    """Return table 4 of Tempered WMD, recomputed with small models.

    TWMD by our loss with low rank is what docs/tuning.md has: those figures are taken from there.
    """
    tuning_results = read_json(TUNING)
    rows = []
    for base, model in BASES.items():
        for metric in ("twmd", "twmd-b"):
            for how, ending in (("low rank", ""), ("all", "-all")):
                for loss in ("mse", "score"):
                    name = f"{base}-{metric}-{loss}{ending}"
                    adapter = OURS.get(name)
                    measured = tuning_results[f"wmt17/{adapter}"] if adapter else results.get(name)
                    if measured:
                        folder = TUNING_CARDS / adapter if adapter else CARDS / name
                        label = f"{metric.upper().replace('-B', '-b')}, {model}"
                        rows.append((label, f"{how}, {loss}", *_tempered_cells(measured, folder)))
    rows += [(label, how, "", "", f"{r:.3f}", "", f"{tau:.3f}") for label, how, r, tau in PUBLISHED]
    head = ("metric and model", "weights, loss", "held-out r", "r before", "r after", "change", "τ")
    return make_table(head, rows)


def _tempered_cells(rows: Sequence[Row], card: Path) -> tuple[str, ...]:
    """Return held-out r, r before and after on WMT17 with its change, and tau after."""
    before, after = pick_pair(rows, statistic="pearson")
    _, tau = pick_pair(rows, statistic="kendall")
    return (
        _held_out(card),
        f"{before['mean']:.3f}",
        show_interval(after),
        _change(before, after),
        f"{tau['mean']:.3f}",
    )


def make_german_table(results: Mapping[str, Sequence[Row]]) -> str:
    """Return GermEval's recipe beside low-rank changes, on German STS-B."""
    rows = []
    for name, label in (
        ("german-all", "all weights of the blocks"),
        ("german-low-rank", "low rank, six blocks, two epochs"),
    ):
        for metric in ("sbert", "bertscore"):
            if name in results:
                pair = pick_pair(results[name], metric=metric, statistic="pearson")
                ranks = pick_pair(results[name], metric=metric, statistic="spearman")
                cells = show_interval(pair[0]), show_interval(pair[1]), _change(*pair)
                rows.append((metric, label, *cells, f"{ranks[1]['mean']:.3f}"))
    head = ("metric", "recipe", "r before", "after", "change", "Spearman after")
    return make_table(head, rows)


def make_pages() -> Pages:
    """Return the page with its tables, made from the kept results."""
    text, results = PAGE.read_text("utf-8"), read_json(MEASURED)
    for name, table in (
        ("figure-4", make_pairs_table(results)),
        ("table-4", make_tempered_table(results)),
        ("germeval", make_german_table(results)),
    ):
        text = fill_block(text, name, table)
    return {PAGE: text}
