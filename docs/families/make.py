"""Makes the table of docs/families.md: metrics without references, on data that people judged.

    MONGE_DATA=DIR MONGE_MODELS=DIR make families          # or, with a choice of model and of what is run again:
    python docs/families/make.py --data DIR --models DIR [--model NAME] [--cache DIR] [--again]
    python docs/families/make.py --page                    # no runs: the page from the kept results

Every figure comes from `monge.evaluation.evaluate`, or for mapped vectors from `monge fit
--parallel` and the same scoring, and is kept with its signature in results.json; the published ones
come from the reported tables. What is kept is not run again, so a run that was interrupted goes on
where it was.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from monge import api
from monge.cli.app import run
from monge.datasets import open_dataset
from monge.evaluation import Resampling, Run, Setup, Task, evaluate
from monge.evaluation.score_book import rows_of
from monge.papers.tables import table_named
from monge.stats import pearson

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results.json", HERE.parent / "families.md"
BEGIN, END = "<!-- table: made by docs/families/make.py -->", "<!-- end of table -->"

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
"""News of other years whose sources and references teach the maps: nothing of it is in the test
data.
"""
MOST = 1000
REPORTED = "reproducibility-4"

Figures = dict[str, dict[str, Any]]


def jobs() -> Iterator[tuple[str, str, str, str]]:
    """Everything that is run: data set, group, prefix, and what stands for its metrics ('' or a
    mapped one).
    """
    for prefix in PREFIXES:
        yield "stsb", "de", prefix, ""
        for pair in PAIRS:
            yield "mlqe-pe", pair, prefix, ""
            for metric in MAPPED:
                yield "mlqe-pe", pair, prefix, metric


def prefixed(prefix: str) -> list[str]:
    """The change that sets the encoder's prefix."""
    return [f"encoder.prefix={prefix.replace(':', '%3A').replace(' ', '%20')}"] if prefix else []


def plain(dataset: str, group: str, prefix: str, where: argparse.Namespace) -> Figures:
    """Pearson's r of every metric on a group, from one encoding pass."""
    switches = {"languages": group} if dataset == "stsb" else {}
    found = evaluate(
        Task(dataset, where.data, pairs=None if switches else [group], switches=switches),
        METRICS,
        setup=Setup(prefixed(prefix), model=model(where)),
        run=Run(where.cache),
        resampling=Resampling(resamples=100),
    )
    return {
        one.label: {
            "value": one.groups[group].value,
            "n": one.groups[group].n,
            "signature": one.signature,
        }
        for one in found.agreements
    }


def mapped(metric: str, group: str, prefix: str, where: argparse.Namespace) -> Figures:
    """Pearson's r of a metric whose source vectors are mapped, the maps fitted on other data of the
    language pair.
    """
    judged = open_dataset("mlqe-pe", where.data, pairs=[group])
    rows, human = rows_of(judged)[group], judged.groups[group].scores
    figures: Figures = {}
    with TemporaryDirectory() as folder:
        taught, stats = Path(folder) / "parallel.tsv", Path(folder) / "maps.json"
        pairs = parallel(group, where)
        taught.write_text(
            "".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8"
        )
        command = [
            "fit",
            "-m",
            metric,
            "--parallel",
            str(taught),
            "--model",
            model(where),
            "-o",
            str(stats),
            "-q",
        ]
        for change in prefixed(prefix):
            command += ["--set", change]
        if run(command) != 0:
            raise SystemExit(f"monge {' '.join(command)} failed")
        maps = api.load_stats(stats)
        for kind in MAPS:
            one = api.load(
                metric, model=model(where), settings=[*prefixed(prefix), f"centre={kind}"]
            )
            (result,) = api.score_segments(
                [one], rows, corpora=api.Corpora(maps), cache=where.cache
            )
            value = pearson(human, result.segments if result.higher_is_better else -result.segments)
            signature = str(result.signature)
            figures[f"{metric} {kind}"] = {
                "value": value,
                "n": len(rows),
                "signature": signature,
                "pairs": len(pairs),
            }
    return figures


