"""The tables of docs/tuning.md, from what docs/tuning/make.py kept."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MADE, RESULTS, PAGE = HERE / "adapters", HERE / "results.json", HERE.parent / "tuning.md"
ANALYSIS, SPEED, PICTURE = (
    HERE / "analysis.json",
    HERE / "speed.json",
    HERE / "agreement-and-speed.svg",
)
MINI, E5, MPNET = "all-MiniLM-L6-v2", "e5-small", "all-mpnet-base-v2"

KINDS: dict[str, dict[str, Any]] = {
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
"""Data sets that before and after are measured on, and how they are asked: `dataset` where it is
not the key, their own statistic where none is said."""
OF_KINDS = ("mini-1", "broad")
"""The adapters that all kinds of data are measured with."""
LOSS = 0.005
"""More than this a default model must not lose on any kind of data."""
PAPER = {
    "BLEURT base, not "
    "pretrained": (0.568, 0.758), "BLEURT base": (0.610, 0.802), "TWMD, roberta-base": (0.617, 0.810),
    "BLEURT large": (0.625, 0.818), "TWMD-b, roberta-large": (0.634, 0.829),
}  # fmt: skip
"""Tempered WMD, table 4: Kendall's tau and Pearson's r on WMT17 into English after tuning on WMT15
and WMT16.
"""


def _both(
    kept: dict[str, Any], key: str, statistic: str, metric: str = "twmd"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Before and after, of a metric by a statistic."""
    found = [
        one
        for one in kept[key]
        if one["statistic"] == statistic and one["metric"].startswith(metric)
    ]
    return found[0], found[1]


def _span(one: dict[str, Any]) -> str:
    interval = one["mean_interval"]
    return f"{one['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]"


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """The tables of the page by name."""
    found = {}
    lines = [
        "| model | tuned weights | before: r | after: r | after: tau |",
        "|---|---:|---:|---:|---:|",
    ]
    for label, names in (
        (MINI, ["mini-1", "mini-2", "mini-3"]),
        (E5, ["e5-8"]),
        (MPNET, ["mpnet"]),
    ):
        there = [name for name in names if f"wmt17/{name}" in kept]
        if there:
            card = json.loads((MADE / there[0] / "card.json").read_text())
            pairs = [_both(kept, f"wmt17/{name}", "pearson") for name in there]
            taus = [_both(kept, f"wmt17/{name}", "kendall")[1]["mean"] for name in there]
            middle = statistics.median(after["mean"] for _, after in pairs)
            every = (
                ", ".join(f"{after['mean']:.3f}" for _, after in pairs)
                if len(there) > 1
                else _span(pairs[0][1])
            )
            lines.append(
                f"| {label} | {card['parameters']:,} | {pairs[0][0]['mean']:.3f} | "
                f"**{middle:.3f}** ({every}) "
                f"| {statistics.median(taus):.3f} |"
            )
    lines += [
        f"| {name} (published) | all | | {r:.3f} | {tau:.3f} |" for name, (tau, r) in PAPER.items()
    ]
    found["wmt17"] = "\n".join(lines)
    found["kinds"] = kinds_table(kept)
    found["others"] = others_table(kept)
    found["curve"] = curve_table(kept)
    found["german"] = german_table(kept)
    if SPEED.is_file():
        found["fast"] = fast_table(kept, json.loads(SPEED.read_text()))
    if ANALYSIS.is_file():
        found["properties"] = properties_table(json.loads(ANALYSIS.read_text()))
    return found


