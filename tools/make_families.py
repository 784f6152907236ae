"""Make the table of docs/families.md: metrics without references, on data that people judged.

    MONGE_DATA=DIR MONGE_MODELS=DIR make families
    python tools/make_families.py --data DIR --models DIR [--model NAME] [--cache DIR] [--again]
    python tools/make_families.py --page       # no runs: the page from the kept results

Every figure comes from `monge.evaluation.evaluate`, or for mapped vectors from `monge fit
--parallel` and the same scoring, and is kept with its signature in results/families; published
figures come from the package's tables of papers. Jobs with kept figures are not run again, so an
interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from repository import DOCS, RESULTS, Pages, fill_block, read_json, write_pages

from monge import api
from monge.cli.app import run
from monge.datasets import open_dataset
from monge.evaluation import Resampling, Run, Setup, Task, evaluate_task
from monge.evaluation.score_book import rows_of
from monge.papers.tables import table_named
from monge.stats import pearson

FIGURES, PAGE = RESULTS / "families" / "results.json", DOCS / "families.md"
MODEL = "multilingual-e5-small"

METRICS = (
    "sentsim",
    "sentsim-wmd",
    "xmoverscore",
    "xmoverscore@v1",
    "xmoverscore@v2",
    "yisi-2",
    "sbert",
    "bertscore",
)
MAPPED = ("xmoverscore", "xmoverscore@v1", "xmoverscore@v2")
MAPS = ("clp", "umd")
PREFIXES = {"": "without", "query: ": "with"}
PAIRS = ("en-de", "en-zh", "ro-en", "ru-en")
PARALLEL = {"en-de": "wmt18", "en-zh": "wmt18", "ro-en": "wmt16", "ru-en": "wmt18"}
"""News of other years that the maps are fitted on: nothing of it is in the test data."""
MAX_PARALLEL = 1000
REPORTED = "reproducibility-4"

Figures = dict[str, dict[str, Any]]


def list_jobs() -> Iterator[tuple[str, str, str, str]]:
    """Yield each job: data set, group, prefix, and a mapped metric ('' for all plain metrics)."""
    for prefix in PREFIXES:
        yield "stsb", "de", prefix, ""
        for pair in PAIRS:
            yield "mlqe-pe", pair, prefix, ""
            for metric in MAPPED:
                yield "mlqe-pe", pair, prefix, metric


def set_prefix(prefix: str) -> list[str]:
    """Return the setting that puts the prefix before each text."""
    return [f"encoder.prefix={prefix.replace(':', '%3A').replace(' ', '%20')}"] if prefix else []


def evaluate_metrics(dataset: str, group: str, prefix: str, options: argparse.Namespace) -> Figures:
    """Return Pearson's r of every metric on a group, from one encoding pass."""
    switches = {"languages": group} if dataset == "stsb" else {}
    evaluation = evaluate_task(
        Task(dataset, options.data, pairs=None if switches else [group], switches=switches),
        METRICS,
        setup=Setup(set_prefix(prefix), model=model_path(options)),
        run=Run(options.cache),
        resampling=Resampling(resamples=100),
    )
    return {
        agreement.label: {
            "value": agreement.groups[group].value,
            "n": agreement.groups[group].n,
            "signature": agreement.signature,
        }
        for agreement in evaluation.agreements
    }


def evaluate_mapped(metric: str, group: str, prefix: str, options: argparse.Namespace) -> Figures:
    """Return Pearson's r of a metric whose source vectors are mapped into the target language.

    The maps are fitted on other data of the same language pair.
    """
    dataset = open_dataset("mlqe-pe", options.data, pairs=[group])
    rows, human = rows_of(dataset)[group], dataset.groups[group].scores
    figures: Figures = {}
    with TemporaryDirectory() as folder:
        corpus, stats = Path(folder) / "parallel.tsv", Path(folder) / "maps.json"
        pairs = read_parallel(group, options)
        corpus.write_text(
            "".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8"
        )
        command = [
            "fit",
            "-m",
            metric,
            "--parallel",
            str(corpus),
            "--model",
            model_path(options),
            "-o",
            str(stats),
            "-q",
        ]
        for change in set_prefix(prefix):
            command += ["--set", change]
        if run(command) != 0:
            raise SystemExit(f"monge {' '.join(command)} failed")
        maps = api.load_stats(stats)
        for centring in MAPS:
            loaded = api.load(
                metric,
                model=model_path(options),
                settings=[*set_prefix(prefix), f"centre={centring}"],
            )
            (result,) = api.score_segments(
                [loaded], rows, corpora=api.Corpora(maps), cache=options.cache
            )
            value = pearson(human, result.segments if result.higher_is_better else -result.segments)
            signature = str(result.signature)
            figures[f"{metric} {centring}"] = {
                "value": value,
                "n": len(rows),
                "signature": signature,
                "pairs": len(pairs),
            }
    return figures


