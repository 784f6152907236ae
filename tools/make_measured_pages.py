"""Make the tables of pages that show measurements, from what benchmarks keep in results/.

    python tools/make_measured_pages.py

Pages: docs/speed.md, docs/scale.md, docs/report.md, docs/serve.md, docs/migration.md,
docs/results/claims.md. Nothing is run; benchmarks/ and examples/peers/run.py measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repository import (
    DOCS,
    RESULTS,
    Pages,
    draw_picture,
    fill_block,
    make_table,
    read_json,
    write_pages,
)

Record = Mapping[str, Any]


def make_pages() -> Pages:
    """Return every page with its tables."""
    return {
        DOCS / "speed.md": _fill("speed.md", make_speed_tables()),
        DOCS / "speed" / "ratios.svg": draw_picture(draw_ratios),
        **make_ledger_picture(),
        DOCS / "scale.md": _fill("scale.md", make_scale_tables()),
        DOCS / "report.md": _fill("report.md", {"sizes": make_report_table()}),
        DOCS / "serve.md": _fill("serve.md", {"load": make_load_table()}),
        DOCS / "migration.md": _fill("migration.md", {"times": make_peers_table()}),
        DOCS / "results" / "claims.md": make_claims_page(),
    }


def _fill(page: str, tables: Mapping[str, str]) -> str:
    text = (DOCS / page).read_text("utf-8")
    for name, table in tables.items():
        text = fill_block(text, name, table)
    return text


def _fix(digits: int, numbers: Iterable[float]) -> list[str]:
    return [f"{number:.{digits}f}" for number in numbers]


# --- docs/speed.md


def make_speed_tables() -> dict[str, str]:
    """Return the tables of docs/speed.md by name."""
    runs = {path.stem: read_json(path) for path in (RESULTS / "speed").glob("*.json")}
    return {
        "ratios": make_ratios_table(runs["run"]["ratios"]),
        "runtimes": make_runtimes_table(runs["runtimes"]["rows"]),
        "precisions": make_precisions_table(runs["precision"]),
        "growth": make_growth_table([*runs["run"]["growth"], *runs["million"]]),
        "ledger": make_ledger_table(runs.get("ledger")),
        "long": make_long_table(runs.get("long")),
        "memory": make_memory_table(runs.get("memory")),
        "auction": make_auction_table(runs.get("auction")),
    }


def make_ratios_table(ratios: Sequence[Record]) -> str:
    """Return our speed against that of peers, with the bar that each ratio has to reach."""
    head = "| what | median | range | bar | met |\n|---|---:|---:|---|---|\n"
    return head + "\n".join(map(_ratio_row, ratios))


def _ratio_row(ratio: Record) -> str:
    bar, verdict = "", ""
    if ratio["bar"] is not None:
        bar = f"{'at most' if ratio['at_most'] else 'at least'} {ratio['bar']:g}"
        is_met = (ratio["median"] <= ratio["bar"]) == ratio["at_most"]
        verdict = "yes" if is_met or ratio["median"] == ratio["bar"] else "**no**"
    spread = f"{ratio['low']:.2f} … {ratio['high']:.2f}"
    return f"| {ratio['what']} | {ratio['median']:.2f} | {spread} | {bar} | {verdict} |"


def make_runtimes_table(rows: Sequence[Record]) -> str:
    """Return the times of other runtimes for the encoder."""
    head = (
        "| runtime | seconds | our fp32 time / its | range | first run, s | cosine mean | least |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(
        f"| {row['name']} | {row['seconds']:.2f} | {row['ratio']:.2f} "
        f"| {row['low']:.2f} … {row['high']:.2f} "
        f"| {row['first']:.1f} | {row['cosine']:.6f} | {row['least']:.4f} |"
        for row in rows
    )


def make_growth_table(rows: Sequence[Record]) -> str:
    """Return time and memory by number of pairs."""
    head = (
        "| pairs | seconds | ms a pair after start-up | peak RSS, MB | until 10 % | 20 % | 50 % | "
        "90 % of the time |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|\n"
    )
    return head + "\n".join(
        f"| {row['pairs']:,} | {row['seconds']:.1f} | {row['ms_per_pair']:.3f} | "
        f"{row['peak_mb']:.0f} | "
        + " | ".join(f"{row[f'to_{share}_percent_mb']:.0f}" for share in (10, 20, 50, 90))
        + " |"
        for row in rows
    )


def make_precisions_table(rows: Sequence[Record]) -> str:
    """Return how far each precision moves scores, and its agreement with people."""
    head = (
        "| metric | precision | largest change | mean change | largest / sd | mean Pearson | "
        "change |\n"
        "|---|---|---:|---:|---:|---:|---:|\n"
    )
    lines = []
    for row in rows:
        cells = ["", "", "", f"{row['pearson']:.4f}", ""]
        if row["precision"] != "fp32":
            cells[:3] = f"{row['largest']:.1e}", f"{row['mean']:.1e}", f"{row['largest_in_sd']:.3f}"
            cells[4] = f"{row['pearson_change']:+.4f}"
        lines.append(f"| `{row['metric']}` | {row['precision']} | {' | '.join(cells)} |")
    return head + "\n".join(lines)


NOT_MEASURED = "Not measured yet on a machine on which nothing else ran."


def make_ledger_table(ledger: Record | None) -> str:
    """Return the parts of a run in percent, each with its distance from the machine's best."""
    if ledger is None:
        return NOT_MEASURED
    runs = ledger["ledgers"]
    names = list(dict.fromkeys(row["part"] for run in runs for row in run["parts"]))
    rows = []
    for name in names:
        cells = [name]
        for run in runs:
            part = next((row for row in run["parts"] if row["part"] == name), None)
            cells += ["", ""] if part is None else _part_cells(part, run["seconds"])
        rows.append(cells)
    rows.append(["seconds", *(cell for run in runs for cell in (f"{run['seconds']:.2f}", ""))])
    head = ["part", *(cell for run in runs for cell in (f"{run['precision']}, %", "/ best"))]
    return make_table(head, rows)


