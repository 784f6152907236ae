"""Published tables on the published judgements: what is listed, and a few figures that are quick to
compute.

MONGE_DATA names a directory with one directory a data set (`unpack` of the shared data makes it).
"""

import os
from dataclasses import replace

import pytest

from monge.datasets.files import Files
from monge.papers import Selection, listed, reproduce, tables
from monge.papers.tables import logged, present

ROOT = os.environ.get("MONGE_DATA", "")

pytestmark = pytest.mark.skipif(not ROOT, reason="MONGE_DATA is not set")


def only(name, *labels, block=None):
    table = tables()[name]
    rows = tuple(row for row in table.rows if row.label in labels and block in (None, row.block))
    return replace(table, rows=rows, claims=())


def test_the_logged_values_of_wmt18_are_listed():
    table = logged(ROOT)
    assert len(table.figures) == 77
    assert table.rows[0].values[0] == 0.37573385518590996
    printed = tables()["reproducibility-1"].rows
    assert [round(table.rows[0].values[k], 3) for k in range(7)] == list(printed[2].values[:7])
    shown = next(one for one in listed(ROOT) if one["table"] == "wmt18-log")
    assert (shown["rows"], shown["figures"]) == (11, 77)


def test_the_list_says_which_data_are_here():
    """Whatever data are here: a table names exactly those of its data sets whose files are not."""
    found = {one["table"]: one for one in listed(ROOT)}
    files = Files(ROOT)
    for name, table in tables().items():
        missing = [one for one in table.datasets if not present(one, files)]
        if missing and not table.listed:
            assert found[name]["why"] == f"data not here: {', '.join(missing)}"
        else:
            assert "not here: wmt" not in found[name]["why"]
    assert present("wmt17", files), "the judgements that all tests of data rest on"
    assert found["tempered-2"]["computable"] == 24
    assert found["moverscore-4"]["computable"] == 0


def test_tac_is_printed_with_and_without_human_peers():
    table = replace(only("moverscore-2", "ROUGE-1"), columns=tables()["moverscore-2"].columns[:1])
    found = reproduce(table, ROOT, resamples=0)
    with_peers, without = (
        reading.entries["baselines", "ROUGE-1"][0].ours for reading in found.readings
    )
    assert [reading.name for reading in found.readings] == [
        "with human peers",
        "without human peers",
    ]
    assert with_peers == pytest.approx(
        0.703, abs=0.03
    )  # the published figure has the human peers in
    assert without < with_peers - 0.15


def test_tempered_wmd_on_one_pair_of_wmt17():
    table = only("tempered-2", "SBERT", "BERTscore", "TWMD", block="roberta-base")
    found = reproduce(table, ROOT, selection=Selection(["cs-en"]), resamples=0).to_dict()
    at = found["columns"].index("wmt17 da pearson cs-en")
    ours = {row["label"]: row["ours"][at] for row in found["readings"][0]["rows"]}
    assert ours["TWMD"] > ours["BERTscore"] > ours["SBERT"]
    assert found["condition"] == "varied (all-MiniLM-L6-v2 instead of roberta-base)"
    assert all(
        row["ours"][-1] is None for row in found["readings"][0]["rows"]
    )  # the mean needs all pairs


def test_english_models_do_not_score_other_languages():
    table = only("lazy-emd-2", "EMD")
    found = reproduce(table, ROOT, selection=Selection(["tr-en", "en-tr"]), resamples=0)
    cells = dict(
        zip([str(one) for one in table.columns], found.readings[0].entries["", "EMD"], strict=True)
    )
    assert 0.1 < cells["wmt18 darr darr tr-en"].ours < 0.4
    assert "reads English only" in cells["wmt18 darr darr en-tr"].why
