"""The tables and the picture of docs/tuning.md, from results/tuning."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repository import DOCS, RESULTS, Pages, draw_picture, fill_block, read_json

TUNING = RESULTS / "tuning"
MEASURED, ANALYSIS, SPEED = (TUNING / f"{name}.json" for name in ("results", "analysis", "speed"))
CARDS = TUNING / "adapters"
"""Card of each adapter that the figures are of: CARDS / NAME / card.json."""
PAGE, PICTURE = DOCS / "tuning.md", DOCS / "tuning" / "agreement-and-speed.svg"
MINI, E5, MPNET = "all-MiniLM-L6-v2", "e5-small", "all-mpnet-base-v2"

DATASETS: dict[str, dict[str, Any]] = {
    "wmt17": {"pairs": ["*-en"], "statistic": ["pearson", "kendall"]},
    "wmt18": {"pairs": ["*-en"], "sample": 400},
    "wmt18-all": {"dataset": "wmt18", "pairs": ["*-en"]},
    "sts12": {},
    "sts13": {},
    "sts14": {},
    "stsb": {"switches": {"split": "test"}},
    "summeval": {},
    "tac08": {},
    "bagel": {},
    "sfhotel": {},
    "flickr8k": {},
}
"""Data sets that adapters are measured on, with the arguments of `Task` that are not defaults."""
REPORTED_ADAPTERS = ("mini-1", "broad")
"""The adapters that are measured on all data sets."""
LARGEST_LOSS = 0.005
"""A default model must not lose more than this on any data set."""
PAPER = {
    "BLEURT base, not pretrained": (0.568, 0.758),
    "BLEURT base": (0.610, 0.802),
    "TWMD, roberta-base": (0.617, 0.810),
    "BLEURT large": (0.625, 0.818),
    "TWMD-b, roberta-large": (0.634, 0.829),
}
"""Tempered WMD, table 4: Kendall's tau and Pearson's r on WMT17 into English after tuning on WMT15
and WMT16.
"""


def _before_and_after(
    results: dict[str, Any], key: str, statistic: str, metric: str = "twmd"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rows before and after tuning, of a metric by a statistic."""
    rows = [
        row
        for row in results[key]
        if row["statistic"] == statistic and row["metric"].startswith(metric)
    ]
    return rows[0], rows[1]


