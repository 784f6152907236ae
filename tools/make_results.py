"""Make docs/results/tables.md: run its commands, keep their JSON in results/tables, show tables.

MONGE_DATA=DIR MONGE_MODELS=DIR make results       # commands that have no kept run, then the page
python tools/make_results.py --again NAME …        # run these again
python tools/make_results.py --page                # no runs: the page from the kept runs
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repository import DOCS, RESULTS, TEMPLATES, Pages, write_pages

from monge.cli.app import run

RUNS, PAGE = RESULTS / "tables", DOCS / "results" / "tables.md"
TEMPLATE = TEMPLATES / "results-tables.md"
FOUR = "-m twmd -m bertscore -m moverscore -m sbert"
INTO_ENGLISH = "--data DIR --pairs '*-en'"
EXPERTS = "-m chrf -m chrf++ --statistic kendall --statistic acc_eq_calibrated-by-item"
LAYERS = "-m twmd -m bertscore --vary layers={} --test wmt17"


@dataclass(frozen=True)
class Run:
    """A command of the page; `DIR` and `MODELS` stand for the directories of data and models."""

    name: str
    command: str

    @property
    def path(self) -> Path:
        """The file that holds the output of the command."""
        return RUNS / f"{self.name}.json"

    def words(self, data: str, models: str) -> list[str]:
        """Return the command with the directories of this machine."""
        return [
            word.replace("DIR", data).replace("MODELS", models)
            for word in shlex.split(self.command)
        ]


COMMANDS = (
    Run("wmt17", f"evaluate wmt17 {INTO_ENGLISH} {FOUR} -m chrf"),
    Run("wmt17-e5", f"evaluate wmt17 {INTO_ENGLISH} {FOUR} --model MODELS/e5-small"),
    Run("wmt17-mpnet", f"evaluate wmt17 {INTO_ENGLISH} {FOUR} --model MODELS/all-mpnet-base-v2"),
    Run(
        "wmt17-tokenised",
        f"evaluate wmt17 {INTO_ENGLISH} --text tokenised -m twmd -m "
        f"'twmd[transport.temperature=0.02]' "
        "-m 'twmd[layers=6]' -m bertscore -m 'bertscore[layers=6]' -m moverscore -m moverscore@v2 "
        "-m 'moverscore@v2[readout=cost]' -m sbert -m chrf",
    ),
    Run("wmt17-uniform", f"evaluate wmt17 {INTO_ENGLISH} {FOUR} --uniform-units"),
    Run("wmt18", f"evaluate wmt18 {INTO_ENGLISH} --human darr {FOUR}"),
    Run("wmt18-chrf", "evaluate wmt18 --data DIR --human darr -m chrf"),
    Run(
        "wmt17-systems",
        f"evaluate wmt17 {INTO_ENGLISH} --level system --human da-z -m chrf -m sentbleu "
        "--statistic pairwise-accuracy --statistic spa",
    ),
    Run("mqm", f"evaluate mqm --data DIR --pairs zh-en {FOUR} {EXPERTS}"),
    Run("mqm-mt", f"evaluate mqm --data DIR --pairs zh-en {FOUR} {EXPERTS} --model mt"),
    Run("mqm-broad", f"evaluate mqm --data DIR --pairs zh-en {FOUR} {EXPERTS} --model broad"),
    Run("mqm-de", f"evaluate mqm --data DIR --pairs en-de {FOUR} {EXPERTS} --model multilingual"),
    Run("esa", f"evaluate esa --data DIR {FOUR} {EXPERTS} --model multilingual"),
    Run(
        "experts-systems",
        "evaluate mqm --data DIR --level system -m chrf -m chrf++ -m sentbleu "
        "--statistic pairwise-accuracy --statistic spa",
    ),
    Run("layers", f"sweep wmt15+wmt16 {INTO_ENGLISH} {LAYERS.format('0..6')}"),
    Run(
        "layers-e5",
        f"sweep wmt15+wmt16 {INTO_ENGLISH} {LAYERS.format('1..12')} --model MODELS/e5-small",
    ),
)


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table whose first column holds words and whose others hold numbers."""
    rule = "|" + "|".join("---" if not column else "---:" for column in range(len(head))) + "|"
    return [f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def evaluation_tables(output: Mapping[str, Any]) -> list[str]:
    """Return one table per statistic: groups, mean and its interval, with marks of the tests."""
    lines: list[str] = []
    results = iter(output["results"])
    for standing in output["study"]["standings"]:
        agreements = [next(results) for _ in standing["metrics"]]
        groups = list(agreements[0]["groups"])
        several = len(groups) > 1
        head = ["metric", *groups, *(["mean", "95 % of the mean"] if several else ["95 %"])]
        rows = []
        for metric, agreement, mean in zip(
            standing["metrics"], agreements, standing["mean"], strict=True
        ):
            cells = [
                mark_value(agreement["groups"][group]["value"], metric, standing, group)
                for group in groups
            ]
            if several:
                cells.append(mark_value(mean["value"], metric, standing, "mean"))
            interval = mean if several else agreement["groups"][groups[0]]
            rows.append([f"`{metric}`", *cells, f"[{interval['low']:.3f}, {interval['high']:.3f}]"])
        title = f"{standing['statistic']} with `{standing['human']}`"
        counts = sum(group["n"] for group in agreements[0]["groups"].values())
        lines += [
            f"{title[0].upper()}{title[1:]}, {counts:,} judgements:",
            "",
            *make_table(head, rows),
            "",
            name_tests(standing),
        ]
    return [*lines, "", *fold_signatures(agreement["signature"] for agreement in output["results"])]


def mark_value(value: float, metric: str, standing: Mapping[str, Any], group: str) -> str:
    """Return a value: bold where it is the best, underlined where not significantly worse."""
    if len(standing["metrics"]) == 1:
        return f"{value:.3f}"
    if standing["best"][group] == metric:
        return f"**{value:.3f}**"
    return f"<u>{value:.3f}</u>" if metric in standing["tied"][group] else f"{value:.3f}"


def name_tests(standing: Mapping[str, Any]) -> str:
    """Return a sentence that names the tests behind the marks."""
    used = standing.get("tests")
    if not used or len(standing["metrics"]) == 1:
        return ""
    same = used["groups"] == used["mean"]
    name = used["mean"] if same else f"groups: {used['groups']}; mean: {used['mean']}"
    return f"<small>Test: {name}, all pairs, two-sided, {used['correction']}.</small>\n"


def fold_signatures(lines: Any) -> list[str]:
    """Return the signatures, folded."""
    return [
        "<details><summary>Signatures</summary>",
        "",
        "```",
        *dict.fromkeys(lines),
        "```",
        "",
        "</details>",
    ]


def sweep_table(output: Mapping[str, Any]) -> list[str]:
    """Return the mean agreement at each point of a sweep, and of the test data at the best."""
    curves = output["sweep"]["curves"]
    head = [
        "layer",
        *(point["point"][0].partition("=")[2] for point in curves[0]["points"]),
        "WMT17 at the best",
    ]
    rows = []
    for curve in curves:
        means = [point["mean"] for point in curve["points"]]
        cells = [f"**{mean:.3f}**" if mean == max(means) else f"{mean:.3f}" for mean in means]
        rows.append([f"`{curve['metric']}`", *cells, f"{curve['test']['mean']:.3f}"])
    return make_table(head, rows)


def make_block(chosen: Run) -> str:
    """Return the command and the tables of a run."""
    lines = ["```", f"monge {chosen.command}", "```", ""]
    if not chosen.path.exists():
        return "\n".join([*lines, "Not run."])
    output = json.loads(chosen.path.read_text("utf-8"))
    return "\n".join(
        [*lines, *(evaluation_tables(output) if "study" in output else sweep_table(output))]
    )


def make_page() -> str:
    """Return the page: the template with `{NAME}` replaced by the run of that name."""
    text = TEMPLATE.read_text("utf-8")
    for chosen in COMMANDS:
        text = text.replace(f"{{{chosen.name}}}", make_block(chosen))
    return text


def make_pages() -> Pages:
    """Return the page, made from the kept runs."""
    return {PAGE: make_page()}


def main() -> int:
    """Run what has no kept run, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", default=os.environ.get("MONGE_MODELS", "models"))
    parser.add_argument("--cache", default=os.environ.get("MONGE_CACHE"))
    parser.add_argument("--again", nargs="*", default=[], help="runs to repeat")
    parser.add_argument("--page", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    RUNS.mkdir(exist_ok=True)
    for chosen in COMMANDS:
        if arguments.page or (chosen.path.exists() and chosen.name not in arguments.again):
            continue
        if arguments.data is None:
            parser.error(
                "give --data DIR or set MONGE_DATA to the directory of the published judgements"
            )
        cache = ["--cache", arguments.cache] if arguments.cache else []
        words = [
            *chosen.words(arguments.data, arguments.models),
            "-f",
            "json",
            "-o",
            str(chosen.path),
            *cache,
        ]
        code = run(words)
        if code:
            return code
    write_pages(make_pages())
    return 0


if __name__ == "__main__":
    sys.exit(main())
