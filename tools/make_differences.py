"""Keep how often people ranked two systems as a metric does, by how far apart they are.

    MONGE_DATA=DIR python tools/make_differences.py
    MONGE_DATA=DIR python tools/make_differences.py --only monge    # the curves of some metrics

Writes src/monge/evaluation/kept/differences.json. All pairs of systems of a collection count, each
system scored on a sample of source segments that all systems of its language pair share. The curve
is monotone (isotonic regression) and begins at one half. Its error is cross-validated by year:
fitted on the other years, the mean of predicted shares is compared with the observed share in
fifths of the year's pairs, by distance.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from repository import PACKAGE, read_json

from monge.evaluation import Run, ScoreBook, Task, load_variants
from monge.evaluation.human_meaning import key_of
from monge.stats.isotonic import evaluate_steps, fit_isotonic
from monge.types import Array

KEPT = PACKAGE / "evaluation" / "kept" / "differences.json"
SEED, PARTS = 12345, 5
Outcomes = list[tuple[float, bool]]
"""Distance of two systems by a metric, and whether people ranked them the same way."""


@dataclass(frozen=True)
class Collection:
    """Judged systems whose pairs make curves: data sets by year, languages of their outputs."""

    data: str
    languages: Sequence[str]
    years: Sequence[tuple[str, str]]
    metrics: Sequence[str]
    sample: int


WORDS = ("chrf", "chrf++")
COLLECTIONS = (
    Collection(
        "system pairs of WMT17 and WMT18 into English",
        ("en",),
        (("wmt17", "*-en"), ("wmt18", "*-en")),
        ("monge", "twmd", "bertscore", "moverscore", "sbert", "emd", *WORDS, "bleu", "ter"),
        400,
    ),
    Collection(
        "system pairs of WMT17, WMT18 and WMT24 out of English",
        ("cs", "de", "et", "fi", "ja", "lv", "ru", "tr", "zh"),
        (("wmt17", "en-*"), ("wmt18", "en-*"), ("esa", "en-*")),
        (
            *(f"{name}[encoder.model=multilingual]" for name in ("monge", "twmd", "bertscore")),
            *WORDS,
        ),
        150,
    ),
)


def choose_metrics(collection: Collection, only: str | None) -> list[str]:
    """Return the metrics of a collection, or those with one name."""
    return [metric for metric in collection.metrics if only in (None, metric.partition("[")[0])]


def collect_pairs(
    collection: Collection, year: tuple[str, str], options: argparse.Namespace
) -> dict[str, Outcomes]:
    """Return distance and agreement with people of all pairs of systems, by key of the metric."""
    name, directions = year
    task = Task(name, options.data, pairs=[directions], level="system", sample=collection.sample)
    (dataset,) = task.open(SEED)
    pairs: dict[str, Outcomes] = {}
    with ScoreBook(Run(options.cache)) as book:
        variants = load_variants(choose_metrics(collection, options.only))
        for scores in book.scores(variants, dataset):
            for group_name, group in dataset.groups.items():
                page, human = scores.groups[group_name], group.systems
                assert human is not None
                sign = 1 if page.higher_is_better else -1
                for first, second in combinations(human, 2):
                    by_metric = sign * (page.systems[first] - page.systems[second])
                    by_people = human[first] - human[second]
                    if by_people:
                        same = by_metric * by_people > 0
                        key = key_of(page.signature)
                        pairs.setdefault(key, []).append((abs(by_metric), same))
    return pairs


def to_arrays(pairs: Outcomes) -> tuple[Array, Array]:
    """Return distances [n] and agreement [n], 1 or 0."""
    return np.array([d for d, _ in pairs]), np.array([float(same) for _, same in pairs])


def fit_shares(pairs: Outcomes) -> tuple[Array, Array]:
    """Return the monotone curve of the share of agreement by distance, at least one half.

    Systems that are not apart say nothing, so that the share begins at one half; a lower share of a
    few close pairs is chance.
    """
    places, shares = fit_isotonic(*to_arrays(pairs))
    bounded = np.maximum(shares, 0.5)
    rising = np.concatenate([[True], np.diff(bounded) > 0])
    return np.where(np.arange(len(places)) == 0, 0.0, places)[rising], bounded[rising]


def cross_validate(by_year: list[Outcomes]) -> float:
    """Return the mean error of shares that are predicted from the other years, in fifths."""
    errors = []
    for place, tried in enumerate(by_year):
        other_years = [pair for k, year in enumerate(by_year) if k != place for pair in year]
        places, shares = fit_shares(other_years)
        distances, same = to_arrays(tried)
        for part in np.array_split(np.argsort(distances), PARTS):
            predicted = evaluate_steps(places, shares, distances[part])
            errors.append(abs(predicted.mean() - same[part].mean()))
    return float(np.mean(errors))


def make_curve(by_year: list[Outcomes]) -> dict[str, Any]:
    """Return the curve of a metric over all years, with its error."""
    pairs = [pair for year in by_year for pair in year]
    places, shares = fit_shares(pairs)
    return {
        "pairs": len(pairs),
        "error": round(cross_validate(by_year), 4),
        "places": [float(f"{place:.5g}") for place in places],
        "shares": [round(float(share), 4) for share in shares],
    }


def main() -> None:
    """Compute and keep the curves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"), required=False)
    parser.add_argument("--cache", default=os.environ.get("MONGE_CACHE"))
    parser.add_argument("--only", help="the metric whose curves are made; others are kept")
    options = parser.parse_args()
    if not options.data:
        parser.error("give --data, or set MONGE_DATA")
    earlier = read_json(KEPT)["collections"] if options.only and KEPT.is_file() else []
    collections = [make_collection(collection, options) for collection in COLLECTIONS]
    for collection in collections:
        same = [part for part in earlier if part["data"] == collection["data"]]
        for part in same:
            collection["curves"] = {**part["curves"], **collection["curves"]}
    content = {"seed": SEED, "collections": collections}
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def make_collection(collection: Collection, options: argparse.Namespace) -> dict[str, Any]:
    """Return the curves of a collection, by key of the metric."""
    by_year = [collect_pairs(collection, year, options) for year in collection.years]
    curves = {key: make_curve([year[key] for year in by_year]) for key in by_year[0]}
    for key, curve in curves.items():
        name = key.partition("|")[0]
        sys.stderr.write(f"{name} {curve['pairs']} {curve['error']} {curve['shares'][:3]}\n")
    return {
        "data": collection.data,
        "languages": list(collection.languages),
        "sample": collection.sample,
        "curves": curves,
    }


if __name__ == "__main__":
    main()
