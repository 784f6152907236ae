"""Trains the adapters, measures what tuning did, and makes the tables of docs/tuning.md.

    MONGE_DATA=DIR MONGE_MODELS=DIR make adapters           # everything that is not there yet
    python docs/tuning/make.py train [NAME …]               # the adapters of RECIPES
    python docs/tuning/make.py measure [KEY …]              # figures into results.json, with their signatures
    python docs/tuning/make.py ship                         # copies the shipped ones into the package
    python docs/tuning/make.py page                         # no runs: the tables from what is kept

Adapters that are reported on learned from WMT15 and WMT16 only and were chosen on a tenth of those; they stand in
docs/tuning/adapters. The `mt` of the package learned from WMT15 to WMT18, so nothing here measures it on WMT; `fast`
saw no human judgement but those of WMT15 and WMT16 (and outputs of WMT18, scored by its teacher).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MADE, RESULTS, PAGE = HERE / "adapters", HERE / "results.json", HERE.parent / "tuning.md"
ANALYSIS, SPEED = HERE / "analysis.json", HERE / "speed.json"
PACKAGE = HERE.parent.parent / "src" / "monge" / "encode" / "adapters"
MINI, E5, MPNET, MULTI = "all-MiniLM-L6-v2", "e5-small", "all-mpnet-base-v2", "multilingual-e5-small"
HONEST, EVERYTHING = ["--train", "wmt15+wmt16"], ["--train", "wmt15+wmt16+wmt17", "--train", "rank:wmt18(batch=8)"]
SICK = "SICK_train.txt"
BROAD = [
    "--train",
    "similarity:stsb(split=train,pairs=en)",
    "--train",
    "paraphrase:stsb(split=train,pairs=en)*0.5",
    "--train",
    f"nli:{SICK}*0.2",
]
"""Beside translations: the similarity of sentences by the metric and by the cosine of mean vectors, and inference."""


@dataclass(frozen=True)
class Recipe:
    """An adapter: its base model, what `monge tune` is given, and the name under which it is shipped, if it is."""

    base: str
    arguments: Sequence[str]
    shipped: str = ""
    metric: str = "twmd"


def _english(*arguments: str) -> list[str]:
    return [*arguments, "--pairs", "*-en"]


def _german(first: str, second: str) -> list[str]:
    """Graded pairs of sentences in German by one objective, and in English by another."""
    return [
        *("--train", f"{first}:stsb(split=train,languages=de)", "--dev", "stsb(split=dev,languages=de)"),
        *("--train", f"{second}:stsb(split=train,languages=en)", "--blocks", "6", "--epochs", "2", "--seed", "1"),
    ]


RECIPES = {
    **{
        f"mini-{seed}": Recipe(MINI, _english(*HONEST, "--layers", "4", "--epochs", "2", "--seed", str(seed)))
        for seed in (1, 2, 3)
    },
    "e5": Recipe(E5, _english(*HONEST, "--layers", "9", "--blocks", "5", "--epochs", "1", "--seed", "1")),
    "mpnet": Recipe(MPNET, _english(*HONEST, "--layers", "8", "--blocks", "4", "--epochs", "1", "--seed", "1")),
    "one-block": Recipe(MINI, _english(*HONEST, "--layers", "1", "--epochs", "3", "--seed", "1")),
    "broad": Recipe(MINI, _english(*HONEST, *BROAD, "--layers", "4", "--epochs", "2", "--seed", "1"), "broad"),
    "mt-mini": Recipe(MINI, _english(*EVERYTHING, "--layers", "4", "--epochs", "2"), "mt"),
    "mt-e5": Recipe(E5, _english(*EVERYTHING, "--layers", "9", "--blocks", "5", "--epochs", "1"), "mt"),
    "mt-mpnet": Recipe(MPNET, _english(*EVERYTHING, "--layers", "8", "--blocks", "4", "--epochs", "1"), "mt"),
    "fast": Recipe(
        MINI,
        _english(
            *HONEST,
            *("--train", "distil:wmt18(sample=16000,batch=64)", "--teacher", "twmd", "--teacher-model", f"./{E5}+./e5"),
            *("--layers", "1", "--epochs", "4", "--seed", "1", "--rank", "32", "--rate", "0.001"),
        ),
        "fast",
    ),
    **{
        f"{count}-{seed}": Recipe(
            MINI, _english("--train", f"wmt15+wmt16(sample={count})", "--layers", "4", *more, "--seed", str(seed))
        )
        for count, more in ((200, ("--epochs", "8")), (1000, ("--epochs", "4")))
        for seed in (1, 2, 3)
    },
    "germeval": Recipe(MULTI, [*_german("paraphrase", "paraphrase")], metric="sbert"),
    "german": Recipe(MULTI, [*_german("similarity", "correlation")], metric="sbert"),
}
"""What is trained; docs/tuning.md says where the layers come from."""

KINDS: dict[str, dict[str, Any]] = {
    "wmt17": {"pairs": ["*-en"], "statistic": ["pearson", "kendall"]},
    "wmt18": {"pairs": ["*-en"], "sample": 400},
    "sts12": {},
    "sts13": {},
    "sts14": {},
    "stsb": {"switches": {"split": "test"}},
    "summeval": {},
    "tac08": {},
    "bagel": {},
    "sfhotel": {},
    "flickr8k": {},
}
"""Data sets that before and after are measured on, and how they are asked; their own statistic where none is said."""
GERMAN = {"switches": {"languages": "de", "split": "test"}, "statistic": ["pearson", "spearman"]}
OVERLAP = ("sts12", "sts13", "sts14")
"""What the STS benchmark was drawn from: no figure of an adapter that learned from that."""
OF_KINDS = ("mini-1", "broad")
"""The adapters that all kinds of data are measured with."""
PAPER = {
    "BLEURT base, not pretrained": (0.568, 0.758), "BLEURT base": (0.610, 0.802), "TWMD, roberta-base": (0.617, 0.810),
    "BLEURT large": (0.625, 0.818), "TWMD-b, roberta-large": (0.634, 0.829),
}  # fmt: skip
"""Tempered WMD, table 4: Kendall's tau and Pearson's r on WMT17 into English after tuning on WMT15 and WMT16."""


def model_of(base: str) -> str:
    """What --model says for a base, from within the work place."""
    return "auto" if base == MINI else f"./{base}"


def train(names: Sequence[str], where: argparse.Namespace) -> None:
    """Make the named adapters, or all that are neither there nor measured already."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    with work_place(where) as place:
        for name in names or RECIPES:
            recipe, folder = RECIPES[name], (MADE / name).resolve()
            if folder.is_dir() or (not names and (place_of(name).is_dir() or f"wmt17/{name}" in kept)):
                continue
            command = [
                *(sys.executable, "-m", "monge", "tune", recipe.metric, *recipe.arguments),
                *("--data", str(where.data), "--model", model_of(recipe.base), "-o", str(folder)),
                *("--precision", where.precision),
            ]
            sys.stderr.write(f"+ {' '.join(command)}\n")
            subprocess.run(command, check=True, cwd=place)


