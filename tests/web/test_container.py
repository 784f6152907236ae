"""The container without a builder: what its steps say, and its command run by hand as far as this machine allows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest


@pytest.fixture(scope="module")
def dockerfile(request) -> str:
    return (request.config.rootpath / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def test_the_image_is_not_root_checks_its_health_and_installs_extras_that_exist(dockerfile, request):
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
    for wanted in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", 'user: "10001"', "127.0.0.1:8000"):
        assert wanted in text


def test_the_entry_point_runs_as_somebody_else_without_a_home(dockerfile, tiny_bert, tmp_path):
    """The command of the image with its paths moved here; as user 10001 where this process may become that."""
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
