"""Random kills over a run on Ray: a worker, a node or the driver gets SIGKILL; the bytes must stay
the same.

    python benchmarks/kills.py [--pairs 50000] [--kills 20] [--seed 1] [--json docs/scale/kills.json [--more]]

Three nodes of one processor on this machine. A killed driver is begun again; Ray replaces workers,
a lost node is added again. Printed for every kill: what, whether the parts equal those of an
undisturbed run, and how many blocks were computed again: every block that a worker begins to
compute is noted, those in flight too (at most one a worker).
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

from growth import texts, tiny_model

from monge.cluster import blocks, check_ray, engine
from monge.cluster.worker import do_block

NODES, ROWS = 3, 1024
"""Nodes, and rows of a block at the most: fewer than a run would take, so that many blocks are
under way.
"""
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
KINDS = ("worker", "node", "driver")
DRIVER = "driver"


def noted(block: blocks.Block, job: object) -> dict:
    """Do a block, and note beside the output that it was begun, and that it was done already."""

    def note(what: str) -> None:
        with Path(f"{job.folder}.noted").open("a") as file:
            file.write(f"{job.kind} {what}\n")

    note("begun")
    found = do_block(block, job)
    if not found["fresh"]:
        note("done before")
    return found


def drive(arguments: list[str]) -> int:
    """`monge` with these arguments, whose workers note what they begin."""
    from monge.cli.app import run

    engine.do_block, blocks.LARGEST = noted, ROWS // blocks.ROWS
    return run(arguments)


def command(folder: Path, address: str, out: str) -> subprocess.Popen[str]:
    """A run on the nodes, telling its progress as JSON."""
    call = [
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
    more = ["--engine", "ray", "--address", address, "-f", "jsonl", "-o", out, "--log-json", "-q"]
    return subprocess.Popen(
        [*call, *more], cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def digest(folder: Path) -> str:
    """All parts and the results, as one digest."""
    found = sha256()
    for path in [*sorted((folder / "parts").iterdir()), folder / "result.json"]:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def computed(out: Path) -> int:
    """How many blocks were begun to be scored, those left out that were done already."""
    found = Counter(Path(f"{out}.noted").read_text("utf-8").splitlines())
    return found["score begun"] - found["score done before"]


def followed(process: subprocess.Popen[str], told: list[dict], said: list[str]) -> int:
    """Collect what a run tells until it ends."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("{"):
            told.append(json.loads(line))
        else:
            said.append(line)
    return process.wait()


def strike(
    kind: str, process: subprocess.Popen[str], nodes: object, told: list[dict], after: float
) -> None:
    """Wait until scoring has begun, and a little longer; then kill."""
    while process.poll() is None and not any(
        one["pass"] == "score" and one["event"] == "done" for one in told
    ):
        time.sleep(0.02)
    time.sleep(after)
    if kind == "driver":
        process.kill()
    elif kind == "node":
        node = nodes.list_all_nodes()[-1]
        nodes.remove_node(node, allow_graceful=False)
        nodes.add_node(**NODE)
    else:
        pids = {one["pid"] for one in told if "pid" in one} - {
            process.pid
        }  # the driver counts at first
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(sorted(pids)), signal.SIGKILL)


def struck(folder: Path, nodes: object, kind: str, out: str, after: float) -> dict:
    """A run that something is killed in, begun again where it ended for that."""
    told, said = [], []
    process = command(folder, nodes.address, out)
    listener = threading.Thread(target=followed, args=(process, told, said))
    listener.start()
    strike(
        kind, process, nodes, told, after
    )  # in this thread: Ray sets signal handlers when it adds a node
    listener.join()
    code = process.wait()
    done = len(list((folder / out / "records").iterdir()))
    starts = 1
    if code:
        code, starts = followed(command(folder, nodes.address, out), told, said), 2
    if code:
        sys.exit(f"a run that was begun again failed with {code}: {''.join(said)[-2000:]}")
    parts = len(list((folder / out / "parts").iterdir()))
    return {"kind": kind, "starts": starts, "blocks": parts, "done at the end of the first "
        "start": done,
            "computed again": computed(folder / out) - parts}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--more", action="store_true", help="add to what is kept there")
    given = parser.parse_args()
    random.seed(given.seed)
    ray = check_ray()
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    for _ in range(NODES - 1):
        nodes.add_node(**NODE)
    found = []
    with tempfile.TemporaryDirectory() as made:
        folder, said = Path(made), []
        tiny_model(folder / "model")
        texts(folder / "h", given.pairs, given.pairs // 4, 1)
        texts(folder / "r", given.pairs, given.pairs // 4, 2)
        if followed(command(folder, nodes.address, "whole"), [], said):
            sys.exit(f"the undisturbed run failed: {''.join(said)[-2000:]}")
        whole = digest(folder / "whole")
        for number in range(given.kills):
            one = struck(folder, nodes, random.choice(KINDS), f"out-{number}", random.random())
            one["same bytes"] = digest(folder / f"out-{number}") == whole
            found.append(one)
            print(f"{number + 1:>3} {json.dumps(one)}", flush=True)
    ray.shutdown()
    nodes.shutdown()
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(given.json.read_text("utf-8"))["kills"] if given.more else []
        kills = [*kept, *({"seed": given.seed, **one} for one in found)]
        about = {"pairs": given.pairs, "nodes": NODES, "rows": ROWS, "kills": kills}
        given.json.write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    sys.exit(0 if all(one["same bytes"] and one["computed again"] <= NODES for one in found) else 1)


if __name__ == "__main__":
    sys.exit(drive(sys.argv[2:])) if sys.argv[1:2] == [DRIVER] else main()
