"""The engine Ray against the plain command on this machine, by stage, and what that projects to.

    python benchmarks/scale.py [--only tiny embedded driver wmt17 ...] [--json docs/scale/scale.json]
    python benchmarks/scale.py --page      # the tables of docs/scale.md from docs/scale/scale.json

    tiny, embedded   two workers of one thread against the plain command, and what two plain commands need for half
                     of the rows each at the same time: more than that no engine can give on this machine
    more tiny, …     the same for more pairs, against one thread alone
    driver           the driver's memory at 10^5 and 10^6 pairs
    wmt17            `monge evaluate wmt17` on Ray against the plain one: all groups, four metrics, equal JSON

Nothing else should run meanwhile. Every run is a process of its own; scores are compared, not only
times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from growth import texts, tiny_model

ROOT = Path(__file__).resolve().parent.parent
KEPT, KILLS, PAGE = (
    ROOT / "docs" / name for name in ("scale/scale.json", "scale/kills.json", "scale.md")
)
PASSES = ("read", "start", "count", "sum", "range", "score")
PARTS = ("tiny", "embedded", "more tiny", "more embedded", "driver", "wmt17")
MEASURED = [
    "model",
    "pairs",
    "distinct texts",
    "one thread, s",
    "two threads, s",
    "two halves at once, s",
    "two workers, s",
    "against one",
    "two",
    "at best",
    "equal",
]
STAGES = [
    "model",
    "pairs",
    "command, s",
    "read, s",
    "waiting for Ray, s",
    "count, s",
    "score, s",
    "worker, ms a pair",
]
SHOWN = ("start of the command", "read", "start", "count", "score")
DRIVER = ["pairs", "blocks", "driver, MB"]
PROJECTED = ((1e6, 8), (1e8, 256), (1e9, 1024))
KILLED = ["killed", "times", "same bytes", "begun again", "blocks computed again, most"]
PROJECTION = ["pairs", "workers", "read, h", "score, h", "parts, GB", "blocks", "records, GB"]
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
WMT17 = ["metric", "groups", "segments", "mean Pearson, plain", "on Ray"]


def sentences(path: Path, count: int, seed: int) -> None:
    """`count` lines of 6 to 14 words of the bundled example in random order: hardly two are the
    same.
    """
    draw = random.Random(seed)
    words = (files("monge") / "example" / "reference.txt").read_text("utf-8").lower().split()
    with path.open("w") as file:
        for _ in range(count):
            file.write(" ".join(draw.choices(words, k=draw.randrange(6, 15))) + "\n")


def command(folder: Path, model: str, threads: int, *more: str) -> dict:
    """Seconds, peak memory, standard output and standard error of a `monge score` in a folder."""
    start = time.time()
    process = subprocess.Popen(
        [sys.executable, "-m", "monge", "score", "-t", "h", "-r", "r", *METRICS, "--model", model, *more],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )  # fmt: skip
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


def plain(folder: Path, model: str, threads: int) -> dict:
    """The plain command: seconds, and how many cores it kept busy (pieces are cut in a thread
    beside the encoder).
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = command(folder, model, threads, "-f", "json", "-q")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = {"seconds": run["seconds"], "cores": busy / run["seconds"], "peak_mb": run["peak_mb"]}
    return {**facts, "results": json.loads(run["out"])["results"]}


def on_ray(folder: Path, model: str, workers: int) -> dict:
    """The engine: seconds by stage, bytes by kind, memory of the driver."""
    out = folder / "out"
    run = command(
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
    began = {one["pass"]: one["time"] for one in events if one["event"] == "began"}
    order = [name for name in PASSES if name in began]
    ends = [*(began[name] for name in order[1:]), run["began"] + run["seconds"]]
    stages = {"start of the command": began[order[0]] - run["began"]}
    stages |= {name: end - began[name] for name, end in zip(order, ends, strict=True)}
    busy = sum(
        one["seconds"] for one in events if one["event"] == "done" and one["pass"] == "score"
    )
    rows = sum(one["rows"] for one in events if one["event"] == "done" and one["pass"] == "score")
    parts, records = (
        [path.stat().st_size for path in (out / name).iterdir()] for name in ("parts", "records")
    )
    return {
        "seconds": run["seconds"],
        "stages": stages,
        "worker seconds a pair": busy / rows,
        "blocks": len(parts),
        "bytes of parts a pair": sum(parts) / rows,
        "bytes of records a block": sum(records) / len(records),
        "bytes of input a pair": sum((folder / name).stat().st_size for name in "hr") / rows,
        "peak_mb": run["peak_mb"],
        "results": json.loads((out / "result.json").read_text("utf-8"))["results"],
    }


def halves(folder: Path, model: str) -> float:
    """Seconds of two plain commands of one thread at the same time, each on half of the rows."""
    for number in range(2):
        (folder / f"{number}").mkdir()
        for side in "hr":
            lines = (folder / side).read_text("utf-8").splitlines(keepends=True)
            here = lines[number * len(lines) // 2 : (number + 1) * len(lines) // 2]
            (folder / f"{number}" / side).write_text("".join(here), "utf-8")
    start = time.time()
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda number: plain(folder / f"{number}", model, 1), range(2)))
    return time.time() - start


