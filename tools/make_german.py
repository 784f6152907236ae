"""Try the settings that the GermEval paper tried, on German STS-B: results/tuning/german.json.

    MONGE_DATA=DIR MONGE_MODELS=DIR python tools/make_german.py

The table of docs/tuning-papers.md is made from it by `make generated`. The task's summaries have no
published scores, so the German STS benchmark stands in: pooling, layer, idf of other texts than
those that are scored, case, rescaling.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from make_adapters import MULTI, link_models
from paper_tuning_page import GERMAN_STUDY

SWITCHES = {"languages": "de"}
STATISTICS = ["pearson", "spearman", "rmse100"]
CORPUS, LOWER = "german-train.txt", "german-lower.tsv"
"""Files that are made for a run: texts to fit idf on, the test part in lower case."""
LAYERS = (4, 6, 8, 9, 10, 11, 12)
STUDY: Mapping[str, Mapping[str, str]] = {
    "pooling of sbert": {
        "mean of all pieces": "sbert",
        "mean without special pieces": "sbert[units.specials=drop]",
        "first piece": "sbert[units.join=first]",
        "largest values": "sbert[units.join=max]",
    },
    "layer of bertscore": {f"layer {k}": f"bertscore[layers={k}]" for k in LAYERS},
    "idf of bertscore, last layer": {
        "none": "bertscore[layers=last]",
        "of the references": "bertscore[layers=last,weights=idf]",
        "of other texts": f"bertscore[layers=last,weights=idf,weights.corpus={CORPUS}]",
    },
    "rescaling of bertscore, last layer": {
        "none": "bertscore[layers=last]",
        "by the baseline of German": "bertscore[layers=last,scale=baseline,scale.lang=de]",
    },
}
CASED = {"sbert": "sbert", "bertscore, last layer": "bertscore[layers=last]"}
"""The metrics that are tried on texts in lower case."""


def read_texts(data: Path, split: str) -> Iterator[tuple[str, str, float]]:
    """Yield the German pairs of a split with their grades."""
    from monge.datasets import open_dataset

    judgements = open_dataset("stsb", data, split=split, **SWITCHES)  # type: ignore[arg-type]
    for group in judgements.groups.values():
        assert group.scores is not None
        for row, score in zip(group.segments, group.scores.tolist(), strict=True):
            yield row.hypothesis, row.references[0], score


def write_files(data: Path) -> None:
    """Write the texts that idf is fitted on, and the test part in lower case, to this directory."""
    texts = dict.fromkeys(
        text for first, second, _ in read_texts(data, "train") for text in (first, second)
    )
    Path(CORPUS).write_text("".join(f"{text}\n" for text in texts), "utf-8")
    rows = [
        f"{first.lower()}\t{second.lower()}\t{score}\n"
        for first, second, score in read_texts(data, "test")
    ]
    Path(LOWER).write_text("".join(["hypothesis\treference\thuman\n", *rows]), "utf-8")


def run(task: Any, metrics: Sequence[str], cache: Path | None) -> dict[str, list[dict[str, Any]]]:
    """Return the agreement of each metric by every statistic, with intervals and signatures."""
    from monge.evaluation import Resampling, Run, evaluate_task

    variants = list(dict.fromkeys(metrics))
    with tempfile.TemporaryDirectory() as folder:
        evaluation = evaluate_task(
            task,
            [with_model(metric) for metric in variants],
            run=Run(cache or folder),
            resampling=Resampling(resamples=1000),
        )
    records: dict[str, list[dict[str, Any]]] = {metric: [] for metric in variants}
    for k, agreement in enumerate(evaluation.agreements):
        record = {
            **agreement.to_dict(),
            "mean_interval": agreement.mean.to_dict("value", "low", "high"),
        }
        records[variants[k % len(variants)]].append(record)
    return records


def with_model(metric: str) -> str:
    """Return a metric that reads the multilingual model."""
    name, _, changes = metric.rstrip("]").partition("[")
    return f"{name}[encoder.model=./{MULTI}{',' + changes if changes else ''}]"


def main() -> None:
    """Run the study and keep what came out."""
    from monge.evaluation import Task

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", type=Path, default=os.environ.get("MONGE_MODELS"))
    parser.add_argument("--cache", type=Path, help="keeps scores between calls")
    options = parser.parse_args()
    with link_models(options) as workspace:
        os.chdir(workspace)
        write_files(options.data)
        task = Task(
            "stsb", options.data, switches={**SWITCHES, "split": "test"}, statistic=STATISTICS
        )
        metrics = [metric for settings in STUDY.values() for metric in settings.values()]
        results = {
            "as published": run(task, metrics, options.cache),
            "lower case": run(
                Task("table", LOWER, statistic=STATISTICS), list(CASED.values()), options.cache
            ),
        }
        os.chdir(Path(__file__).parent)
    GERMAN_STUDY.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
    sys.stderr.write(f"{GERMAN_STUDY}\n")


if __name__ == "__main__":
    main()
