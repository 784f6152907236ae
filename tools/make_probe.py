"""Make docs/probe.md: which errors the packaged metrics do not see, on WMT17 into English.

    MONGE_DATA=DIR make probe
    python tools/make_probe.py --data DIR [--cache DIR]   # run, keep results/probe/wmt17.json
    python tools/make_probe.py --spreads --data DIR       # first src/monge/probing/spreads.json
    python tools/make_probe.py --page                     # no runs: the page from the kept result

Good texts are the outputs of WMT17 with the highest human score of each source sentence, for a
sample of 300 of these; each is scored against its reference. The unit of falls is the standard
deviation of a metric's scores over all judged pairs of WMT17 into English.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from repository import DOCS, PACKAGE, RESULTS, Pages, fill_block, make_table, read_json, write_pages

from monge.datasets import open_dataset
from monge.evaluation import Run, ScoreBook, load_variants
from monge.probing.challenge import make_challenge
from monge.probing.probe_result import ProbeResult, probe_result_of
from monge.probing.probe_tables import describe_run, heat_map, make_sentences
from monge.probing.spreads import spread_key
from monge.probing.study import probe_challenge
from monge.types import Segment, Signature

KEPT, PAGE, PICTURE = RESULTS / "probe" / "wmt17.json", DOCS / "probe.md", DOCS / "probe.svg"
SPREADS = PACKAGE / "probing" / "spreads.json"
METRICS = (
    "twmd",
    "twmd[encoder.model=mt]",
    "twmd[encoder.model=broad]",
    "twmd[encoder.model=fast]",
    "bertscore",
    "bertscore[encoder.model=mt]",
    "moverscore",
    "moverscore-2",
    "sbert",
    "twmd-b",
    "trwmd",
    "trwmd-b",
    "wordset-cka",
    "emd",
    "smd",
    "hmd",
    "f-alpha",
    "yisi-1",
    "wmd",
    "rwmd",
    "wmdo",
    "wms",
    "s+wms",
    "sentbleu",
    "chrf",
    "chrf++",
    "ter",
    "rouge1",
    "rouge2",
    "rougeL",
    "meteor",
    "cider",
)
ITEMS, SEED = 300, 12345
ORIGIN = (
    "the WMT17 outputs into English with the highest human score of each source sentence, "
    "scored against the references"
)


def read_judged(data: str) -> tuple[list[Segment], list[float]]:
    """Return all judged outputs of WMT17 into English, with unique ids, and their scores."""
    rows: list[Segment] = []
    scores: list[float] = []
    for name, group in open_dataset("wmt17", data, pairs=["*-en"]).groups.items():
        if group.scores is None:
            raise SystemExit(f"wmt17 {name} has no scores of segments")
        rows += [replace(row, id=f"{name}/{row.id}") for row in group.segments]
        scores += group.scores.tolist()
    return rows, scores


def choose_good_texts(rows: Sequence[Segment], scores: Sequence[float]) -> list[Segment]:
    """Return the output with the highest human score of every source sentence."""
    best: dict[str, int] = {}
    for k, row in enumerate(rows):
        if row.id not in best or scores[k] > scores[best[row.id]]:
            best[row.id] = k
    return [replace(rows[k], system="") for k in sorted(best.values())]


def measure_spreads(options: argparse.Namespace) -> dict[str, Any]:
    """Return the standard deviation of every metric's scores over the judged pairs."""
    rows, _ = read_judged(options.data)
    pooled = tuple(replace(row, system="") for row in rows)
    variants = load_variants(METRICS)
    with ScoreBook(Run(options.cache)) as book:
        pages = book.of_rows(variants, pooled)
    spreads = {spread_key(page.signature): round(float(page.segments.std()), 6) for page in pages}
    return {
        "data": f"the {len(pooled)} judged pairs of WMT17 into English",
        "spreads": dict(sorted(spreads.items())),
    }


def run_probe(options: argparse.Namespace) -> ProbeResult:
    """Put the errors into the good texts, and score all of them in one run."""
    good_texts = choose_good_texts(*read_judged(options.data))
    challenge = make_challenge(good_texts, seed=SEED, sample=ITEMS, language="en", origin=ORIGIN)
    return probe_challenge(challenge, load_variants(METRICS), run=Run(options.cache))


