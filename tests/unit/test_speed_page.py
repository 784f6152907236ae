from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_shows_the_kept_runs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import page

    text = (ROOT / "docs" / "speed.md").read_text("utf-8")
    found = page.tables()
    assert all(f"<!-- {name} -->" in text for name in found)
    assert page.filled(text, found) == text
