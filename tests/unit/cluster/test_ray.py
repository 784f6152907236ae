"""A real Ray of one to three nodes on this machine: the numbers of one machine, also where workers
or nodes go.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cluster_pairs import METRICS, parts, plain, recipe, write_pairs

from monge.cli.app import run
from monge.cluster import (
    ClusterProgress,
    ClusterRequest,
    Engine,
    Tables,
    check_ray,
    passes_on_ray,
    score,
    score_dataset,
)
from monge.cluster.engine import map_on_ray
from monge.datasets.tables import read_table
from monge.errors import MongeError
from monge.evaluation import Run, Setup, Task, evaluate_task

NODE = {
    "num_cpus": 1,
    "object_store_memory": 80 << 20,
    "node_ip_address": "127.0.0.1",
    "include_dashboard": False,
}
THREE = METRICS[:3]
pytestmark = pytest.mark.filterwarnings("ignore")


STARTS = 3
"""How often Ray is started before its failure counts: on a busy machine its first node sometimes
does not answer in time."""


def start_ray(ray, cluster_class, starts=STARTS):
    """Start a Ray of one node and connect to it; a start that does not answer is repeated."""
    cluster = cluster_class(initialize_head=True, head_node_args=NODE)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        cluster.shutdown()
        if starts == 1:
            raise
        return start_ray(ray, cluster_class, starts - 1)
    return cluster


@pytest.fixture(scope="module")
def nodes():
    """A Ray of one node, to which nodes can be added; nobody beyond this machine can reach it."""
    ray = check_ray()
    from ray.cluster_utils import Cluster

    cluster = start_ray(ray, Cluster)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("input") / "pairs.jsonl")


@pytest.fixture(scope="module")
def expected(table, tiny_bert):
    return plain(read_table(table), tiny_bert, *THREE)


def request(path) -> ClusterRequest:
    return ClusterRequest(path, "jsonl", seed=12345)


def grown(nodes, count: int) -> None:
    import ray

    for _ in range(count - len(nodes.list_all_nodes())):
        nodes.add_node(
            **{name: value for name, value in NODE.items() if name != "include_dashboard"}
        )
    while ray.cluster_resources().get("CPU", 0) < count:
        time.sleep(0.1)


def test_one_two_and_three_nodes_give_the_numbers_of_one_machine(
    nodes, table, expected, tiny_bert, tmp_path, small_blocks
):
    for count in (1, 2, 3):
        grown(nodes, count)
        used = set()
        watch = ClusterProgress(block_done=lambda what, told, used=used: used.add(told["pid"]))
        found = score(
            Tables([str(table)]),
            recipe(tiny_bert, *THREE),
            request(tmp_path / str(count)),
            watch=watch,
        )
        assert found.result.read_text("utf-8") == expected
        assert len(used - {os.getpid()}) <= count  # the driver counts until there are workers
    assert parts(tmp_path / "1") == parts(tmp_path / "2") == parts(tmp_path / "3")


def test_killed_workers_and_a_lost_node_change_nothing(
    nodes, table, expected, tiny_bert, tmp_path, small_blocks
):
    grown(nodes, 3)
    workers, lost = set(), []

    def told(what, about):
        workers.add(about["pid"])
        if what == "score" and not lost:
            lost.append(nodes.list_all_nodes()[-1])
            nodes.remove_node(lost[0], allow_graceful=False)
            for pid in workers - {about["pid"], os.getpid()}:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:  # it went with its node
                    continue

    made = recipe(tiny_bert, *THREE)
    found = score(
        Tables([str(table)]),
        made,
        request(tmp_path / "out"),
        watch=ClusterProgress(block_done=told),
    )
    assert lost
    assert found.result.read_text("utf-8") == expected


def test_a_block_that_no_worker_can_begin_says_why(
    nodes, table, tiny_bert, tmp_path, small_blocks, monkeypatch
):
    def unfit(block, job):
        raise ModuleNotFoundError("No module named 'monge'")

    monkeypatch.setattr("monge.cluster.engine.do_block", unfit)
    with pytest.raises(
        MongeError, match=r"given up \(ModuleNotFoundError: No module named 'monge', 3 times\)"
    ):
        score(Tables([str(table)]), recipe(tiny_bert, "twmd"), request(tmp_path / "out"))


def test_tasks_that_nobody_waits_for_are_called_off(nodes):
    import ray

    grown(nodes, 1)
    begun = time.monotonic()

    def slept(seconds):
        time.sleep(seconds)
        return seconds

    each = map_on_ray(slept, [(0,), *[(600,)] * 9], workers=1, threads=1)
    assert next(each) == (0, 0)
    each.close()
    room = int(ray.cluster_resources()["CPU"])
    assert dict(map_on_ray(slept, [(0,)] * 2 * room, workers=room, threads=1)) == dict.fromkeys(
        range(2 * room), 0
    )
    assert time.monotonic() - begun < 300


DRIVER = """
import sys
from cluster_pairs import recipe
from monge.cli.app import run
from monge.cluster import Engine, ClusterRequest, Tables, blocks, score
blocks.ROWS = 1
score(Tables([sys.argv[1]]), recipe(sys.argv[2], *sys.argv[5:]), ClusterRequest(sys.argv[3], "jsonl", seed=12345),
      engine=Engine(sys.argv[4]))
