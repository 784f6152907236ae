"""How often does `monge evaluate` call equal metrics different, and how often does it see a real
difference?

    python benchmarks/claims.py            # simulates, and keeps the result in docs/results/claims.json
    python benchmarks/claims.py page       # no runs: docs/results/claims.md from what is kept
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

HERE = Path(__file__).resolve().parent.parent / "docs" / "results"
KEPT, PAGE = HERE / "claims.json", HERE / "claims.md"
METRICS, RUNS, ALPHA, EFFECT = (2, 3, 5, 10, 20), 2000, 0.05, 0.25


@dataclass(frozen=True)
class Setting:
    """A kind of data: the statistic and test, judged outputs per source item, and how the items are
    resampled.
    """

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
    """One run: whether any metric is marked as worse than the best, and the share of metrics worse
    than the first.
    """
    rng = np.random.default_rng(seed)
    n = setting.items * setting.outputs
    item = np.repeat(np.arange(setting.items), setting.outputs)

    def drawn(share: float) -> Any:
        """Standard normal numbers [n], a share of whose variance belongs to the item."""
        return np.sqrt(share) * rng.normal(size=setting.items)[item] + np.sqrt(
            1 - share
        ) * rng.normal(size=n)

    share = 0.5 if setting.outputs > 1 else 0.0
    human, common = drawn(share), drawn(share)
    scores = [0.8 * human + 0.6 * common + 0.7 * drawn(share) for _ in range(metrics)]
    scores[0] = scores[0] + effect * human
    ids = item if setting.by_item else np.arange(n)
    segments = tuple(Segment(str(k), f"h{i}", (f"r{k}",)) for i, k in enumerate(ids.tolist()))
    asked = question(replace(_EMPTY, segments=segments, scores=human), setting.statistic, 1)
    values = np.array([asked.value(one) for one in scores])
    resamples = 1000 if setting.statistic == "pearson" else 300
    draws = draw_values(asked, scores, resamples=resamples, seed=seed)
    stands = standing(Column(values, draws, n, asked, scores), test_name=setting.test, seed=seed)
    worse = [stands.mark(k, ALPHA) == "" for k in range(metrics)]
    return any(worse), sum(worse) / (metrics - 1) if stands.best == 0 else 0.0


_EMPTY = Group(segments=(), scores=None)


def run(runs: int) -> dict[str, Any]:
    """Simulate every setting: the share of runs with a false claim, and the power at an effect of
    .25.
    """
    rows = []
    for setting in SETTINGS:
        count = max(int(runs * setting.runs), 20)
        tried = METRICS if setting.runs == 1.0 else METRICS[:3]
        false, power = {}, {}
        for m in tried:
            false[m] = float(
                np.mean([simulate(setting, m, 0.0, 10_000 * m + k)[0] for k in range(count)])
            )
            power[m] = float(
                np.mean(
                    [simulate(setting, m, EFFECT, 10_000 * m + k)[1] for k in range(count // 4)]
                )
            )
        rows.append({"setting": setting.name, "runs": count, "false": false, "power": power})
        print(rows[-1], flush=True)
    return {"alpha": ALPHA, "metrics": list(METRICS), "rows": rows}


INTRODUCTION = """# How often equal metrics are called different

`monge evaluate` marks metrics that are significantly worse than the best. The best is chosen on the same data, so
every two metrics are compared, two-sided, and p-values are corrected over all pairs: by the distribution of the
largest difference (max-T) for the bootstrap, by Holm for Williams' test and PERM-BOTH. Source items are resampled
with all their outputs. This page simulates metrics whose true quality is known (`python benchmarks/claims.py`).
"""
TABLES = {
    "false": "Share of runs with any false claim at level .05, all metrics being equally good:",
    "power": "One metric is better (r .75 where the others have .66): the share of the others that "
    "is marked as worse:",
}


def page_text() -> str:
    """The page from what is kept."""
    kept = json.loads(KEPT.read_text("utf-8"))
    lines = [INTRODUCTION]
    for kind, title in TABLES.items():
        head = " | ".join(f"{m} metrics" for m in kept["metrics"])
        lines += [
            title,
            "",
            f"| data | runs | {head} |",
            f"|---|---:|{'---:|' * len(kept['metrics'])}",
        ]
        for row in kept["rows"]:
            cells = " | ".join(
                f"{row[kind][str(m)]:.3f}" if str(m) in row[kind] else "" for m in kept["metrics"]
            )
            lines.append(
                f"| {row['setting']} | {row['runs'] // (1 if kind == 'false' else 4):,} | {cells} |"
            )
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["page"])
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    if given.what is None:
        found = run(given.runs)
        if given.runs == RUNS:
            KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if given.what == "page" or given.runs == RUNS:
        PAGE.write_text(page_text(), "utf-8")


if __name__ == "__main__":
    main()