def read_kept() -> ProbeResult:
    """Return the kept result."""
    return probe_result_of(read_json(KEPT))


def make_shares_table(result: ProbeResult) -> str:
    """Return the share of errors that are not seen, in %, as a Markdown table."""
    head = ["kind", "severity", "n", *(f"`{metric.label}`" for metric in result.metrics)]
    rows = []
    for kind in result.ranked_kinds():
        reactions = [metric.of(kind.name) for metric in result.metrics]
        shares = [
            reaction.share if kind.severity == "neutral" else 1 - reaction.share
            for reaction in reactions
        ]
        cells = [f"{100 * share:.0f}" for share in shares]
        rows.append([kind.name, kind.severity, str(reactions[0].n), *cells])
    return make_table(head, rows)


def make_orders_table(result: ProbeResult) -> str:
    """Return how metrics order errors by severity as a Markdown table."""
    orders = result.metrics[0].orders
    head = ["metric", *(f"{order.harsher} > {order.milder}" for order in orders), "ties"]
    rows = [
        [
            f"`{metric.label}`",
            *(
                f"{100 * order.share:.1f} [{100 * order.low:.1f}, {100 * order.high:.1f}]"
                for order in metric.orders
            ),
            str(sum(reaction.ties for reaction in metric.kinds)),
        ]
        for metric in sorted(result.metrics, key=lambda metric: -metric.orders[0].share)
    ]
    return make_table(head, rows)


def make_falls_table(result: ProbeResult) -> str:
    """Return the mean fall by critical errors, in units of the spread, as a Markdown table."""
    kinds = [kind for kind in result.ranked_kinds() if kind.severity == "critical"]
    head = ["metric", "spread", *(kind.name for kind in kinds)]
    rows = [
        [
            f"`{metric.label}`",
            f"{metric.spread:.4f}",
            *(f"{metric.of(kind.name).fall_units:.2f}" for kind in kinds),
        ]
        for metric in result.metrics
    ]
    return make_table(head, rows)


def make_signatures(result: ProbeResult) -> str:
    """Return the signatures of all metrics as a block of code."""
    lines = [str(Signature.parse(metric.signature)) for metric in result.metrics]
    return "\n".join(["```", *lines, "```"])


def make_kinds_table(result: ProbeResult) -> str:
    """Return the kinds with what they do as a Markdown table."""
    rows = [[kind.name, kind.severity, kind.about] for kind in result.kinds]
    return make_table(["kind", "severity", "what it does"], rows, align="---")


def make_pages() -> Pages:
    """Return docs/probe.md with the tables of the kept result, and its heat map."""
    result = read_kept()
    page = PAGE.read_text("utf-8")
    blocks = {
        "run": "\n".join(f"- {line}" for line in describe_run(result)),
        "sentences": "\n".join(f"- {line}" for line in make_sentences(result)),
        "shares": make_shares_table(result),
        "orders": make_orders_table(result),
        "falls": make_falls_table(result),
        "kinds": make_kinds_table(result),
        "signatures": make_signatures(result),
    }
    for name, body in blocks.items():
        page = fill_block(page, name, body)
    return {PAGE: page, PICTURE: heat_map(result).svg()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is asked for, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="directory of the judged data"
    )
    parser.add_argument(
        "--cache", default=os.environ.get("MONGE_CACHE"), help="keeps vectors between runs"
    )
    parser.add_argument("--spreads", action="store_true", help="measure the spreads, nothing else")
    parser.add_argument("--page", action="store_true", help="write the page from the kept result")
    options = parser.parse_args(arguments)
    if not options.page and not options.data:
        parser.error("give --data, or set MONGE_DATA")
    if options.spreads:
        text = json.dumps(measure_spreads(options), indent=1, ensure_ascii=False)
        SPREADS.write_text(f"{text}\n", "utf-8")
        return
    if not options.page:
        text = json.dumps(run_probe(options).to_dict(), indent=1, ensure_ascii=False)
        KEPT.write_text(f"{text}\n", "utf-8")
    write_pages(make_pages())


if __name__ == "__main__":
    main()
