"""The kept run of docs/probe.md: the same texts come out today, and a metric reacts as it did."""

from __future__ import annotations

import make_probe as make
import pytest

from monge.evaluation import load_variants
from monge.probing.challenge import make_challenge
from monge.probing.study import probe_challenge


def test_the_kept_run_is_what_the_catalogue_gives_today(data_dir):
    kept = make.read_kept()
    good_texts = make.choose_good_texts(*make.read_judged(str(data_dir)))
    assert len(good_texts) == 3559
    challenge = make_challenge(
        good_texts, seed=make.SEED, sample=make.ITEMS, language="en", origin=make.ORIGIN
    )
    assert challenge.digest == kept.digest, "run: MONGE_DATA=DIR make probe"
    (metric,) = probe_challenge(challenge, load_variants(["chrf"])).metrics
    before = next(row for row in kept.metrics if row.label == "chrf")
    for today, reaction in zip(metric.kinds, before.kinds, strict=True):
        assert (today.kind, today.n, today.above) == (reaction.kind, reaction.n, reaction.above)
        assert today.fall_units == pytest.approx(reaction.fall_units, abs=1e-6)
    assert metric.signature == before.signature


def test_every_planned_metric_was_run():
    kept = make.read_kept()
    assert [metric.label for metric in kept.metrics] == list(make.METRICS)
    assert kept.texts == make.ITEMS and len(kept.kinds) == 50
    assert all(metric.spread_source.startswith("the 3920") for metric in kept.metrics)
