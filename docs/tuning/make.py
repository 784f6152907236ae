"""Trains the adapters, measures what tuning did, and makes the tables of docs/tuning.md.

    MONGE_DATA=DIR MONGE_MODELS=DIR make adapters           # everything that is not there yet
    python docs/tuning/make.py train [NAME …]               # the adapters of RECIPES
    python docs/tuning/make.py measure [KEY …]              # figures into results.json, with their signatures
    python docs/tuning/make.py ship                         # copies the shipped ones into the package
    python docs/tuning/make.py page                         # no runs: the tables from what is kept

Adapters that are reported on learned from WMT15 and WMT16 only and were chosen on a tenth of those;
they stand in docs/tuning/adapters. The `mt` of the package learned from WMT15 to WMT18, so nothing
here measures it on WMT; `fast` saw no human judgement but those of WMT15 and WMT16 (and outputs of
WMT18, scored by its teacher).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from tuning_tables import ANALYSIS, KINDS, MADE, OF_KINDS, PAGE, RESULTS, SPEED, page, picture  # noqa: E402

PACKAGE = HERE.parent.parent / "src" / "monge" / "encoders" / "adapters"
MINI, E5, MPNET, MULTI = (
    "all-MiniLM-L6-v2",
    "e5-small",
    "all-mpnet-base-v2",
    "multilingual-e5-small",
)
HONEST, EVERYTHING = (
    ["--train", "wmt15+wmt16"],
    ["--train", "wmt15+wmt16+wmt17", "--train", "rank:wmt18(batch=8)"],
)
SIMILAR = ["--train", "similarity:stsb(split=train,pairs=en)"]
BROAD = [*SIMILAR, "--train", "paraphrase:stsb(split=train,pairs=en)*0.5"]
"""Beside translations: the similarity of sentences by the metric and by the cosine of mean
vectors.
"""


@dataclass(frozen=True)
class Recipe:
    """An adapter: its base model, what `monge tune` is given, and the name under which it is
    shipped, if it is.
    """

    base: str
    arguments: Sequence[str]
    shipped: str = ""
    metric: str = "twmd"


def _english(*arguments: str) -> list[str]:
    return [*arguments, "--pairs", "*-en"]


def _german(first: str, second: str) -> list[str]:
    """Graded pairs of sentences in German by one objective, and in English by another."""
    return [
        *(
            "--train",
            f"{first}:stsb(split=train,languages=de)",
            "--dev",
            "stsb(split=dev,languages=de)",
        ),
        *(
            "--train",
            f"{second}:stsb(split=train,languages=en)",
            "--blocks",
            "6",
            "--epochs",
            "2",
            "--seed",
            "1",
        ),
    ]


RECIPES = {
    **{
        f"mini-{seed}": Recipe(
            MINI, _english(*HONEST, "--layers", "4", "--epochs", "2", "--seed", str(seed))
        )
        for seed in (1, 2, 3)
    },
    "e5-8": Recipe(
        E5, _english(*HONEST, "--layers", "8", "--blocks", "5", "--epochs", "1", "--seed", "1")
    ),
    "e5": Recipe(
        E5, _english(*HONEST, "--layers", "9", "--blocks", "5", "--epochs", "1", "--seed", "1")
    ),
    "mpnet": Recipe(
        MPNET, _english(*HONEST, "--layers", "8", "--blocks", "4", "--epochs", "1", "--seed", "1")
    ),
    "one-block": Recipe(MINI, _english(*HONEST, "--layers", "1", "--epochs", "3", "--seed", "1")),
    "broad": Recipe(
        MINI, _english(*HONEST, *BROAD, "--layers", "4", "--epochs", "2", "--seed", "1"), "broad"
    ),
    "mt-mini": Recipe(MINI, _english(*EVERYTHING, "--layers", "4", "--epochs", "2"), "mt"),
    "mt-e5": Recipe(
        E5, _english(*EVERYTHING, "--layers", "9", "--blocks", "5", "--epochs", "1"), "mt"
    ),
    "mt-mpnet": Recipe(
        MPNET, _english(*EVERYTHING, "--layers", "8", "--blocks", "4", "--epochs", "1"), "mt"
    ),
    "fast": Recipe(
        MINI,
        _english(
            *HONEST,
            *(
                "--train",
                "distil:wmt18(sample=16000,batch=64)",
                "--teacher",
                "twmd",
                "--teacher-model",
                f"./{E5}+./e5",
            ),
            *("--layers", "1", "--epochs", "4", "--seed", "1", "--rank", "32", "--rate", "0.001"),
        ),
        "fast",
    ),
    **{
        f"{count}-{seed}": Recipe(
            MINI,
            _english(
                "--train",
                f"wmt15+wmt16(sample={count})",
                "--layers",
                "4",
                *more,
                "--seed",
                str(seed),
            ),
        )
        for count, more in ((200, ("--epochs", "8")), (1000, ("--epochs", "4")))
        for seed in (1, 2, 3)
    },
    "sts-mpnet": Recipe(
        MPNET,
        [
            *(
                "--train",
                "similarity:stsb(split=train,pairs=en)",
                "--dev",
                "stsb(split=dev,pairs=en)",
            ),
            *("--blocks", "4", "--epochs", "2", "--seed", "1"),
        ],
        metric="sbert",
    ),
    "taught": Recipe(
        MULTI,
        [
            *(
                "--train",
                "similarity:stsb(split=train,pairs=de)",
                "--dev",
                "stsb(split=dev,pairs=de)",
            ),
            *(
                "--train",
                "distil:stsb(split=train,pairs=de/de.aws/de.deepl,teacher=en,neighbours=4)*2",
            ),
            *("--teacher", "sbert", "--teacher-model", f"./{MPNET}+./sts-mpnet"),
            *("--set", "encoder.prefix=query: ", "--rank", "16", "--epochs", "2", "--seed", "1"),
        ],
        metric="sbert",
    ),
    "germeval": Recipe(MULTI, [*_german("paraphrase", "paraphrase")], metric="sbert"),
    "german": Recipe(MULTI, [*_german("similarity", "correlation")], metric="sbert"),
}
"""What is trained; docs/tuning.md says where the layers come from."""

GERMAN = {"switches": {"languages": "de", "split": "test"}, "statistic": ["pearson", "spearman"]}
NOT_BROAD = ("sts12", "sts13", "sts14", "wmt18-all")
"""Where `broad` is not measured: what the STS benchmark, which it learned from, was drawn from; the
largest.
"""
EVERY_METRIC = "twmd", "bertscore", "moverscore", "sbert"
"""What `broad` is measured through: a default model serves them all."""


def model_of(base: str) -> str:
    """What --model says for a base, from within the work place."""
    return "auto" if base == MINI else f"./{base}"


def train(names: Sequence[str], where: argparse.Namespace) -> None:
    """Make the named adapters, or all that are neither there nor measured already."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    with work_place(where) as place:
        for name in names or RECIPES:
            recipe, folder = RECIPES[name], (MADE / name).resolve()
            if folder.is_dir() or (
                not names and (place_of(name).is_dir() or f"wmt17/{name}" in kept)
            ):
                continue
            command = [
                *(sys.executable, "-m", "monge", "tune", recipe.metric, *recipe.arguments),
                *("--data", str(where.data), "--model", model_of(recipe.base), "-o", str(folder)),
                *("--precision", where.precision),
            ]
            sys.stderr.write(f"+ {' '.join(command)}\n")
            subprocess.run(command, check=True, cwd=place)
            (place / name).symlink_to(folder)  # a later one may learn from it


