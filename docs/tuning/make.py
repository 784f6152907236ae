"""Trains the adapters, measures what tuning did, and makes the tables of docs/tuning.md.

    MONGE_DATA=DIR MONGE_MODELS=DIR make adapters           # everything that is not there yet
    python docs/tuning/make.py train [NAME …]               # the adapters of RECIPES
    python docs/tuning/make.py measure [KEY …]              # figures into results.json, with their signatures
    python docs/tuning/make.py ship                         # copies the shipped ones into the package
    python docs/tuning/make.py page                         # no runs: the tables from what is kept

Adapters that are reported on learned from WMT15 and WMT16 only and were chosen on a tenth of those; they stand in
docs/tuning/adapters. Those in the package learned from WMT15 to WMT18, so nothing here measures them on WMT.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MADE, RESULTS, PAGE = HERE / "adapters", HERE / "results.json", HERE.parent / "tuning.md"
PACKAGE = HERE.parent.parent / "src" / "monge" / "encode" / "adapters"
MINI, E5, MPNET, MULTI = "all-MiniLM-L6-v2", "e5-small", "all-mpnet-base-v2", "multilingual-e5-small"
HONEST, EVERYTHING = ["--train", "wmt15+wmt16"], ["--train", "wmt15+wmt16+wmt17", "--train", "rank:wmt18"]


@dataclass(frozen=True)
class Recipe:
    """An adapter: its base model, what `monge tune` is given, and the name under which it is shipped, if it is."""

    base: str
    arguments: Sequence[str]
    shipped: str = ""
    metric: str = "twmd"


def _english(*arguments: str) -> list[str]:
    return [*arguments, "--pairs", "*-en"]


RECIPES = {
    **{f"mini-{seed}": Recipe(MINI, _english(*HONEST, "--layers", "4", "--seed", str(seed))) for seed in (1, 2, 3)},
    "e5": Recipe(E5, _english(*HONEST, "--layers", "9", "--blocks", "5", "--epochs", "2")),
    "mpnet": Recipe(MPNET, _english(*HONEST, "--layers", "8", "--blocks", "4", "--epochs", "1")),
    "fast-15-16": Recipe(MINI, _english(*HONEST, "--layers", "1")),
    "mt-mini": Recipe(MINI, _english(*EVERYTHING, "--layers", "4", "--epochs", "1"), "mt"),
    "mt-e5": Recipe(E5, _english(*EVERYTHING, "--layers", "9", "--blocks", "5", "--epochs", "1"), "mt"),
    "mt-mpnet": Recipe(MPNET, _english(*EVERYTHING, "--layers", "8", "--blocks", "4", "--epochs", "1"), "mt"),
    "fast": Recipe(MINI, _english(*EVERYTHING, "--layers", "1", "--epochs", "2"), "fast"),
    "german": Recipe(
        MULTI,
        ["--train", "paraphrase:stsb(split=train,languages=de)", "--dev", "stsb(split=dev,languages=de)"],
        metric="sbert",
    ),
}
"""What is trained. Layers were chosen on the held-out tenth of WMT15 and WMT16 (docs/tuning.md)."""

KINDS: dict[str, dict[str, Any]] = {
    "wmt17": {"pairs": ["*-en"], "statistic": ["pearson", "kendall"]},
    "wmt18": {"pairs": ["*-en"]},
    "sts12": {},
    "sts13": {},
    "sts14": {},
    "summeval": {},
    "tac08": {},
    "bagel": {},
    "sfhotel": {},
    "flickr8k": {},
}
"""Data sets that before and after are measured on, and how they are asked; their own statistic where none is said."""


def model_of(base: str, models: Path) -> str:
    """What --model says for a base; a directory is named from where the command runs, so that no card has a path."""
    return "auto" if base == MINI else f"./{base}"


def train(names: Sequence[str], where: argparse.Namespace) -> None:
    """Make the named adapters, or all; one that is there is left alone."""
    for name in names or RECIPES:
        recipe, folder = RECIPES[name], (MADE / name).resolve()
        if folder.is_dir():
            continue
        command = [
            *(sys.executable, "-m", "monge", "tune", recipe.metric, *recipe.arguments),
            *("--data", str(where.data), "--model", model_of(recipe.base, where.models), "-o", str(folder)),
        ]
        sys.stderr.write(f"+ {' '.join(command)}\n")
        subprocess.run(command, check=True, cwd=where.models)


def ship() -> None:
    """Put the shipped adapters into the package."""
    for name, recipe in RECIPES.items():
        if recipe.shipped and (MADE / name).is_dir():
            place = PACKAGE / recipe.shipped / recipe.base
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(MADE / name, place)


def jobs() -> Iterator[tuple[str, str, str]]:
    """Everything that is measured: key, data set, adapter."""
    for name in ("mini-1", "mini-2", "mini-3", "e5", "mpnet", "fast-15-16"):
        yield f"wmt17/{name}", "wmt17", name
    for dataset in KINDS:
        if dataset != "wmt17":
            yield f"{dataset}/mini-1", dataset, "mini-1"


def measure(keys: Sequence[str], where: argparse.Namespace) -> None:
    """Agreement before and after, in one run each, with the test of the difference."""
    from monge.study import Resampling, Run, Setup, Task, evaluate

    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for key, dataset, name in jobs():
        if (keys and key not in keys) or (not keys and key in kept) or not (MADE / name).is_dir():
            continue
        base = model_of(RECIPES[name].base, where.models)
        os.chdir(where.models)
        asked = dict(KINDS[dataset])
        task = Task(dataset, where.data, pairs=asked.get("pairs"), statistic=asked.get("statistic"))
        metrics = [f"twmd[encoder.model={base}]", f"twmd[encoder.model={base}+{MADE / name}]"]
        found = evaluate(task, metrics, setup=Setup(), run=Run(), resampling=Resampling(resamples=1000))
        kept[key] = [
            {"model": which, **one.to_dict(), "mean_interval": one.mean.to_dict("value", "low", "high", "p_value")}
            for which, one in zip(("before", "after") * len(found.agreements), found.agreements, strict=False)
        ]
        RESULTS.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
        said = [f"{one['statistic']} {one['model']} {one['mean']:.4f}" for one in kept[key]]
        sys.stderr.write(f"{key}: {', '.join(said)}\n")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "measure", "ship", "page", "all"), nargs="?", default="all")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path, default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", type=Path, default=os.environ.get("MONGE_MODELS"))
    given = parser.parse_args()
    if given.what in ("train", "all"):
        train(given.names, given)
    if given.what in ("ship", "all"):
        ship()
    if given.what in ("measure", "all"):
        measure(given.names, given)


if __name__ == "__main__":
    main()
