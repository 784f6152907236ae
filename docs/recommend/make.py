"""Makes what `monge recommend` answers from: agreement with people and cost of every metric, kept
inside the package.

    MONGE_DATA=DIR make recommend          # what is missing, then the page; what is kept is not run again
    python docs/recommend/make.py agreement --data DIR [--cache DIR] [--again KEY …]
    python docs/recommend/make.py cost --data DIR [--pairs N] [--again]   # seconds of the processor, and memory
    python docs/recommend/make.py page                          # no runs: docs/recommend.md and its pictures

Agreement comes from `monge.evaluation.evaluate`, cost from one process per metric that scores the
same pairs with one thread.
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

from monge.datasets import open_dataset
from monge.datasets.output import write_text
from monge.errors import Notice
from monge.evaluation import Evaluation, Run, Setup, Task, evaluate
from monge.metrics.signature import shortened
from monge.recommendation.recommend import TASKS, recommend
from monge.render.table import sheets_markdown
from monge.report.recommendation import cost_figure

HERE = Path(__file__).resolve().parent
KEPT = HERE.parents[1] / "src" / "monge" / "recommendation" / "kept"
AGREEMENT, COST = KEPT / "agreement.json", KEPT / "cost.json"

LEXICAL = ("sentbleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL", "cider")
EVERYWHERE = ("sentbleu", "chrf", "chrf++", "ter")
"""Lexical metrics that cut any language; the others keep letters of English alone, or stem
English.
"""
FIRST = ("twmd", "bertscore", "sbert", "moverscore")
VECTORS = (
    "twmd-b", "trwmd", "trwmd-b", "wordset-cka", "yisi-1", "f-alpha", "rwmd", "smd", "hmd", "moverscore-2",
    "emd", "wmd", "wms",
)  # fmt: skip
SLOW = ("meteor", "lazy-emd", "sms", "s+wms", "wmdo")
SLOWEST = ("ter", "baryscore")
SOURCES = ("sbert", "bertscore", "twmd", "xmoverscore", "yisi-2", "sentsim", "sentsim-wmd")
"""Metrics that can stand before a source text, with a model of both languages."""
TIERS = (
    (LEXICAL, EVERYWHERE, ("chrf",)),
    (FIRST, FIRST, SOURCES),
    (VECTORS, ("trwmd", "wordset-cka", "yisi-1"), ()),
    (SLOW, (), ()),
    (SLOWEST, (), ()),
)
"""What is run in turn on all data sets: metrics for English references, for those of other
languages, for sources.
"""
ENGLISH, MULTILINGUAL = "all-MiniLM-L6-v2", "multilingual-e5-small"


@dataclass(frozen=True)
class Judgements:
    """Data that people judged, as they are evaluated here: for which task and language, all of them
    or a sample.

    `sample` source segments are drawn of each group. `texts` says how long they are: the cost of
    sentences or of documents applies.
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
        """Which column of `TIERS` it takes."""
        return 2 if self.task == "quality-estimation" else int(self.lang != "en")

    def asked(self, data: str) -> Task:
        """The question for `monge.evaluate`."""
        pairs = list(self.pairs) if self.pairs else None
        return Task(
            self.dataset, data, pairs=pairs, sample=self.sample, switches=dict(self.switches)
        )

    def setup(self) -> Setup:
        """The model, and the language where it is not English."""
        return Setup(lang=None if self.lang == "en" else self.lang, model=self.model)


def plan() -> Iterator[Judgements]:
    """Every data set at hand, small ones first."""
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
            f"stsb-{lang}", f"STS benchmark, {lang}", "similarity", "stsb", lang, sample=300,
            switches={"languages": lang}, model=MULTILINGUAL,
        )  # fmt: skip
    topics = tuple(f"D08{number:02d}" for number in range(1, 49, 6))
    yield Judgements("tac08", "TAC 2008", "summaries", "tac08", texts="documents", pairs=topics)
    yield Judgements("summeval", "SummEval", "summaries", "summeval", texts="documents", sample=20)


def kept(place: Path) -> Any:
    """What earlier runs found."""
    return json.loads(place.read_text("utf-8")) if place.is_file() else {}


