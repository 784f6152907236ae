"""Agreement of metrics with people on WMT17 into English, embedded model: what
docs/results/tables.md prints comes out.

The figures are those of the table "Metrics on WMT17, tokenised text" of that page, under the
command that made them.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from monge import api
from monge.datasets import open_dataset

PAGE = Path(__file__).parents[2] / "docs" / "results" / "tables.md"
METRICS = ("twmd", "bertscore[layers=6]", "sbert", "moverscore@v2")


def printed():
    """metric -> pair -> Pearson's r, as the page prints it."""
    section = (
        PAGE.read_text("utf-8")
        .partition("## Metrics on WMT17, tokenised text")[2]
        .partition("\n## ")[0]
    )
    head, _, *rows = [
        line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")
    ]
    pairs = [name for name in head if name.endswith("-en")]
    return {
        row[0].strip("`"): dict(
            zip(pairs, (float(re.search(r"\d\.\d+", cell)[0]) for cell in row[1:8]), strict=True)
        )
        for row in rows
    }


@pytest.fixture(scope="module")
def correlations(data_dir):
    """metric -> pair -> Pearson's r; all metrics of a pair share one encoding pass, idf is fitted a
    pair.
    """
    judged = open_dataset("wmt17", data_dir, text="tokenised", entities=True)
    pairs = {pair: group for pair, group in judged.groups.items() if pair.endswith("-en")}
    assert len(pairs) == 7
    assert all(group.n == 560 for group in pairs.values())
    metrics = [api.load(name) for name in METRICS]
    found = {name: {} for name in METRICS}
    for pair, group in pairs.items():
        hypotheses = [segment.hypothesis for segment in group.segments]
        references = [segment.references[0] for segment in group.segments]
        assert not [
            text for text in (*hypotheses, *references) if "&quot;" in text or "&apos;" in text
        ]
        segments = api.segments_of(hypotheses, references)
        for name, result in zip(METRICS, api.score_segments(metrics, segments), strict=True):
            found[name][pair] = np.corrcoef(result.segments, group.scores)[0, 1]
    return found


@pytest.mark.parametrize("name", METRICS)
def test_agreement_with_people_is_what_the_page_prints(correlations, name):
    assert correlations[name] == pytest.approx(printed()[name], abs=0.001)
