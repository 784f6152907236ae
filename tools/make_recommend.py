"""Write src/monge/recommendation/kept/*.json: agreement with people and cost of every metric.

    MONGE_DATA=DIR make recommend          # evaluate what has no kept result, then the page
    python tools/make_recommend.py agreement --data DIR [--cache DIR] [--again KEY …]
    python tools/make_recommend.py cost --data DIR [--pairs N] [--again]
    python tools/make_recommend.py page       # no runs: docs/recommend.md and its picture

`monge recommend` answers from these files. Agreement comes from `monge.evaluation.evaluate`; cost
(processor seconds and memory) from one process per metric that scores the same pairs with one
thread.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repository import DOCS, PACKAGE, Pages, draw_picture, write_pages

from monge.datasets import open_dataset
from monge.datasets.output import write_text
from monge.errors import Notice
from monge.evaluation import Evaluation, Run, Setup, Task, evaluate_task
from monge.metrics.signature import shortened
from monge.recommendation.recommend import TASKS, recommend
from monge.render.table import sheets_markdown
from monge.report.recommendation import cost_figure

KEPT = PACKAGE / "recommendation" / "kept"
AGREEMENT, COST = KEPT / "agreement.json", KEPT / "cost.json"

LEXICAL = ("sentbleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL", "cider")
LEXICAL_ANY_LANGUAGE = ("sentbleu", "chrf", "chrf++", "ter")
"""Lexical metrics for any language; the others keep English letters only, or stem English."""
FIRST = ("twmd", "bertscore", "sbert", "moverscore")
VECTORS = (
    "twmd-b",
    "trwmd",
    "trwmd-b",
    "wordset-cka",
    "yisi-1",
    "f-alpha",
    "rwmd",
    "smd",
    "hmd",
    "moverscore-2",
    "emd",
    "wmd",
    "wms",
)
SLOW = ("meteor", "lazy-emd", "sms", "s+wms", "wmdo")
SLOWEST = ("ter", "baryscore")
SOURCES = ("sbert", "bertscore", "twmd", "xmoverscore", "yisi-2", "sentsim", "sentsim-wmd")
"""Metrics that can compare with a source text, given a model of both languages."""
TIERS = (
    (LEXICAL, LEXICAL_ANY_LANGUAGE, ("chrf",)),
    (FIRST, FIRST, SOURCES),
    (VECTORS, ("trwmd", "wordset-cka", "yisi-1"), ()),
    (SLOW, (), ()),
    (SLOWEST, (), ()),
)
"""Metrics in the order in which they are run: for English, for other languages, for sources."""
ENGLISH, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"


@dataclass(frozen=True)
class Judgements:
    """Data that people judged: its task and language, and which part of it is evaluated.

    `sample` is the number of source segments drawn per group. `texts` is "sentences" or
    "documents", and selects which cost applies.
    """

    key: str
    title: str
    task: str
    dataset: str
    lang: str = "en"
    texts: str = "sentences"
    pairs: tuple[str, ...] | None = None
    sample: int | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)
    model: str = ENGLISH

    @property
    def kind(self) -> int:
        """The column of `TIERS` that holds its metrics."""
        return 2 if self.task == "quality-estimation" else int(self.lang != "en")

    def make_task(self, data: str) -> Task:
        """Return the task for `monge.evaluation.evaluate`."""
        pairs = list(self.pairs) if self.pairs else None
        return Task(
            self.dataset, data, pairs=pairs, sample=self.sample, switches=dict(self.switches)
        )

    def setup(self) -> Setup:
        """Return the model, and the language where it is not English."""
        return Setup(lang=None if self.lang == "en" else self.lang, model=self.model)


def list_judgements() -> Iterator[Judgements]:
    """Yield every data set, small ones first."""
    for name in ("bagel", "sfhotel", "sfrest"):
        yield Judgements(name, name.upper(), "data-to-text", name)
    yield Judgements("stsb", "STS benchmark", "similarity", "stsb")
    for year in ("15", "16", "17"):
        yield Judgements(
            f"wmt{year}", f"WMT{year} into English", "translation", f"wmt{year}", pairs=("*-en",)
        )
    for year in ("12", "13", "14"):
        yield Judgements(f"sts{year}", f"STS 20{year}", "similarity", f"sts{year}", sample=200)
    yield Judgements(
        "wmt18", "WMT18 into English", "translation", "wmt18", pairs=("*-en",), sample=40
    )
    yield Judgements("flickr8k", "Flickr8k", "captions", "flickr8k", sample=200)
    for pair in ("ro-en", "ru-en", "en-de", "en-zh"):
        target = pair[-2:]
        yield Judgements(
            f"mlqe-pe-{pair}",
            f"MLQE-PE {pair}",
            "quality-estimation",
            "mlqe-pe",
            target,
            pairs=(pair,),
            model=MULTILINGUAL,
        )
    for lang in ("ru", "zh"):
        yield Judgements(
            f"wmt17-{lang}",
            f"WMT17 en-{lang}",
            "translation",
            "wmt17",
            lang,
            pairs=(f"en-{lang}",),
            model=MULTILINGUAL,
        )
    for lang in ("cs", "de", "et", "fi", "ru", "tr", "zh"):
        yield Judgements(
            f"wmt18-{lang}",
            f"WMT18 en-{lang}",
            "translation",
            "wmt18",
            lang,
            pairs=(f"en-{lang}",),
            sample=60,
            model=MULTILINGUAL,
        )
    for lang in ("de", "es", "fr", "it", "nl", "pl", "pt", "ru", "zh"):
        yield Judgements(
            f"stsb-{lang}",
            f"STS benchmark, {lang}",
            "similarity",
            "stsb",
            lang,
            sample=300,
            switches={"languages": lang},
            model=MULTILINGUAL,
        )
    topics = tuple(f"D08{number:02d}" for number in range(1, 49, 6))
    yield Judgements("tac08", "TAC 2008", "summaries", "tac08", texts="documents", pairs=topics)
    yield Judgements("summeval", "SummEval", "summaries", "summeval", texts="documents", sample=20)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or {} where there is none."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def make_record(judgements: Judgements, evaluation: Evaluation) -> dict[str, Any]:
    """Return what is kept of an evaluation: its data, and each metric's mean over groups."""
    first = evaluation.agreements[0]
    return {
        "title": judgements.title,
        "task": judgements.task,
        "lang": judgements.lang,
        "texts": judgements.texts,
        "dataset": judgements.dataset,
        "pairs": list(judgements.pairs) if judgements.pairs else None,
        "switches": dict(judgements.switches),
        "sample": judgements.sample,
        "model": judgements.model,
        "human": first.human,
        "statistic": first.statistic,
        "groups": len(first.groups),
        "n": sum(figure.n for figure in first.groups.values()),
        "segments": sum(len(group.segments) for group in evaluation.pools[0][0].groups.values()),
        "seed": evaluation.resampling.seed,
        "resamples": evaluation.resampling.resamples,
        "metrics": {
            agreement.label: {
                "value": round(agreement.mean.value, 5),
                "low": None if agreement.mean.low is None else round(agreement.mean.low, 5),
                "high": None if agreement.mean.high is None else round(agreement.mean.high, 5),
                "mark": agreement.mean.mark,
                "signature": shortened(agreement.signature),
            }
            for agreement in evaluation.agreements
        },
    }


