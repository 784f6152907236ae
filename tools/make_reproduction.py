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
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from repository import DOCS, RESULTS, Pages, draw_picture, write_pages

from monge.cli.app import run
from monge.papers.reproduction import reproduction_markdown

RUN_RESULTS, PAGE = RESULTS / "reproduction", DOCS / "reproduction" / "tables.md"
SHORT, PICTURE = DOCS / "reproduction.md", DOCS / "reproduction" / "margins.svg"
WMT18, INTO_ENGLISH, OUT_OF_ENGLISH = "--pairs cs-en", "--pairs *-en", "--pairs en-*"
OTHERS = "cs-en,de-en,fi-en,ru-en,tr-en,zh-en"
"""The pairs of WMT18 into English on which the slacks of Lazy-EMD were not tuned."""
GLOVE = "--stand-in word2vec=MODELS/glove-6b-50d"
E5, MULTILINGUAL = "--model MODELS/e5-small", "--model MODELS/multilingual-e5-small"
RUNS = (
    "tempered-2",
    f"tempered-2 {E5}",
    "tempered-1",
    f"tempered-3 {INTO_ENGLISH} --sample 80",
    f"tempered-3 {INTO_ENGLISH}",
    "tempered-figure-3",
    f"tempered-figure-3 {E5} --sample 60",
    "tempered-figure-4",
    f"tempered-figure-4 {E5}",
    *(f"tempered-2 --layers {layer} --sample 200" for layer in (2, 3, 5, 6)),
    *(f"tempered-2 {E5} --layers {layer} --sample 200" for layer in (4, 12)),
    *(f"moverscore-{k} {GLOVE}" for k in (1, 2, 3, 7, 8, 9)),
    "moverscore-5",
    "moverscore-6",
    f"moverscore-6 {E5}",
    f"reproducibility-1 {INTO_ENGLISH} --sample 40",
    f"reproducibility-1 {WMT18}",
    "reproducibility-2",
    "reproducibility-3",
    f"reproducibility-4 {MULTILINGUAL}",
    "reproducibility-5",
    "reproducibility-6",
    "reproducibility-7",
    f"wmt18-log {WMT18}",
    "lazy-emd-1",
    f"lazy-emd-2 --pairs {OTHERS} --sample 80",
    f"lazy-emd-2 --pairs {OTHERS} --sample 80 {E5}",
    f"lazy-emd-2 {OUT_OF_ENGLISH} --sample 60 {MULTILINGUAL}",
    f"lazy-emd-2 {WMT18}",
    "lazy-emd-3 --pairs gu-en,kk-en --sample 150",
    "lazy-emd-4 --pairs gu-en,kk-en --sample 150",
)
"""Every run of the page; of large data sets a sample, where all of them would take hours."""
HEAD = """# The papers' tables beside ours

Made by `make reproduction` (`tools/make_reproduction.py`): each block is what the command above it prints with
`--format markdown`; `DIR` holds the published judgements, `MODELS` the model directories. [What was found](findings.md)
discusses the tables. A figure is ours, with the published one in brackets; margins have 95 % bootstrap intervals; a `?` marks
a claim that its interval leaves open.
"""  # noqa: E501


PAPERS = {
    "tempered": "Tempered WMD",
    "moverscore": "MoverScore",
    "reproducibility": "Reproducibility",
    "lazy": "Lazy-EMD",
    "wmt18": "Reproducibility",
    "germeval": "GermEval",
}
"""The papers by the first word of their tables' names."""


def result_path(line: str) -> Path:
    """Return the file that keeps the result of a run."""
    return RUN_RESULTS / (re.sub(r"[^a-z0-9]+", "-", line.replace("--", "").lower()) + ".json")


def run_command(line: str, data: str, models: str, cache: str | None) -> int:
    """Run `monge reproduce`; return its exit code."""
    words = [word.replace("MODELS", models) for word in line.split()]
    cache_options = ["--cache", cache] if cache else []
    return run(
        [
            "reproduce",
            *words,
            "--data",
            data,
            "--format",
            "json",
            "--output",
            str(result_path(line)),
            *cache_options,
        ]
    )


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


SHORT_HEAD = """# Do the papers' results come out again?

<!-- made by tools/make_reproduction.py from the kept runs: `make reproduction` -->

`monge reproduce TABLE --data DIR` computes a published table again and says what still holds. None of the papers'
models is here, so values are not expected to agree, but orders may be. The tables were printed for {distinct} distinct
claims that can be tried here, with models the papers never saw. **{holds} hold** beyond noise in every trial,
{mixed} hold in part of their trials, {fails} fail and hold in none, and {open} are not settled by these data. A claim counts
once, however many tables, models and statistics it was tried with; the
{claims} trials are listed under [the tables](reproduction/tables.md#every-trial-of-a-claim).

![Margins of the claims here, with 95 % intervals, against the published margins](reproduction/margins.svg)

What that means, table by table: [what was found](reproduction/findings.md). Every figure beside the published one:
[the tables](reproduction/tables.md). A margin is the difference of the agreement of two rows; where a claim is that two
are equally good, it holds if the margin is small.

"""  # noqa: E501


def list_claims() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every claim of the kept runs: table, model where not the default, and the claim."""
    for line in RUNS:
        if not result_path(line).exists():
            continue
        table, _, options = line.partition(" ")
        model = options.partition("MODELS/")[2].split(" ")[0]
        for result in json.loads(result_path(line).read_text("utf-8"))["results"]:
            for reading in result["readings"]:
                for claim in reading["verdict"]["claims"]:
                    if claim["ours"] is not None and claim["low"] is not None:
                        yield (
                            table,
                            ", ".join(part for part in (model, reading["reading"]) if part),
                            claim,
                        )


def name_verdict(claim: Mapping[str, Any]) -> str:
    """Return "holds", "fails" or "not settled"."""
    return ("holds" if claim["holds"] else "fails") if claim["sure"] else "not settled"


def join_verdicts(verdicts: set[str]) -> str:
    """Return the verdict on a claim that was tried several times, from those of the trials."""
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return "holds in part" if "holds" in verdicts else "fails"


def list_distinct() -> dict[tuple[str, str], tuple[str, int]]:
    """Return the verdict on every distinct claim of a paper, and how often it was tried."""
    trials: dict[tuple[str, str], list[str]] = {}
    for table, _, claim in list_claims():
        paper = table.partition("-")[0]
        trials.setdefault((paper, claim["says"]), []).append(name_verdict(claim))
    return {key: (join_verdicts(set(verdicts)), len(verdicts)) for key, verdicts in trials.items()}


def make_short_page() -> str:
    """Return the short page, made from the kept results."""
    claims, distinct = list(list_claims()), list_distinct()
    verdicts = Counter(verdict for verdict, _ in distinct.values())
    head = SHORT_HEAD.format(
        claims=len(claims),
        distinct=len(distinct),
        holds=verdicts["holds"],
        fails=verdicts["fails"],
        mixed=verdicts["holds in part"],
        open=verdicts["not settled"],
    )
    rows = ["| paper | claim | trials | |", "|---|---|---:|---|"]
    rows += [
        f"| {PAPERS[paper]} | {says} | {trials} | {verdict} |"
        for (paper, says), (verdict, trials) in distinct.items()
    ]
    return head + "\n".join(rows) + "\n"


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
        for name, colour in (("holds", BLUE), ("fails", ORANGE), ("not settled", SOFT)):
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
    """Return both pages and the picture, made from the kept results."""
    return {
        PAGE: make_tables_page(),
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
    write_pages(make_pages())
    return 0


if __name__ == "__main__":
    sys.exit(main())
