"""Make docs/monge.md: what the metric `monge` gives, on every kind of data at hand.

    MONGE_DATA=DIR MONGE_MODELS=DIR python tools/make_flagship.py measure [KEY …]  # what is missing
    python tools/make_flagship.py weights                          # other models, other seeds
    python tools/make_flagship.py probe                            # errors that are seen
    python tools/make_flagship.py page                             # no runs: the page

Every row compares `monge` with the plain default and with a baseline in one run of `monge evaluate`
and tests the difference over source items. Results are kept in results/flagship/agreement.json,
results/flagship/weights.json and results/flagship/probe.json. What the adapters learned from is
read from their cards.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from make_error_lessons import average_share, list_harmful
from make_probe import ITEMS, ORIGIN, SEED, choose_good_texts, read_judged
from repository import (
    ADAPTERS,
    DOCS,
    PACKAGE,
    RESULTS,
    Pages,
    fill_block,
    make_table,
    read_json,
    write_pages,
)

from monge.evaluation import Resampling, Run, Task, evaluate_task, load_variants
from monge.probing.challenge import make_challenge
from monge.probing.probe_result import probe_result_of
from monge.probing.study import probe_challenge

KEPT, PROBED = RESULTS / "flagship" / "agreement.json", RESULTS / "flagship" / "probe.json"
WEIGHED = RESULTS / "flagship" / "weights.json"
PAGE = DOCS / "monge.md"
CARDS = PACKAGE / "encoders" / "adapters"
EMBEDDED, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"


@dataclass(frozen=True)
class Comparison:
    """A data set with the metrics that are compared on it; the first is `monge`."""

    dataset: str
    metrics: Sequence[str]
    task: dict[str, Any] = field(default_factory=dict)
    base: str = EMBEDDED
    side: str = "references"


ENGLISH = ("monge", "twmd", "chrf")
OTHERS = ("monge[encoder.model=multilingual]", "twmd[encoder.model=multilingual]", "chrf")
SOURCES = (
    "monge[encoder.model=multilingual,against=source]",
    "yisi-2[encoder.model=multilingual]",
    "xmoverscore[encoder.model=multilingual]",
    "sentsim[encoder.model=multilingual]",
    "sbert[encoder.model=multilingual,against=source]",
)
INTO_ENGLISH, OUT_OF_ENGLISH = {"pairs": ["*-en"]}, {"pairs": ["en-*"]}
COMPARISONS = {
    "wmt17": Comparison("wmt17", ENGLISH, {**INTO_ENGLISH, "statistic": ["pearson", "kendall"]}),
    "wmt19": Comparison("wmt19", ENGLISH, {"sample": 600}),
    "mqm-zh-en": Comparison("mqm", ENGLISH, {"pairs": ["zh-en"], "statistic": ["kendall"]}),
    "sts12": Comparison("sts12", ENGLISH),
    "sts13": Comparison("sts13", ENGLISH),
    "sts14": Comparison("sts14", ENGLISH),
    "stsb": Comparison("stsb", ENGLISH, {"switches": {"split": "test"}}),
    "summeval": Comparison("summeval", ENGLISH),
    "tac08": Comparison("tac08", ENGLISH, {"sample": 24}),
    "bagel": Comparison("bagel", ENGLISH),
    "sfhotel": Comparison("sfhotel", ENGLISH),
    "flickr8k": Comparison("flickr8k", ENGLISH),
    "wmt18-out": Comparison("wmt18", OTHERS, {**OUT_OF_ENGLISH, "sample": 200}, MULTILINGUAL),
    "esa": Comparison("esa", OTHERS, {"statistic": ["kendall"], "sample": 300}, MULTILINGUAL),
    "mqm-en-de": Comparison(
        "mqm", OTHERS, {"pairs": ["en-de"], "statistic": ["kendall"]}, MULTILINGUAL
    ),
    "mlqe-pe": Comparison(
        "mlqe-pe", SOURCES, {"switches": {"split": "test20"}}, MULTILINGUAL, "source"
    ),
}
"""What is compared, by key."""
WEIGHTS = {
    "all-MiniLM-L6-v2, seed 1": ("auto", "mean-1"),
    "all-MiniLM-L6-v2, seed 2": ("auto", "mean-2"),
    "all-MiniLM-L6-v2, seed 3": ("auto", "mean-3"),
    "e5-small": ("e5-small", "people-e5"),
    "all-mpnet-base-v2": ("all-mpnet-base-v2", "people-mpnet"),
}
"""Models and the adapters of build/adapters that were trained for them, by label."""
DRAWN_FROM = {"stsb": ("sts12", "sts13", "sts14")}
"""Data sets whose pairs are those of others."""
NAMED = ("number", "negation-added", "negation-dropped", "name", "names-exchanged", "lower-case")
"""Kinds of errors with a column of their own."""


def measure(keys: Sequence[str], options: argparse.Namespace) -> None:
    """Run the comparisons that are named, or all that have no kept result."""
    results = read_json(KEPT) if KEPT.is_file() else {}
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    for key, comparison in COMPARISONS.items():
        if (keys and key not in keys) or (not keys and key in results):
            continue
        results[key] = compare(comparison, options)
        KEPT.write_text(f"{json.dumps(results, indent=1, allow_nan=False)}\n", "utf-8")
        means = [f"{row['metric']} {row['statistic']} {row['mean']:.4f}" for row in results[key]]
        sys.stderr.write(f"{key}: {', '.join(means)}\n")


def compare(comparison: Comparison, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the agreement of each metric, with the test of its difference to `monge`."""
    task = Task(comparison.dataset, options.data, **comparison.task)
    with TemporaryDirectory() as folder:
        run = Run(options.cache or folder)
        records = []
        resampling = Resampling(resamples=1000)
        first, *baselines = comparison.metrics
        for baseline in baselines:
            result = evaluate_task(task, [first, baseline], run=run, resampling=resampling)
            for agreement in result.agreements:
                record = {
                    "label": find_label(agreement.to_dict()["metric"], (first, baseline)),
                    **agreement.to_dict(),
                    "mean_interval": agreement.mean.to_dict("value", "low", "high", "p_value"),
                }
                records.append(record)
    return records


