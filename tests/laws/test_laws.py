"""Every metric against every law."""

from __future__ import annotations

from dataclasses import replace

import pytest
from law_bench import EVERY, Bench
from law_functions import LAWS, UNPADDED, check_metric, lacking, laws_of, one_batch
from law_samples import SHORT_SAMPLE

from monge.errors import DataError
from monge.metrics.presets import PRESETS
from monge.scoring import measure


def breaks(bench, name, law):
    try:
        LAWS[law](bench, name)
    except (AssertionError, DataError):
        return True
    return False


@pytest.mark.parametrize(("name", "law"), [(name, law) for name in EVERY for law in laws_of(name)])
def test_metric_keeps_the_law_or_says_that_it_does_not(bench, lacking_benches, figures, name, law):
    if law in lacking(name):
        real = any(breaks(tried, name, law) for tried in (bench, *lacking_benches))
        assert real, (
            f"{name} keeps the law {law!r} on every encoder, yet its row declares that it does not"
        )
    else:
        figures(law, check_metric(name, bench.encoder, bench=bench, only=law)[law], name)


def test_rows_declare_only_laws_that_exist():
    assert all(set(lacking(name)) <= set(laws_of(name)) for name in EVERY)


def test_metrics_without_the_law_of_merging_have_no_statistics(bench):
    for name in EVERY:
        if name in bench.names:
            assert ("merged-statistics" in laws_of(name)) == bool(bench.metric(name).fits), name


@pytest.mark.parametrize("name", ["twmd", "moverscore-2"])
def test_the_extremes_of_padding_occur(bench, monkeypatch, name):
    """Pairs alone have no padded unit; in one batch are all pairs, and all but the longest texts
    are padded.
    """
    shapes, build = [], measure.pad_texts

    def record(texts, *arguments):
        cloud = build(texts, *arguments)
        shapes.append((len(texts), cloud.present.float().mean().item()))
        return cloud

    monkeypatch.setattr(measure, "pad_texts", record)
    alone = Bench(bench.encoder, [name])
    alone.run(SHORT_SAMPLE, **UNPADDED)
    assert set(shapes) == {(1, 1.0)} and len(shapes) >= 2 * len(SHORT_SAMPLE)
    shapes.clear()
    alone.run(SHORT_SAMPLE, **one_batch(bench))
    assert min(count for count, _ in shapes) >= len(SHORT_SAMPLE)
    assert max(present for _, present in shapes) < 0.7


class Crowded:
    """An encoder whose vectors depend on how many texts share the batch: what the suite must
    find.
    """

    def __init__(self, encoder):
        self.encoder = encoder

    def __getattr__(self, name):
        return getattr(self.encoder, name)

    def hidden(self, ids, layers):
        shared = 1e-3 * len(ids)
        return [
            layer + shared * layer.roll(1, dims=-1) for layer in self.encoder.hidden(ids, layers)
        ]


@pytest.mark.parametrize("law", ["batch", "window", "neighbours", "systems"])
def test_an_encoder_that_looks_at_the_company_is_found(bench, law):
    crowded = Bench(Crowded(bench.encoder), ["twmd", "emd"])
    for name in crowded.names:
        with pytest.raises(AssertionError, match="is more than"):
            check_metric(name, crowded.encoder, bench=crowded, only=law)


def test_a_lack_that_is_not_real_is_found(bench, monkeypatch):
    row = PRESETS["emd"]
    monkeypatch.setitem(PRESETS, "emd", replace(row, lacks={"symmetry": "made up"}))
    with pytest.raises(AssertionError, match="yet its row declares"):
        check_metric("emd", bench.encoder, bench=bench, only="symmetry")
