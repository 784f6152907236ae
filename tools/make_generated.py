"""Make every generated file of docs/, src/, README.md, mkdocs.yml that needs no data and no model.

    python tools/make_generated.py            # write what changed: `make generated`
    python tools/make_generated.py --check    # write nothing; exit 1 where a file is not up to date
    python tools/make_generated.py --model    # also the pages made by runs of the embedded model

Files come from the code and from the kept results (results/, src/monge/recommendation/kept). In
src/ one file is written: src/monge/recommendation/kept/adapters.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module

from repository import ROOT, Pages, read_or_none, write_pages

GENERATORS = (
    "make_adapter_figures",
    "make_readme",
    "make_reference",
    "make_recommend",
    "make_results",
    "make_reproduction",
    "make_sensitivity",
    "make_families",
    "make_models",
    "make_probe",
    "tuning_page",
    "paper_tuning_page",
    "make_methods",
    "make_error_lessons",
    "make_flagship",
    "make_measured_pages",
)
"""Modules whose `make_pages` returns the content of files by path."""


def load_generator(name: str) -> Callable[[], Pages]:
    """Return the function of a generator that makes its files."""
    make_pages: Callable[[], Pages] = import_module(name).make_pages
    return make_pages


def main() -> int:
    """Write or check the generated files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--model", action="store_true")
    options = parser.parse_args()
    changed = []
    for name in GENERATORS:
        pages = load_generator(name)()
        if name == "make_reference" and options.model:
            pages = {**pages, **import_module(name).make_model_pages()}
        if options.check:
            changed += [path for path, text in pages.items() if read_or_none(path) != text]
        else:
            changed += write_pages(pages)
    for path in changed:
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    return int(options.check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