def find_label(metric: str, labels: Sequence[str]) -> str:
    """Return the label that begins with the name of a metric: NAME or NAME[changes]."""
    return next(label for label in labels if label.partition("[")[0] == metric)


def measure_weights(options: argparse.Namespace) -> None:
    """Keep the agreement on WMT17 of `monge` with each of WEIGHTS whose adapter is there."""
    rows = read_json(WEIGHED) if WEIGHED.is_file() else {}
    for label, (base, adapter) in WEIGHTS.items():
        trained = ADAPTERS / adapter
        if label in rows or not trained.is_dir():
            continue
        model = base if base == "auto" else str(Path(options.models) / base)
        metrics = [f"monge[encoder.model={model}+{trained}]", f"twmd[encoder.model={model}]"]
        records = compare(Comparison("wmt17", metrics, COMPARISONS["wmt17"].task), options)
        for record in records:
            record["label"] = record["label"].partition("[")[0]
        rows[label] = records
        WEIGHED.write_text(f"{json.dumps(rows, indent=1, allow_nan=False)}\n", "utf-8")


def make_weights_table(rows: dict[str, list[dict[str, Any]]]) -> str:
    """Return the agreement on WMT17 by model and seed, with and without the adapter."""
    table = [
        [
            label,
            show_interval(flagship),
            show_interval(plain),
            f"{flagship['mean'] - plain['mean']:+.3f}",
        ]
        for label in WEIGHTS
        for flagship, plain in list_rows(rows.get(label, []))
        if flagship["statistic"] == "pearson"
    ]
    return make_table(["model", "`monge`", "`twmd`, the plain model", "difference"], table)


