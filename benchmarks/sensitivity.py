"""The cost of a sensitivity study beside that of scoring the same texts once with one metric.

    python benchmarks/sensitivity.py --data DIR [--pairs cs-en,…] [--metric moverscore] [--json FILE]

DIR holds the published files of WMT17. Both are the real commands in processes of their own,
start-up, fits and bootstrap included: `monge sensitivity wmt17 --factor
stopwords,idf,subwords,punctuation` with three metrics, and `monge score` of one metric on a table
of the same segments. The study must encode each text once and take less than six times as long.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = "cs-en,de-en,fi-en,lv-en,ru-en,tr-en,zh-en"
METRICS = ("moverscore", "bertscore", "twmd")
MOST = 6.0


def written(path: Path, data: str, pairs: str) -> tuple[int, int]:
    """The judged segments as a table; how many there are, and how many distinct texts each pair
    has, added up.
    """
    from monge.datasets import open_dataset

    judged = open_dataset("wmt17", data, pairs=pairs.split(","))
    distinct = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["hypothesis", "reference"])
        for group in judged.groups.values():
            for one in group.segments:
                writer.writerow([one.hypothesis, one.references[0]])
            distinct += len(
                {text for one in group.segments for text in (one.hypothesis, *one.references)}
            )
    return sum(len(group.segments) for group in judged.groups.values()), distinct


def seconds(*arguments: str) -> tuple[float, float]:
    """The wall time of a monge command, and its processor time."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = Path(sys.executable).with_name("monge")
    subprocess.run([str(command), *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, busy


def main() -> None:
    """Times both commands and prints the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--metric", default=METRICS[0], help="what `monge score` is timed with")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, study = Path(folder) / "texts.tsv", Path(folder) / "study.json"
        segments, distinct = written(table, given.data, given.pairs)
        one = seconds("score", str(table), "-m", given.metric, "-q")
        asked = [word for name in METRICS for word in ("-m", name)]
        factors = "stopwords,idf,subwords,punctuation"
        where = ["--data", given.data, "--pairs", given.pairs]
        form = ["--format", "json", "-o", str(study), "-q"]
        all_of_it = seconds("sensitivity", "wmt17", *where, *asked, "--factor", factors, *form)
        found = json.loads(study.read_text("utf-8"))["sensitivity"]
    figures = {
        "metric": given.metric,
        "segments": segments,
        "distinct_texts": distinct,
        "settings": found["settings"],
        "resamples": found["resamples"],
        "work": found["work"],
        "score_seconds": one[0],
        "sensitivity_seconds": all_of_it[0],
        "ratio": all_of_it[0] / one[0],
        "processor_ratio": all_of_it[1] / one[1],
    }
    work = found["work"]
    print(f"{segments} segments of {given.pairs}; {distinct} distinct texts, pair by pair")
    print(f"monge score -m {given.metric}: {one[0]:.1f} s ({one[1]:.1f} s of processor)")
    settings = f"{len(METRICS)} metrics, {found['settings']} settings"
    print(
        f"monge sensitivity, {settings}: {all_of_it[0]:.1f} s ({all_of_it[1]:.1f} s of processor)"
    )
    print(
        f"encoded: {work['encoded']} texts, {work['pieces']} pieces: each "
        f"{work['encoded'] / distinct:.4f} times"
    )
    ratios = f"{figures['ratio']:.2f} on the clock, {figures['processor_ratio']:.2f} of processor"
    print(f"ratio: {ratios} (less than {MOST:g})")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if figures["ratio"] >= MOST or work["encoded"] > distinct:
        sys.exit(1)


if __name__ == "__main__":
    main()
