"""What workflows, hooks and RELEASING.md run exists: make targets, files, versions of Python."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = {
    name for line in re.findall(r"^([\w -]+):(?!=)", MAKEFILE, re.M) for name in line.split()
}
PATH = re.compile(r"(?<![\w/$.-])((?:\.?[\w-]+/)+[\w.-]*\w|[\w-]+\.(?:py|md|toml|txt|cff|yml))")
MADE = ("build/", ".venv/")
"""Directories that commands make."""


def missing_from(command):
    """Return the make targets and files that a command names and that do not exist."""
    calls = re.findall(r"\bmake((?: +[\w=-]+)+)", command)
    names = [word for call in calls for word in call.split() if "=" not in word]
    paths = [path for path in PATH.findall(command) if not path.startswith(MADE)]
    return [name for name in names if name not in TARGETS] + [
        path for path in paths if not (ROOT / path).exists()
    ]


def read_jobs(path):
    return yaml.safe_load(path.read_text("utf-8"))["jobs"]


def list_commands():
    return [
        (path.stem, step["run"])
        for path in WORKFLOWS
        for job in read_jobs(path).values()
        for step in job["steps"]
        if "run" in step
    ]


def test_a_target_or_file_that_does_not_exist_is_noticed():
    assert missing_from("make lint && make lnit") == ["lnit"]
    assert missing_from("make lint LIBRARIES=fresh") == []
    assert missing_from("bash .ci/run && python tools/missing.py") == ["tools/missing.py"]
    assert missing_from(".venv/bin/ruff check; cat build/site/index.html setup.py") == ["setup.py"]


@pytest.mark.parametrize(("workflow", "command"), list_commands())
def test_what_a_workflow_runs_exists(workflow, command):
    assert re.match(r"(make|bash) ", command), "a workflow runs what everybody can run"
    assert missing_from(command) == []


def test_workflows_run_what_ci_and_make_test_run():
    targets = {word for _, command in list_commands() for word in command.split()}
    (parts,) = re.findall(r"^test: (.*)$", MAKEFILE, re.M)
    scripts = re.findall(r"^bash (\S+)$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    assert {*parts.split(), *scripts, "docs", "release-check"} <= targets and scripts


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_few_rights_and_a_limit(path):
    content = yaml.safe_load(path.read_text("utf-8"))
    assert content["permissions"] == {"contents": "read"}
    assert content[True] == ["push", "pull_request"], "YAML reads `on` as true"
    for job in content["jobs"].values():
        assert 0 < job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            files = step.get("with", {}).get("cache-dependency-path")
            assert files is None or (ROOT / files).is_file()


def test_the_tested_versions_of_python_are_those_of_the_metadata():
    (tests,) = [path for path in WORKFLOWS if path.stem == "tests"]
    versions = read_jobs(tests)["tests"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.M)
    assert versions == named and PROJECT["requires-python"] == f">={versions[0]}"
    seen = (ROOT / "docs" / "versions" / "seen.md").read_text("utf-8")
    other_versions = versions[1:]  # the first is that of every other run
    assert other_versions and all(f"Python {version}." in seen for version in other_versions)


def test_hooks_run_tools_that_exist():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    dev = {re.split(r"[<>=\[]", line)[0] for line in PROJECT["optional-dependencies"]["dev"]}
    provided = {"ruff": "ruff", "lint-imports": "import-linter", "python": ""}
    for hook in repository["hooks"]:
        tool = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert provided[tool] in {*dev, ""} and missing_from(hook["entry"]) == []
    assert repository["repo"] == "local", "nothing is fetched: the tools are those of .venv"


@pytest.mark.parametrize("name", ["RELEASING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_a_page_for_maintainers_names_what_exists(name):
    text = (ROOT / name).read_text("utf-8")
    parts = [*re.findall(r"`([^`\n]+)`", text), *re.findall(r"\]\(([^)]+)\)", text)]
    named = [part for part in parts if not part.startswith(("text/", "monge"))]
    assert len(named) > 0 and [part for part in named if missing_from(part)] == []


def test_the_citation_file_has_what_it_must_and_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["version"] == PROJECT["version"] and citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_workflows_follow_the_schema_of_the_forge():
    pytest.importorskip("check_jsonschema", reason="install the extra dev")
    command = [sys.executable, "-m", "check_jsonschema"]
    schema = ["--builtin-schema", "vendor.github-workflows"]
    checked = subprocess.run(
        [*command, *schema, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_the_schema_notices_a_fault(tmp_path):
    pytest.importorskip("check_jsonschema", reason="install the extra dev")
    text = WORKFLOWS[0].read_text("utf-8").replace("runs-on", "run-on")
    (tmp_path / "w.yml").write_text(text, "utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    checked = subprocess.run(
        [*command, "vendor.github-workflows", str(tmp_path / "w.yml")],
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 1
