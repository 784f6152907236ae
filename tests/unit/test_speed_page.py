import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_the_kept_runs(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    spec = spec_from_file_location("speed_page", ROOT / "benchmarks" / "page.py")
    page = module_from_spec(spec)
    spec.loader.exec_module(page)
    text = (ROOT / "docs" / "speed.md").read_text("utf-8")
    found = page.tables()
    assert all(f"<!-- {name} -->" in text for name in found)
    assert page.filled(text, found) == text