@contextmanager
def work_place(where: argparse.Namespace) -> Iterator[Path]:
    """A directory in which models and files have short names, so that cards and signatures name no place."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for one in (*Path(where.models).iterdir(), *MADE.glob("[!.]*"), next(Path(where.data).rglob(SICK))):
            (place / one.name).symlink_to(one.resolve())
        yield place


def ship() -> None:
    """Move the shipped adapters into the package, under the name that they have there."""
    for name, recipe in RECIPES.items():
        if recipe.shipped and (MADE / name).is_dir():
            place = PACKAGE / recipe.shipped / recipe.base
            shutil.rmtree(place, ignore_errors=True)
            shutil.move(MADE / name, place)
            for file in (place / "card.json", place / "README.md"):
                file.write_text(file.read_text("utf-8").replace(f"+{name}#", f"+{recipe.shipped}#"), "utf-8")


def place_of(name: str) -> Path:
    """Where an adapter is: in the package where it is shipped, else beside this page."""
    recipe = RECIPES[name]
    return PACKAGE / recipe.shipped / recipe.base if recipe.shipped else MADE / name


def jobs() -> Iterator[tuple[str, str, str]]:
    """Everything that is measured: key, data set, adapter."""
    for name, recipe in RECIPES.items():
        if recipe.shipped != "mt" and recipe.base != MULTI:
            yield f"wmt17/{name}", "wmt17", name
    for name in OF_KINDS:
        for dataset in KINDS:
            if dataset != "wmt17" and not (name == "broad" and dataset in OVERLAP):
                yield f"{dataset}/{name}", dataset, name
    for name, recipe in RECIPES.items():
        if recipe.base == MULTI:
            yield f"stsb/{name}", "stsb", name


def measure(keys: Sequence[str], where: argparse.Namespace) -> None:
    """Agreement before and after, in one run each, with the test of the difference."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    with work_place(where) as place:
        os.chdir(place)
        for key, dataset, name in jobs():
            if (keys and key not in keys) or (not keys and key in kept) or not place_of(name).is_dir():
                continue
            kept[key] = agreement(dataset, name, where)
            RESULTS.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
            said = [f"{one['statistic']} {one['model']} {one['mean']:.4f}" for one in kept[key]]
            sys.stderr.write(f"{key}: {', '.join(said)}\n")
        os.chdir(HERE)