def parallel(pair: str, where: argparse.Namespace) -> list[tuple[str, str]]:
    """Distinct sources and references of news in the language pair."""
    segments = open_dataset(PARALLEL[pair], where.data, pairs=[pair]).groups[pair].segments
    distinct = dict.fromkeys((one.source or "", one.references[0]) for one in segments)
    return [one for one in distinct if all(one) and not any("\t" in text for text in one)][:MOST]


def model(where: argparse.Namespace) -> str:
    """The directory of the model."""
    return str(Path(where.models) / where.model)


def kept() -> dict[str, Figures]:
    """The figures of earlier runs by job."""
    return json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}


def made(where: argparse.Namespace) -> dict[str, Figures]:
    """Every job's figures, those that are kept as they are."""
    found = {} if where.again else kept()
    for dataset, group, prefix, metric in jobs():
        key = " ".join((where.model, dataset, group, PREFIXES[prefix], metric)).strip()
        if key in found:
            continue
        found[key] = (
            mapped(metric, group, prefix, where) if metric else plain(dataset, group, prefix, where)
        )
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return found


def table(found: Mapping[str, Figures], name: str) -> list[str]:
    """The table as Markdown: figures times 100, without and with the prefix, and the published
    ones.
    """
    columns = [("stsb", "de"), *(("mlqe-pe", pair) for pair in PAIRS)]
    rows = [*METRICS[:5], *(f"{metric} {kind}" for metric in MAPPED for kind in MAPS), *METRICS[5:]]
    lines = ["| metric | STS-B de | " + " | ".join(PAIRS) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        cells = [cell(found, name, dataset, group, row) for dataset, group in columns]
        label = "`" + row.replace(" ", "[centre=") + ("]`" if " " in row else "`")
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return [*lines, *reported()]


def cell(found: Mapping[str, Figures], name: str, dataset: str, group: str, row: str) -> str:
    """A metric's figures on a group: without / with the prefix."""
    shown = []
    for with_it in PREFIXES.values():
        key = " ".join(
            (name, dataset, group, with_it, row.split(" ")[0] if " " in row else "")
        ).strip()
        figure = found.get(key, {}).get(row)
        shown.append("" if figure is None else f"{100 * figure['value']:.1f}")
    return " / ".join(shown) if all(shown) else ""


def reported() -> Iterator[str]:
    """Rows of published figures in the order of our columns."""
    known = table_named(REPORTED)
    places = {column.group: k for k, column in enumerate(known.columns)}
    for line in known.rows:
        if line.values and line.block in ("fixed", "baselines"):
            cells = [line.reported(places[pair], known.scale) for pair in PAIRS]
            shown = ["" if one is None else f"{100 * one:.1f}" for one in cells]
            of = f", {line.model}" if line.model else ""
            yield f"| reported: {line.label}{of} | | {' | '.join(shown)} |"


def page(found: Mapping[str, Figures], name: str) -> None:
    """The table written into the page, between its marks."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{PAGE}: no place for the table ({BEGIN} … {END})")
    PAGE.write_text("\n".join([before + BEGIN, *table(found, name), END]) + after, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing and write the page."""
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="directory of the judged data"
    )
    reader.add_argument(
        "--models", default=os.environ.get("MONGE_MODELS"), help="directory of models by name"
    )
    reader.add_argument("--model", default="multilingual-e5-small")
    reader.add_argument(
        "--cache", default=os.environ.get("MONGE_CACHE"), help="keeps vectors between runs"
    )
    reader.add_argument("--again", action="store_true", help="run everything, whatever is kept")
    reader.add_argument("--page", action="store_true", help="write the page from the kept results")
    where = reader.parse_args(arguments)
    if not where.page and not (where.data and where.models):
        reader.error("give --data and --models, or set MONGE_DATA and MONGE_MODELS")
    page(kept() if where.page else made(where), where.model)


if __name__ == "__main__":
    main()