def list_rows(records: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs (monge, other metric) of the same run and statistic, in order."""
    pairs = []
    by_run: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        question = record["human"], record["statistic"]
        if record["label"].startswith("monge"):
            by_run[question] = record
        else:
            pairs.append((by_run[question], record))
    return pairs


def learned_data(base: str, side: str) -> set[str]:
    """Return the names of the data sets that the shipped adapter learned from."""
    name = "people-source" if side == "source" else "people"
    card = read_json(CARDS / name / base / "card.json")
    lessons = [lesson["data"] for lesson in (*card["learned_from"], card["held_out"])]
    names = {data for lesson in lessons for data in lesson.split("+")}
    return names.union(*(DRAWN_FROM.get(name, ()) for name in names))


def show_interval(record: dict[str, Any]) -> str:
    """Return a mean with its interval."""
    interval = record["mean_interval"]
    return f"{record['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]"


def make_agreement_table(keys: Sequence[str], results: dict[str, Any]) -> str:
    """Return the table of comparisons: monge, each other metric, difference and p-value."""
    rows = []
    for key in keys:
        comparison = COMPARISONS[key]
        learned = comparison.dataset in learned_data(comparison.base, comparison.side)
        for flagship, baseline in list_rows(results.get(key, [])):
            p = min(record["mean_interval"]["p_value"] for record in (flagship, baseline))
            name = baseline["label"].partition("[")[0]
            rows.append(
                [
                    describe_data(key, comparison, learned=learned),
                    flagship["statistic"],
                    show_interval(flagship),
                    f"`{name}` {show_interval(baseline)}",
                    f"{flagship['mean'] - baseline['mean']:+.3f}",
                    f"{p:.3f}",
                ]
            )
    return make_table(["data", "statistic", "`monge`", "other", "difference", "p"], rows)


def make_pairs_table(key: str, results: dict[str, Any]) -> str:
    """Return the agreement of every metric of a comparison by language pair."""
    records = list({record["label"]: record for record in results[key]}.values())
    pairs = list(records[0]["groups"])
    rows = [
        [
            f"`{record['label'].partition('[')[0]}`",
            *(f"{record['groups'][pair]['value']:.3f}" for pair in pairs),
            f"{record['mean']:.3f}",
        ]
        for record in records
    ]
    return make_table([key, *pairs, "mean"], rows)


def describe_data(key: str, comparison: Comparison, *, learned: bool) -> str:
    """Return the name of a data set with its sample, and a star where it was learned from."""
    sample = comparison.task.get("sample")
    size = f", {sample} items per group" if sample else ""
    return f"{key}{size}{' *' if learned else ''}"


def probe_errors(options: argparse.Namespace) -> None:
    """Keep how `monge` and `twmd` react to controlled errors."""
    good_texts = choose_good_texts(*read_judged(options.data))
    challenge = make_challenge(good_texts, seed=SEED, sample=ITEMS, language="en", origin=ORIGIN)
    with TemporaryDirectory() as folder:
        result = probe_challenge(
            challenge, load_variants(["twmd", "monge"]), run=Run(options.cache or folder)
        )
    text = json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    PROBED.write_text(f"{text}\n", "utf-8")


def make_probe_table(probed: dict[str, Any]) -> str:
    """Return the shares of errors that are seen, in percent."""
    rows = []
    for metric in probe_result_of(probed).metrics:
        neutral = [reaction for reaction in metric.kinds if reaction.severity == "neutral"]
        shares = [
            average_share(list_harmful(metric, lesson=True)),
            average_share(list_harmful(metric, lesson=False)),
            *(metric.of(name).share for name in NAMED),
            average_share(neutral),
        ]
        rows.append([f"`{metric.label}`", *(f"{100 * share:.1f}" for share in shares)])
    head = ["", "kinds of lessons", "kinds never learned", *NAMED, "neutral"]
    return make_table(head, rows)


def make_pages() -> Pages:
    """Return docs/monge.md with the tables of the kept results."""
    text, results = PAGE.read_text("utf-8"), read_json(KEPT)
    for block, base, side in (
        ("english", EMBEDDED, "references"),
        ("languages", MULTILINGUAL, "references"),
        ("sources", MULTILINGUAL, "source"),
    ):
        keys = [
            key
            for key, comparison in COMPARISONS.items()
            if (comparison.base, comparison.side) == (base, side)
        ]
        text = fill_block(text, block, make_agreement_table(keys, results))
    for key in ("wmt18-out", "mlqe-pe"):
        text = fill_block(text, f"pairs of {key}", make_pairs_table(key, results))
    if WEIGHED.is_file():
        text = fill_block(text, "weights", make_weights_table(read_json(WEIGHED)))
    return {PAGE: fill_block(text, "probe", make_probe_table(read_json(PROBED)))}


def main() -> None:
    """Run what is asked for, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("measure", "weights", "probe", "page"))
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", default=os.environ.get("MONGE_MODELS"))
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if options.what == "measure":
        measure(options.keys, options)
    elif options.what == "weights":
        measure_weights(options)
    elif options.what == "probe":
        probe_errors(options)
    if KEPT.is_file() and PROBED.is_file():
        write_pages(make_pages())


if __name__ == "__main__":
    main()
