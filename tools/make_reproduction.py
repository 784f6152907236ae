"""Make docs/reproduction.md and docs/reproduction/tables.md: the papers' tables beside ours.

    MONGE_DATA=DIR MONGE_MODELS=DIR make reproduction      # or, with a choice of what is run again:
    python tools/make_reproduction.py --data DIR --models DIR [--cache DIR] [--again TABLE …]
    python tools/make_reproduction.py --page            # no runs: the page from the kept results

A run is `monge reproduce TABLE … --format json`, kept in results/reproduction. Kept runs are not
run again, so an interrupted run continues where it stopped. The pages show those results in
Markdown, each under its command.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import make_paper_studies
from make_sensitivity import read_results as read_sensitivity
from paper_judges import make_finding
from paper_measures import MEASURES
from paper_runs import RUNS
from paper_study_pages import make_studies_page
from paper_verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    VERDICTS,
    name_verdict,
    read_claims,
)
from paper_verdicts import list_trials as list_trials_of
from repository import ADAPTERS, DOCS, RESULTS, Pages, draw_picture, write_pages
from sensitivity_pages.beside import make_rows
from sensitivity_pages.claims import CLAIMS as SENSITIVITY_CLAIMS
from sensitivity_pages.default_of_paper import of_paper, ours

from monge.cli.app import run
from monge.papers.reproduction import reproduction_markdown

RUN_RESULTS, PAGE = RESULTS / "reproduction", DOCS / "reproduction" / "tables.md"
STUDIES_PAGE = DOCS / "reproduction" / "studies.md"
SHORT, PICTURE = DOCS / "reproduction.md", DOCS / "reproduction" / "margins.svg"
HEAD = """# The papers' tables beside ours

Made by `make reproduction` (`tools/make_reproduction.py`): each block is what the command above it prints with
`--format markdown`; `DIR` holds the published judgements, `MODELS` the model directories, `ADAPTERS` what `make paper-adapters`
trains. [What was found](findings.md) discusses the tables. A figure is ours, with the published one in brackets; margins have 95 % bootstrap intervals; a `?` marks
a claim that its interval leaves open.
"""  # noqa: E501


def result_path(line: str) -> Path:
    """Return the file that keeps the result of a run."""
    return RUN_RESULTS / (re.sub(r"[^a-z0-9]+", "-", line.replace("--", "").lower()) + ".json")


def run_command(line: str, data: str, models: str, cache: str | None) -> int:
    """Run `monge reproduce`; return its exit code."""
    words = [
        word.replace("MODELS", models).replace("ADAPTERS", str(ADAPTERS)) for word in line.split()
    ]
    cache_options = ["--cache", cache] if cache else []
    path = result_path(line)
    code = run(
        [
            "reproduce",
            *words,
            "--data",
            data,
            "--format",
            "json",
            "--output",
            str(path),
            *cache_options,
        ]
    )
    if not code:
        path.write_text(path.read_text("utf-8").replace(f"{ADAPTERS}/", ""), "utf-8")
    return code


def make_tables_page() -> str:
    """Return the long page, made from the kept results."""
    blocks = [HEAD]
    for line in RUNS:
        table, _, options = line.partition(" ")
        command = (
            f"```\nmonge reproduce {table} --data DIR {options}".rstrip()
            .replace("*-en", "'*-en'")
            .replace("en-*", "'en-*'")
            + "\n```\n"
        )
        if not result_path(line).exists():
            blocks.append(f"## {line}\n\n{command}\nNot run.\n")
            continue
        results = json.loads(result_path(line).read_text("utf-8"))["results"]
        blocks.append(
            f"## {line}\n\n{command}\n"
            + "\n".join(reproduction_markdown(result) for result in results)
        )
    return "\n".join([*blocks, list_trials()])


SHORT_HEAD = """# What the papers say, and what we find

<!-- made by tools/make_reproduction.py from the kept runs and tools/paper_claims.toml: `make reproduction` -->

