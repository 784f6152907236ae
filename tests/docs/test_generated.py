"""Every generated file is what its generator makes now; `make generated` writes them."""

import sys

import make_generated
import make_reference
import pytest
from repository import ROOT, fill_block, read_or_none, write_pages


def differing(pages):
    """Paths of generated files whose content is not what the generator makes."""
    return [
        str(path.relative_to(ROOT)) for path, text in pages.items() if read_or_none(path) != text
    ]


@pytest.mark.parametrize("name", make_generated.GENERATORS)
def test_a_generated_file_is_what_its_generator_makes(name):
    pages = make_generated.load_generator(name)()
    assert pages and differing(pages) == [], "run: make generated"


def test_pages_made_by_the_embedded_model_are_what_it_makes():
    assert differing(make_reference.make_model_pages()) == [], "run: make pages"


def test_a_file_that_was_changed_by_hand_is_found(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    monkeypatch.setattr(make_generated, "ROOT", tmp_path)
    monkeypatch.setattr(make_generated, "GENERATORS", ("some_generator",))
    monkeypatch.setattr(make_generated, "load_generator", lambda name: lambda: {page: "made\n"})
    page.write_text("changed\n")
    monkeypatch.setattr(sys, "argv", ["make_generated.py", "--check"])
    assert make_generated.main() == 1 and capsys.readouterr().out == "page.md\n"
    assert page.read_text() == "changed\n"
    monkeypatch.setattr(sys, "argv", ["make_generated.py"])
    assert make_generated.main() == 0 and page.read_text() == "made\n"
    assert write_pages({page: "made\n"}) == []


def test_a_block_is_filled_between_its_marks_only():
    text = "a\n<!-- x: made by t -->\nold\n<!-- end of x -->\nb\n"
    assert fill_block(text, "x", "new") == text.replace("old", "new")
    with pytest.raises(SystemExit, match="no block 'y'"):
        fill_block(text, "y", "new")
