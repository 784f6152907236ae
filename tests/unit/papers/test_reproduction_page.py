"""Every run of the page of reproduced tables names a table that exists, and no local directory."""

import make_reproduction as make

from monge.papers.tables import LOG, tables


def test_the_short_page_is_short():
    assert len(make.make_short_page()) < 12_000


def test_every_run_is_of_a_table_and_is_kept_under_its_own_name():
    assert {line.split()[0] for line in make.RUNS} <= {*tables(), LOG}
    assert len({make.result_path(line) for line in make.RUNS}) == len(make.RUNS)
    assert {path.name for path in make.RUN_RESULTS.glob("*.json")} <= {
        make.result_path(line).name for line in make.RUNS
    }


def test_no_directory_of_a_machine_is_kept():
    for path in make.RUN_RESULTS.glob("*.json"):
        assert " below /" not in path.read_text("utf-8"), path.name