def _part_cells(part: Record, seconds: float) -> list[str]:
    """Return the percentage of a part, and its time over the best; empty where none is known."""
    best = "" if part["best"] is None else f"{part['seconds'] / part['best']:.1f}"
    return [f"{100 * part['seconds'] / seconds:.1f}", best]


def make_long_table(long_texts: Record | None) -> str:
    """Return seconds per pair by words of a text, and the exponent of growth."""
    if long_texts is None:
        return NOT_MEASURED
    sizes = [str(words) for words in long_texts["words"]]
    rows = []
    for row in long_texts["rows"]:
        cells = [f"{row['seconds'][size]:.3f}" if size in row["seconds"] else "" for size in sizes]
        growth = "" if row["exponent"] is None else f"{row['exponent']:.2f}"
        rows.append([f"`{row['metric']}`", *cells, growth, row["ended"]])
    return make_table(["metric", *(f"{size} words, s" for size in sizes), "exponent", ""], rows)


def make_memory_table(runs: Sequence[Record] | None) -> str:
    """Return time and memory of runs with the embedded model."""
    return NOT_MEASURED if runs is None else make_growth_table(runs)


def make_auction_table(rows: Sequence[Record] | None) -> str:
    """Return the rounds that a batched auction may have and needs, beside the time of POT."""
    if rows is None:
        return NOT_MEASURED
    head = ["units a side", "POT, µs", "one round, µs", "rounds for 1.5 x", "rounds needed"]
    cells = []
    for row in rows:
        times = _fix(1, [1e6 * row["pot"], 1e6 * row["round"]])
        rounds = _fix(0, [row["allowed"], row["needed"]])
        cells.append([str(row["size"]), *times, *rounds])
    return make_table(head, cells)


def make_ledger_picture() -> Pages:
    """Return the picture of the ledger, where it was measured."""
    path = RESULTS / "speed" / "ledger.json"
    if not path.is_file():
        return {}
    ledgers = read_json(path)["ledgers"]
    return {
        DOCS / "speed" / "ledger.svg": draw_picture(lambda picture: draw_ledger(picture, ledgers))
    }


