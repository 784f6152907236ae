"""The tables of docs/tuning-papers.md, from results/tuning."""

from repository import DOCS, RESULTS, Pages

MEASURED = RESULTS / "tuning" / "papers.json"
CARDS = RESULTS / "tuning" / "papers"
PAGE = DOCS / "tuning-papers.md"


def make_pages() -> Pages:
    """Return the page."""
    return {}