def read_parallel(pair: str, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return distinct sources and references of news in the language pair."""
    segments = open_dataset(PARALLEL[pair], options.data, pairs=[pair]).groups[pair].segments
    distinct = dict.fromkeys((segment.source or "", segment.references[0]) for segment in segments)
    return [pair for pair in distinct if all(pair) and not any("\t" in text for text in pair)][
        :MAX_PARALLEL
    ]


def model_path(options: argparse.Namespace) -> str:
    """Return the directory of the model."""
    return str(Path(options.models) / options.model)


def read_results() -> dict[str, Figures]:
    """Return the figures of earlier runs by job."""
    return read_json(FIGURES) if FIGURES.is_file() else {}


def run_jobs(options: argparse.Namespace) -> dict[str, Figures]:
    """Return the figures of every job; jobs that have kept figures are not run again."""
    figures = {} if options.again else read_results()
    for dataset, group, prefix, metric in list_jobs():
        key = " ".join((options.model, dataset, group, PREFIXES[prefix], metric)).strip()
        if key in figures:
            continue
        figures[key] = (
            evaluate_mapped(metric, group, prefix, options)
            if metric
            else evaluate_metrics(dataset, group, prefix, options)
        )
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return figures


def make_table(figures: Mapping[str, Figures], name: str) -> list[str]:
    """Return the table as Markdown lines: figures times 100, without / with the prefix."""
    columns = [("stsb", "de"), *(("mlqe-pe", pair) for pair in PAIRS)]
    rows = [*METRICS[:5], *(f"{metric} {kind}" for metric in MAPPED for kind in MAPS), *METRICS[5:]]
    lines = ["| metric | STS-B de | " + " | ".join(PAIRS) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        cells = [make_cell(figures, name, dataset, group, row) for dataset, group in columns]
        label = "`" + row.replace(" ", "[centre=") + ("]`" if " " in row else "`")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return [*lines, *published_rows()]


def make_cell(figures: Mapping[str, Figures], name: str, dataset: str, group: str, row: str) -> str:
    """Return a metric's figures on a group: without / with the prefix."""
    cells = []
    for prefix_name in PREFIXES.values():
        key = " ".join(
            (name, dataset, group, prefix_name, row.split(" ")[0] if " " in row else "")
        ).strip()
        figure = figures.get(key, {}).get(row)
        cells.append("" if figure is None else f"{100 * figure['value']:.1f}")
    return " / ".join(cells) if all(cells) else ""


def published_rows() -> Iterator[str]:
    """Yield rows of published figures in the order of our columns."""
    published = table_named(REPORTED)
    places = {column.group: k for k, column in enumerate(published.columns)}
    for line in published.rows:
        if line.values and line.block in ("fixed", "baselines"):
            cells = [line.reported(places[pair], published.scale) for pair in PAIRS]
            texts = ["" if value is None else f"{100 * value:.1f}" for value in cells]
            model_name = f", {line.model}" if line.model else ""
            yield f"| reported: {line.label}{model_name} | | {' | '.join(texts)} |"


def make_pages(model: str = MODEL) -> Pages:
    """Return docs/families.md with the table of the kept figures."""
    table = "\n".join(make_table(read_results(), model))
    return {PAGE: fill_block(PAGE.read_text("utf-8"), "table", table)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the jobs that have no kept figures, then write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="directory of the judged data"
    )
    parser.add_argument(
        "--models", default=os.environ.get("MONGE_MODELS"), help="directory of models by name"
    )
    parser.add_argument("--model", default=MODEL)
    parser.add_argument(
        "--cache", default=os.environ.get("MONGE_CACHE"), help="keeps vectors between runs"
    )
    parser.add_argument("--again", action="store_true", help="run everything, whatever is kept")
    parser.add_argument("--page", action="store_true", help="write the page from the kept results")
    options = parser.parse_args(arguments)
    if not options.page and not (options.data and options.models):
        parser.error("give --data and --models, or set MONGE_DATA and MONGE_MODELS")
    if not options.page:
        run_jobs(options)
    write_pages(make_pages(options.model))


if __name__ == "__main__":
    main()