def compared(name: str, model: str, pairs: int, distinct: int, *, whole: bool = True) -> dict:
    """Two workers of one thread against one thread and, if `whole`, two; `distinct` texts, or 0
    where all are.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for seed, side in enumerate("hr", 1):
            if distinct:
                texts(folder / side, pairs, distinct // 2, seed)
            else:
                sentences(folder / side, pairs, seed)
        many = len(
            {line for side in "hr" for line in (folder / side).read_text("utf-8").splitlines()}
        )
        one, ray = plain(folder, model, 1), on_ray(folder, model, 2)
        two, best = (plain(folder, model, 2), halves(folder, model)) if whole else (None, None)
    same = one.pop("results") == ray.pop("results")
    found = {
        "what": name, "pairs": pairs, "distinct": many, "equal": same, "one thread": one, "two workers": ray,
        "against one thread": one["seconds"] / ray["seconds"],
    }  # fmt: skip
    if two is not None:
        two.pop("results")
        found |= {
            "two threads": two,
            "against two threads": two["seconds"] / ray["seconds"],
            "two halves": best,
        }
    print(f"{name}: {pairs} pairs, results {'equal' if same else 'DIFFER'}")
    for what in ("one thread", "two threads", "two workers"):
        if what in found:
            print(f"  {what:<22} {found[what]['seconds']:8.1f} s")
    if two is not None:
        print(
            f"  {'two halves at once':<22} {best:8.1f} s: {one['seconds'] / best:.2f} x of one "
            f"thread, at best"
        )
        print(f"  {found['against two threads']:.2f} x of two threads (at least 0.9)")
    print(f"  {found['against one thread']:.2f} x of one thread (at least 1.7); by stage:")
    for stage, seconds in ray["stages"].items():
        print(f"  {stage:<22} {seconds:8.1f} s")
    return found


def study() -> dict:
    """`monge evaluate wmt17`, plain and on Ray, on all judgements: seconds of each, and whether
    they say the same.
    """
    seconds, printed = [], []
    for more in ((), ("--engine", "ray", "--workers", "2")):
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
        run = subprocess.run([*call, "-f", "json", "-q", *more], text=True, capture_output=True, check=False,
                             env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
        if run.returncode:
            sys.exit(f"monge evaluate failed with {run.returncode}: {run.stderr[-500:]}")
        seconds.append(time.time() - start)
        printed.append(run.stdout)
    rows = [
        {"metric": one["metric"], "groups": len(one["groups"]), "mean": one["mean"], "on Ray": other["mean"],
         "segments": sum(group["n"] for group in one["groups"].values())}
        for one, other in zip(*(json.loads(text)["results"] for text in printed), strict=True)
    ]  # fmt: skip
    found = {"equal": printed[0] == printed[1], "rows": rows}
    for row in rows:
        print(f"wmt17: {row}")
    print(
        f"wmt17: plain {seconds[0]:.1f} s, two workers {seconds[1]:.1f} s; the JSON is equal: "
        f"{found['equal']}"
    )
    return found


def driver_growth(model: str, sizes: list[int], distinct: int) -> list[dict]:
    """Peak memory of the driver as the input grows."""
    found = []
    for pairs in sizes:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            texts(folder / "h", pairs, distinct // 2, 1)
            texts(folder / "r", pairs, distinct // 2, 2)
            ray = on_ray(folder, model, 2)
        found.append({"pairs": pairs, "peak_mb": ray["peak_mb"], "blocks": ray["blocks"]})
        growth = ray["peak_mb"] / found[0]["peak_mb"] - 1
        print(
            f"driver: {pairs} pairs in {ray['blocks']} blocks: {ray['peak_mb']:.0f} MB "
            f"({growth:+.1%})",
            flush=True,
        )
    return found


def _fixed(digits: int, numbers: list[float]) -> list[str]:
    return [f"{one:.{digits}f}" for one in numbers]


def projected(kept: dict, pairs: float, workers: int) -> list[str]:
    """A row of the table of projections: hours of the driver alone, of the workers together, and
    bytes.
    """
    one = kept["embedded"]
    ray = one["two workers"]
    read = ray["stages"]["read"] / one["pairs"] * pairs / 3600
    work = ray["worker seconds a pair"] * pairs / workers / 3600
    large = kept["driver"][-1]  # blocks of a small run are smaller
    blocks, parts = (
        pairs * large["blocks"] / large["pairs"],
        ray["bytes of parts a pair"] * pairs / 1e9,
    )
    records = blocks * ray["bytes of records a block"] / 1e9
    return [
        f"{pairs:.0e}",
        str(workers),
        *_fixed(2, [read, work]),
        f"{parts:.1f}",
        f"{blocks:,.0f}",
        f"{records:.2f}",
    ]


def killed(kills: list[dict]) -> list[list[str]]:
    """What was killed how often, and what came of it."""
    rows = []
    for kind in sorted({one["kind"] for one in kills}):
        mine = [one for one in kills if one["kind"] == kind]
        same, again = (
            sum(one["same bytes"] for one in mine),
            max(one["computed again"] for one in mine),
        )
        begun = sum(one["starts"] > 1 for one in mine)
        rows.append(
            [
                f"a {kind}" if kind != "driver" else "the driver",
                *map(str, (len(mine), same, begun, again)),
            ]
        )
    return rows


def measured(one: dict) -> list[str]:
    """A row of the table of times; what was not measured is left open."""
    seconds = [one.get(name, {}).get("seconds") for name in ("one thread", "two threads")]
    seconds += [one.get("two halves"), one["two workers"]["seconds"]]
    best = one["one thread"]["seconds"] / one["two halves"] if "two halves" in one else None
    ratios = [one["against one thread"], one.get("against two threads"), best]
    known = [
        ["" if x is None else f"{x:.{digits}f}" for x in some]
        for digits, some in ((1, seconds), (2, ratios))
    ]
    about = [one["what"], f"{one['pairs']:,}", f"{one['distinct']:,}"]
    return [*about, *known[0], *known[1], "yes" if one["equal"] else "NO"]


def page() -> None:
    """Write the tables of the page from what was kept."""
    kept = json.loads(KEPT.read_text("utf-8"))
    runs = [kept[name] for name in PARTS[:4] if name in kept]
    stages = []
    for one in runs:
        ray = one["two workers"]
        took = [ray["stages"].get(name, 0.0) for name in SHOWN]
        about = [one["what"], f"{one['pairs']:,}"]
        stages.append([*about, *_fixed(1, took), *_fixed(3, [1e3 * ray["worker seconds a pair"]])])
    driver = [
        [f"{one['pairs']:,}", f"{one['blocks']:,}", f"{one['peak_mb']:.0f}"]
        for one in kept["driver"]
    ]
    studied = [
        [
            row["metric"],
            str(row["groups"]),
            f"{row['segments']:,}",
            *_fixed(6, [row["mean"], row["on Ray"]]),
        ]
        for row in kept.get("wmt17", {"rows": []})["rows"]
    ]
    tables = {
        "measured": (MEASURED, [measured(one) for one in runs]),
        "stages": (STAGES, stages),
        "driver": (DRIVER, driver),
        "wmt17": (WMT17, studied),
        "kills": (
            KILLED,
            killed(json.loads(KILLS.read_text("utf-8"))["kills"]) if KILLS.exists() else [],
        ),
        "projection": (PROJECTION, [projected(kept, *one) for one in PROJECTED]),
    }
    text = PAGE.read_text("utf-8")
    for name, (head, rows) in (
        (name, table) for name, table in tables.items() if table[1]
    ):  # what was measured
        table = "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---:"] * len(head), *rows])
        place = re.compile(rf"<!-- {name} -->\n.*?<!-- end -->", flags=re.DOTALL)
        text = place.sub(f"<!-- {name} -->\n{table}\n<!-- end -->", text)
    PAGE.write_text(text, "utf-8")


def main() -> None:
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
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.page:
        page()
        return
    with tempfile.TemporaryDirectory() as model:
        tiny_model(Path(model))
        parts = {
            "tiny": lambda: compared("tiny encoder", model, given.pairs, given.distinct),
            "embedded": lambda: compared("embedded model", "auto", given.real, 0),
            "more tiny": lambda: compared(
                "tiny encoder", model, int(given.more * given.pairs), given.distinct, whole=False
            ),
            "more embedded": lambda: compared(
                "embedded model", "auto", int(given.more * given.real), 0, whole=False
            ),
            "driver": lambda: driver_growth(model, given.growth, given.distinct),
            "wmt17": study,
        }
        for name in given.only:
            found = parts[name]()
            if given.json:
                kept = json.loads(given.json.read_text("utf-8")) if given.json.is_file() else {}
                given.json.parent.mkdir(parents=True, exist_ok=True)
                given.json.write_text(json.dumps({**kept, name: found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