def agreement(dataset: str, name: str, where: argparse.Namespace) -> list[dict[str, Any]]:
    """What `monge evaluate` says of the base model and of the adapter on it."""
    from monge.study import Resampling, Run, Task, evaluate

    base = model_of(RECIPES[name].base)
    adapter = RECIPES[name].shipped or MADE / name
    german = RECIPES[name].base == MULTI
    names = ("sbert", "bertscore", "twmd") if german else ("twmd",)
    metrics = [f"{one}[encoder.model={model}]" for one in names for model in (base, f"{base}+{adapter}")]
    task = Task(dataset, where.data, **(GERMAN if german else KINDS[dataset]))
    found = evaluate(task, metrics, run=Run(where.cache), resampling=Resampling(resamples=1000)).agreements
    return [
        {"model": which, **_clean(one.to_dict()), "mean_interval": one.mean.to_dict("value", "low", "high", "p_value")}
        for which, one in zip(("before", "after") * len(found), found, strict=False)
    ]


def analyse_vectors(where: argparse.Namespace) -> None:
    """What `monge analyse` says of word vectors before and after, on references of WMT17."""
    from monge.encode.opening import open_model
    from monge.study.vectors import analyse

    texts = next(Path(where.data).rglob("newstest2017-deen-ref.en")).read_text("utf-8").splitlines()[:1000]
    found = {}
    for which, model in (("before", "auto"), ("after", f"auto+{MADE / OF_KINDS[0]}")):
        analysis = analyse(open_model(model, precision="fp32", device="cpu", online=False, unknown="drop"), texts)
        found[which] = {
            one.centring: [{"name": what.name, "verdict": what.verdict, "why": what.why} for what in one.properties]
            for one in analysis.centrings
        }
    ANALYSIS.write_text(json.dumps(found, indent=1) + "\n")


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
    found["kinds"] = kinds_table(kept)
    found["curve"] = curve_table(kept)
    found["german"] = german_table(kept)
    if SPEED.is_file():
        found["fast"] = fast_table(kept, json.loads(SPEED.read_text()))
    if ANALYSIS.is_file():
        found["properties"] = properties_table(json.loads(ANALYSIS.read_text()))
    return found


