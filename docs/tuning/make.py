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
import statistics
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
    **{
        f"{count}-{seed}": Recipe(
            MINI, _english("--train", f"wmt15+wmt16(sample={count})", "--layers", "4", *more, "--seed", str(seed))
        )
        for count, more in ((200, ("--epochs", "8")), (1000, ("--epochs", "4")))
        for seed in (1, 2, 3)
    },
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
    "stsb": {"switches": {"languages": "de", "split": "test"}, "statistic": ["pearson", "spearman"]},
}
"""Data sets that before and after are measured on, and how they are asked; their own statistic where none is said."""


OF_ONE = "mini-1"
"""The adapter that all kinds of data are measured with."""
PAPER = {
    "BLEURT base, not pretrained": (0.568, 0.758), "BLEURT base": (0.610, 0.802), "TWMD, roberta-base": (0.617, 0.810),
    "BLEURT large": (0.625, 0.818), "TWMD-b, roberta-large": (0.634, 0.829),
}  # fmt: skip
"""Tempered WMD, table 4: Kendall's tau and Pearson's r on WMT17 into English after tuning on WMT15 and WMT16."""


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
    for name, recipe in RECIPES.items():
        if not recipe.shipped and name != "german":
            yield f"wmt17/{name}", "wmt17", name
    for dataset in KINDS:
        if dataset not in ("wmt17", "stsb"):
            yield f"{dataset}/{OF_ONE}", dataset, OF_ONE
    yield "stsb/german", "stsb", "german"


def measure(keys: Sequence[str], where: argparse.Namespace) -> None:
    """Agreement before and after, in one run each, with the test of the difference."""
    from monge.study import Resampling, Run, Setup, Task, evaluate

    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for key, dataset, name in jobs():
        if (keys and key not in keys) or (not keys and key in kept) or not (MADE / name).is_dir():
            continue
        base = model_of(RECIPES[name].base, where.models)
        os.chdir(where.models)
        asked = KINDS[dataset]
        task = Task(dataset, where.data, **asked)
        names = ("sbert", "bertscore", "twmd") if name == "german" else ("twmd",)
        metrics = [f"{one}[encoder.model={model}]" for one in names for model in (base, f"{base}+{MADE / name}")]
        found = evaluate(task, metrics, setup=Setup(), run=Run(), resampling=Resampling(resamples=1000))
        kept[key] = [
            {
                "model": which,
                **_clean(one.to_dict()),
                "mean_interval": one.mean.to_dict("value", "low", "high", "p_value"),
            }
            for which, one in zip(("before", "after") * len(found.agreements), found.agreements, strict=False)
        ]
        RESULTS.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
        said = [f"{one['statistic']} {one['model']} {one['mean']:.4f}" for one in kept[key]]
        sys.stderr.write(f"{key}: {', '.join(said)}\n")


def _clean(said: dict[str, Any]) -> dict[str, Any]:
    """Without the directory of this machine."""
    return json.loads(json.dumps(said).replace(f"{MADE}/", ""))  # type: ignore[no-any-return]


def _both(
    kept: dict[str, Any], key: str, statistic: str, metric: str = "twmd"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Before and after, of a metric by a statistic."""
    found = [one for one in kept[key] if one["statistic"] == statistic and one["metric"].startswith(metric)]
    return found[0], found[1]


def _span(one: dict[str, Any]) -> str:
    interval = one["mean_interval"]
    return f"{one['mean']:.3f} [{interval['low']:.3f}, {interval['high']:.3f}]"


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """The tables of the page by name."""
    found = {}
    lines = ["| model | tuned weights | before: r | after: r | after: tau |", "|---|---:|---:|---:|---:|"]
    for label, names in ((MINI, ["mini-1", "mini-2", "mini-3"]), (E5, ["e5"]), (MPNET, ["mpnet"])):
        there = [name for name in names if f"wmt17/{name}" in kept]
        if there:
            card = json.loads((MADE / there[0] / "card.json").read_text())
            pairs = [_both(kept, f"wmt17/{name}", "pearson") for name in there]
            taus = [_both(kept, f"wmt17/{name}", "kendall")[1]["mean"] for name in there]
            middle = statistics.median(after["mean"] for _, after in pairs)
            every = ", ".join(f"{after['mean']:.3f}" for _, after in pairs) if len(there) > 1 else _span(pairs[0][1])
            lines.append(
                f"| {label} | {card['parameters']:,} | {pairs[0][0]['mean']:.3f} | **{middle:.3f}** ({every}) "
                f"| {statistics.median(taus):.3f} |"
            )
    lines += [f"| {name} (published) | all | | {r:.3f} | {tau:.3f} |" for name, (tau, r) in PAPER.items()]
    found["wmt17"] = "\n".join(lines)
    lines = ["| data | statistic | before | after | p |", "|---|---|---:|---:|---:|"]
    for dataset in KINDS:
        key = f"{dataset}/{OF_ONE}"
        for before, after in _pairs(kept.get(key, [])):
            p = min(one["mean_interval"]["p_value"] for one in (before, after))
            cells = f"{dataset} {before['human']}", before["statistic"], _span(before), _span(after), f"{p:.3f}"
            lines.append(f"| {' | '.join(cells)} |")
    found["kinds"] = "\n".join(lines)
    lines = ["| judgements | r on WMT17 of three seeds | median |", "|---:|---|---:|"]
    for label, names in (("0", []), ("200", ["200-1", "200-2", "200-3"]), ("1,000", ["1000-1", "1000-2", "1000-3"]),
                         ("5,360", ["mini-1", "mini-2", "mini-3"])):  # fmt: skip
        values = [_both(kept, f"wmt17/{name}", "pearson")[1]["mean"] for name in names if f"wmt17/{name}" in kept]
        if not names and f"wmt17/{OF_ONE}" in kept:
            values = [_both(kept, f"wmt17/{OF_ONE}", "pearson")[0]["mean"]]
        if values:
            lines.append(f"| {label} | {', '.join(f'{one:.3f}' for one in values)} | {statistics.median(values):.3f} |")
    found["curve"] = "\n".join(lines)
    lines = ["| metric | Pearson before | after | Spearman before | after |", "|---|---:|---:|---:|---:|"]
    for metric in ("sbert", "bertscore", "twmd"):
        if "stsb/german" in kept:
            both = [_both(kept, "stsb/german", statistic, metric) for statistic in ("pearson", "spearman")]
            cells = " | ".join(f"{one['mean']:.3f}" for pair in both for one in pair)
            lines.append(f"| {metric} | {cells} |")
    found["german"] = "\n".join(lines)
    return found


def _pairs(found: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Before and after of each human column and statistic."""
    for one in found:
        if one["model"] == "before":
            alike = [other for other in found if other["model"] == "after" and other["human"] == one["human"]]
            yield one, next(other for other in alike if other["statistic"] == one["statistic"])


def page() -> str:
    """The page with its tables as they are kept."""
    text = PAGE.read_text("utf-8")
    for name, table in tables(json.loads(RESULTS.read_text())).items():
        begin, end = f"<!-- {name}: made by docs/tuning/make.py -->", f"<!-- end of {name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return text


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
    if given.what in ("page", "all"):
        PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
