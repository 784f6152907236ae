"""The page of reproduced tables is what the kept results say, and every run of it names a table
that exists.
"""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from monge.papers.tables import LOG, tables

MAKE = Path(__file__).parents[3] / "docs" / "reproduction" / "make.py"


@pytest.fixture(scope="module")
def make():
    spec = spec_from_file_location("make_reproduction", MAKE)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(make):
    assert make.PAGE.read_text("utf-8") == make.page(), (
        "run: python docs/reproduction/make.py --page"
    )
    assert make.SHORT.read_text("utf-8") == make.short(), (
        "run: python docs/reproduction/make.py --page"
    )
    assert len(make.SHORT.read_text("utf-8")) < 12_000


def test_every_run_is_of_a_table_and_is_kept_under_its_own_name(make):
    assert {line.split()[0] for line in make.RUNS} <= {*tables(), LOG}
    assert len({make.kept(line) for line in make.RUNS}) == len(make.RUNS)
    assert {path.name for path in make.RESULTS.glob("*.json")} <= {
        make.kept(line).name for line in make.RUNS
    }


def test_no_directory_of_a_machine_is_kept(make):
    for path in make.RESULTS.glob("*.json"):
        assert " below /" not in path.read_text("utf-8"), path.name
