"""Makes docs/reproduction/tables.md: the papers' tables beside ours, as `monge reproduce` computes them.

    MONGE_DATA=DIR MONGE_MODELS=DIR make reproduction      # or, with a choice of what is run again:
    python docs/reproduction/make.py --data DIR --models DIR [--cache DIR] [--again TABLE …]
    python docs/reproduction/make.py --page                # no runs: the page from the kept results

A run is `monge reproduce TABLE … --format json`, kept in results/; what is kept is not run again, so that a run which
was interrupted goes on where it was. The page is those results in Markdown, each under its command.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

from monge.cli.app import run
from monge.study.reproduce.record import reproduction_markdown

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results", HERE / "tables.md"
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
"""Every run of the page; of WMT18 all pairs into English, or one where a table would take hours on two cores."""
HEAD = """# The papers' tables beside ours

Made by `make reproduction` (`docs/reproduction/make.py`): each block is what the command above it prints with
`--format markdown`; `DIR` holds the published judgements, `MODELS` the model directories. What the tables say is told
in [`../reproduction.md`](../reproduction.md). A figure is ours, in brackets the published one; margins have 95 %
bootstrap intervals; a `?` marks a claim that its interval does not settle.
"""


def kept(line: str) -> Path:
    """Where the result of a run is kept."""
    return RESULTS / (re.sub(r"[^a-z0-9]+", "-", line.replace("--", "").lower()) + ".json")


def compute(line: str, data: str, models: str, cache: str | None) -> int:
    """One run of the command."""
    words = [word.replace("MODELS", models) for word in line.split()]
    given = ["--cache", cache] if cache else []
    return run(["reproduce", *words, "--data", data, "--format", "json", "--output", str(kept(line)), *given])


def page() -> str:
    """The page, from what is kept."""
    blocks = [HEAD]
    for line in RUNS:
        table, _, more = line.partition(" ")
        command = f"```\nmonge reproduce {table} --data DIR {more}".rstrip().replace("*-en", "'*-en'") + "\n```\n"
        if not kept(line).exists():
            blocks.append(f"## {line}\n\n{command}\nNot run.\n")
            continue
        found = json.loads(kept(line).read_text("utf-8"))["results"]
        blocks.append(f"## {line}\n\n{command}\n" + "\n".join(reproduction_markdown(one) for one in found))
    return "\n".join(blocks)


def main() -> int:
    """Run what is not kept, then write the page."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