"""


def test_a_killed_driver_is_begun_again(nodes, table, expected, tiny_bert, tmp_path, small_blocks):
    out = tmp_path / "out"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    arguments = [str(table), str(tiny_bert), str(out), nodes.address, *THREE]
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments], env={**os.environ, "PYTHONPATH": paths}
    )
    while driver.poll() is None and not list(out.glob("records/*.json")):
        time.sleep(0.02)
    driver.kill()
    driver.wait()
    done = len(list(out.glob("records/*.json")))
    fresh = []
    watch = ClusterProgress(
        block_done=lambda what, told: (
            fresh.append(told) if what == "score" and told["fresh"] else None
        )
    )
    found = score(Tables([str(table)]), recipe(tiny_bert, *THREE), request(out), watch=watch)
    assert found.result.read_text("utf-8") == expected
    assert done
    assert len(fresh) <= len(parts(out)) - done


def test_a_data_set_of_ray_in_python(nodes, tiny_bert, tmp_path):
    import ray.data

    rows = [
        json.loads(line)
        for line in write_pairs(tmp_path / "rows.jsonl", 60).read_text("utf-8").splitlines()
    ]
    data = ray.data.from_items(rows, override_num_blocks=3)
    found = score_dataset(data, ["twmd", "chrf"], output=tmp_path / "out", ci=True, model=tiny_bert)
    one = json.loads(plain(read_table(tmp_path / "rows.jsonl"), tiny_bert, "twmd", "chrf"))
    assert list(found.results) == one["results"]


@pytest.fixture
def judged(tmp_path):
    """A table of 40 judged texts in three groups."""
    lines = write_pairs(tmp_path / "rows.jsonl", 40, ("A",)).read_text("utf-8").splitlines()
    rows = [
        {**json.loads(line), "group": f"g{k % 3}", "human": k * 7 % 11}
        for k, line in enumerate(lines)
    ]
    (tmp_path / "judged.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows), "utf-8")
    return str(tmp_path / "judged.jsonl")


def test_a_study_by_workers_is_the_study(nodes, judged, tiny_bert):
    task, setup = Task("table", judged), Setup(model=str(tiny_bert))
    names = ["twmd", "bertscore[weights=idf]", "chrf", "bleu"]
    steps = []
    with passes_on_ray(Engine()) as passes:
        found = evaluate_task(
            task, names, setup=setup, run=Run(progress=steps.append, elsewhere=passes)
        )
    assert found.to_dict() == evaluate_task(task, names, setup=setup).to_dict()
    assert (
        len(steps) == 6
    )  # three groups, each with the metrics of vectors, and with those of words


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "-m", "twmd", "--vary", "transport.temperature=0.05,0.1"),
        ("sensitivity", "-m", "bertscore", "--factor", "idf,punctuation"),
    ],
)
def test_a_verb_with_workers_prints_what_it_prints_without(
    nodes, judged, tiny_bert, capsys, arguments
):
    verb, *rest = arguments
    call = [
        verb,
        "table",
        "--data",
        judged,
        "--model",
        str(tiny_bert),
        *rest,
        "--resamples",
        "50",
        "-f",
        "json",
        "-q",
    ]
    printed = []
    for more in ([], ["--engine", "ray"]):
        assert run([*call, *more]) == 0
        *others, result = capsys.readouterr().out.splitlines()
        assert all(
            "raylet" in line or line.startswith((" ", "\t")) or not line for line in others
        ), others
        printed.append(
            result
        )  # Ray may tell late, on standard output, of the nodes that the tests before this one killed
    assert printed[0] == printed[1]
    assert json.loads(printed[0])


OWN = """
import os, sys
from pathlib import Path
from cluster_pairs import recipe
from monge.cluster import Engine, ClusterRequest, Tables, ClusterProgress, score
def told(what, about):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said, parent = path.read_text(), path.with_name("stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if parent == str(os.getpid()):
            print("child", said.split(chr(0))[0].rpartition("/")[2])
score(Tables([sys.argv[1]]), recipe(sys.argv[2], "twmd"), ClusterRequest(sys.argv[3], "jsonl", seed=12345),
      engine=Engine(workers=2), watch=ClusterProgress(block_done=told))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")
def test_a_ray_of_our_own_gives_the_results_of_one_machine(table, tiny_bert, tmp_path):
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    arguments = [str(table), str(tiny_bert), str(tmp_path / "out")]
    call = [sys.executable, "-c", OWN, *arguments]
    found = subprocess.run(
        call, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert {"gcs_server\n", "raylet\n"} <= set(found.stdout.split("child ")[1:])
    expected = plain(read_table(table), tiny_bert, "twmd")
    assert (tmp_path / "out" / "result.json").read_text("utf-8") == expected
