"""The container without a builder: what its steps say, and its command run by hand as far as this
machine allows.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from dataclasses import replace

import pytest
import uvicorn
import yaml

from monge.server.app import create
from monge.server.limits import Limits
from monge.server.server import ENDING, _open_socket


@pytest.fixture(scope="module")
def dockerfile(request) -> str:
    return (request.config.rootpath / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def test_the_image_is_not_root_checks_its_health_and_installs_extras_that_exist(
    dockerfile, request
):
    lines = [line for line in dockerfile.splitlines() if line and not line.startswith("#")]
    words = [line.split()[0] for line in lines]
    assert words.count("FROM") == 2 and words[-1] == "ENTRYPOINT"
    assert "USER 10001" in lines and lines.index("USER 10001") < words.index("ENTRYPOINT")
    check = next(line for line in lines if line.startswith("HEALTHCHECK"))
    compile(json.loads(check[check.index("[") :])[2], "healthcheck", "exec")
    project = tomllib.loads((request.config.rootpath / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(r"'\.\[([a-z,]+)\]'", dockerfile)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for line in lines:
        if line.startswith("COPY") and "--from" not in line:
            for name in line.split()[1:-1]:
                assert (request.config.rootpath / name).exists()


def test_the_compose_file_is_read_only_and_drops_its_rights(request):
    text = (request.config.rootpath / "compose.yaml").read_text("utf-8")
    for wanted in (
        "read_only: true",
        "cap_drop: [ALL]",
        "no-new-privileges:true",
        'user: "10001"',
        "127.0.0.1:8000",
    ):
        assert wanted in text


def test_the_container_is_bounded(request):
    text = (request.config.rootpath / "compose.yaml").read_text("utf-8")
    service = yaml.safe_load(text)["services"]["monge"]
    assert (
        service["mem_limit"] == service["memswap_limit"]
        and service["pids_limit"]
        and service["cpus"]
    )
    (tmp,) = service["tmpfs"]
    size = int(re.search(r"size=(\d+)g", tmp)[1]) * 2**30
    limits = Limits()
    assert size > limits.uploads * limits.upload
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert int(service["stop_grace_period"].rstrip("s")) >= limits.drain + ENDING
    assert "chmod 400 token.txt" in text and "10001" in text.partition("services:")[0]


def test_a_build_takes_torch_for_the_cpu_and_a_base_that_can_be_pinned(dockerfile):
    assert dockerfile.count("FROM ${PYTHON_IMAGE}") == 2 and "ARG CUDA=no" in dockerfile
    (code,) = re.findall(r'python -c "(import sys, torch;[^"]+)"', dockerfile)
    for cuda, wanted, fails in (
        ("'13.0'", "no", True),
        ("'13.0'", "yes", False),
        ("None", "no", False),
    ):
        stub = (
            "import sys, types; torch = types.ModuleType('torch'); torch.version = "
            "types.SimpleNamespace(cuda=%s); "
        )
        run = stub % cuda + "sys.modules['torch'] = torch; " + code.replace("$CUDA", wanted)
        found = subprocess.run(
            [sys.executable, "-c", run], capture_output=True, text=True, timeout=60
        )
        assert (found.returncode != 0) == fails, found.stderr
        assert not fails or "TORCH_INDEX" in found.stderr


def test_the_health_check_sees_an_engine_that_is_stuck(dockerfile, config):
    """The command of the image, against an application whose engine makes no progress."""
    line = next(one for one in dockerfile.splitlines() if one.startswith("HEALTHCHECK"))
    code = json.loads(line[line.index("[") :])[2]
    app = create(replace(config, state=None))
    listening = _open_socket("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started or not app.service.ready or not app.jobs.alive:
            time.sleep(0.05)
        mine = code.replace("8000", str(listening.getsockname()[1]))

        def healthy() -> bool:
            return (
                subprocess.run(
                    [sys.executable, "-c", mine], capture_output=True, timeout=60
                ).returncode
                == 0
            )

        assert healthy()
        app.service.engine._busy_since[1] = time.monotonic() - config.limits.seconds - 16
        assert not healthy()
    finally:
        app.service.engine._busy_since.clear()
        server.should_exit = True
        thread.join(20)
        listening.close()


def test_the_entry_point_runs_as_somebody_else_without_a_home(dockerfile, tiny_bert, tmp_path):
    """The command of the image with its paths moved here; as user 10001 where this process may
    become that.
    """
    line = next(one for one in dockerfile.splitlines() if one.startswith("ENTRYPOINT"))
    command = json.loads(line[line.index("[") :])
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    moved = {"/state": str(tmp_path / "state"), "/run/secrets/monge-token": str(token), "8000": "0"}
    arguments = [moved.get(one, one) for one in command[1:]]
    assert arguments[0] == "serve" and "0.0.0.0" in arguments
    (tmp_path / "state").mkdir(mode=0o777)
    code = "from monge.cli.main import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--model", str(tmp_path / "none")],
        env={**os.environ, "HOME": "/nonexistent", "HF_HUB_OFFLINE": "1"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert found.returncode == 3 and "listening on http://0.0.0.0:" in found.stderr
    assert "Traceback" not in found.stderr and str(tmp_path / "none") in found.stderr
