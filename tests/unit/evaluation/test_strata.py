"""Samples by strata: every document or domain has its share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from monge.cli.app import run
from monge.datasets import Group
from monge.datasets.annotations import SegmentRecord
from monge.errors import InvalidSetting, UnknownName
from monge.evaluation.task import _sample_group, sampled
from monge.types import Segment

DOMAINS = ["news"] * 10 + ["chat"] * 30 + ["law"] * 7


def group_of(domains):
    """Return a group with two outputs of each source segment."""
    segments = tuple(
        Segment(str(k), f"h{k}", system=system) for system in "ab" for k in range(len(domains))
    )
    records = tuple(SegmentRecord(domain=domain) for domain in domains * 2)
    return Group(segments, scores=np.arange(len(segments), dtype=float), records=records)


@pytest.mark.parametrize("items", [2, 10, 23, 46])
def test_every_domain_has_its_share_to_the_nearest_segment(items):
    sample = _sample_group("en-de", group_of(DOMAINS), items, [1, 2], "domain")
    counts = Counter(record.domain for record in sample.records)
    assert sum(counts.values()) == 2 * items  # both outputs of each drawn source
    for domain, size in Counter(DOMAINS).items():
        assert abs(counts[domain] / 2 - items * size / len(DOMAINS)) < 1


def test_the_same_seed_draws_the_same_and_another_does_not():
    draws = [
        [
            segment.id
            for segment in _sample_group("x", group_of(DOMAINS), 12, seed, "domain").segments
        ]
        for seed in ([1, 2], [1, 2], [3, 2])
    ]
    assert draws[0] == draws[1] != draws[2]


def test_strata_that_are_not_known_are_refused():
    group = replace(group_of(DOMAINS), records=None)
    with pytest.raises(InvalidSetting, match=r"en-de: strata=domain needs the domain"):
        _sample_group("en-de", group, 5, [1], "domain")
    with pytest.raises(UnknownName, match="document, domain"):
        sampled(None, 5, 1, "documents")


def test_strata_without_a_sample_are_refused(tmp_path, capsys):
    table = tmp_path / "judged.tsv"
    table.write_text("hypothesis\treference\tscore\na\tb\t1\nc\td\t2\n")
    code = run(["evaluate", "table", "--data", str(table), "-m", "chrf", "--strata", "domain"])
    assert code == 2 and "are those of a sample" in capsys.readouterr().err