@contextmanager
def work_place(where: argparse.Namespace) -> Iterator[Path]:
    """A directory in which models and files have short names, so that cards and signatures name no
    place.
    """
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for one in (*Path(where.models).iterdir(), *MADE.glob("[!.]*")):
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
                file.write_text(
                    file.read_text("utf-8").replace(f"+{name}#", f"+{recipe.shipped}#"), "utf-8"
                )


def place_of(name: str) -> Path:
    """Where an adapter is: in the package where it is shipped, else beside this page."""
    recipe = RECIPES[name]
    return PACKAGE / recipe.shipped / recipe.base if recipe.shipped else MADE / name


def jobs() -> Iterator[tuple[str, str, str]]:
    """Everything that is measured: key, data set, adapter."""
    for name, recipe in RECIPES.items():
        if recipe.shipped != "mt" and recipe.metric == "twmd":
            yield f"wmt17/{name}", "wmt17", name
    for name in OF_KINDS:
        for dataset in KINDS:
            if dataset != "wmt17" and not (name == "broad" and dataset in NOT_BROAD):
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
            if (
                (keys and key not in keys)
                or (not keys and key in kept)
                or not place_of(name).is_dir()
            ):
                continue
            kept[key] = agreement(dataset, name, where)
            RESULTS.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
            said = [f"{one['statistic']} {one['model']} {one['mean']:.4f}" for one in kept[key]]
            sys.stderr.write(f"{key}: {', '.join(said)}\n")
        os.chdir(HERE)


