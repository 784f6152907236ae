"""Compare the Ray engine with the plain command on this machine, stage by stage.

    python benchmarks/scale.py [--only tiny embedded …] [--json results/scale/scale.json]
    python tools/make_measured_pages.py    # the tables of docs/scale.md from the kept JSON

    tiny, embedded   two workers of one thread against the plain command, and against two plain
                     commands at once on half of the rows each: the best that this machine can do
    more tiny, …     the same for more pairs, against one thread alone
    driver           the driver's memory at 10^5 and 10^6 pairs
    wmt17            `monge evaluate wmt17` on Ray and without: four metrics, equal JSON

Nothing else should run meanwhile. Every run is a process of its own; scores are compared, not only
times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from growth import tiny_model, write_texts

PASSES = ("read", "start", "count", "sum", "range", "score")
PARTS = ("tiny", "embedded", "more tiny", "more embedded", "driver", "wmt17")
METRICS = ("-m", "bertscore[weights=idf]", "-m", "twmd")
STUDY = (
    "-m",
    "twmd",
    "-m",
    "bertscore",
    "-m",
    "moverscore",
    "-m",
    "chrf",
    "--model",
    "multilingual-e5-small",
)


def write_sentences(path: Path, count: int, seed: int) -> None:
    """Write `count` lines of 6 to 14 words of the bundled example in random order."""
    rng = random.Random(seed)
    words = (files("monge") / "example" / "reference.txt").read_text("utf-8").lower().split()
    with path.open("w") as file:
        for _ in range(count):
            file.write(" ".join(rng.choices(words, k=rng.randrange(6, 15))) + "\n")


def run_score(folder: Path, model: str, threads: int, *options: str) -> dict:
    """Run `monge score` in a folder; return seconds, peak memory and both outputs."""
    start = time.time()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "monge",
            "score",
            "-t",
            "h",
            "-r",
            "r",
            *METRICS,
            "--model",
            model,
            *options,
        ],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    peak = [0.0]

    def watch() -> None:
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                return
            line = next((x for x in status.splitlines() if x.startswith("VmHWM")), "VmHWM: 0 kB")
            peak[0] = max(peak[0], int(line.split()[1]) / 1024)
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, err = process.communicate()
    watcher.join()
    if process.returncode:
        sys.exit(f"monge score failed with {process.returncode}: {err[-500:]}")
    return {
        "began": start,
        "seconds": time.time() - start,
        "peak_mb": peak[0],
        "out": out,
        "err": err,
    }


def run_plain(folder: Path, model: str, threads: int) -> dict:
    """Run the plain command; return seconds and how many cores it kept busy."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = run_score(folder, model, threads, "-f", "json", "-q")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = {
        "seconds": run["seconds"],
        "cores": cpu_seconds / run["seconds"],
        "peak_mb": run["peak_mb"],
    }
    return {**facts, "results": json.loads(run["out"])["results"]}


def run_on_ray(folder: Path, model: str, workers: int) -> dict:
    """Run the Ray engine; return seconds by stage, bytes by kind, memory of the driver."""
    out = folder / "out"
    run = run_score(
        folder,
        model,
        1,
        "--engine",
        "ray",
        "--workers",
        str(workers),
        "-o",
        "out",
        "--log-json",
        "--fresh",
    )
    events = [json.loads(line) for line in run["err"].splitlines() if line.startswith("{")]
    started = {event["pass"]: event["time"] for event in events if event["event"] == "began"}
    order = [name for name in PASSES if name in started]
    ends = [*(started[name] for name in order[1:]), run["began"] + run["seconds"]]
    stages = {"start of the command": started[order[0]] - run["began"]}
    stages |= {name: end - started[name] for name, end in zip(order, ends, strict=True)}
    worker_seconds = sum(
        event["seconds"]
        for event in events
        if event["event"] == "done" and event["pass"] == "score"
    )
    rows = sum(
        event["rows"] for event in events if event["event"] == "done" and event["pass"] == "score"
    )
    parts, records = (
        [path.stat().st_size for path in (out / name).iterdir()] for name in ("parts", "records")
    )
    return {
        "seconds": run["seconds"],
        "stages": stages,
        "worker seconds a pair": worker_seconds / rows,
        "blocks": len(parts),
        "bytes of parts a pair": sum(parts) / rows,
        "bytes of records a block": sum(records) / len(records),
        "bytes of input a pair": sum((folder / name).stat().st_size for name in "hr") / rows,
        "peak_mb": run["peak_mb"],
        "results": json.loads((out / "result.json").read_text("utf-8"))["results"],
    }


def time_two_halves(folder: Path, model: str) -> float:
    """Return seconds of two plain commands of one thread at once, each on half of the rows."""
    for number in range(2):
        (folder / f"{number}").mkdir()
        for side in "hr":
            lines = (folder / side).read_text("utf-8").splitlines(keepends=True)
            half = lines[number * len(lines) // 2 : (number + 1) * len(lines) // 2]
            (folder / f"{number}" / side).write_text("".join(half), "utf-8")
    start = time.time()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: run_plain(folder / f"{number}", model, 1), range(2)))
    return time.time() - start


