"""Random kills over a run on Ray: a worker, a node or the driver gets SIGKILL; the bytes must stay the same.

    python benchmarks/kills.py [--pairs 50000] [--kills 20] [--seed 1]

Three nodes of one processor on this machine. A killed driver is begun again; Ray replaces workers, a lost node is
added again. Printed for every kill: what, whether the parts equal those of an undisturbed run, and how many blocks were
computed more than once (at most those in flight: one a worker).
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
from hashlib import sha256
from pathlib import Path

from growth import texts, tiny_model

from monge.cluster import check_ray

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
KINDS = ("worker", "node", "driver")


def command(folder: Path, model: Path, address: str, out: str) -> subprocess.Popen[str]:
    """A run on the nodes, telling its progress as JSON."""
    call = [sys.executable, "-m", "monge", "score", "-t", "h", "-r", "r", "-m", "twmd", "--model", str(model)]
    more = ["--engine", "ray", "--address", address, "-f", "jsonl", "-o", out, "--log-json", "-q"]
    return subprocess.Popen([*call, *more], cwd=folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def digest(folder: Path) -> str:
    """All parts and the results, as one digest."""
    found = sha256()
    for path in [*sorted((folder / "parts").iterdir()), folder / "result.json"]:
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def followed(process: subprocess.Popen[str], told: list[dict]) -> int:
    """Collect what a run tells until it ends."""
    assert process.stderr is not None
    told.extend(json.loads(line) for line in process.stderr if line.startswith("{"))
    return process.wait()


def strike(kind: str, process: subprocess.Popen[str], nodes: object, told: list[dict], after: float) -> None:
    """Wait until scoring has begun, and a little longer; then kill."""
    while process.poll() is None and not any(one["pass"] == "score" and one["event"] == "done" for one in told):
        time.sleep(0.02)
    time.sleep(after)
    if kind == "driver":
        process.kill()
    elif kind == "node":
        node = nodes.list_all_nodes()[-1]
        nodes.remove_node(node, allow_graceful=False)
        nodes.add_node(**NODE)
    else:
        pids = {one["pid"] for one in told if "pid" in one}
        with contextlib.suppress(ProcessLookupError):
            os.kill(random.choice(sorted(pids)), signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random.seed(given.seed)
    ray = check_ray()
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    for _ in range(2):
        nodes.add_node(**NODE)
    wrong = 0
    with tempfile.TemporaryDirectory() as made:
        folder, model = Path(made), Path(made) / "model"
        tiny_model(model)
        texts(folder / "h", given.pairs, given.pairs // 4, 1)
        texts(folder / "r", given.pairs, given.pairs // 4, 2)
        if followed(command(folder, model, nodes.address, "whole"), []):
            sys.exit("the undisturbed run failed")
        whole = digest(folder / "whole")
        for number in range(given.kills):
            kind, told, out = random.choice(KINDS), [], f"out-{number}"
            process = command(folder, model, nodes.address, out)
            killer = threading.Thread(target=strike, args=(kind, process, nodes, told, random.random()))
            killer.start()
            code = followed(process, told)
            killer.join()
            if code:
                code = followed(command(folder, model, nodes.address, out), told)
            done = [one["block"] for one in told if one["event"] == "done" and one["pass"] == "score" and one["fresh"]]
            again = len(done) - len(set(done))
            same = not code and digest(folder / out) == whole
            wrong += not same
            said = "same bytes" if same else "OTHER BYTES"
            print(f"{number + 1:>3} {kind:<7} {said}  blocks {len(set(done))}, computed twice: {again}", flush=True)
    ray.shutdown()
    nodes.shutdown()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