def kinds_table(kept: dict[str, Any]) -> str:
    """Before and after by kind of data, for both adapters, with the p of each difference."""
    first, second = OF_KINDS
    lines = [
        f"| data | statistic | before | {first} | p | {second} | p |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for dataset in KINDS:
        others = [_told(*pair) for pair in _pairs(kept.get(f"{dataset}/{second}", []), "twmd")]
        for k, (before, after) in enumerate(_pairs(kept.get(f"{dataset}/{first}", []), "twmd")):
            cells = [
                f"{dataset} {before['human']}",
                before["statistic"],
                _span(before),
                *_told(before, after),
            ]
            cells += others[k] if others else ("", "")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _told(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    p = min(one["mean_interval"]["p_value"] for one in (before, after))
    return f"{_span(after)}, {after['mean'] - before['mean']:+.3f}", f"{p:.3f}"


def curve_table(kept: dict[str, Any]) -> str:
    """Agreement by the number of judgements: three draws, and the interval of the middle one."""
    lines = ["| judgements | r on WMT17 of three seeds | the middle one |", "|---:|---|---:|"]
    for label, names in (("0", []), ("200", ["200-1", "200-2", "200-3"]), ("1,000", ["1000-1", "1000-2", "1000-3"]),
                         ("5,360", ["mini-1", "mini-2", "mini-3"])):  # fmt: skip
        found = [
            _both(kept, f"wmt17/{name}", "pearson")[1] for name in names if f"wmt17/{name}" in kept
        ]
        if not names and "wmt17/mini-1" in kept:
            found = [_both(kept, "wmt17/mini-1", "pearson")[0]]
        if found:
            middle = sorted(found, key=lambda one: one["mean"])[len(found) // 2]
            values = ", ".join(f"{one['mean']:.3f}" for one in found)
            lines.append(f"| {label} | {values} | {_span(middle)} |")
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
"""By cost: label, name in the picture, blocks, key of the result, before (0) or after (1), key of
the speed.
"""


def fast_table(kept: dict[str, Any], speed: dict[str, Any]) -> str:
    """What fewer blocks cost in agreement and gain in speed, and what larger models do the other
    way round.
    """
    gains = {
        one["what"]: f"{one['median']:.1f} [{one['low']:.1f}, {one['high']:.1f}]"
        for one in speed["ratios"]
    }
    merged = next(value for what, value in gains.items() if what.startswith("with an adapter"))
    told = {"the default": "1", "`mt`": f"time with adapter / without: {merged}"}
    lines = ["| `--model` | blocks | r on WMT17 | speed |", "|---|---:|---:|---:|"]
    for label, _, blocks, name, which, what in TIERS:
        agreed = _span(_both(kept, f"wmt17/{name}", "pearson")[which])
        lines.append(
            f"| {label} | {blocks} | {agreed} | {gains.get(what) or told.get(label, '')} |"
        )
    return "\n".join(lines)


def picture(kept: dict[str, Any], speed: dict[str, Any]) -> None:
    """Agreement on WMT17 with its interval against pairs a second, a point a model: an adapter
    costs nothing.
    """
    from monge.render.palette import BLUE, ORANGE
    from monge.report.canvas import figure

    gains = {one["what"]: one["median"] for one in speed["ratios"]}
    with figure(PICTURE, width=6.2, height=3.6, rows=1, columns=1) as axes:
        panel = axes[0, 0]
        for _, label, _, name, which, what in TIERS:
            if label:
                one = _both(kept, f"wmt17/{name}", "pearson")[which]
                x, low, high = (
                    gains.get(what, 1.0),
                    one["mean_interval"]["low"],
                    one["mean_interval"]["high"],
                )
                colour = BLUE if which else ORANGE
                panel.plot([x, x], [low, high], color=colour, linewidth=1.2)
                panel.scatter([x], [one["mean"]], s=22, color=colour, zorder=3)
                panel.annotate(
                    label, (x, one["mean"]), xytext=(6, -3), textcoords="offset points", fontsize=8
                )
        panel.set_xscale("log")
        panel.set_xticks([0.2, 0.5, 1, 2, 3], labels=["0.2", "0.5", "1", "2", "3"])
        panel.minorticks_off()
        panel.margins(x=0.25)
        panel.set_xlabel("pairs a second, the default = 1")
        panel.set_ylabel("Pearson's r, WMT17 into English")


def german_table(kept: dict[str, Any]) -> str:
    """Agreement on the German STS benchmark, before and after each recipe."""
    lines = [
        "| metric | recipe | Pearson before | after | Spearman before | after |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for metric in ("sbert", "bertscore", "twmd"):
        for name in ("germeval", "german", "taught"):
            if f"stsb/{name}" in kept:
                both = [
                    _both(kept, f"stsb/{name}", statistic, metric)
                    for statistic in ("pearson", "spearman")
                ]
                cells = " | ".join(f"{one['mean']:.3f}" for pair in both for one in pair)
                lines.append(f"| {metric} | {name} | {cells} |")
    return "\n".join(lines)


def properties_table(analysed: dict[str, Any]) -> str:
    """The three properties of `monge analyse`, before and after."""
    lines = ["| centring | property | before | after |", "|---|---|---|---|"]
    for centring in ("none", "batch"):
        for one, other in zip(
            analysed["before"][centring], analysed["after"][centring], strict=True
        ):
            cells = (
                centring,
                one["name"],
                *(f"{what['verdict']}: {what['why']}" for what in (one, other)),
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _pairs(
    found: list[dict[str, Any]], metric: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Before and after of a metric, by each human column and statistic."""
    mine = [one for one in found if one["metric"] == metric]
    for one in mine:
        if one["model"] == "before":
            alike = [
                other
                for other in mine
                if other["model"] == "after" and other["human"] == one["human"]
            ]
            yield one, next(other for other in alike if other["statistic"] == one["statistic"])


def others_table(kept: dict[str, Any]) -> str:
    """What `broad` does to every metric: before, the difference, and its p, by kind of data."""
    names = ("twmd", "bertscore", "moverscore", "sbert")
    lines = [f"| data | statistic | {' | '.join(names)} |", f"|---|---|{'---:|' * len(names)}"]
    for dataset in KINDS:
        each = [list(_pairs(kept.get(f"{dataset}/broad", []), name)) for name in names]
        for row in zip(*each, strict=True) if all(each) else ():
            cells = [f"{dataset} {row[0][0]['human']}", row[0][0]["statistic"]]
            for before, after in row:
                gain = after["mean"] - before["mean"]
                p = min(one["mean_interval"]["p_value"] for one in (before, after))
                said = f"{before['mean']:.3f} {gain:+.3f} (p {p:.3f})"
                cells.append(f"**{said}**" if gain < -LOSS else said)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page() -> str:
    """The page with its tables as they are kept."""
    text = PAGE.read_text("utf-8")
    for name, table in tables(json.loads(RESULTS.read_text())).items():
        begin, end = f"<!-- {name}: made by docs/tuning/make.py -->", f"<!-- end of {name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return text