def evaluate_missing(options: argparse.Namespace) -> None:
    """Evaluate missing metrics tier by tier; the cache supplies scores of earlier tiers."""
    records = read_json(AGREEMENT)
    for key in options.again or ():
        records.pop(key, None)
    selected = [
        judgements
        for judgements in list_judgements()
        if not options.only or judgements.key in options.only
    ]
    for tier_count in range(1, (options.tiers or len(TIERS)) + 1):
        for judgements in selected:
            known_metrics = records.get(judgements.key, {}).get("metrics", {})
            metrics = [
                name
                for tier in TIERS
                for name in tier[judgements.kind]
                if name in known_metrics or tier in TIERS[:tier_count]
            ]
            if set(metrics) <= set(known_metrics):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Notice)
                evaluation = evaluate_task(
                    judgements.make_task(options.data),
                    metrics,
                    setup=judgements.setup(),
                    run=Run(options.cache),
                )
            records[judgements.key] = make_record(judgements, evaluation)
            write_json(
                AGREEMENT,
                {row.key: records[row.key] for row in list_judgements() if row.key in records},
            )
            print(judgements.key, len(metrics), "metrics", flush=True)


# --- cost

WORKLOADS = (
    ("sentences", ENGLISH, "wmt17", "*-en", 1.0),
    ("documents", ENGLISH, "summeval", None, 0.1),
    ("sentences", MULTILINGUAL, "mlqe-pe", "en-de", 1.0),
)
"""Kind of texts, model, data set, groups, and the share of `--pairs` that is scored."""
MEASURE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import monge
task = json.load(sys.stdin)
metric = monge.load(task["metric"], model=task["model"])
side = {"references": [row[1] for row in task["pairs"]]}
if task["source"]:
    side = {"references": None, "sources": side["references"]}