def _show_interval(row: dict[str, Any]) -> str:
    """Return a mean with its interval."""
    interval = row["mean_interval"]
    return f"{row['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]"


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page by name."""
    tables = {}
    lines = [
        "| model | tuned weights | before: r | after: r | after: tau |",
        "|---|---:|---:|---:|---:|",
    ]
    for label, names in (
        (MINI, ["mini-1", "mini-2", "mini-3"]),
        (E5, ["e5-8"]),
        (MPNET, ["mpnet"]),
    ):
        measured = [name for name in names if f"wmt17/{name}" in results]
        if measured:
            card = read_json(CARDS / measured[0] / "card.json")
            pairs = [_before_and_after(results, f"wmt17/{name}", "pearson") for name in measured]
            taus = [
                _before_and_after(results, f"wmt17/{name}", "kendall")[1]["mean"]
                for name in measured
            ]
            middle = statistics.median(after["mean"] for _, after in pairs)
            seeds = (
                ", ".join(f"{after['mean']:.3f}" for _, after in pairs)
                if len(measured) > 1
                else _show_interval(pairs[0][1])
            )
            lines.append(
                f"| {label} | {card['parameters']:,} | {pairs[0][0]['mean']:.3f} | "
                f"**{middle:.3f}** ({seeds}) "
                f"| {statistics.median(taus):.3f} |"
            )
    lines += [
        f"| {name} (published) | all | | {r:.3f} | {tau:.3f} |" for name, (tau, r) in PAPER.items()
    ]
    tables["wmt17"] = "\n".join(lines)
    tables["kinds"] = make_datasets_table(results)
    tables["others"] = make_metrics_table(results)
    tables["curve"] = make_curve_table(results)
    tables["german"] = make_german_table(results)
    tables["fast"] = make_speed_table(results, read_json(SPEED))
    tables["properties"] = make_properties_table(read_json(ANALYSIS))
    return tables


def make_datasets_table(results: dict[str, Any]) -> str:
    """Return before and after per data set for both adapters, with p-values."""
    first, second = REPORTED_ADAPTERS
    lines = [
        f"| data | statistic | before | {first} | p | {second} | p |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for dataset in DATASETS:
        second_cells = [
            _show_change(*pair)
            for pair in _list_pairs(results.get(f"{dataset}/{second}", []), "twmd")
        ]
        for k, (before, after) in enumerate(
            _list_pairs(results.get(f"{dataset}/{first}", []), "twmd")
        ):
            cells = [
                f"{dataset} {before['human']}",
                before["statistic"],
                _show_interval(before),
                *_show_change(before, after),
            ]
            cells += second_cells[k] if second_cells else ("", "")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _show_change(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    """Return the value after tuning with its change, and the p-value."""
    p = min(row["mean_interval"]["p_value"] for row in (before, after))
    return f"{_show_interval(after)}, {after['mean'] - before['mean']:+.3f}", f"{p:.3f}"


def make_curve_table(results: dict[str, Any]) -> str:
    """Return agreement by number of judgements: three draws, and the interval of the middle one."""
    lines = ["| judgements | r on WMT17 of three seeds | the middle one |", "|---:|---|---:|"]
    for label, names in (
        ("0", []),
        ("200", ["200-1", "200-2", "200-3"]),
        ("1,000", ["1000-1", "1000-2", "1000-3"]),
        ("5,360", ["mini-1", "mini-2", "mini-3"]),
    ):
        rows = [
            _before_and_after(results, f"wmt17/{name}", "pearson")[1]
            for name in names
            if f"wmt17/{name}" in results
        ]
        if not names and "wmt17/mini-1" in results:
            rows = [_before_and_after(results, "wmt17/mini-1", "pearson")[0]]
        if rows:
            middle = sorted(rows, key=lambda row: row["mean"])[len(rows) // 2]
            values = ", ".join(f"{row['mean']:.3f}" for row in rows)
            lines.append(f"| {label} | {values} | {_show_interval(middle)} |")
    return "\n".join(lines)


TIERS = (
    ("the default", "the default", 4, "fast", 0, ""),
    ("one block, learned from people alone", "", 1, "one-block", 1, ""),
    (
        "`fast`: and from the tuned e5-small",
        "fast",
        1,
        "fast",
        1,
        "--model fast against the default",
    ),
    ("`mt`", "mt", 4, "mini-1", 1, ""),
    ("`e5-small --adapter mt`", "e5-small + mt", 9, "e5", 1, f"{E5}+mt against the default"),
    (
        "`all-mpnet-base-v2 --adapter mt`",
        "all-mpnet-base-v2 + mt",
        8,
        "mpnet",
        1,
        f"{MPNET}+mt against the default",
    ),
)
"""By cost: label, name in the picture, blocks, adapter, before (0) or after (1), label of speed."""


def make_speed_table(results: dict[str, Any], speed: dict[str, Any]) -> str:
    """Return what fewer blocks cost in agreement and gain in speed."""
    gains = {
        ratio["what"]: f"{ratio['median']:.1f} [{ratio['low']:.1f}, {ratio['high']:.1f}]"
        for ratio in speed["ratios"]
    }
    merged = next(value for label, value in gains.items() if label.startswith("with an adapter"))
    texts = {"the default": "1", "`mt`": f"time with adapter / without: {merged}"}
    lines = ["| `--model` | blocks | r on WMT17 | speed |", "|---|---:|---:|---:|"]
    for label, _, blocks, name, stage, comparison in TIERS:
        agreed = _show_interval(_before_and_after(results, f"wmt17/{name}", "pearson")[stage])
        lines.append(
            f"| {label} | {blocks} | {agreed} | {gains.get(comparison) or texts.get(label, '')} |"
        )
    return "\n".join(lines)


def draw_agreement(path: Path, results: dict[str, Any], speed: dict[str, Any]) -> None:
    """Draw agreement on WMT17 with its interval against pairs per second, one point per model."""
    from monge.render.palette import BLUE, ORANGE
    from monge.report.canvas import figure

    gains = {ratio["what"]: ratio["median"] for ratio in speed["ratios"]}
    with figure(path, width=6.2, height=3.6, rows=1, columns=1) as axes:
        panel = axes[0, 0]
        for _, label, _, name, stage, comparison in TIERS:
            if label:
                row = _before_and_after(results, f"wmt17/{name}", "pearson")[stage]
                x, low, high = (
                    gains.get(comparison, 1.0),
                    row["mean_interval"]["low"],
                    row["mean_interval"]["high"],
                )
                colour = BLUE if stage else ORANGE
                panel.plot([x, x], [low, high], color=colour, linewidth=1.2)
                panel.scatter([x], [row["mean"]], s=22, color=colour, zorder=3)
                panel.annotate(
                    label, (x, row["mean"]), xytext=(6, -3), textcoords="offset points", fontsize=8
                )
        panel.set_xscale("log")
        panel.set_xticks([0.2, 0.5, 1, 2, 3], labels=["0.2", "0.5", "1", "2", "3"])
        panel.minorticks_off()
        panel.margins(x=0.25)
        panel.set_xlabel("pairs a second, the default = 1")
        panel.set_ylabel("Pearson's r, WMT17 into English")


def make_german_table(results: dict[str, Any]) -> str:
    """Return agreement on the German STS benchmark, before and after each recipe."""
    lines = [
        "| metric | recipe | Pearson before | after | Spearman before | after |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for metric in ("sbert", "bertscore", "twmd"):
        for name in ("germeval", "german", "taught"):
            if f"stsb/{name}" in results:
                pairs = [
                    _before_and_after(results, f"stsb/{name}", statistic, metric)
                    for statistic in ("pearson", "spearman")
                ]
                cells = " | ".join(f"{row['mean']:.3f}" for pair in pairs for row in pair)
                lines.append(f"| {metric} | {name} | {cells} |")
    return "\n".join(lines)


def make_properties_table(verdicts: dict[str, Any]) -> str:
    """Return the three properties of `monge analyse`, before and after."""
    lines = ["| centring | property | before | after |", "|---|---|---|---|"]
    for centring in ("none", "batch"):
        for before, after in zip(
            verdicts["before"][centring], verdicts["after"][centring], strict=True
        ):
            cells = (
                centring,
                before["name"],
                *(f"{verdict['verdict']}: {verdict['why']}" for verdict in (before, after)),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _list_pairs(
    rows: list[dict[str, Any]], metric: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield before and after of a metric, per human column and statistic."""
    metric_rows = [row for row in rows if row["metric"] == metric]
    for before in metric_rows:
        if before["model"] == "before":
            candidates = [
                row
                for row in metric_rows
                if row["model"] == "after" and row["human"] == before["human"]
            ]
            yield before, next(row for row in candidates if row["statistic"] == before["statistic"])


