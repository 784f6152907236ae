"""Train and measure adapters as two papers trained their models, for docs/tuning-papers.md.

    MONGE_DATA=DIR MONGE_MODELS=DIR make paper-adapters   # train and measure whatever is missing
    python tools/make_paper_adapters.py train [NAME …]    # those of RECIPES, into build/adapters
    python tools/make_paper_adapters.py measure [NAME …]  # figures and cards, into results/tuning

Nothing of this is shipped: SICK is licensed for use that is not commercial. Choices (rates, epochs,
targets) were made on held-out judgements or held-out pairs; WMT17 was measured once.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from make_adapters import E5, MINI, MULTI, link_models, model_option, parse_options, run_tune
from paper_measures import RESAMPLES, score, subtract, tabulate
from paper_tuning_page import CARDS, MEASURED, SEEDS, make_pages, name_seed
from repository import ADAPTERS, read_json, write_pages

from monge.evaluation import Resampling, Run, Setup, Task, evaluate_task

WMT17 = {"dataset": "wmt17", "pairs": ["*-en"], "statistic": ["pearson", "kendall"]}
GERMAN = {
    "dataset": "stsb",
    "switches": {"languages": "de", "split": "test"},
    "statistic": ["pearson", "spearman"],
}
TASKS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "table 4": (WMT17,),
    "figure 4": (WMT17,),
    "germeval": (GERMAN,),
}
"""The judgements that the adapters of a question are measured on."""
STAGES = ("before", "after")
SICK = "SICK_train.txt"
ALL_WEIGHTS = "--method", "all", "--rate", "0.00005"
PLAIN = "mse:wmt15+wmt16(human_range=-4/2)"
"""Human z scores on the scale of the untuned scores (z 0 is .67), by their plain squared error."""


@dataclass(frozen=True)
class PaperRecipe:
    """An adapter: the question it answers, its base, what it is tuned through, and how."""

    question: str
    base: str
    metric: str
    arguments: Sequence[str]
    measured: Sequence[str] = ()

    @property
    def metrics(self) -> Sequence[str]:
        """The metrics that it is measured with."""
        return self.measured or (self.metric,)


def _tempered(base: str, metric: str, lesson: str, *more: str) -> PaperRecipe:
    """Return a recipe of table 4 of Tempered WMD: judgements of WMT15 and WMT16."""
    layers = (
        ("--layers", "4", "--epochs", "2")
        if base == MINI
        else ("--layers", "8", "--blocks", "5", "--epochs", "1")
    )
    arguments = ("--train", lesson, *layers, "--pairs", "*-en", "--seed", "1", *more)
    return PaperRecipe("table 4", base, metric, arguments)


def _pairs(base: str, lesson: str, seed: int) -> PaperRecipe:
    """Return a recipe of figure 4 of MoverScore: pairs of sentences of SICK, three epochs."""
    blocks = () if base == MINI else ("--blocks", "6")
    arguments = ("--train", lesson, "--epochs", "3", "--seed", str(seed), *blocks)
    return PaperRecipe("figure 4", base, "moverscore", arguments)


def _german(lesson: str, *more: str) -> PaperRecipe:
    """Return a recipe of GermEval: German pairs alone, five epochs."""
    arguments = (
        *("--train", f"{lesson}:stsb(split=train,languages=de)"),
        *("--dev", "stsb(split=dev,languages=de)", "--seed", "1", *more),
    )
    return PaperRecipe("germeval", MULTI, "sbert", arguments, ("sbert", "bertscore"))


RECIPES = {
    **{
        name_seed(f"{name}-{lesson}", seed): _pairs(base, written, seed)
        for seed in SEEDS
        for name, base in (("mini", MINI), ("e5", E5))
        for lesson, written in (
            ("entailment", f"classify:{SICK}"),
            ("paraphrase", f"classify:{SICK}(paraphrase_from=4)"),
            ("grades", f"paraphrase:{SICK}(human_range=1/5)"),
            ("entailment-apart", f"nli:{SICK}"),
        )
    },
    "mini-twmd-b-score": _tempered(MINI, "twmd-b", "wmt15+wmt16"),
    "mini-twmd-mse": _tempered(MINI, "twmd", PLAIN),
    "mini-twmd-b-mse": _tempered(MINI, "twmd-b", PLAIN),
    "mini-twmd-score-all": _tempered(MINI, "twmd", "wmt15+wmt16", *ALL_WEIGHTS),
    "mini-twmd-b-score-all": _tempered(MINI, "twmd-b", "wmt15+wmt16", *ALL_WEIGHTS),
    "mini-twmd-mse-all": _tempered(MINI, "twmd", PLAIN, *ALL_WEIGHTS),
    "mini-twmd-b-mse-all": _tempered(MINI, "twmd-b", PLAIN, *ALL_WEIGHTS),
    "e5-twmd-b-score": _tempered(E5, "twmd-b", "wmt15+wmt16"),
    "e5-twmd-mse": _tempered(E5, "twmd", PLAIN),
    "e5-twmd-b-mse": _tempered(E5, "twmd-b", PLAIN),
    "german-all": _german(
        "paraphrase",
        *("--method", "last", "--blocks", "12", "--epochs", "5", "--rate", "0.00002"),
    ),
    "german-low-rank": _german("paraphrase", "--blocks", "6", "--epochs", "2"),
}
"""The adapters by name."""


def train(names: Sequence[str], options: argparse.Namespace) -> None:
    """Train the named adapters, or all that are not in build/adapters."""
    ADAPTERS.mkdir(parents=True, exist_ok=True)
    with link_models(options) as workspace:
        (sick,) = Path(options.data).rglob(SICK)
        (workspace / SICK).symlink_to(sick.resolve())
        for name in names or RECIPES:
            recipe, folder = RECIPES[name], ADAPTERS / name
            if folder.is_dir():
                continue
            run_tune(recipe, folder, options, workspace)


def measure(names: Sequence[str], options: argparse.Namespace) -> None:
    """Measure the base and the adapter in one run each; keep figures and cards."""
    results = read_json(MEASURED) if MEASURED.is_file() else {}
    directory = Path.cwd()
    with link_models(options) as workspace:
        os.chdir(workspace)
        for name in names or RECIPES:
            if (not names and name in results) or not (ADAPTERS / name).is_dir():
                continue
            results[name] = [
                row
                for task in TASKS[RECIPES[name].question]
                for metric in RECIPES[name].metrics
                for row in measure_metric(task, metric, name, options)
            ]
            MEASURED.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
            (CARDS / name).mkdir(parents=True, exist_ok=True)
            shutil.copy(ADAPTERS / name / "card.json", CARDS / name / "card.json")
            means = [
                f"{row['statistic']} {row['model']} {row['mean']:.4f}" for row in results[name]
            ]
            sys.stderr.write(f"{name}: {', '.join(means)}\n")
        os.chdir(directory)


def measure_metric(
    task: Mapping[str, Any], metric: str, name: str, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return what `monge evaluate` says of a metric with the base model and with the adapter."""
    base = model_option(RECIPES[name].base)
    models = base, f"{base}+{ADAPTERS / name}"
    variants = [f"{metric}[encoder.model={model}]" for model in models]
    judgements = Task(data=options.data, **task)
    with tempfile.TemporaryDirectory() as folder:
        cache = str(options.cache or folder)
        evaluation = evaluate_task(
            judgements, variants, run=Run(cache), resampling=Resampling(resamples=RESAMPLES)
        )
        changes = measure_changes(judgements, task["statistic"], variants, cache)
    stages = STAGES * len(evaluation.agreements)
    return [
        {
            "model": stage,
            **json.loads(json.dumps(agreement.to_dict()).replace(f"{ADAPTERS}/", "")),
            "mean_interval": agreement.mean.to_dict("value", "low", "high", "p_value"),
            **({"change": changes[agreement.statistic]} if stage == "after" else {}),
        }
        for stage, agreement in zip(stages, evaluation.agreements, strict=False)
    ]


def measure_changes(
    task: Task, statistics: Sequence[str], variants: Sequence[str], cache: str
) -> dict[str, dict[str, Any]]:
    """Return by statistic the second variant's mean minus the first's, with its interval."""
    dataset = task.open()[0]
    before, after = STAGES
    scores = score(dataset, dict(zip(STAGES, variants, strict=True)), Setup(), cache)
    changes = {}
    for statistic in statistics:
        table = tabulate(dataset, scores, statistic)
        (change,) = subtract(table, scores, [(f"{after} minus {before}", after, before)])
        changes[statistic] = change
    return changes


def main() -> None:
    """Train, measure and write the page, or one of these."""
    options = parse_options(__doc__, ("train", "measure", "page"))
    if options.what in ("train", "all"):
        train(options.names, options)
    if options.what in ("measure", "all"):
        measure(options.names, options)
    if options.what in ("page", "all"):
        write_pages(make_pages())


if __name__ == "__main__":
    main()
