"""Compare the cost of a sensitivity study with that of scoring the same texts once.

    python benchmarks/sensitivity.py --data DIR [--pairs cs-en,…] [--json FILE]

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
LARGEST_RATIO = 6.0


def write_segments(path: Path, data: str, pairs: str) -> tuple[int, int]:
    """Write the judged segments as a table; return their count and that of distinct texts.

    Distinct texts are counted per language pair and added up.
    """
    from monge.datasets import open_dataset

    dataset = open_dataset("wmt17", data, pairs=pairs.split(","))
    distinct = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["hypothesis", "reference"])
        for group in dataset.groups.values():
            for segment in group.segments:
                writer.writerow([segment.hypothesis, segment.references[0]])
            distinct += len(
                {
                    text
                    for segment in group.segments
                    for text in (segment.hypothesis, *segment.references)
                }
            )
    return sum(len(group.segments) for group in dataset.groups.values()), distinct


def time_command(*arguments: str) -> tuple[float, float]:
    """Return wall time and processor time of a monge command."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = Path(sys.executable).with_name("monge")
    subprocess.run([str(command), *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu_seconds


def main() -> None:
    """Time both commands and print the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--pairs", default=PAIRS)
    parser.add_argument("--metric", default=METRICS[0], help="what `monge score` is timed with")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, study = Path(folder) / "texts.tsv", Path(folder) / "study.json"
        segments, distinct = write_segments(table, options.data, options.pairs)
        score_times = time_command("score", str(table), "-m", options.metric, "-q")
        metric_options = [word for name in METRICS for word in ("-m", name)]
        factors = "stopwords,idf,subwords,punctuation"
        data_options = ["--data", options.data, "--pairs", options.pairs]
        output_options = ["--format", "json", "-o", str(study), "-q"]
        study_times = time_command(
            "sensitivity",
            "wmt17",
            *data_options,
            *metric_options,
            "--factor",
            factors,
            *output_options,
        )
        study_result = json.loads(study.read_text("utf-8"))["sensitivity"]
    figures = {
        "metric": options.metric,
        "segments": segments,
        "distinct_texts": distinct,
        "settings": study_result["settings"],
        "resamples": study_result["resamples"],
        "work": study_result["work"],
        "score_seconds": score_times[0],
        "sensitivity_seconds": study_times[0],
        "ratio": study_times[0] / score_times[0],
        "processor_ratio": study_times[1] / score_times[1],
    }
    work = study_result["work"]
    print(f"{segments} segments of {options.pairs}; {distinct} distinct texts, pair by pair")
    print(
        f"monge score -m {options.metric}: {score_times[0]:.1f} s "
        f"({score_times[1]:.1f} s of processor)"
    )
    settings = f"{len(METRICS)} metrics, {study_result['settings']} settings"
    print(
        f"monge sensitivity, {settings}: {study_times[0]:.1f} s "
        f"({study_times[1]:.1f} s of processor)"
    )
    print(
        f"encoded: {work['encoded']} texts, {work['pieces']} pieces: each "
        f"{work['encoded'] / distinct:.4f} times"
    )
    ratios = f"{figures['ratio']:.2f} on the clock, {figures['processor_ratio']:.2f} of processor"
    print(f"ratio: {ratios} (less than {LARGEST_RATIO:g})")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if figures["ratio"] >= LARGEST_RATIO or work["encoded"] > distinct:
        sys.exit(1)


if __name__ == "__main__":
    main()