def keep(place: Path, found: Any) -> None:
    """Write it, whole or not at all."""
    write_text(place, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def record(one: Judgements, found: Evaluation) -> dict[str, Any]:
    """What is kept of an evaluation: which judgements, how many, and every metric's mean over
    groups.
    """
    first = found.agreements[0]
    return {
        "title": one.title,
        "task": one.task,
        "lang": one.lang,
        "texts": one.texts,
        "dataset": one.dataset,
        "pairs": list(one.pairs) if one.pairs else None,
        "switches": dict(one.switches),
        "sample": one.sample,
        "model": one.model,
        "human": first.human,
        "statistic": first.statistic,
        "groups": len(first.groups),
        "n": sum(figure.n for figure in first.groups.values()),
        "segments": sum(len(group.segments) for group in found.pools[0][0].groups.values()),
        "seed": found.resampling.seed,
        "resamples": found.resampling.resamples,
        "metrics": {
            each.label: {
                "value": round(each.mean.value, 5),
                "low": None if each.mean.low is None else round(each.mean.low, 5),
                "high": None if each.mean.high is None else round(each.mean.high, 5),
                "mark": each.mean.mark,
                "signature": shortened(each.signature),
            }
            for each in found.agreements
        },
    }


def agreement(where: argparse.Namespace) -> None:
    """Evaluate what is missing, tier by tier; scores of earlier tiers come from the cache, so that
    all are tested.
    """
    every = kept(AGREEMENT)
    for key in where.again or ():
        every.pop(key, None)
    chosen = [one for one in plan() if not where.only or one.key in where.only]
    for upto in range(1, (where.tiers or len(TIERS)) + 1):
        for one in chosen:
            there = every.get(one.key, {}).get("metrics", {})
            wanted = [
                name
                for tier in TIERS
                for name in tier[one.kind]
                if name in there or tier in TIERS[:upto]
            ]
            if set(wanted) <= set(there):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Notice)
                found = evaluate(
                    one.asked(where.data), wanted, setup=one.setup(), run=Run(where.cache)
                )
            every[one.key] = record(one, found)
            keep(AGREEMENT, {row.key: every[row.key] for row in plan() if row.key in every})
            print(one.key, len(wanted), "metrics", flush=True)  # noqa: T201


# --- cost
# ------------------------------------------------------------------------------------------------------------

WORKLOADS = (
    ("sentences", ENGLISH, "wmt17", "*-en", 1.0),
    ("documents", ENGLISH, "summeval", None, 0.1),
    ("sentences", MULTILINGUAL, "mlqe-pe", "en-de", 1.0),
)
"""Kind of texts, model, data set and groups whose first pairs are scored, and the share of
`--pairs` it takes.
"""
MEASURE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import monge
given = json.load(sys.stdin)
metric = monge.load(given["metric"], model=given["model"])
side = {"references": [row[1] for row in given["pairs"]]}
if given["source"]:
    side = {"references": None, "sources": side["references"]}
hypotheses = [row[0] for row in given["pairs"]]
def run(n):
    sides = {name: texts and texts[:n] for name, texts in side.items()}
    start = time.process_time()  # of the processor: other jobs of the machine do not count
    metric.score(hypotheses[:n], **sides)
    return time.process_time() - start