def draw_ledger(path: Any, ledgers: Sequence[Record]) -> None:
    """Draw the parts of each precision as one bar of 100 %; small parts are drawn together."""
    from monge.render.palette import INK
    from monge.report.canvas import figure

    with figure(path, width=7.2, height=0.6 * len(ledgers) + 0.9) as axes:
        panel = axes[0, 0]
        for row, ledger in enumerate(ledgers[::-1]):
            start = 0.0
            for number, (name, share) in enumerate(_large_parts(ledger)):
                shade = 0.75 - 0.55 * (number % 2)
                panel.barh(row, share, left=start, color=INK, alpha=shade / 2, height=0.7)
                if share > 7:
                    panel.text(start + share / 2, row, name, ha="center", va="center", fontsize=5)
                start += share
        panel.set_yticks(range(len(ledgers)), [run["precision"] for run in ledgers[::-1]])
        panel.set_xlabel("percent of the wall time")
        panel.set_xlim(0, 100)


def _large_parts(ledger: Record) -> list[tuple[str, float]]:
    """Return the parts of at least 2 % with their percentage, then the rest."""
    shares = [(row["part"], 100 * row["seconds"] / ledger["seconds"]) for row in ledger["parts"]]
    large = [(name, share) for name, share in shares if share >= 2]
    return [*large, ("rest", max(0.0, 100 - sum(share for _, share in large)))]


def draw_ratios(path: Any) -> None:
    """Draw how many times as fast as each peer: median and range, on a logarithmic scale."""
    from monge.render.palette import BLUE, INK, SOFT
    from monge.report.canvas import figure

    peers = [
        ratio
        for ratio in read_json(RESULTS / "speed" / "run.json")["ratios"]
        if " against " in ratio["what"] and "the product" not in ratio["what"]
    ][::-1]
    with figure(path, width=7.2, height=0.32 * len(peers) + 0.8) as axes:
        panel = axes[0, 0]
        for row, ratio in enumerate(peers):
            panel.barh(row, ratio["median"] - 1, left=1, color=BLUE, alpha=0.8, height=0.6)
            panel.plot([ratio["low"], ratio["high"]], [row, row], color=INK, linewidth=1)
            panel.text(ratio["high"] * 1.06, row, f"{ratio['median']:.1f}", va="center", fontsize=7)
        panel.set_yticks(range(len(peers)), [ratio["what"] for ratio in peers], fontsize=7)
        panel.set_xscale("log")
        panel.axvline(1, color=SOFT, linewidth=0.8)
        panel.margins(x=0.12)
        panel.set_xlabel("times as fast: median and range of five rounds")


# --- docs/scale.md

MEASURED_HEAD = [
    "model",
    "pairs",
    "distinct texts",
    "one thread, s",
    "two threads, s",
    "two halves at once, s",
    "two workers, s",
    "against one",
    "two",
    "at best",
    "equal",
]
STAGES_HEAD = [
    "model",
    "pairs",
    "command, s",
    "read, s",
    "waiting for Ray, s",
    "count, s",
    "score, s",
    "worker, ms a pair",
]
STAGES = ("start of the command", "read", "start", "count", "score")
PROJECTED = ((1e6, 8), (1e8, 256), (1e9, 1024))
"""Pairs and workers of the table of projections."""
PROJECTION_HEAD = ["pairs", "workers", "read, h", "score, h", "parts, GB", "blocks", "records, GB"]


def make_scale_tables() -> dict[str, str]:
    """Return the tables of docs/scale.md by name."""
    results = read_json(RESULTS / "scale" / "scale.json")
    kills = read_json(RESULTS / "scale" / "kills.json")["kills"]
    names = ("tiny", "embedded", "more tiny", "more embedded")
    runs = [results[name] for name in names if name in results]
    driver = [
        [f"{row['pairs']:,}", f"{row['blocks']:,}", f"{row['peak_mb']:.0f}"]
        for row in results["driver"]
    ]
    study = [
        [
            row["metric"],
            str(row["groups"]),
            f"{row['segments']:,}",
            *_fix(6, [row["mean"], row["on Ray"]]),
        ]
        for row in results["wmt17"]["rows"]
    ]
    study_head = ["metric", "groups", "segments", "mean Pearson, plain", "on Ray"]
    kills_head = ["killed", "times", "same bytes", "begun again", "blocks computed again, most"]
    tables = {
        "measured": (MEASURED_HEAD, [_measured_row(run) for run in runs]),
        "stages": (STAGES_HEAD, [_stages_row(run) for run in runs]),
        "driver": (["pairs", "blocks", "driver, MB"], driver),
        "wmt17": (study_head, study),
        "kills": (kills_head, _kill_rows(kills)),
        "projection": (PROJECTION_HEAD, [_projected_row(results, *size) for size in PROJECTED]),
    }
    return {
        name: "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---:"] * len(head), *rows])
        for name, (head, rows) in tables.items()
    }