def make_metrics_table(results: dict[str, Any]) -> str:
    """Return what `broad` does to every metric: before, difference and p-value, per data set."""
    names = ("twmd", "bertscore", "moverscore", "sbert")
    lines = [f"| data | statistic | {' | '.join(names)} |", f"|---|---|{'---:|' * len(names)}"]
    for dataset in DATASETS:
        pairs = [list(_list_pairs(results.get(f"{dataset}/broad", []), name)) for name in names]
        for row in zip(*pairs, strict=True) if all(pairs) else ():
            cells = [f"{dataset} {row[0][0]['human']}", row[0][0]["statistic"]]
            for before, after in row:
                gain = after["mean"] - before["mean"]
                p = min(row["mean_interval"]["p_value"] for row in (before, after))
                text = f"{before['mean']:.3f} {gain:+.3f} (p {p:.3f})"
                cells.append(f"**{text}**" if gain < -LARGEST_LOSS else text)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def make_pages() -> Pages:
    """Return the page with its tables, and its picture, made from the kept results."""
    text, results = PAGE.read_text("utf-8"), read_json(MEASURED)
    for name, table in make_tables(results).items():
        text = fill_block(text, name, table)
    return {
        PAGE: text,
        PICTURE: draw_picture(lambda path: draw_agreement(path, results, read_json(SPEED))),
    }
