"""Build the release, look into it, install it alone, and run the README's commands with it.

    make release-check                          # libraries are those of .venv: a minute
    python tools/release_check.py --libraries fresh   # downloads every dependency, as a user does
    python tools/release_check.py --final       # also fails on what a maintainer has to fill in

The wheel is built from the unpacked sdist, which must therefore be complete. It is installed into
a new environment and used in an empty directory outside of the repository. RELEASING.md says what
is done by hand. hatchling is installed into an environment of its own, once per run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from release_files import LICENCE_FILES, SDIST_FILES, list_package_files, read_project
from repository import ROOT

from monge.encoders.model_cards import match_licences

EXTRAS = "all"
_PAIR = '"The cat slept." "A cat was asleep."'
_GERMAN = "printf 'Die Katze schläft.\\n' > de.txt && monge score -t de.txt -r de.txt --lang de"
EXTRA_COMMANDS = {
    "mcp": "monge mcp < /dev/null",
    "parquet": "monge score -t a.txt -r a.txt -m chrf -f parquet -o scores.parquet",
    "plots": f"monge explain {_PAIR} -o plan.png -f png",
    "multilingual": _GERMAN,
    "server": "python -c 'from monge.server.app import create; create()'",
    "elmo": "python -c 'import h5py, monge.encoders.elmo'",
    "ray": "python -c 'import ray, monge.cluster.engine'",
}
"""A command per extra that the README does not use: it ends with 0 where the extra works."""
SDIST_COMMANDS = ("monge selfcheck", "monge score -t a.txt -r a.txt")
DIST = ROOT / "build" / "dist"
"""Where the archives are left: not under version control."""
FILES, COLUMNS = "files.tsv", ("path", "bytes", "origin", "licence", "source or data")
"""The list of the wheel's files, left beside the archives, and its columns."""
PROGRAM = """
hypotheses, references = ["The cat slept.", "It rains."], ["A cat was asleep.", "Rain falls."]
texts_a, texts_b = ["The cat slept.", "It rains."], ["A dog ran.", "It rains."]
"""
"""What the README's Python lines presuppose."""


def main() -> int:
    """Check a release; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--libraries", choices=("shared", "fresh"), default="shared")
    parser.add_argument("--final", action="store_true")
    options = parser.parse_args()
    open_points = find_open_points()
    with TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build_release(folder)
        problems = [*check_wheel(wheel), *check_sdist(sdist)]
        fresh = options.libraries == "fresh"
        python = install_archive(folder / "wheel", wheel, fresh=fresh)
        problems += run_readme(folder, python)
        python = install_archive(folder / "sdist", sdist, fresh=fresh)
        problems += run_commands(folder / "sdist-workplace", python, SDIST_COMMANDS)
        DIST.mkdir(parents=True, exist_ok=True)
        for archive in (wheel, sdist):
            shutil.copy(archive, DIST)
        files = list_licences(wheel)
    (DIST / FILES).write_text("".join("\t".join(row) + "\n" for row in [COLUMNS, *files]), "utf-8")
    print(describe_licences(files))
    problems += open_points if options.final else []
    for point in [] if options.final else open_points:
        print(f"left for a maintainer: {point}")
    for problem in problems:
        print(f"wrong: {problem}")
    print(f"{len(problems)} problem(s)" if problems else "ok: the release can be built and used")
    return int(bool(problems))


def find_open_points() -> list[str]:
    """Return what a maintainer must fill in or decide before a release."""
    points = [
        f"[project.urls] {name} is a placeholder: {address}"
        for name, address in read_project()["project"]["urls"].items()
        if ".invalid" in address
    ]
    version = read_project()["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if f"\n## {version} (unreleased)" in changelog:
        points.append(f"CHANGELOG.md says that {version} is unreleased")
    elif f"\n## {version} " not in changelog:
        points.append(f"CHANGELOG.md has no section {version}")
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text("utf-8"):
        points.append(f"CITATION.cff has another version than pyproject.toml ({version})")
    return points


def build_release(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and from its content the wheel; return both paths."""
    venv.create(folder / "build", with_pip=True)
    python = find_python(folder / "build")
    run_command([python, "-m", "pip", "install", "-q", *read_project()["build-system"]["requires"]])
    hatchling = [python, "-m", "hatchling", "build", "-d", str(folder / "dist"), "-t"]
    run_command([*hatchling, "sdist"], ROOT)
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    run_command([*hatchling, "wheel"], source)
    (wheel,) = (folder / "dist").glob("*.whl")
    print(f"built {sdist.name} ({sdist.stat().st_size / 1e6:.1f} MB)")
    print(f"built {wheel.name} ({wheel.stat().st_size / 1e6:.1f} MB)")
    return wheel, sdist


def check_wheel(wheel: Path) -> list[str]:
    """Compare the wheel's files with those of the source tree; check its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata_name = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(metadata_name).decode()
    info = metadata_name.rpartition("/")[0]
    expected = {f"monge/{path}" for path in list_package_files()}
    expected |= {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    expected |= {f"{info}/licenses/{name}" for name in LICENCE_FILES}
    fields = ("Author", "License-Expression", "Keywords", "Project-URL", "Requires-Python")
    return [
        *describe_difference("the wheel", names, expected),
        *(f"the wheel's metadata has no {name}" for name in fields if f"\n{name}:" not in metadata),
    ]


def list_licences(wheel: Path) -> list[tuple[str, ...]]:
    """Return the path, size, origin, licence and sources of every file of the package."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    rows = []
    for path, size in sorted(sizes.items()):
        if path.startswith("monge/"):
            (entry,) = match_licences(path.removeprefix("monge/"))
            sources = entry.get("source", ", ".join(entry.get("data", ())))
            rows.append((path, str(size), entry["origin"], entry["licence"], sources))
    return rows