def _measured_row(run: Record) -> list[str]:
    """Return the times of a run; what was not measured stays empty."""
    seconds = [run.get(name, {}).get("seconds") for name in ("one thread", "two threads")]
    seconds += [run.get("two halves"), run["two workers"]["seconds"]]
    best = run["one thread"]["seconds"] / run["two halves"] if "two halves" in run else None
    ratios = [run["against one thread"], run.get("against two threads"), best]
    cells = ["" if second is None else f"{second:.1f}" for second in seconds]
    cells += ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
    equal = "yes" if run["equal"] else "NO"
    return [run["what"], f"{run['pairs']:,}", f"{run['distinct']:,}", *cells, equal]


def _stages_row(run: Record) -> list[str]:
    ray = run["two workers"]
    seconds = [ray["stages"].get(name, 0.0) for name in STAGES]
    worker = _fix(3, [1e3 * ray["worker seconds a pair"]])
    return [run["what"], f"{run['pairs']:,}", *_fix(1, seconds), *worker]


def _projected_row(results: Record, pairs: float, workers: int) -> list[str]:
    """Project hours of the driver and of the workers, and bytes, from the embedded model's run."""
    run, large = results["embedded"], results["driver"][-1]  # blocks of a small run are smaller
    ray = run["two workers"]
    read = ray["stages"]["read"] / run["pairs"] * pairs / 3600
    work = ray["worker seconds a pair"] * pairs / workers / 3600
    blocks = pairs * large["blocks"] / large["pairs"]
    parts = ray["bytes of parts a pair"] * pairs / 1e9
    records = blocks * ray["bytes of records a block"] / 1e9
    sizes = [f"{parts:.1f}", f"{blocks:,.0f}", f"{records:.2f}"]
    return [f"{pairs:.0e}", str(workers), *_fix(2, [read, work]), *sizes]


def _kill_rows(kills: Sequence[Record]) -> list[list[str]]:
    """Return what was killed how often, and what came of it."""
    rows = []
    for kind in sorted({kill["kind"] for kill in kills}):
        same_kind = [kill for kill in kills if kill["kind"] == kind]
        counts = (
            len(same_kind),
            sum(kill["same bytes"] for kill in same_kind),
            sum(kill["starts"] > 1 for kill in same_kind),
            max(kill["computed again"] for kill in same_kind),
        )
        rows.append([f"a {kind}" if kind != "driver" else "the driver", *map(str, counts)])
    return rows


# --- docs/report.md, docs/serve.md, docs/migration.md


