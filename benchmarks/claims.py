"""Simulate how often `monge evaluate` calls equal metrics different, and sees a real difference.

    python benchmarks/claims.py            # simulate, and keep results/claims/claims.json
    python tools/make_measured_pages.py    # docs/results/claims.md from the kept result
    python benchmarks/claims.py --runs 50  # fewer runs, printed and not kept

Scores are drawn, so the truth is known. Metrics are exchangeable: each is the human score plus an
error that all share plus one of its own. A run makes a false claim if any metric is marked as worse
than the best. For the power, one metric of them gets less error, and the share of the others is
taken that are marked as worse. `clustered` has 60 source items with 8 outputs each, whose human and
metric scores move together; the last row resamples its outputs instead of its items, as monge did
before, to show what that costs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from monge.datasets.judged import Group
from monge.evaluation.agreement import Column, draw_values, standing
from monge.evaluation.question import question
from monge.types import Segment

RESULT = Path(__file__).resolve().parents[1] / "results" / "claims" / "claims.json"
METRICS, RUNS, ALPHA, EFFECT = (2, 3, 5, 10, 20), 2000, 0.05, 0.25


@dataclass(frozen=True)
class Setting:
    """A kind of data: statistic, test, outputs per source item, and what is resampled."""

    name: str
    statistic: str = "pearson"
    test: str = "auto"
    items: int = 300
    outputs: int = 1
    by_item: bool = True
    runs: float = 1.0


SETTINGS = (
    Setting("pearson, 300 items"),
    Setting("pearson, 300 items, Williams' test", test="williams"),
    Setting("pearson, 20 items", items=20),
    Setting("kendall, 100 items", statistic="kendall", items=100, runs=0.2),
    Setting("clustered, 60 items of 8 outputs", items=60, outputs=8),
    Setting("clustered, outputs resampled (as before)", items=60, outputs=8, by_item=False),
)


def simulate(setting: Setting, metrics: int, effect: float, seed: int) -> tuple[bool, float]:
    """Simulate one run.

    Return whether any metric is marked as worse than the best, and the share of metrics worse than
    the first.
    """
    rng = np.random.default_rng(seed)
    n = setting.items * setting.outputs
    item = np.repeat(np.arange(setting.items), setting.outputs)

    def drawn(share: float) -> Any:
        """Return standard normal numbers [n], a share of whose variance belongs to the item."""
        return np.sqrt(share) * rng.normal(size=setting.items)[item] + np.sqrt(
            1 - share
        ) * rng.normal(size=n)

    share = 0.5 if setting.outputs > 1 else 0.0
    human, common = drawn(share), drawn(share)
    scores = [0.8 * human + 0.6 * common + 0.7 * drawn(share) for _ in range(metrics)]
    scores[0] = scores[0] + effect * human
    ids = item if setting.by_item else np.arange(n)
    segments = tuple(Segment(str(k), f"h{i}", (f"r{k}",)) for i, k in enumerate(ids.tolist()))
    judge_question = question(
        replace(_EMPTY, segments=segments, scores=human), setting.statistic, 1
    )
    values = np.array([judge_question.value(metric_scores) for metric_scores in scores])
    resamples = 1000 if setting.statistic == "pearson" else 300
    draws = draw_values(judge_question, scores, resamples=resamples, seed=seed)
    stands = standing(
        Column(values, draws, n, judge_question, scores), test_name=setting.test, seed=seed
    )
    worse = [stands.mark(k, ALPHA) == "" for k in range(metrics)]
    return any(worse), sum(worse) / (metrics - 1) if stands.best == 0 else 0.0


_EMPTY = Group(segments=(), scores=None)


def simulate_all(runs: int) -> dict[str, Any]:
    """Simulate every setting: the share of runs with a false claim, and the power at .25."""
    rows = []
    for setting in SETTINGS:
        count = max(int(runs * setting.runs), 20)
        metric_counts = METRICS if setting.runs == 1.0 else METRICS[:3]
        false, power = {}, {}
        for count_of_metrics in metric_counts:
            false[count_of_metrics] = float(
                np.mean(
                    [
                        simulate(setting, count_of_metrics, 0.0, 10_000 * count_of_metrics + k)[0]
                        for k in range(count)
                    ]
                )
            )
            power[count_of_metrics] = float(
                np.mean(
                    [
                        simulate(setting, count_of_metrics, EFFECT, 10_000 * count_of_metrics + k)[
                            1
                        ]
                        for k in range(count // 4)
                    ]
                )
            )
        rows.append({"setting": setting.name, "runs": count, "false": false, "power": power})
        print(rows[-1], flush=True)
    return {"alpha": ALPHA, "metrics": list(METRICS), "rows": rows}


def main() -> None:
    """Simulate, and keep the result of a full run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    results = simulate_all(options.runs)
    if options.runs == RUNS:
        RESULT.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
