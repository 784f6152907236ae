"""Make the table of docs/models.md: families of models, and how equal they are to transformers.

    python tools/make_models.py            # measure small random models, write figures and page
    python tools/make_models.py --page     # the page from the kept figures

Figures are kept in results/models/families.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import model_families
from repository import DOCS, RESULTS, Pages, fill_block, read_json, write_pages

FIGURES, PAGE = RESULTS / "models" / "families.json", DOCS / "models.md"
UNBOUNDED = 1 << 20


def measure_families() -> dict[str, dict[str, Any]]:
    """Build and measure every example."""
    figures = {}
    with TemporaryDirectory() as place:
        for name in model_families.EXAMPLES:
            directory = Path(place, name)
            figures[name] = model_families.measure(directory, model_families.build(name, directory))
    return figures


def make_table(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| family | loads | packed | longest text of the example | largest difference |"
    yield "|---|---|---|---:|---:|"
    for name, example in model_families.EXAMPLES.items():
        row = figures[name]
        longest = row["longest"]
        length = "no limit of its own" if longest >= UNBOUNDED else f"{longest:,}"
        packed = "yes" if row["packed"] else "no"
        yield f"| {example.title} | yes | {packed} | {length} | {row['difference']:.0e} |"


def make_pages() -> Pages:
    """Return docs/models.md with the table of the kept figures."""
    table = "\n".join(make_table(read_json(FIGURES)))
    return {PAGE: fill_block(PAGE.read_text("utf-8"), "models", table)}


def main() -> None:
    """Measure the families and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="write the page from kept figures")
    if not parser.parse_args().page:
        FIGURES.parent.mkdir(parents=True, exist_ok=True)
        FIGURES.write_text(json.dumps(measure_families(), indent=1) + "\n", "utf-8")
    write_pages(make_pages())


if __name__ == "__main__":
    main()
