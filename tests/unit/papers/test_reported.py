"""The published figures as data: schema, counts, and spot checks against the papers' texts where
they lie beside.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import isnan
from pathlib import Path

import pytest

from monge.errors import UnknownName
from monge.papers.tables import ILLEGIBLE, PublishedColumn, table_named, tables

PAPERS = Path(__file__).parents[4] / "shared" / "papers"

# rows, figures, illegible
COUNTS = {
    "moverscore-1": (12, 96, 0),
    "moverscore-2": (13, 104, 0),
    "moverscore-3": (13, 78, 0),
    "moverscore-4": (13, 26, 0),
    "moverscore-5": (9, 24, 0),
    "moverscore-6": (7, 49, 0),
    "moverscore-7": (13, 104, 0),
    "moverscore-8": (19, 152, 0),
    "moverscore-9": (16, 96, 0),
    "moverscore-figure-4": (5, 4, 3),
    "tempered-1": (60, 120, 0),
    "tempered-2": (24, 384, 0),
    "tempered-3": (24, 384, 16),
    "tempered-4": (10, 24, 0),
    "tempered-figure-3": (28, 28, 28),
    "tempered-figure-4": (20, 20, 20),
    "reproducibility-1": (4, 32, 0),
    "reproducibility-2": (6, 48, 0),
    "reproducibility-3": (10, 120, 0),
    "reproducibility-4": (8, 48, 0),
    "reproducibility-5": (10, 120, 0),
    "reproducibility-6": (10, 120, 0),
    "reproducibility-7": (5, 18, 0),
    "reproducibility-8": (5, 20, 0),
    "reproducibility-9": (3, 24, 0),
    "reproducibility-10": (7, 42, 0),
    "reproducibility-11": (3, 24, 0),
    "reproducibility-12": (3, 36, 0),
    "reproducibility-13": (11, 22, 0),
    "reproducibility-14": (6, 96, 42),
    "lazy-emd-1": (6, 24, 0),
    "lazy-emd-2": (15, 112, 0),
    "lazy-emd-3": (15, 128, 0),
    "lazy-emd-4": (3, 48, 0),
    "germeval-2": (7, 7, 0),
    "germeval-3": (5, 15, 14),
    "germeval-4": (4, 4, 3),
}

# table, block, row, column, figure as printed
SPOTS = """
moverscore-1|baselines|METEOR++|wmt17 da pearson cs-en|0.552
moverscore-1|word mover|WMD-1 + BERT + PMEANS|wmt17 da pearson mean|0.725
moverscore-1|word mover|WMD-2 + BERT + MNLI + PMEANS|wmt17 da pearson tr-en|0.763
moverscore-1|sent mover|SMD + W2V|wmt17 da pearson lv-en|0.442
moverscore-2|baselines|S3-best|tac09 pyramid pearson mean|0.842
moverscore-2|word mover|WMD-1 + W2V|tac08 responsiveness spearman mean|0.549
moverscore-8|word mover|WMD-1 + W2V|tac08 responsiveness spearman mean|0.559
moverscore-2|word mover|WMD-1 + BERT + PMEANS|tac08 pyramid pearson mean|0.755
moverscore-3|baselines|BERTSCORE-F1|bagel quality spearman mean|0.178
moverscore-3|word mover|WMD-1 + BERT + MNLI + PMEANS|sfhotel naturalness spearman mean|0.270
moverscore-4|baselines|LEIC|mscoco m2 pearson systems|0.949
moverscore-5||HMD-PREC + BERT|wmt17 da pearson fi-en|0.817
moverscore-6||WMD-1 + BERT + LAYER 11|wmt17 da pearson cs-en|0.6695
moverscore-6||WMD-1 + BERT + PMEANS|wmt17 da pearson zh-en|0.7192
moverscore-7|baselines|CHRF++|wmt17 da pearson mean|0.579
moverscore-8|baselines|TF*IDF-2|tac08 responsiveness pearson mean|0.047
moverscore-9|baselines|NIST|bagel quality spearman mean|0.056
tempered-1|bert-base-uncased|SBERT-batch|sts12+sts13+sts14+sts15+sts16 score pearson mean|63.8
tempered-1|roberta-large|BERTscore-sent|sts12+sts13+sts14+sts15+sts16 score spearman mean|59.2
tempered-1|bert-large-uncased|MoverScore|sts12+sts13+sts14+sts15+sts16 score pearson mean|54.4
tempered-2|roberta-base|TWMD-b|wmt17 da pearson mean|74.3
tempered-2|roberta-large|TWMD-b|wmt17 da kendall mean|57.4
tempered-2|roberta-base|SBERT|wmt17 da pearson tr-en|52.9
tempered-2|roberta-large|BERTscore-b|wmt17 da pearson lv-en|75.1
tempered-3|roberta-base|SBERT|wmt18 da-raw kendall cs-en|26.2
tempered-3|roberta-large|TWMD|wmt18 da-raw kendall zh-en|28.9
tempered-3|roberta-large|TRWMD-b|wmt18 da-raw kendall mean|31.8
tempered-4|base models|TWMDbase|wmt17 da pearson mean|81.0
tempered-4|large models|TWMD-b|wmt17 da kendall mean|63.4
reproducibility-1|reproduced|BaryScore-W|wmt18 darr darr zh-en|0.252
reproducibility-1|reported|BERTScore-F1|wmt18 darr darr mean|0.353
reproducibility-2|reproduced|MoverScore-1+|wmt17 da pearson mean|0.737
reproducibility-2|reported|MoverScore-1+|wmt17 da pearson lv-en|0.746
reproducibility-3|reproduced|Bary-W|wmt16 da pearson de-en|0.672
reproducibility-3|reported|Mover|wmt15 da pearson mean|0.698
reproducibility-4|fixed|SentSim(BERTScore-based)|mlqe-pe z_mean pearson en-de|6.15
reproducibility-4|reported|SentSim(WMD-based), by the wrong column|mlqe-pe z_mean pearson mean|49.50
reproducibility-5|reported|Bary+|wmt15 da spearman fi-en|0.787
reproducibility-6|reproduced|BERT-F|wmt16 da kendall tr-en|0.485
reproducibility-7||reproduced|sfhotel quality spearman mean|0.065
reproducibility-8||reproduced (max)|mscoco m1 pearson bertscore-recall|0.851
reproducibility-10||fi|wmt19 best-list size moverscore|229
reproducibility-13||ORI|wmt19 darr darr mean|0.333
lazy-emd-1|example 1|candidate 2|pair - score Lazy-EMD|0.0553
lazy-emd-2||Lazy-EMD|wmt18 darr darr en-fi|.562
lazy-emd-2||FBERT|wmt18 darr darr tr-en|.292
lazy-emd-3||Lazy-EMD|wmt19 darr darr en-de|.356
lazy-emd-3||RBERT|wmt19 darr darr gu-en|.295
lazy-emd-4||(0.009, 0.95)|wmt19 darr darr en-gu|.570
germeval-3||Deepset.ai|germeval20 score error bertscore-tuned|31.9925
""".strip().splitlines()


def test_every_table_of_the_list_is_there_with_its_counts() -> None:
    found = {
        name: (
            len(table.rows),
            len(table.figures),
            sum(value == ILLEGIBLE for value in table.figures),
        )
        for name, table in tables().items()
    }
    assert found == COUNTS


@pytest.mark.parametrize("name", COUNTS)
def test_schema(name: str) -> None:
    table = tables()[name]
    assert table.caption.endswith(".")
    keys = [(row.block, row.label) for row in table.rows]
    assert len(set(keys)) == len(keys)
    for row in table.rows:
        assert len(row.values) in (0, len(table.columns)), row.label
        for value in row.values:
            assert value == ILLEGIBLE or (
                isinstance(value, int | float) and not isinstance(value, bool)
            )
        assert row.metric or row.unavailable or row.hypothesis, row.label
    labels = {row.label for row in table.rows}
    for claim in table.claims:
        assert {*claim.better, *claim.worse} <= labels, claim
        assert claim.flatter in {"", *(row.block for row in table.rows)}
        assert not claim.column or PublishedColumn.parse(claim.column) in table.columns


def test_a_correlation_is_between_minus_one_and_one() -> None:
    for table in tables().values():
        for row in table.rows:
            for index, column in enumerate(table.columns):
                value = row.reported(index, table.scale)
                if (
                    column.statistic in ("pearson", "spearman", "kendall", "darr")
                    and value is not None
                ):
                    assert -1 < value < 1, (table.name, row.label, str(column))


def test_a_dash_is_not_a_number_and_not_illegible() -> None:
    table = tables()["lazy-emd-3"]
    first = table.rows[0]
    value = first.values[0]
    assert isinstance(value, float)
    assert isnan(value)
    assert first.reported(0, table.scale) is None


def test_columns_read_back() -> None:
    for table in tables().values():
        for column in table.columns:
            assert PublishedColumn.parse(str(column)) == column


def test_unknown_table_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean tempered-2"):
        table_named("tempered-22")


def figure(spot: str) -> tuple[float, float, str, str]:
    name, block, label, column, printed = spot.split("|")
    table = tables()[name]
    row = next(one for one in table.rows if (one.block, one.label) == (block, label))
    value = row.values[[str(one) for one in table.columns].index(column)]
    assert isinstance(value, int | float)
    return value, float(printed), name, printed


@pytest.mark.parametrize("spot", SPOTS)
def test_spot_checks(spot: str) -> None:
    value, printed, _, _ = figure(spot)
    assert value == printed


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the papers' texts are not beside the repository")
@pytest.mark.parametrize(
    "name", [name for name in COUNTS if not name.startswith("reproducibility-14")]
)
def test_every_figure_stands_in_the_paper(name: str) -> None:
    """Figures of a row stand in the text in this order; whatever the extraction put between
    them.
    """
    table = tables()[name]
    number = {
        "MoverScore": "000",
        "Tempered WMD": "001",
        "Reproducibility": "002",
        "Lazy-EMD": "003",
    }
    path = next(PAPERS.glob(f"{number.get(table.paper, '004')}*"))
    printed = [
        float(text)
        for text in re.findall(r"(?<![\w.])\d*\.?\d+(?![\w]|\.\d)", path.read_text("utf-8"))
    ]
    known = set(printed)
    following = set(pairwise(printed))
    for row in table.rows:
        values = [
            float(value) for value in row.values if not isinstance(value, str) and not isnan(value)
        ]
        if name == "moverscore-figure-4":
            values = [value * 100 for value in values]
        for value in values:
            assert round(value, 6) in known, (row.label, value)
        if table.paper in ("MoverScore", "Reproducibility") and len(values) == len(row.values) > 1:
            assert all(pair in following for pair in pairwise(values)), row.label
