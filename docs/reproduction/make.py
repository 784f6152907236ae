"""Makes docs/reproduction/tables.md: the papers' tables beside ours, as `monge reproduce` computes
them.

    MONGE_DATA=DIR MONGE_MODELS=DIR make reproduction      # or, with a choice of what is run again:
    python docs/reproduction/make.py --data DIR --models DIR [--cache DIR] [--again TABLE …]
    python docs/reproduction/make.py --page                # no runs: the page from the kept results

A run is `monge reproduce TABLE … --format json`, kept in results/; what is kept is not run again,
so that a run which was interrupted goes on where it was. The page is those results in Markdown,
each under its command.
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

from monge.cli.app import run
from monge.papers.reproduction import reproduction_markdown

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results", HERE / "tables.md"
SHORT, PICTURE = HERE.parent / "reproduction.md", HERE / "margins.svg"
WMT18, INTO_ENGLISH = "--pairs cs-en", "--pairs *-en"
RUNS = (
    "tempered-2",
    "tempered-2 --model MODELS/e5-small",
    "tempered-1",
    "tempered-3 " + INTO_ENGLISH,
    "tempered-figure-3",
    "tempered-figure-4",
    "tempered-figure-4 --model MODELS/e5-small",
    *(f"moverscore-{k}" for k in (1, 2, 3, 5, 6, 7, 8, 9)),
    "moverscore-6 --model MODELS/e5-small",
    "reproducibility-1 " + WMT18,
    "reproducibility-2",
    "reproducibility-3",
    "reproducibility-4 --model MODELS/multilingual-e5-small",
    "reproducibility-5",
    "reproducibility-6",
    "reproducibility-7",
    "wmt18-log " + WMT18,
    "lazy-emd-1",
    "lazy-emd-2 " + WMT18,
)
"""Every run of the page; of WMT18 all pairs into English, or one where a table would take hours on
two cores.
"""
HEAD = """# The papers' tables beside ours

Made by `make reproduction` (`docs/reproduction/make.py`): each block is what the command above it prints with
`--format markdown`; `DIR` holds the published judgements, `MODELS` the model directories. What the tables say is told
in [what was found](findings.md). A figure is ours, in brackets the published one; margins have 95 %
bootstrap intervals; a `?` marks a claim that its interval does not settle.
"""


def kept(line: str) -> Path:
    """Where the result of a run is kept."""
    return RESULTS / (re.sub(r"[^a-z0-9]+", "-", line.replace("--", "").lower()) + ".json")


def compute(line: str, data: str, models: str, cache: str | None) -> int:
    """One run of the command."""
    words = [word.replace("MODELS", models) for word in line.split()]
    given = ["--cache", cache] if cache else []
    return run(
        [
            "reproduce",
            *words,
            "--data",
            data,
            "--format",
            "json",
            "--output",
            str(kept(line)),
            *given,
        ]
    )


def page() -> str:
    """The page, from what is kept."""
    blocks = [HEAD]
    for line in RUNS:
        table, _, more = line.partition(" ")
        command = (
            f"```\nmonge reproduce {table} --data DIR {more}".rstrip().replace("*-en", "'*-en'")
            + "\n```\n"
        )
        if not kept(line).exists():
            blocks.append(f"## {line}\n\n{command}\nNot run.\n")
            continue
        found = json.loads(kept(line).read_text("utf-8"))["results"]
        blocks.append(
            f"## {line}\n\n{command}\n" + "\n".join(reproduction_markdown(one) for one in found)
        )
    return "\n".join(blocks)


SHORT_HEAD = """# Do the papers' results come out again?

<!-- made by docs/reproduction/make.py from the kept runs: `make reproduction` -->

`monge reproduce TABLE --data DIR` computes a published table again and says what still holds. None of the papers'
models is here, so values are not expected to agree; orders may. Of {claims} claims that the tables were printed
for, with models the papers never saw,
**{holds} hold** beyond noise, {fails} fail beyond noise, and {open} are not settled by these data.