def compare_workers(
    name: str, model: str, pairs: int, distinct: int, *, with_two_threads: bool = True
) -> dict:
    """Compare two workers of one thread with one thread, and with two threads if asked.

    `distinct` is the number of distinct texts, or 0 where all differ.
    """
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        for seed, side in enumerate("hr", 1):
            if distinct:
                write_texts(folder / side, pairs, distinct // 2, seed)
            else:
                write_sentences(folder / side, pairs, seed)
        distinct_count = len(
            {line for side in "hr" for line in (folder / side).read_text("utf-8").splitlines()}
        )
        one_thread, ray = run_plain(folder, model, 1), run_on_ray(folder, model, 2)
        two_threads, halves_seconds = (
            (run_plain(folder, model, 2), time_two_halves(folder, model))
            if with_two_threads
            else (None, None)
        )
    is_equal = one_thread.pop("results") == ray.pop("results")
    figures = {
        "what": name,
        "pairs": pairs,
        "distinct": distinct_count,
        "equal": is_equal,
        "one thread": one_thread,
        "two workers": ray,
        "against one thread": one_thread["seconds"] / ray["seconds"],
    }
    if two_threads is not None:
        two_threads.pop("results")
        figures |= {
            "two threads": two_threads,
            "against two threads": two_threads["seconds"] / ray["seconds"],
            "two halves": halves_seconds,
        }
    print(f"{name}: {pairs} pairs, results {'equal' if is_equal else 'DIFFER'}")
    for label in ("one thread", "two threads", "two workers"):
        if label in figures:
            print(f"  {label:<22} {figures[label]['seconds']:8.1f} s")
    if two_threads is not None:
        print(
            f"  {'two halves at once':<22} {halves_seconds:8.1f} s: "
            f"{one_thread['seconds'] / halves_seconds:.2f} x of one "
            f"thread, at best"
        )
        print(f"  {figures['against two threads']:.2f} x of two threads (at least 0.9)")
    print(f"  {figures['against one thread']:.2f} x of one thread (at least 1.7); by stage:")
    for stage, seconds in ray["stages"].items():
        print(f"  {stage:<22} {seconds:8.1f} s")
    return figures


def compare_studies() -> dict:
    """Run `monge evaluate wmt17` plainly and on Ray; compare what they print."""
    seconds, printed = [], []
    for engine_options in ((), ("--engine", "ray", "--workers", "2")):
        start = time.time()
        call = [
            sys.executable,
            "-m",
            "monge",
            "evaluate",
            "wmt17",
            "--data",
            os.environ["MONGE_DATA"],
            *STUDY,
        ]
        run = subprocess.run(
            [*call, "-f", "json", "-q", *engine_options],
            text=True,
            capture_output=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if run.returncode:
            sys.exit(f"monge evaluate failed with {run.returncode}: {run.stderr[-500:]}")
        seconds.append(time.time() - start)
        printed.append(run.stdout)
    rows = [
        {
            "metric": plain_result["metric"],
            "groups": len(plain_result["groups"]),
            "mean": plain_result["mean"],
            "on Ray": ray_result["mean"],
            "segments": sum(group["n"] for group in plain_result["groups"].values()),
        }
        for plain_result, ray_result in zip(
            *(json.loads(text)["results"] for text in printed), strict=True
        )
    ]
    figures = {"equal": printed[0] == printed[1], "rows": rows}
    for row in rows:
        print(f"wmt17: {row}")
    print(
        f"wmt17: plain {seconds[0]:.1f} s, two workers {seconds[1]:.1f} s; the JSON is equal: "
        f"{figures['equal']}"
    )
    return figures


def driver_growth(model: str, sizes: list[int], distinct: int) -> list[dict]:
    """Return the driver's peak memory as the input grows."""
    rows = []
    for pairs in sizes:
        with tempfile.TemporaryDirectory() as name_of_folder:
            folder = Path(name_of_folder)
            write_texts(folder / "h", pairs, distinct // 2, 1)
            write_texts(folder / "r", pairs, distinct // 2, 2)
            ray = run_on_ray(folder, model, 2)
        rows.append({"pairs": pairs, "peak_mb": ray["peak_mb"], "blocks": ray["blocks"]})
        growth = ray["peak_mb"] / rows[0]["peak_mb"] - 1
        print(
            f"driver: {pairs} pairs in {ray['blocks']} blocks: {ray['peak_mb']:.0f} MB "
            f"({growth:+.1%})",
            flush=True,
        )
    return rows


def main() -> None:
    """Run the chosen parts and keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=list(PARTS), help="what else was kept stays"
    )
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--distinct", type=int, default=20_000)
    parser.add_argument("--real", type=int, default=20_000, help="pairs with the embedded model")
    parser.add_argument(
        "--more",
        type=float,
        default=2.5,
        help="times as many pairs in `more tiny`, `more embedded`",
    )
    parser.add_argument("--growth", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as model:
        tiny_model(Path(model))
        parts = {
            "tiny": lambda: compare_workers("tiny encoder", model, options.pairs, options.distinct),
            "embedded": lambda: compare_workers("embedded model", "auto", options.real, 0),
            "more tiny": lambda: compare_workers(
                "tiny encoder",
                model,
                int(options.more * options.pairs),
                options.distinct,
                with_two_threads=False,
            ),
            "more embedded": lambda: compare_workers(
                "embedded model",
                "auto",
                int(options.more * options.real),
                0,
                with_two_threads=False,
            ),
            "driver": lambda: driver_growth(model, options.growth, options.distinct),
            "wmt17": compare_studies,
        }
        for name in options.only:
            figures = parts[name]()
            if options.json:
                results = (
                    json.loads(options.json.read_text("utf-8")) if options.json.is_file() else {}
                )
                options.json.parent.mkdir(parents=True, exist_ok=True)
                options.json.write_text(
                    json.dumps({**results, name: figures}, indent=1) + "\n", "utf-8"
                )


if __name__ == "__main__":
    main()
