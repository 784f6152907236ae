"""The tables of docs/speed.md, from the runs kept in docs/speed/*.json.

    python benchmarks/page.py    # after run.py, runtimes.py, growth.py, precision.py with --json docs/speed/….json

A table stands between `<!-- NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from timing import Ratio

DOCS = Path(__file__).resolve().parent.parent / "docs"


def ratios(kept: dict) -> str:
    """Us against the peers."""
    head = "| what | median | range | bar | met |\n|---|---:|---:|---|---|\n"
    return head + "\n".join(Ratio(**one).markdown() for one in kept["ratios"])


def runtimes(kept: dict) -> str:
    """Runtimes for the encoder."""
    head = (
        "| runtime | seconds | our fp32 time / its | range | first run, s | cosine mean | least |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(
        f"| {one['name']} | {one['seconds']:.2f} | {one['ratio']:.2f} | {one['low']:.2f} … "
        f"{one['high']:.2f} "
        f"| {one['first']:.1f} | {one['cosine']:.6f} | {one['least']:.4f} |"
        for one in kept["rows"]
    )


def curve(rows: list[dict]) -> str:
    """Time and memory by size."""
    head = (
        "| pairs | seconds | ms a pair after start-up | peak RSS, MB | until 10 % | 20 % | 50 % | "
        "90 % of the time |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(
        f"| {one['pairs']:,} | {one['seconds']:.1f} | {one['ms_per_pair']:.3f} | "
        f"{one['peak_mb']:.0f} | "
        + " | ".join(f"{one[f'to_{share}_percent_mb']:.0f}" for share in (10, 20, 50, 90))
        + " |"
        for one in rows
    )


def precisions(rows: list[dict]) -> str:
    """What each precision changes, and how well each agrees with people."""
    head = (
        "| metric | precision | largest change | mean change | largest / sd | mean Pearson | "
        "change |\n"
        "|---|---|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(
        f"| `{one['metric']}` | {one['precision']} | "
        + (
            " |  | "
            if one["precision"] == "fp32"
            else f"{one['largest']:.1e} | {one['mean']:.1e} | "
        )
        + ("" if one["precision"] == "fp32" else f"{one['largest_in_sd']:.3f}")
        + f" | {one['pearson']:.4f} | "
        + ("" if one["precision"] == "fp32" else f"{one['pearson_change']:+.4f}")
        + " |"
        for one in rows
    )


def tables() -> dict[str, str]:
    """Every table of the page by its name."""
    kept = {
        path.stem: json.loads(path.read_text("utf-8")) for path in (DOCS / "speed").glob("*.json")
    }
    return {
        "ratios": ratios(kept["run"]),
        "runtimes": runtimes(kept["runtimes"]),
        "precisions": precisions(kept["precision"]),
        "growth": curve([*kept["run"]["growth"], *kept["million"]]),
    }


def filled(page: str, found: dict[str, str]) -> str:
    """The page with its tables put in."""
    for name, table in found.items():
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(<!-- end -->)",
            lambda m, t=table: f"{m[1]}{t}\n{m[2]}",
            page,
            flags=re.S,
        )
    return page


def picture(kept: dict, path: Path) -> None:
    """How many times faster than each peer: median and range of the rounds, bars from 1 on a
    logarithmic scale.
    """
    from monge.render.palette import BLUE, INK, SOFT
    from monge.report.canvas import figure

    peers = [
        one
        for one in kept["ratios"]
        if " against " in one["what"] and "the product" not in one["what"]
    ][::-1]
    with figure(path, width=7.2, height=0.32 * len(peers) + 0.8) as axes:
        panel = axes[0, 0]
        for place, one in enumerate(peers):
            panel.barh(place, one["median"] - 1, left=1, color=BLUE, alpha=0.8, height=0.6)
            panel.plot([one["low"], one["high"]], [place, place], color=INK, linewidth=1)
            panel.text(one["high"] * 1.06, place, f"{one['median']:.1f}", va="center", fontsize=7)
        panel.set_yticks(range(len(peers)), [one["what"] for one in peers], fontsize=7)
        panel.set_xscale("log")
        panel.axvline(1, color=SOFT, linewidth=0.8)
        panel.margins(x=0.12)
        panel.set_xlabel("times as fast: median and range of five rounds")


if __name__ == "__main__":
    picture(
        json.loads((DOCS / "speed" / "run.json").read_text("utf-8")), DOCS / "speed" / "ratios.svg"
    )
    path = DOCS / "speed.md"
    path.write_text(filled(path.read_text("utf-8"), tables()), encoding="utf-8")
