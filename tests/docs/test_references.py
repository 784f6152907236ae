"""Nothing in the repository cites a document that is not in it, and every test a page names exists."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ABSENT = re.compile(
    r"metrics-spec|\bdesign(?:\.md)? §|\bdesign\.md|\bstyle\.md|\breview\.md|\becosystem\.md"
    r"|\becosystem V\d|\bbug B\d+|\(V\d+\)|\bV\d+:|\btest_v\d+_"
)
"""Names of documents that people of the project had beside the repository, and their numbers."""
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".cff", ".sh", ".js", ".css", ".html", ""}


def tracked():
    """Text files of the repository; CHANGELOG.md tells history, and this file has the pattern."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    if not names[0]:
        pytest.skip("not a git checkout")
    own = Path(__file__).relative_to(ROOT).as_posix()
    return [
        ROOT / name
        for name in names
        if Path(name).suffix in TEXT
        and name not in ("", "CHANGELOG.md", own)
        and (ROOT / name).is_file()
    ]


def citations(text):
    """Every citation of an absent document in a text."""
    return ABSENT.findall(text)


def test_no_file_cites_a_document_that_is_not_here():
    cited = {
        path.relative_to(ROOT).as_posix(): matches
        for path in tracked()
        if (matches := citations(path.read_text("utf-8")))
    }
    assert cited == {}


@pytest.mark.parametrize(
    "text", ["see metrics-spec §5.2", "design §2", "(bug B27)", "(V1)", "V2: idf", "def test_v1_x"]
)
def test_a_citation_is_found(text):
    assert citations(text)


def test_every_test_that_a_page_names_exists():
    for page in (ROOT / "docs").rglob("*.md"):
        for file, name in re.findall(
            r"((?:compat)/test_\w+\.py) `(test_\w+)`", page.read_text("utf-8")
        ):
            assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), (page.name, name)