hypotheses = [row[0] for row in task["pairs"]]
def run(n):
    sides = {name: texts and texts[:n] for name, texts in side.items()}
    start = time.process_time()  # of the processor: other jobs of the machine do not count
    metric.score(hypotheses[:n], **sides)
    return time.process_time() - start
run(max(len(hypotheses) // 10, 8))
seconds = run(None)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "peak": peak}))
"""


def read_workload(dataset: str, group: str | None, data: str, count: int) -> list[tuple[str, str]]:
    """Return pairs of a hypothesis and a first reference or source, each second text once."""
    judgements = open_dataset(dataset, data, pairs=[group] if group else None)
    rows = (row for segment_group in judgements.groups.values() for row in segment_group.segments)
    distinct: dict[str, str] = {}
    for row in rows:
        distinct.setdefault(
            row.references[0] if row.references else row.source or "", row.hypothesis
        )
    return [(hypothesis, text) for text, hypothesis in distinct.items()][:count]


def measure_costs(options: argparse.Namespace) -> None:
    """Measure processor seconds per 1,000 pairs and peak memory of every metric.

    Each metric runs in processes of its own with one thread; the best of several runs counts.
    """
    workloads = [] if options.again else (read_json(COST) or [])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    for texts, model, dataset, group, share in WORKLOADS:
        pairs = read_workload(dataset, group, options.data, int(options.pairs * share))
        facts = {
            "texts": texts,
            "model": model,
            "dataset": dataset,
            "pairs": len(pairs),
            "machine": describe_machine(),
        }
        record = next(
            (workload for workload in workloads if {**workload, **facts} == workload), None
        )
        if record is None:
            record = {**facts, "metrics": {}}
            workloads = [
                workload
                for workload in workloads
                if (workload["texts"], workload["model"]) != (texts, model)
            ] + [record]
        vectors = (
            [*FIRST, *VECTORS, *SLOW, *SLOWEST]
            if model == ENGLISH
            else [*FIRST, "trwmd", "wordset-cka", "yisi-1", *SOURCES]
        )
        for metric in dict.fromkeys(
            [*(LEXICAL if model == ENGLISH else LEXICAL_ANY_LANGUAGE), *vectors]
        ):
            if metric in record["metrics"]:
                continue
            task = {
                "metric": metric,
                "model": model,
                "pairs": pairs,
                "source": model == MULTILINGUAL and metric in SOURCES,
            }
            runs = [run_measurement(task, environment) for _ in range(options.runs)]
            record["metrics"][metric] = {
                "seconds": round(min(run["seconds"] for run in runs) * 1000 / len(pairs), 3),
                "megabytes": round(min(run["peak"] for run in runs) / 1024),
            }
            write_json(COST, workloads)
            print(texts, model, metric, record["metrics"][metric], flush=True)


def run_measurement(task: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, float]:
    """Return processor seconds of a warmed run and the peak memory of its process in kilobytes."""
    command = [sys.executable, "-c", MEASURE]
    process = subprocess.run(
        command,
        input=json.dumps(task),
        text=True,
        capture_output=True,
        env=dict(environment),
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"{task['metric']}: {process.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


def describe_machine() -> str:
    """Describe the processor that the figures were measured on."""
    cores = os.cpu_count() or 1
    processor = ""
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        processor = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
        )
    return (
        f"{processor or platform.processor() or platform.machine()}, {cores} cores, one thread used"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("agreement", "cost", "page"))
    parser.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="directory of the judged data"
    )
    parser.add_argument(
        "--cache",
        default=os.environ.get("MONGE_CACHE"),
        help="keeps vectors and scores between runs",
    )
    parser.add_argument(
        "--again", nargs="*", help="agreement: keys to run again; cost: measure all again"
    )
    parser.add_argument("--only", nargs="*", help="agreement: keys to run, all by default")
    parser.add_argument(
        "--tiers", type=int, help="agreement: run this many of the five tiers, cheap ones first"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=1000,
        help="cost: pairs of sentences; a tenth as many documents",
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="cost: processes per metric, of which the best counts"
    )
    options = parser.parse_args(arguments)
    options.again = options.again if options.step == "agreement" else options.again is not None
    if options.step != "page" and not options.data:
        parser.error("give --data, or set MONGE_DATA")
    {"agreement": evaluate_missing, "cost": measure_costs, "page": write_page}[options.step](
        options
    )


PAGE, PICTURE = DOCS / "recommend.md", DOCS / "recommend" / "agreement-and-cost.svg"
HEAD = """# Which metric?