def agreement(dataset: str, name: str, where: argparse.Namespace) -> list[dict[str, Any]]:
    """What `monge evaluate` says of the base model and of the adapter on it, metric by metric.

    All metrics are scored in one pass; each is then tested by itself, its scores coming from the
    cache.
    """
    from monge.evaluation import Resampling, Run, Task, evaluate

    base = model_of(RECIPES[name].base)
    adapter = RECIPES[name].shipped or MADE / name
    german = RECIPES[name].base == MULTI
    names = (
        ("sbert", "bertscore", "twmd") if german else EVERY_METRIC if name == "broad" else ("twmd",)
    )
    both = [
        [f"{one}[encoder.model={model}]" for model in (base, f"{base}+{adapter}")] for one in names
    ]
    task = Task(
        **{"dataset": dataset, "data": where.data, **(GERMAN if german else KINDS[dataset])}
    )
    with tempfile.TemporaryDirectory() as made:
        run = Run(where.cache or made)
        if len(both) > 1:
            evaluate(
                task,
                [one for pair in both for one in pair],
                run=run,
                resampling=Resampling(resamples=1),
            )
        found = [
            evaluate(task, pair, run=run, resampling=Resampling(resamples=1000)).agreements
            for pair in both
        ]
    return [
        {
            "model": which,
            **_clean(one.to_dict()),
            "mean_interval": one.mean.to_dict("value", "low", "high", "p_value"),
        }
        for some in found
        for which, one in zip(("before", "after") * len(some), some, strict=False)
    ]


def analyse_vectors(where: argparse.Namespace) -> None:
    """What `monge analyse` says of word vectors before and after, on references of WMT17."""
    from monge.encoders.opening import open_model
    from monge.evaluation.vectors import analyse

    texts = (
        next(Path(where.data).rglob("newstest2017-deen-ref.en"))
        .read_text("utf-8")
        .splitlines()[:1000]
    )
    found = {}
    for which, model in (("before", "auto"), ("after", f"auto+{MADE / OF_KINDS[0]}")):
        analysis = analyse(
            open_model(model, precision="fp32", device="cpu", online=False, unknown="drop"), texts
        )
        found[which] = {
            one.centring: [
                {"name": what.name, "verdict": what.verdict, "why": what.why}
                for what in one.properties
            ]
            for one in analysis.centrings
        }
    ANALYSIS.write_text(json.dumps(found, indent=1) + "\n")


def _clean(said: dict[str, Any]) -> dict[str, Any]:
    """Without the directory of this machine."""
    return json.loads(json.dumps(said).replace(f"{MADE}/", ""))  # type: ignore[no-any-return]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=("train", "measure", "ship", "page", "all"), nargs="?", default="all"
    )
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
        picture(json.loads(RESULTS.read_text()), json.loads(SPEED.read_text()))


if __name__ == "__main__":
    main()
