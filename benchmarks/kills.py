"""Kill workers, nodes or the driver of a run on Ray at random; its output must stay the same.

    python benchmarks/kills.py [--pairs 50000] [--kills 20] [--json results/scale/kills.json]

Three nodes of one processor run on this machine. A killed driver is started again; Ray replaces
workers, and a lost node is added again. Printed per kill: what was killed, whether the parts equal
those of an undisturbed run, and how many blocks were computed again. Every block that a worker
begins is noted, also those that were not finished (at most one per worker).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path

from growth import tiny_model, write_texts

from monge.cluster import blocks, check_ray, engine
from monge.cluster.worker import do_block

NODES, ROWS = 3, 1024
"""Nodes, and rows of a block at the most: fewer than a run would take, so that many blocks are
under way.
"""
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
KINDS = ("worker", "node", "driver")
DRIVER = "driver"


def do_noted_block(block: blocks.Block, job: object) -> dict:
    """Do a block, and note beside the output that it was begun, or was done before."""

    def note(event: str) -> None:
        with Path(f"{job.folder}.noted").open("a") as file:
            file.write(f"{job.kind} {event}\n")

    note("begun")
    record = do_block(block, job)
    if not record["fresh"]:
        note("done before")
    return record


def run_driver(arguments: list[str]) -> int:
    """Run `monge` with workers that note what they begin."""
    from monge.cli.app import run

    engine.do_block, blocks.LARGEST = do_noted_block, ROWS // blocks.ROWS
    return run(arguments)


def start_run(folder: Path, address: str, out: str) -> subprocess.Popen[str]:
    """Start a run on the nodes that reports its progress as JSON."""
    command = [
        sys.executable,
        __file__,
        DRIVER,
        "score",
        "-t",
        "h",
        "-r",
        "r",
        "-m",
        "twmd",
        "--model",
        "model",
    ]
    options = [
        "--engine",
        "ray",
        "--address",
        address,
        "-f",
        "jsonl",
        "-o",
        out,
        "--log-json",
        "-q",
    ]
    return subprocess.Popen(
        [*command, *options],
        cwd=folder,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def hash_output(folder: Path) -> str:
    """Return one digest of all parts and the results."""
    state = sha256()
    for path in [*sorted((folder / "parts").iterdir()), folder / "result.json"]:
        state.update(path.name.encode() + path.read_bytes())
    return state.hexdigest()


def count_computed(out: Path) -> int:
    """Return how many blocks were scored, without those that were done before."""
    counts = Counter(Path(f"{out}.noted").read_text("utf-8").splitlines())
    return counts["score begun"] - counts["score done before"]


def collect_events(process: subprocess.Popen[str], events: list[dict], messages: list[str]) -> int:
    """Collect what a run reports until it ends; return its exit code."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("{"):
            events.append(json.loads(line))
        else:
            messages.append(line)
    return process.wait()


def kill(
    kind: str, process: subprocess.Popen[str], nodes: object, events: list[dict], delay: float
) -> None:
    """Wait until scoring has begun, then for the delay, then kill."""
    while process.poll() is None and not any(
        event["pass"] == "score" and event["event"] == "done" for event in events
    ):
        time.sleep(0.02)
    time.sleep(delay)
    if kind == "driver":
        process.kill()
    elif kind == "node":
        node = nodes.list_all_nodes()[-1]
        nodes.remove_node(node, allow_graceful=False)
        nodes.add_node(**NODE)
    else:
        pids = {event["pid"] for event in events if "pid" in event} - {
            process.pid
        }  # the driver counts at first
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(sorted(pids)), signal.SIGKILL)


def run_with_kill(folder: Path, nodes: object, kind: str, out: str, delay: float) -> dict:
    """Run with something killed in the middle, and start again where the run ended for that."""
    events, messages = [], []
    process = start_run(folder, nodes.address, out)
    listener = threading.Thread(target=collect_events, args=(process, events, messages))
    listener.start()
    kill(
        kind, process, nodes, events, delay
    )  # in this thread: Ray sets signal handlers when it adds a node
    listener.join()
    code = process.wait()
    finished_blocks = len(list((folder / out / "records").iterdir()))
    starts = 1
    if code:
        code, starts = collect_events(start_run(folder, nodes.address, out), events, messages), 2
    if code:
        sys.exit(f"a run that was begun again failed with {code}: {''.join(messages)[-2000:]}")
    parts = len(list((folder / out / "parts").iterdir()))
    return {
        "kind": kind,
        "starts": starts,
        "blocks": parts,
        "done at the end of the first start": finished_blocks,
        "computed again": count_computed(folder / out) - parts,
    }


def main() -> None:
    """Kill at random, compare the output with an undisturbed run, and keep the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--more", action="store_true", help="add to what is kept there")
    options = parser.parse_args()
    random.seed(options.seed)
    ray = check_ray()
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    for _ in range(NODES - 1):
        nodes.add_node(**NODE)
    outcomes = []
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder, messages = Path(name_of_folder), []
        tiny_model(folder / "model")
        write_texts(folder / "h", options.pairs, options.pairs // 4, 1)
        write_texts(folder / "r", options.pairs, options.pairs // 4, 2)
        if collect_events(start_run(folder, nodes.address, "whole"), [], messages):
            sys.exit(f"the undisturbed run failed: {''.join(messages)[-2000:]}")
        undisturbed = hash_output(folder / "whole")
        for number in range(options.kills):
            outcome = run_with_kill(
                folder, nodes, random.choice(KINDS), f"out-{number}", random.random()
            )
            outcome["same bytes"] = hash_output(folder / f"out-{number}") == undisturbed
            outcomes.append(outcome)
            print(f"{number + 1:>3} {json.dumps(outcome)}", flush=True)
    ray.shutdown()
    nodes.shutdown()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        old = json.loads(options.json.read_text("utf-8"))["kills"] if options.more else []
        kills = [*old, *({"seed": options.seed, **outcome} for outcome in outcomes)]
        facts = {"pairs": options.pairs, "nodes": NODES, "rows": ROWS, "kills": kills}
        options.json.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    sys.exit(
        0
        if all(outcome["same bytes"] and outcome["computed again"] <= NODES for outcome in outcomes)
        else 1
    )


if __name__ == "__main__":
    sys.exit(run_driver(sys.argv[2:])) if sys.argv[1:2] == [DRIVER] else main()