def make_report_table() -> str:
    """Return size and speed of reports."""
    lines = [
        "| systems × segments × metrics | file | read | segments shown | plans can be opened in | "
        "CPU time to make |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for report in read_json(RESULTS / "report" / "report.json"):
        seconds = report.get("cpu_seconds_to_make")
        lines.append(
            f"| {report['systems']} × {report['segments']:,} × {len(report['metrics'])} | "
            f"{report['bytes'] / 1e6:.1f} MB "
            f"| {report['loaded_ms'] / 1000:.2f} s | {report['segments_shown_ms'] / 1000:.2f} s "
            f"| {report['explained']:,} segments "
            f"| {'not measured' if seconds is None else f'{seconds / 60:.0f} min'} |"
        )
    return "\n".join(lines)


def make_load_table() -> str:
    """Return throughput and latency of the service under load."""
    figures = read_json(RESULTS / "serve" / "load.json")
    shared, over = figures["64 clients"], figures["overload"]
    unshared = figures["64 clients, sharing off"]
    rows = [
        ("`monge score` on the same distinct texts", f"{figures['monge score']:.0f} pairs/s"),
        (
            "64 clients, one pair a request",
            f"{shared['pairs_per_second']:.0f} pairs/s, {figures['of monge score']:.2f} x",
        ),
        (
            "their p50, p95, p99",
            ", ".join(f"{shared[name]:.2f}" for name in ("p50", "p95", "p99")) + " s",
        ),
        ("the same with sharing switched off", f"{unshared['pairs_per_second']:.0f} pairs/s"),
        (
            "sharing is worth; at most, on these texts",
            f"{figures['of sharing off']:.2f} x; {figures['of sharing off, at most']:.2f} x",
        ),
        ("4 x capacity: answers", _count_statuses(over["4 x"])),
        ("4 x capacity: p99 of the accepted", f"{over['p99 ratio']:.2f} x that at capacity"),
        ("4 x capacity: back to normal after", f"{over['recovered_s']:.2f} s"),
    ]
    if "soak" in figures:
        soak = figures["soak"]["after"]
        minutes = soak["statuses"]["200"] / soak["pairs_per_second"] / 60
        label = f"100 clients, {minutes:.0f} minutes after the first: answers"
        growth = 100 * figures["soak"]["growth"]
        rows += [
            (label, _count_statuses(soak)),
            ("their wrong scores; growth of memory", f"{soak['wrong']}; {growth:+.1f} %"),
        ]
    return "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in rows)])


def _count_statuses(load: Record) -> str:
    return ", ".join(f"{code}: {count:,}" for code, count in sorted(load["statuses"].items()))


def make_peers_table() -> str:
    """Return the times of scripts of other libraries, before and after their import is changed."""
    times = read_json(RESULTS / "peers" / "times.json")
    rows = []
    for name in sorted({name for run in times.values() for name in run["scripts"]}):
        for pairs, run in times.items():
            script = run["scripts"].get(name)
            if script is None:
                continue
            after = f"{script['after']['seconds']:.2f}"
            if script["before"] is None:
                rows.append([name, pairs, f"cannot be run: {script['why']}", after, ""])
            else:
                low, middle, high = script["times_faster"]
                before = f"{script['before']['seconds']:.2f}"
                rows.append([name, pairs, before, after, f"{middle:.2f} [{low:.2f}, {high:.2f}]"])
    head = ("script", "pairs", "the peer, s", "monge, s", "times faster")
    return make_table(head, rows, "---")


# --- docs/results/claims.md

CLAIMS_INTRODUCTION = """# How often equal metrics are called different

<!-- made by tools/make_measured_pages.py from results/claims -->

`monge evaluate` marks metrics that are significantly worse than the best. The best is chosen on the same data, so
every two metrics are compared, two-sided, and p-values are corrected over all pairs: by the distribution of the
largest difference (max-T) for the bootstrap, by Holm for Williams' test and PERM-BOTH. Source items are resampled
with all their outputs. This page simulates metrics whose true quality is known (`python benchmarks/claims.py`).
"""  # noqa: E501
CLAIMS_TABLES = {
    "false": "Share of runs with any false claim at level .05, all metrics being equally good:",
    "power": "One metric is better (r .75 where the others have .66): the share of the others that "
    "is marked as worse:",
}


def make_claims_page() -> str:
    """Return the page of simulated comparisons."""
    results = read_json(RESULTS / "claims" / "claims.json")
    counts = results["metrics"]
    lines = [CLAIMS_INTRODUCTION]
    for kind, title in CLAIMS_TABLES.items():
        head = " | ".join(f"{count} metrics" for count in counts)
        lines += [title, "", f"| data | runs | {head} |", f"|---|---:|{'---:|' * len(counts)}"]
        for row in results["rows"]:
            shares = [row[kind].get(str(count)) for count in counts]
            cells = " | ".join("" if share is None else f"{share:.3f}" for share in shares)
            runs = row["runs"] // (1 if kind == "false" else 4)
            lines.append(f"| {row['setting']} | {runs:,} | {cells} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    write_pages(make_pages())