def describe_licences(rows: Sequence[tuple[str, ...]]) -> str:
    """Return a line per origin and licence: how many files, and their size."""
    groups: dict[tuple[str, str], list[int]] = {}
    for _, size, origin, licence, _ in rows:
        groups.setdefault((origin, licence), []).append(int(size))
    return "\n".join(
        f"{origin:12} {licence:20} {len(sizes):4} files {sum(sizes) / 1e6:6.2f} MB"
        for (origin, licence), sizes in sorted(groups.items())
    )


def check_sdist(sdist: Path) -> list[str]:
    """Compare the sdist's files with those of the source tree."""
    with tarfile.open(sdist) as archive:
        names = {path.partition("/")[2] for path in archive.getnames()}
    expected = {f"src/monge/{path}" for path in list_package_files()} | set(SDIST_FILES)
    return describe_difference("the sdist", names, expected)


def describe_difference(name: str, actual: Iterable[str], expected: Iterable[str]) -> list[str]:
    """Return a sentence per file that an archive lacks or should not have."""
    actual, expected = set(actual), set(expected)
    return [
        *(f"{name} lacks {path}" for path in sorted(expected - actual)),
        *(f"{name} has {path}, which does not belong there" for path in sorted(actual - expected)),
    ]


def install_archive(folder: Path, archive: Path, *, fresh: bool) -> str:
    """Install the wheel or the sdist into a new environment; return its interpreter.

    With shared libraries the package alone is installed, and libraries are found behind it in the
    environment that runs this program.
    """
    venv.create(folder, with_pip=True)
    python = find_python(folder)
    if fresh:
        run_command([python, "-m", "pip", "install", "-q", f"{archive}[{EXTRAS}]"])
        return python
    run_command([python, "-m", "pip", "install", "-q", "--no-deps", str(archive)])
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run_command([python, "-c", ask]).strip())
    (site / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    return python


def find_python(environment: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return str(environment / ("Scripts" if os.name == "nt" else "bin") / "python")


def run_readme(folder: Path, python: str) -> list[str]:
    """Run selfcheck, the README's commands and its Python lines in an empty directory."""
    workplace = folder / "workplace"
    workplace.mkdir()
    imported = run_command([python, "-c", "import monge; print(monge.__file__)"], workplace).strip()
    if not Path(imported).is_relative_to(folder):
        return [f"the environment imports {imported}, which is not the wheel"]
    commands, lines = read_readme((ROOT / "README.md").read_text("utf-8"))
    problems = run_commands(workplace, python, ["monge selfcheck", *commands])
    problems += run_commands(workplace, python, EXTRA_COMMANDS.values())
    return problems + describe_run("README's Python", [python, "-c", PROGRAM + lines], workplace)


def run_commands(workplace: Path, python: str, commands: Iterable[str]) -> list[str]:
    """Run shell commands with the environment's programs in a directory; return problems."""
    workplace.mkdir(exist_ok=True)
    (workplace / "a.txt").write_text("The cat slept.\n", "utf-8")
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    problems = []
    for command in commands:
        shell = ["env", f"PATH={path}", "sh", "-c", command]
        problems += describe_run(command, shell, workplace)
    return problems


def read_readme(text: str) -> tuple[list[str], str]:
    """Return the commands of the block that begins with `monge example`, and the Python lines."""
    block = re.search(r"^```\n(monge example.*?)^```$", text, re.MULTILINE | re.DOTALL)
    python = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if block is None or python is None:
        raise SystemExit("README.md has no block of commands, or none of Python")
    return [line.partition("  #")[0].rstrip() for line in block[1].splitlines()], python[1]


def describe_run(name: str, command: Sequence[str], folder: Path) -> list[str]:
    """Run a command; print its time and first line, and return a problem where it fails."""
    began = time.monotonic()
    process = subprocess.run(
        command, cwd=folder, env=clean_environment(), text=True, capture_output=True, check=False
    )
    seconds = time.monotonic() - began
    first = next(iter((process.stdout or process.stderr).splitlines()), "")
    outcome = "ok" if process.returncode == 0 else "FAILED"
    print(f"{outcome:6} {seconds:5.1f} s  {name[:70]:70}  {first[:60]}")
    if process.returncode == 0:
        return []
    return [f"{name}: exit {process.returncode}: {process.stderr.strip()[-400:]}"]


def clean_environment() -> dict[str, str]:
    """Return the environment without what would lead to the source tree."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run_command(command: Sequence[str], folder: Path | None = None) -> str:
    """Run a command and return what it prints; stop with its messages where it fails."""
    process = subprocess.run(
        command, cwd=folder, env=clean_environment(), text=True, capture_output=True, check=False
    )
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{process.stderr}")
    return process.stdout


if __name__ == "__main__":
    sys.exit(main())
