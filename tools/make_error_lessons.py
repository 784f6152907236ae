"""Make the section of docs/tuning.md on lessons from errors: what they, and form, change.

    MONGE_DATA=DIR MONGE_MODELS=DIR python tools/make_adapters.py train more errors   # first
    python tools/make_error_lessons.py --data DIR      # runs, keeps results/tuning/errors.json
    python tools/make_error_lessons.py --page          # no runs: the page from the kept result

The adapter `more` learned from judgements alone, `errors` from the same and from texts with
controlled errors. Both are probed on the texts of docs/probe.md and evaluated on WMT17 into
English, whose judgements neither of them saw.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from make_probe import ITEMS, ORIGIN, SEED, choose_good_texts, read_judged
from repository import (
    ADAPTERS,
    DOCS,
    RESULTS,
    Pages,
    fill_block,
    make_table,
    read_json,
    write_pages,
)

from monge.evaluation import Resampling, Run, Task, evaluate_task, load_variants
from monge.perturbations.catalogue import choose_kinds
from monge.probing.challenge import make_challenge
from monge.probing.probe_result import KindReaction, MetricReaction, probe_result_of
from monge.probing.study import probe_challenge

KEPT, PAGE = RESULTS / "tuning" / "errors.json", DOCS / "tuning.md"
NAMED = ("number", "negation-dropped", "names-exchanged", "lower-case")
"""Kinds with a column of their own; of these only `number` is among the lessons."""
LABELS = {
    "plain": "twmd",
    "plain-form": "twmd[surface=form]",
    "more": "twmd[encoder.model={more}]",
    "errors": "twmd[encoder.model={errors}]",
    "errors-form": "twmd[encoder.model={errors},surface=form]",
}
"""Rows of the table -> the metric; {NAME} stands for an adapter in build/adapters."""


def list_variants() -> list[str]:
    """Return the metrics with the paths of their adapters."""
    paths = {name: f"auto+{ADAPTERS / name}" for name in ("more", "errors")}
    return [label.format(**paths) for label in LABELS.values()]


def run_all(options: argparse.Namespace) -> dict[str, Any]:
    """Probe and evaluate every row; return both results without directories of this machine."""
    good_texts = choose_good_texts(*read_judged(options.data))
    challenge = make_challenge(good_texts, seed=SEED, sample=ITEMS, language="en", origin=ORIGIN)
    task = Task("wmt17", options.data, pairs=["*-en"], statistic=["pearson", "kendall"])
    with TemporaryDirectory() as folder:
        run = Run(options.cache or folder)
        probed = probe_challenge(challenge, load_variants(list_variants()), run=run)
        evaluation = evaluate_task(
            task, list_variants(), run=run, resampling=Resampling(resamples=1000)
        )
    agreements = [
        {**agreement.to_dict(), "mean_interval": agreement.mean.to_dict("value", "low", "high")}
        for agreement in evaluation.agreements
    ]
    text = json.dumps({"probe": probed.to_dict(), "wmt17": agreements})
    return json.loads(text.replace(f"{ADAPTERS}/", ""))  # type: ignore[no-any-return]


def average_share(reactions: Iterable[KindReaction]) -> float:
    """Return the mean over kinds of the share of errors that are seen."""
    return statistics.fmean(reaction.share for reaction in reactions)


def list_harmful(metric: MetricReaction, *, lesson: bool) -> list[KindReaction]:
    """Return the reactions to kinds that do harm, of lessons or of all others."""
    learned = {kind.name for kind in choose_kinds() if kind.lesson}
    return [
        reaction
        for reaction in metric.kinds
        if reaction.severity != "neutral" and (reaction.kind in learned) == lesson
    ]


def make_errors_table(figures: dict[str, Any]) -> str:
    """Return shares of errors that are seen, and agreement, one row per model and surface."""
    result = probe_result_of(figures["probe"])
    agreements = {
        name: [row for row in figures["wmt17"] if row["statistic"] == name]
        for name in ("pearson", "kendall")
    }
    head = ["", "kinds of lessons", "kinds never learned", *NAMED, "neutral", "WMT17: r", "tau"]
    rows = []
    for place, (label, metric) in enumerate(zip(LABELS, result.metrics, strict=True)):
        pearson = agreements["pearson"][place]
        interval = pearson["mean_interval"]
        neutral = [row for row in metric.kinds if row.severity == "neutral"]
        rows.append(
            [
                f"`{label}`",
                f"{100 * average_share(list_harmful(metric, lesson=True)):.1f}",
                f"{100 * average_share(list_harmful(metric, lesson=False)):.1f}",
                *(f"{100 * metric.of(name).share:.1f}" for name in NAMED),
                f"{100 * average_share(neutral):.1f}",
                f"{pearson['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]",
                f"{agreements['kendall'][place]['mean']:.3f}",
            ]
        )
    return make_table(head, rows)


def make_pages() -> Pages:
    """Return docs/tuning.md with the table of the kept result."""
    return {PAGE: fill_block(PAGE.read_text("utf-8"), "errors", make_errors_table(read_json(KEPT)))}


def main() -> None:
    """Run what is asked for, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if not options.page:
        text = json.dumps(run_all(options), indent=1, ensure_ascii=False, allow_nan=False)
        KEPT.write_text(f"{text}\n", "utf-8")
    write_pages(make_pages())


if __name__ == "__main__":
    main()
