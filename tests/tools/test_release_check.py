"""`make release-check` finds what an archive lacks, what it should not have, and what is left."""

import re
import tarfile
import zipfile

import release_check
from release_files import LICENCE_FILES, SDIST_FILES, list_package_files
from repository import ROOT

INFO = "monge-0.1.0.dist-info"
METADATA = (
    "Name: monge\nAuthor: a\nLicense-Expression: Apache-2.0\nKeywords: k\n"
    "Project-URL: Homepage, h\nRequires-Python: >=3.11\n"
)


def make_wheel(path, *, without="", further=(), metadata=METADATA):
    names = [f"monge/{name}" for name in list_package_files() if name != without]
    names += [f"{INFO}/{name}" for name in ("WHEEL", "RECORD", "entry_points.txt")]
    names += [f"{INFO}/licenses/{name}" for name in LICENCE_FILES]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{INFO}/METADATA", metadata)
        for name in [*names, *further]:
            archive.writestr(name, "")
    return path


def make_sdist(path, *, further=()):
    names = [f"src/monge/{name}" for name in list_package_files()]
    with tarfile.open(path, "w") as archive:
        for name in [*names, *SDIST_FILES, *further]:
            archive.addfile(tarfile.TarInfo(f"monge-0.1.0/{name}"))
    return path


def test_a_complete_wheel_passes_and_others_are_described(tmp_path):
    assert release_check.check_wheel(make_wheel(tmp_path / "a.whl")) == []
    lacking = make_wheel(tmp_path / "b.whl", without="example/golden.json")
    assert release_check.check_wheel(lacking) == ["the wheel lacks monge/example/golden.json"]
    larger = make_wheel(tmp_path / "c.whl", further=("tests/test_x.py",))
    (problem,) = release_check.check_wheel(larger)
    assert problem == "the wheel has tests/test_x.py, which does not belong there"
    bare = make_wheel(tmp_path / "d.whl", metadata=METADATA.replace("Author", "Writer"))
    assert release_check.check_wheel(bare) == ["the wheel's metadata has no Author"]


def test_an_sdist_has_no_tests(tmp_path):
    assert release_check.check_sdist(make_sdist(tmp_path / "a.tar")) == []
    (problem,) = release_check.check_sdist(make_sdist(tmp_path / "b.tar", further=("results/x",)))
    assert problem == "the sdist has results/x, which does not belong there"


def test_the_commands_and_python_of_the_readme_are_read():
    commands, lines = release_check.read_readme((ROOT / "README.md").read_text("utf-8"))
    assert commands[0] == "monge example" and len(commands) >= 7
    assert all(command.startswith("monge ") and "#" not in command for command in commands)
    assert lines.startswith("import monge") and "monge.compare" in lines


def test_a_command_that_fails_is_a_problem(tmp_path, capsys):
    assert release_check.describe_run("true", ["sh", "-c", "echo fine"], tmp_path) == []
    (problem,) = release_check.describe_run("no", ["sh", "-c", "echo bad >&2; exit 3"], tmp_path)
    assert problem == "no: exit 3: bad"
    assert re.match(r"FAILED +\d+\.\d s  no ", capsys.readouterr().out.splitlines()[1])


def test_placeholders_are_left_for_a_maintainer(monkeypatch):
    project = {
        "version": "9.9.9",
        "urls": {"Homepage": "https://monge.invalid/", "Docs": "https://x"},
    }
    monkeypatch.setattr(release_check, "read_project", lambda: {"project": project})
    points = release_check.find_open_points()
    assert "[project.urls] Homepage is a placeholder: https://monge.invalid/" in points
    assert not any("Docs" in point for point in points)
    assert "CHANGELOG.md has no section 9.9.9" in points
    assert any("CITATION.cff has another version" in point for point in points)


def test_open_points_fail_a_final_check_only(tmp_path, monkeypatch, capsys):
    archives = (make_wheel(tmp_path / "a.whl"), make_sdist(tmp_path / "a.tar"))
    monkeypatch.setattr(release_check, "DIST", tmp_path / "dist")
    monkeypatch.setattr(release_check, "build_release", lambda folder: archives)
    monkeypatch.setattr(release_check, "install_archive", lambda folder, archive, fresh: "python")
    monkeypatch.setattr(release_check, "run_commands", lambda folder, python, commands: [])
    monkeypatch.setattr(release_check, "run_readme", lambda folder, python: [])
    monkeypatch.setattr(release_check, "find_open_points", lambda: ["an address"])
    monkeypatch.setattr("sys.argv", ["release_check.py"])
    assert release_check.main() == 0
    assert "left for a maintainer: an address" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == [
        *("a.tar", "a.whl", "files.tsv")
    ]
    monkeypatch.setattr("sys.argv", ["release_check.py", "--final"])
    assert release_check.main() == 1
    assert "wrong: an address" in capsys.readouterr().out


def test_every_file_of_the_wheel_is_listed_with_its_licence(tmp_path):
    rows = release_check.list_licences(make_wheel(tmp_path / "a.whl"))
    assert len(rows) == len(list_package_files())
    assert all(all(row[:4]) for row in rows)
    licences = {row[0]: row[2:4] for row in rows}
    assert licences["monge/text/stopwords/moverscore.txt"] == ("third-party", "MIT")
    summary = release_check.describe_licences(rows)
    assert "own          Apache-2.0" in summary and "third-party" in summary