Five papers, {total} claims, one row per claim. None of the papers' models is here (BERT, RoBERTa, ELMo, word2vec, BERT tuned on
MNLI), so this asks whether what they found holds for models they never saw: all-MiniLM-L6-v2 where no other is named, e5-small,
multilingual-e5-small, GloVe for word2vec. **{holds} hold, {in_part} hold in part, {fails} do not hold, {open} are not settled by the
data here, {cannot} cannot be tested here.** Of the preprocessing study's {sensitivity} further claims see the end.

A margin is the difference of the agreement with people of two rows, with a 95 % bootstrap interval over source items. A claim
*holds* if its intervals say so in every trial, *in part* if in some and no more say the opposite, *does not hold* if more say the
opposite, and is *not settled* if the intervals leave it open. A claim that two are equal holds if the interval stays within .01.
"sampled: wmt18 200" says that 200 source segments per language pair were drawn of a data set, with all outputs judged on them.
[Every trial](reproduction/tables.md#every-trial-of-a-claim), [the tables](reproduction/tables.md),
[the studies](reproduction/studies.md), [what it means](reproduction/findings.md).

![Margins of the claims here, with 95 % intervals, against the published margins](reproduction/margins.svg)

"""  # noqa: E501


def list_claims() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every claim of the kept runs: table, condition, and the claim."""
    yield from list_trials_of(RUNS, result_path)


def make_short_page() -> str:
    """Return the page of claims, made from the kept results."""
    trials, claims = list(list_claims()), read_claims()
    findings = [make_finding(claim, trials) for claim in claims]
    counts = Counter(finding.verdict for finding in findings)
    sensitivity_rows = judge_sensitivity()
    head = SHORT_HEAD.format(
        total=len(claims),
        sensitivity=len(sensitivity_rows),
        **{
            name: counts[verdict]
            for name, verdict in zip(
                ("holds", "in_part", "fails", "open", "cannot"), VERDICTS, strict=True
            )
        },
    )
    parts = [head]
    for paper in dict.fromkeys(claim["paper"] for claim in claims):
        rows = [
            [
                claim["says"],
                claim["where"],
                finding.run,
                finding.figures.replace("|", "\\|"),
                f"**{finding.verdict}**",
            ]
            for claim, finding in zip(claims, findings, strict=True)
            if claim["paper"] == paper
        ]
        parts.append(f"## {CITATIONS[paper]}\n\n{make_rows(ROW_HEAD, rows)}\n\n")
    rows = [[text, section, *marks] for section, text, marks in sensitivity_rows]
    parts.append(f"{SENSITIVITY_HEAD}{make_rows(SENSITIVITY_ROW_HEAD, rows)}\n")
    return "".join(parts)


ROW_HEAD = ("the paper says", "where", "run", "found here", "")
SENSITIVITY_ROW_HEAD = ("the paper says", "where", "our default", "the paper's default")
CITATIONS = {
    "MoverScore": "MoverScore (Zhao et al. 2019)",
    "Tempered WMD": "Batch centring and tempered WMD (Chen et al. 2020)",
    "Lazy-EMD": "Lazy-EMD (2020)",
    "Reproducibility": "Reproducibility issues (Chen, Belouadi, Eger 2022): metrics again",
    "GermEval": "GermEval task 3 (Paraschiv, Cercel 2020), on the German STS benchmark",
}
SENSITIVITY_HEAD = """## Reproducibility issues: preprocessing

Judged by written rules from the studies of [monge sensitivity](sensitivity.md), with the default settings of this package and with
those of the paper (A.5); the figures are on [the long page](sensitivity/studies.md#the-papers-claims).

"""  # noqa: E501
SENSITIVITY_VERDICTS = {"seen": HOLDS, "not seen": FAILS, "undecided": OPEN, "not run": "not run"}


def judge_sensitivity() -> list[tuple[str, str, list[str]]]:
    """Return the preprocessing study's claims: section, text, verdicts with both defaults."""
    studies = read_sensitivity()
    sides = ours(studies), of_paper(studies)
    return [
        (
            claim.section,
            claim.text.replace("|", "\\|"),
            [f"**{SENSITIVITY_VERDICTS[claim.judge(side).mark]}**" for side in sides],
        )
        for claim in SENSITIVITY_CLAIMS
    ]


def list_trials() -> str:
    """Return a section with every trial of a claim: the published margin, ours, and the verdict."""
    lines = ["| table | claim | published margin | here | 95 % | |", "|---|---|---|---:|---|---|"]
    for table, condition, claim in list_claims():
        reported = ", ".join(f"{value:+.3f}" for value in claim["reported"] if value is not None)
        interval = f"[{claim['low']:+.3f}, {claim['high']:+.3f}]"
        says = claim["says"] + (f" ({condition})" if condition else "")
        lines.append(
            f"| `{table}` | {says} | {reported} | {claim['ours']:+.3f} | {interval} | "
            f"{name_verdict(claim)} |"
        )
    return "## Every trial of a claim\n\n" + "\n".join(lines) + "\n"


def draw_margins(path: Path) -> None:
    """Draw our margins with their intervals against the mean of the published ones."""
    from monge.render.palette import BLUE, ORANGE, SOFT
    from monge.report.canvas import figure

    with figure(path, width=6.2, height=4.2) as axes:
        panel = axes[0, 0]
        for name, colour in ((HOLDS, BLUE), (FAILS, ORANGE), (OPEN, SOFT)):
            group = [
                claim
                for _, _, claim in list_claims()
                if name_verdict(claim) == name and any(v is not None for v in claim["reported"])
            ]
            published = [
                mean([value for value in claim["reported"] if value is not None]) for claim in group
            ]
            margins = [claim["ours"] for claim in group]
            errors = [
                [claim["ours"] - claim["low"] for claim in group],
                [claim["high"] - claim["ours"] for claim in group],
            ]
            panel.errorbar(
                published,
                margins,
                yerr=[[max(v, 0) for v in side] for side in errors],
                fmt="o",
                color=colour,
                label=name,
                markersize=4,
                linewidth=1,
            )
        ends = [
            min(panel.get_xlim()[0], panel.get_ylim()[0]),
            max(panel.get_xlim()[1], panel.get_ylim()[1]),
        ]
        panel.plot(ends, ends, color=SOFT, linewidth=0.8, linestyle=":")
        panel.axhline(0, color=SOFT, linewidth=0.8)
        panel.axvline(0, color=SOFT, linewidth=0.8)
        panel.set_xlabel("published margin")
        panel.set_ylabel("margin here, 95 %")
        panel.legend(loc="lower right")


def make_pages() -> Pages:
    """Return the pages and the pictures, made from the kept results."""
    return {
        PAGE: make_tables_page(),
        STUDIES_PAGE: make_studies_page(),
        SHORT: make_short_page(),
        PICTURE: draw_picture(draw_margins),
    }


def main() -> int:
    """Run what has no kept result, then write the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--models", default=os.environ.get("MONGE_MODELS", "models"))
    parser.add_argument("--cache", default=os.environ.get("MONGE_CACHE"))
    parser.add_argument("--again", nargs="*", default=[], help="tables to run though they are kept")
    parser.add_argument("--only", metavar="BEGINNING", help="the runs that begin with this alone")
    parser.add_argument("--page", action="store_true", help="run nothing")
    options = parser.parse_args()
    RUN_RESULTS.mkdir(exist_ok=True)
    for line in RUNS:
        if options.only and not line.startswith(options.only):
            continue
        is_missing = line.split()[0] in options.again or not result_path(line).exists()
        if is_missing and not options.page:
            if options.data is None:
                parser.error("give --data DIR or MONGE_DATA: where the published judgements lie")
            code = run_command(line, options.data, options.models, options.cache)
            if code:
                return code
    if not options.page and not options.only:
        code = make_paper_studies.run_missing(argparse.Namespace(**vars(options)), MEASURES)
        if code:
            return code
    write_pages(make_pages())
    return 0


if __name__ == "__main__":
    sys.exit(main())
