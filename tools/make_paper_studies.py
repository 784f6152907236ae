"""Run the studies of tools/paper_studies.toml, and those of paper_measures.py, that have no result.

    MONGE_DATA=DIR MONGE_MODELS=DIR make reproduction      # or, with a choice:
    python tools/make_paper_studies.py --data DIR --models DIR [--cache DIR] [--only NAME …]

Their results lie in results/reproduction/studies; make_reproduction.py makes the pages of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from repository import RESULTS, ROOT

from monge.cli.app import run
from monge.datasets import open_dataset
from monge.datasets.output import write_text

STUDIES = RESULTS / "reproduction" / "studies"
PLAN = ROOT / "tools" / "paper_studies.toml"
TEXTS = ROOT / "build" / "studies"


def read_plan() -> dict[str, str]:
    """Return the command of every study by its name."""
    plan = tomllib.loads(PLAN.read_text("utf-8"))
    return {name: study["command"] for name, study in plan.items()}


def study_path(name: str) -> Path:
    """Return the file that keeps the result of a study."""
    return STUDIES / f"{name}.json"


def read_study(name: str) -> dict[str, Any]:
    """Return the kept result of a study, {} where it was not run."""
    path = study_path(name)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_texts(data: str) -> None:
    """Write judged outputs of WMT17 de-en and their references, one per line, for `analyse`."""
    TEXTS.mkdir(parents=True, exist_ok=True)
    (group,) = open_dataset("wmt17", data, pairs=["de-en"]).groups.values()
    rows = [row for row in group.segments if row.hypothesis.strip()]
    sides = {"out": [row.hypothesis for row in rows], "ref": [row.references[0] for row in rows]}
    for side, texts in sides.items():
        lines = "".join(" ".join(text.split()) + "\n" for text in texts)
        (TEXTS / f"wmt17-de-en.{side}.txt").write_text(lines, "utf-8")


def make_arguments(command: str, data: str, models: str) -> list[str]:
    """Return the arguments of `monge` for a command of the plan."""
    places = {"DATA": data, "MODELS": models, "ROOT": str(ROOT)}
    words = shlex.split(command)
    for name, directory in places.items():
        words = [
            directory if word == name else word.replace(f"{name}/", f"{directory}/")
            for word in words
        ]
    return words


def run_command(name: str, command: str, options: argparse.Namespace) -> int:
    """Run a command and keep its JSON output; return the exit code."""
    arguments = make_arguments(command, options.data, options.models)
    if arguments[0] == "analyse":
        write_texts(options.data)
    cached = ["--cache", options.cache] if options.cache and arguments[0] != "analyse" else []
    return run([*arguments, "-f", "json", "-o", str(study_path(name)), *cached])


def run_missing(options: argparse.Namespace, measures: Mapping[str, Callable[..., Any]]) -> int:
    """Run every requested study that has no kept result; return the first error code, or 0."""
    STUDIES.mkdir(parents=True, exist_ok=True)
    if options.data is None:
        raise SystemExit("give --data DIR or MONGE_DATA: where the published judgements lie")
    for name, command in read_plan().items():
        if (not options.only or name in options.only) and not study_path(name).exists():
            code = run_command(name, command, options)
            if code:
                return code
    for name, measure in measures.items():
        if (not options.only or name in options.only) and not study_path(name).exists():
            result = measure(options.data, options.models, options.cache)
            write_text(study_path(name), json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


def main() -> int:
    """Run the studies that have no kept result."""
    from paper_measures import MEASURES

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", default=os.environ.get("MONGE_MODELS", "models"))
    parser.add_argument("--cache", default=os.environ.get("MONGE_CACHE"))
    parser.add_argument("--only", nargs="*", help="these studies alone")
    options = parser.parse_args()
    return run_missing(options, MEASURES)


if __name__ == "__main__":
    sys.exit(main())