run(max(len(hypotheses) // 10, 8))
print(json.dumps({"seconds": run(None), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def workload(dataset: str, group: str | None, data: str, count: int) -> list[tuple[str, str]]:
    """Hypotheses, and first references or sources: the first `count` judged pairs whose second
    texts differ.
    """
    judged = open_dataset(dataset, data, pairs=[group] if group else None)
    rows = (row for some in judged.groups.values() for row in some.segments)
    distinct: dict[str, str] = {}
    for row in rows:
        distinct.setdefault(
            row.references[0] if row.references else row.source or "", row.hypothesis
        )
    return [(hypothesis, other) for other, hypothesis in distinct.items()][:count]


def cost(where: argparse.Namespace) -> None:
    """Processor seconds a 1,000 pairs and peak memory of every metric: a process each, one thread,
    best of several.
    """
    every = [] if where.again else (kept(COST) or [])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    for texts, model, dataset, group, share in WORKLOADS:
        pairs = workload(dataset, group, where.data, int(where.pairs * share))
        about = {
            "texts": texts,
            "model": model,
            "dataset": dataset,
            "pairs": len(pairs),
            "machine": machine(),
        }
        mine = next((one for one in every if {**one, **about} == one), None)
        if mine is None:
            mine = {**about, "metrics": {}}
            every = [one for one in every if (one["texts"], one["model"]) != (texts, model)] + [
                mine
            ]
        vectors = (
            [*FIRST, *VECTORS, *SLOW, *SLOWEST]
            if model == ENGLISH
            else [*FIRST, "trwmd", "wordset-cka", "yisi-1", *SOURCES]
        )
        for metric in dict.fromkeys([*(LEXICAL if model == ENGLISH else EVERYWHERE), *vectors]):
            if metric in mine["metrics"]:
                continue
            given = {
                "metric": metric,
                "model": model,
                "pairs": pairs,
                "source": model == MULTILINGUAL and metric in SOURCES,
            }
            runs = [measured(given, environment) for _ in range(where.runs)]
            mine["metrics"][metric] = {
                "seconds": round(min(one["seconds"] for one in runs) * 1000 / len(pairs), 3),
                "megabytes": round(min(one["peak"] for one in runs) / 1024),
            }
            keep(COST, every)
            print(texts, model, metric, mine["metrics"][metric], flush=True)  # noqa: T201


def measured(given: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, float]:
    """Processor seconds of a warmed run, and the peak of the process that made it, in kilobytes."""
    command = [sys.executable, "-c", MEASURE]
    done = subprocess.run(
        command,
        input=json.dumps(given),
        text=True,
        capture_output=True,
        env=dict(environment),
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{given['metric']}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def machine() -> str:
    """What the figures were measured on, in words."""
    cores = os.cpu_count() or 1
    named = ""
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        named = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
        )
    return f"{named or platform.processor() or platform.machine()}, {cores} cores, one thread used"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and do one step, or all but the measurement of cost."""
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument("step", choices=("agreement", "cost", "page"))
    reader.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="directory of the judged data"
    )
    reader.add_argument(
        "--cache",
        default=os.environ.get("MONGE_CACHE"),
        help="keeps vectors and scores between runs",
    )
    reader.add_argument(
        "--again", nargs="*", help="agreement: keys to run again; cost: measure all again"
    )
    reader.add_argument("--only", nargs="*", help="agreement: keys to run, all by default")
    reader.add_argument(
        "--tiers", type=int, help="agreement: only so many of the five tiers, cheap ones first"
    )
    reader.add_argument(
        "--pairs",
        type=int,
        default=1000,
        help="cost: pairs of sentences; a tenth as many documents",
    )
    reader.add_argument(
        "--runs", type=int, default=3, help="cost: processes a metric, of which the best counts"
    )
    where = reader.parse_args(arguments)
    where.again = where.again if where.step == "agreement" else where.again is not None
    if where.step != "page" and not where.data:
        reader.error("give --data, or set MONGE_DATA")
    {"agreement": agreement, "cost": cost, "page": page}[where.step](where)


PAGE, PICTURE = HERE.parent / "recommend.md", HERE / "agreement-and-cost.svg"
HEAD = """# Which metric?

<!-- made by docs/recommend/make.py from src/monge/recommendation/kept: `make recommend` -->

`monge recommend` answers from what is below: every metric of this package against human judgements, with the
packaged models, and what it costs. A metric is recommended where its mean agreement over the data sets of a task is
highest; a cheaper one where no data set tells it from the best; a [tuned model](tuning.md) where it is surely above all
of them on judgements that they share; nothing where even the best hardly agrees with people. Nothing beats trying on
judgements of your own: [monge evaluate table](tutorials/own-judgements.md).

```
monge recommend                                       # the table below
monge recommend --task summaries --budget 20s         # every metric that takes 20 s or less for 1,000 pairs
monge recommend --task translation --lang de -f json  # with intervals and signatures
```

"""
BETWEEN = """
![Agreement against seconds for 1,000 pairs, with the front that nothing beats](recommend/agreement-and-cost.svg)

Seconds are processor seconds of one thread, with the model loaded and each metric alone. Metrics of one run share the
encoding, so a second one costs little. Where several metrics are tied, take the one that your readers know.
"""


def text() -> str:
    """The page, from what is kept."""
    every = recommend()
    parts = [HEAD, sheets_markdown(every.sheets()), BETWEEN]
    for one in every.every:
        parts += [
            f"\n## {one.task}\n\n{TASKS[one.task].capitalize()}. {' '.join(one.advice())}\n\n"
        ]
        (sheet,) = one.sheets()
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


def page(_: argparse.Namespace) -> None:
    """docs/recommend.md and its picture, from what is kept."""
    PAGE.write_text(text(), encoding="utf-8")
    cost_figure(recommend().every, PICTURE)


if __name__ == "__main__":
    main()