<!-- made by tools/make_recommend.py from src/monge/recommendation/kept: `make recommend` -->

`monge recommend` answers from the figures below: how well every metric of this package agrees with human judgements, with the
packaged models, and what it costs. For each task it recommends the metric whose mean agreement over the data sets is highest.
It recommends a cheaper metric if that is significantly worse on none of them, a [tuned model](tuning.md) if that is
significantly better on the judgements that both were measured on, and nothing if even the best metric hardly agrees with people.
Your own judgements are the best test: [monge evaluate table](tutorials/own-judgements.md).

```
monge recommend                                       # the table below
monge recommend --task summaries --budget 20s         # every metric that takes 20 s or less for 1,000 pairs
monge recommend --task translation --lang de -f json  # with intervals and signatures
```

"""  # noqa: E501
BETWEEN = """
![Agreement against seconds for 1,000 pairs; the line joins metrics that no other beats in both](recommend/agreement-and-cost.svg)

Seconds are processor seconds of one thread, with the model loaded and each metric run alone. Metrics of one run share the
encoding, so a second metric costs little. If several metrics are tied, use the one that your readers know.
"""  # noqa: E501


def make_page() -> str:
    """Return docs/recommend.md, made from the kept results."""
    recommendations = recommend()
    parts = [HEAD, sheets_markdown(recommendations.sheets()), BETWEEN]
    for recommendation in recommendations.every:
        parts += [
            f"\n## {recommendation.task}\n\n{TASKS[recommendation.task].capitalize()}. "
            f"{' '.join(recommendation.advice())}\n\n"
        ]
        (sheet,) = recommendation.sheets()
        parts.append(
            sheets_markdown([replace(sheet, title="", notes=(), said=(), signatures=(), tied="")])
        )
        parts.append("\n" + "\n".join(f"- {line}" for line in sheet.notes) + "\n")
    parts.append(
        "\n## Other languages\n\nFour of them with the packaged multilingual model; the rest by "
        "`monge recommend "
        "--lang CODE`.\n"
    )
    for lang in ("de", "zh", "ru", "cs"):
        sheet = recommend(lang=lang).sheets()[0]
        parts.append("\n" + sheets_markdown([replace(sheet, notes=())]))
    parts.append(
        "\n**Bold** is best, <u>underlined</u> not significantly below it. Intervals and "
        "signatures: `-f json`.\n"
    )
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def make_pages() -> Pages:
    """Return docs/recommend.md and its picture, made from the kept results."""
    picture = draw_picture(lambda path: cost_figure(recommend().every, path))
    return {PAGE: make_page(), PICTURE: picture}


def write_page(_: argparse.Namespace) -> None:
    """Write docs/recommend.md and its picture."""
    write_pages(make_pages())


if __name__ == "__main__":
    main()