def kinds_table(kept: dict[str, Any]) -> str:
    """Before and after by kind of data, for both adapters, with the p of each difference."""
    first, second = OF_KINDS
    lines = [f"| data | statistic | before | {first} | p | {second} | p |", "|---|---|---:|---:|---:|---:|---:|"]
    for dataset in KINDS:
        others = [_told(*pair) for pair in _pairs(kept.get(f"{dataset}/{second}", []))]
        for k, (before, after) in enumerate(_pairs(kept.get(f"{dataset}/{first}", []))):
            cells = [f"{dataset} {before['human']}", before["statistic"], _span(before), *_told(before, after)]
            cells += others[k] if others else ("", "")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _told(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    p = min(one["mean_interval"]["p_value"] for one in (before, after))
    return f"{_span(after)}, {after['mean'] - before['mean']:+.3f}", f"{p:.3f}"


def curve_table(kept: dict[str, Any]) -> str:
    """Agreement by the number of judgements: three draws, and the interval of the middle one."""
    lines = ["| judgements | r on WMT17 of three seeds | the middle one |", "|---:|---|---:|"]
    for label, names in (("0", []), ("200", ["200-1", "200-2", "200-3"]), ("1,000", ["1000-1", "1000-2", "1000-3"]),
                         ("5,360", ["mini-1", "mini-2", "mini-3"])):  # fmt: skip
        found = [_both(kept, f"wmt17/{name}", "pearson")[1] for name in names if f"wmt17/{name}" in kept]
        if not names and "wmt17/mini-1" in kept:
            found = [_both(kept, "wmt17/mini-1", "pearson")[0]]
        if found:
            middle = sorted(found, key=lambda one: one["mean"])[len(found) // 2]
            values = ", ".join(f"{one['mean']:.3f}" for one in found)
            lines.append(f"| {label} | {values} | {_span(middle)} |")
    return "\n".join(lines)


def fast_table(kept: dict[str, Any], speed: dict[str, Any]) -> str:
    """What fewer blocks cost in agreement and gain in speed, and what larger models do the other way round."""
    gains = {one["what"]: f"{one['median']:.1f} [{one['low']:.1f}, {one['high']:.1f}]" for one in speed["ratios"]}
    with_adapter = next((value for what, value in gains.items() if what.startswith("with an adapter")), "")
    lines = [
        "| `--model` | blocks | r on WMT17 | speed |", "|---|---:|---:|---:|",
        f"| the default | 4 | {_span(_both(kept, 'wmt17/fast', 'pearson')[0])} | 1 |",
        f"| one block, learned from people alone | 1 | {_span(_both(kept, 'wmt17/one-block', 'pearson')[1])} | |",
    ]  # fmt: skip
    rows = (
        ("`fast`: and from the tuned e5-small", 1, "fast", "--model fast against the default"),
        ("`mt`", 4, "mini-1", ""),
        ("`e5-small --adapter mt`", 9, "e5", f"{E5}+mt against the default"),
        ("`all-mpnet-base-v2 --adapter mt`", 8, "mpnet", f"{MPNET}+mt against the default"),
    )
    for label, blocks, name, what in rows:
        gain = gains.get(what, "") if what else f"time with adapter / without: {with_adapter}"
        lines.append(f"| {label} | {blocks} | {_span(_both(kept, f'wmt17/{name}', 'pearson')[1])} | {gain} |")
    return "\n".join(lines)


def german_table(kept: dict[str, Any]) -> str:
    """Agreement on the German STS benchmark, before and after each recipe."""
    lines = ["| metric | recipe | Pearson before | after | Spearman before | after |", "|---|---|---:|---:|---:|---:|"]
    for metric in ("sbert", "bertscore", "twmd"):
        for name in ("germeval", "german"):
            if f"stsb/{name}" in kept:
                both = [_both(kept, f"stsb/{name}", statistic, metric) for statistic in ("pearson", "spearman")]
                cells = " | ".join(f"{one['mean']:.3f}" for pair in both for one in pair)
                lines.append(f"| {metric} | {name} | {cells} |")
    return "\n".join(lines)


def properties_table(analysed: dict[str, Any]) -> str:
    """The three properties of `monge analyse`, before and after."""
    lines = ["| centring | property | before | after |", "|---|---|---|---|"]
    for centring in ("none", "batch"):
        for one, other in zip(analysed["before"][centring], analysed["after"][centring], strict=True):
            cells = centring, one["name"], *(f"{what['verdict']}: {what['why']}" for what in (one, other))
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
    parser.add_argument("--cache", type=Path, help="keeps scores of the plain models between calls")
    parser.add_argument("--precision", default="bf16", help="fp32 where the processor has no bf16")
    given = parser.parse_args()
    if given.what in ("train", "all"):
        train(given.names, given)
    if given.what in ("ship", "all"):
        ship()
    if given.what in ("measure", "all"):
        measure(given.names, given)
        if not given.names:
            analyse_vectors(given)
    if given.what in ("page", "all"):
        PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