![Margins of the claims here, with 95 % intervals, against the published margins](reproduction/margins.svg)

What that means, table by table: [what was found](reproduction/findings.md). Every figure beside the published one:
[the tables](reproduction/tables.md). A margin is the difference of the agreement of two rows; where a claim is that two
are as good, a small one holds.

"""


def claims() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every claim of the kept runs: table, model where it is not the embedded one, and what was
    found.
    """
    for line in RUNS:
        if not kept(line).exists():
            continue
        table, _, more = line.partition(" ")
        model = more.partition("MODELS/")[2].split(" ")[0]
        for found in json.loads(kept(line).read_text("utf-8"))["results"]:
            for reading in found["readings"]:
                for claim in reading["verdict"]["claims"]:
                    if claim["ours"] is not None and claim["low"] is not None:
                        yield (
                            table,
                            ", ".join(part for part in (model, reading["reading"]) if part),
                            claim,
                        )


def mark(claim: Mapping[str, Any]) -> str:
    """What became of a claim."""
    return ("holds" if claim["holds"] else "fails") if claim["sure"] else "not settled"


def short() -> str:
    """The short page, from what is kept."""
    every = list(claims())
    marks = Counter(mark(claim) for _, _, claim in every)
    head = SHORT_HEAD.format(
        claims=len(every), holds=marks["holds"], fails=marks["fails"], open=marks["not settled"]
    )
    lines = ["| table | claim | published margin | here | 95 % | |", "|---|---|---|---:|---|---|"]
    for table, where, claim in every:
        reported = ", ".join(f"{value:+.3f}" for value in claim["reported"] if value is not None)
        interval = f"[{claim['low']:+.3f}, {claim['high']:+.3f}]"
        says = claim["says"] + (f" ({where})" if where else "")
        lines.append(
            f"| `{table}` | {says} | {reported} | {claim['ours']:+.3f} | {interval} | "
            f"{mark(claim)} |"
        )
    folded = f'<details markdown="1">\n<summary>All {len(every)} claims</summary>\n\n'
    return head + folded + "\n".join(lines) + "\n\n</details>\n"


def picture() -> None:
    """Our margins with their intervals against the mean of the published ones."""
    from monge.render.palette import BLUE, ORANGE, SOFT
    from monge.report.canvas import figure

    with figure(PICTURE, width=6.2, height=4.2) as axes:
        panel = axes[0, 0]
        for name, colour in (("holds", BLUE), ("fails", ORANGE), ("not settled", SOFT)):
            mine = [
                one
                for _, _, one in claims()
                if mark(one) == name and any(v is not None for v in one["reported"])
            ]
            published = [
                mean([value for value in one["reported"] if value is not None]) for one in mine
            ]
            ours = [one["ours"] for one in mine]
            reach = [
                [one["ours"] - one["low"] for one in mine],
                [one["high"] - one["ours"] for one in mine],
            ]
            panel.errorbar(
                published,
                ours,
                yerr=[[max(v, 0) for v in some] for some in reach],
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


def main() -> int:
    """Run what is not kept, then write the page."""
    given = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    given.add_argument("--models", default=os.environ.get("MONGE_MODELS", "models"))
    given.add_argument("--cache", default=os.environ.get("MONGE_CACHE"))
    given.add_argument("--again", nargs="*", default=[], help="tables to run though they are kept")
    given.add_argument("--page", action="store_true", help="run nothing")
    chosen = given.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for line in RUNS:
        wanted = line.split()[0] in chosen.again or not kept(line).exists()
        if wanted and not chosen.page:
            if chosen.data is None:
                given.error("give --data DIR or MONGE_DATA: where the published judgements lie")
            code = compute(line, chosen.data, chosen.models, chosen.cache)
            if code:
                return code
    PAGE.write_text(page(), "utf-8")
    SHORT.write_text(short(), "utf-8")
    picture()
    return 0


if __name__ == "__main__":
    sys.exit(main())
