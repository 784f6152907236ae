"""Keep how often people ranked two systems as a metric does, by how far apart they are.

    MONGE_DATA=DIR python tools/make_differences.py

Writes src/monge/evaluation/kept/differences.json. All pairs of systems of WMT17 and WMT18 into
English count, each system scored on a sample of source segments that all systems of its language
pair share. The curve is monotone (isotonic regression) and begins at one half. Its error is
cross-validated by year: fitted on one year, the mean of predicted shares is compared with the
observed share in fifths of the other year's pairs, by distance.
"""

from __future__ import annotations

import argparse
import json
import os
from itertools import combinations
from typing import Any

import numpy as np
from repository import PACKAGE

from monge.evaluation import Run, ScoreBook, Task, load_variants
from monge.evaluation.human_meaning import key_of
from monge.stats.isotonic import evaluate_steps, fit_isotonic
from monge.types import Array

KEPT = PACKAGE / "evaluation" / "kept" / "differences.json"
METRICS = ("twmd", "bertscore", "moverscore", "sbert", "emd", "chrf", "chrf++", "bleu", "ter")
YEARS, SAMPLE, SEED, PARTS = (17, 18), 400, 12345, 5
DATA = "system pairs of WMT17 and WMT18 into English"


def collect_pairs(year: int, options: argparse.Namespace) -> dict[str, list[tuple[float, bool]]]:
    """Return distance and agreement with people of all pairs of systems, by key of the metric."""
    task = Task(f"wmt{year}", options.data, pairs=["*-en"], level="system", sample=SAMPLE)
    (dataset,) = task.open(SEED)
    pairs: dict[str, list[tuple[float, bool]]] = {}
    with ScoreBook(Run(options.cache)) as book:
        variants = load_variants(METRICS)
        for scores in book.scores(variants, dataset):
            for name, group in dataset.groups.items():
                page, human = scores.groups[name], group.systems
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


def to_arrays(pairs: list[tuple[float, bool]]) -> tuple[Array, Array]:
    """Return distances [n] and agreement [n], 1 or 0."""
    return np.array([d for d, _ in pairs]), np.array([float(same) for _, same in pairs])


def fit_shares(pairs: list[tuple[float, bool]]) -> tuple[Array, Array]:
    """Return the monotone curve of the share of agreement by distance, at least one half.

    Systems that are not apart say nothing, so that the share begins at one half; a lower share of a
    few close pairs is chance.
    """
    places, shares = fit_isotonic(*to_arrays(pairs))
    bounded = np.maximum(shares, 0.5)
    rising = np.concatenate([[True], np.diff(bounded) > 0])
    return np.where(np.arange(len(places)) == 0, 0.0, places)[rising], bounded[rising]


def cross_validate(by_year: list[list[tuple[float, bool]]]) -> float:
    """Return the mean error of shares that are predicted from the other year, in fifths."""
    errors = []
    for learned, tried in (by_year, by_year[::-1]):
        places, shares = fit_shares(learned)
        distances, same = to_arrays(tried)
        for part in np.array_split(np.argsort(distances), PARTS):
            predicted = evaluate_steps(places, shares, distances[part])
            errors.append(abs(predicted.mean() - same[part].mean()))
    return float(np.mean(errors))


def make_curve(by_year: list[list[tuple[float, bool]]]) -> dict[str, Any]:
    """Return the curve of a metric over both years, with its error."""
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
    options = parser.parse_args()
    if not options.data:
        parser.error("give --data, or set MONGE_DATA")
    by_year = [collect_pairs(year, options) for year in YEARS]
    curves = {key: make_curve([year[key] for year in by_year]) for key in by_year[0]}
    content = {"data": DATA, "language": "en", "sample": SAMPLE, "seed": SEED, "curves": curves}
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for key, curve in curves.items():
        print(key.partition("|")[0], curve["pairs"], curve["error"], curve["shares"][:3])


if __name__ == "__main__":
    main()
