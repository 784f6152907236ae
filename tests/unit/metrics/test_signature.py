"""The line that says how a score was made: complete, readable back, and different whenever a
setting is.
"""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monge.errors import InvalidSetting, StatisticsMismatch
from monge.metrics.axes import AXES, Layers
from monge.metrics.blend import BLENDS
from monge.metrics.codec import settable, show_choice
from monge.metrics.layers import automatic_layer, layer_numbers, resolve_layers
from monge.metrics.metric import OPTIONAL
from monge.metrics.presets import PRESETS, find_preset
from monge.metrics.signature import ModelIdentity, difference, parse, sign, sign_blend
from monge.types import Signature

MODEL = ModelIdentity("tiny-bert", "0123456789abcdef", "fedcba9876543210", "0a1b2c3d4e5f6071")
STATS = {"idf": "11aa22bb/33cc44dd", "mean": "55ee66ff"}


def signed(name, spec, stats=STATS, stopwords=""):
    return str(sign(name, spec, MODEL, stats=stats, stopwords=stopwords))


def with_model(spec):
    return replace(spec, encoder=replace(spec.encoder, model=MODEL.name))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_signed_and_read_back(name):
    spec = with_model(PRESETS[name].spec)
    line = signed(name, spec)
    said = parse(line)
    assert (said.metric, said.spec) == (name, spec)
    assert (said.weights, said.tokenizer, said.config, said.stats) == (
        "01234567",
        "fedcba98",
        "0a1b2c3d",
        STATS,
    )
    assert signed(name, said.spec) == line
    assert str(Signature.parse(line)) == line
    assert "\n" not in line


def test_values_with_marks_of_the_grammar():
    """A prefix may hold anything: bars, commas, equals signs and lines."""
    for prefix in ("query: ", "a|b", "x,y=z", "line\nbreak", "ü", "100%", "#"):
        spec = with_model(find_preset("bertscore").spec)
        spec = replace(spec, encoder=replace(spec.encoder, prefix=prefix))
        assert parse(signed("bertscore", spec)).spec.encoder.prefix == prefix


def other_values(kind, value):
    """Some value of a kind that is not the given one."""
    candidates = [
        "0.5",
        "0.25",
        "3",
        "0.1/0.2",
        "7",
        "1/2",
        "yes",
        "no",
        "window",
        "bf16",
        "de",
        "sources",
        "converged",
        "inf",
    ]
    if kind.accepts.startswith("one of "):
        candidates = kind.accepts.removeprefix("one of ").split(", ")
    for text in candidates:
        try:
            read = kind.read(text)
        except ValueError:
            continue
        if read != value:
            yield read
    return


FIXED = {"name", "layers", "units"}
"""Fields that the name of a choice decides: `normalise=layers` has the field `layers`."""
FILES = {"stopwords", "corpus", "model"}
"""Fields that may name a file, which is signed by the last part of its path and its content."""
EVERY_FIELD = [
    (axis, choice, field)
    for axis, choices in AXES.items()
    for choice, part in choices.items()
    for field in sorted({one.name for one in fields(part)} - FIXED)
    if axis != "layers" and (axis, field) != ("encoder", "model")  # tested below
]


@pytest.mark.parametrize(("axis", "choice", "field"), EVERY_FIELD)
def test_every_setting_moves_the_signature(axis, choice, field):
    part = AXES[axis][choice]
    base = replace(with_model(find_preset("bertscore").spec), **{axis: part})
    kind = settable(part)[field].metadata["kind"]
    others = list(other_values(kind, getattr(part, field)))
    assert others, f"no other value known for {axis}.{field}"
    for value in others:
        changed = replace(base, **{axis: replace(part, **{field: value})})
        line = signed("bertscore", changed)
        assert line != signed("bertscore", base)
        if field not in FILES:
            assert getattr(getattr(parse(line).spec, axis), field) == value


def test_a_field_that_the_name_of_a_choice_decides_is_no_setting():
    for choices in AXES.values():
        for part in choices.values():
            plain = {one.name for one in fields(part)} - settable(part).keys()
            assert plain <= FIXED or isinstance(part, Layers)


def test_every_choice_moves_the_signature():
    base = with_model(find_preset("bertscore").spec)
    for axis, choices in AXES.items():
        lines = {signed("bertscore", replace(base, **{axis: part})) for part in choices.values()}
        assert len(lines) == len(choices)


@pytest.mark.parametrize("layers", ["4", "0.5", "last", "last5:mean", "last4:mean", "all:mean", "last5:pmeans(1)",
                                    "last5:pmeans(1,2)", "last5:routing", "last5:pmeans(0,1)",
                                    "last5:routing(kernel=epanechnikov/width=0.5/rate=0.5/denominator=literal)"])  # fmt: skip
def test_layers_move_the_signature(layers):
    base = with_model(find_preset("bertscore").spec)
    changed = base.changed([f"layers={layers}"])
    assert signed("bertscore", changed) != signed("bertscore", base)
    assert parse(signed("bertscore", changed)).spec.layers == changed.layers


def test_identity_statistics_and_stopwords_move_the_signature():
    spec = with_model(find_preset("bertscore").spec)
    base = signed("bertscore", spec)
    for change in ({"name": "other"}, {"weights": "ff"}, {"tokenizer": "ff"}, {"config": "ff"}):
        model = replace(MODEL, **change)
        assert str(sign("bertscore", spec, model, stats=STATS)) != base
    assert signed("bertscore", spec, stats={}) != base
    assert signed("bertscore", spec, stats={**STATS, "idf": "00000000/33cc44dd"}) != base
    assert signed("bertscore@release", spec) != base
    listed = spec.changed(["units.stopwords=en"])
    assert signed("bertscore", listed, stopwords="aaaa0000") != signed(
        "bertscore", listed, stopwords="bbbb0000"
    )


def test_a_stopword_file_is_signed_by_its_content():
    spec = with_model(find_preset("bertscore").spec).changed(
        ["units.stopwords=/some/where/my#list.txt"]
    )
    line = signed("bertscore", spec, stopwords="abcd1234")
    assert "/some/where" not in line
    said = parse(line)
    assert said.stopwords == "abcd1234"
    assert said.spec.units.stopwords == "my#list.txt"


NAMES = st.text(min_size=1).filter(lambda name: name == Path(name).name)
MARKS = st.text("%|,#=()ab \n:[]", min_size=1)


@given(name=NAMES | MARKS, words=NAMES | MARKS, spoken=NAMES | MARKS)
def test_names_of_any_characters_are_read_back(name, words, spoken):
    """Before: a comma was a ValueError after all scoring, a bar made a line that nothing could
    read.
    """
    spec = find_preset("bertscore").spec
    spec = replace(
        spec,
        encoder=replace(spec.encoder, model=name),
        units=replace(spec.units, stopwords=words),
        fluency=replace(AXES["fluency"]["lm"], model=spoken),
    )
    signed_for = {"stats": STATS, "stopwords": "0000aaaa", "language_model": "1111bbbb"}
    line = str(sign("bertscore", spec, replace(MODEL, name=name), **signed_for))
    assert len(line.splitlines()) == 1
    said = parse(line)
    assert said.spec.encoder.model == name
    assert said.spec.fluency.model == spoken
    assert (said.stopwords, said.language_model) == (
        "" if words == "none" else "0000aaaa",
        "1111bbbb",
    )
    assert said.spec.units.stopwords == words
    assert str(sign("bertscore", said.spec, replace(MODEL, name=name), **signed_for)) == line


def blended(**stopwords):
    """The signature of a blend whose members have these stopwords, each signed by a digest of its
    own.
    """
    spec = BLENDS["sentsim"].spec.changed(
        [f"{member}.units.stopwords={name}" for member, name in stopwords.items()]
    )
    digests = {"none": "", "en": "aaaa0000", "de": "bbbb0000"}
    signatures = {
        name: sign(name, with_model(one), MODEL, stats={}, stopwords=digests[one.units.stopwords])
        for name, one in spec.members.items()
    }
    return {name: with_model(one) for name, one in spec.members.items()}, sign_blend(
        "sentsim", signatures, STATS
    )


@pytest.mark.parametrize(
    "stopwords", [{}, {"words": "en"}, {"sentence": "en"}, {"sentence": "de", "words": "en"}]
)
def test_every_member_of_a_blend_has_its_own_stopwords(stopwords):
    """Before: the digest of the last member was checked against the list of the first."""
    specs, signature = blended(**stopwords)
    said = parse(str(signature))
    assert said.spec.members == specs
    assert said.stats == STATS
    wanted = {"en": "aaaa0000", "de": "bbbb0000"}
    assert {name: one.stopwords for name, one in said.members.items()} == {
        name: wanted.get(stopwords.get(name, ""), "") for name in specs
    }
    assert {(one.weights, one.config) for one in said.members.values()} == {
        ("01234567", "0a1b2c3d")
    }


def test_a_corpus_file_is_signed_by_its_digest_alone():
    spec = with_model(find_preset("moverscore").spec).changed(
        ["weights.corpus=/home/me/corpus.txt"]
    )
    line = signed("moverscore", spec)
    assert "/home/me" not in line
    assert parse(line).spec.weights.corpus == "file"


GOOD = signed("twmd", with_model(find_preset("twmd").spec))


def test_a_signature_without_configuration_says_so():
    """Those of version 0.1.0 did not sign it."""
    for line in (GOOD, str(blended()[1])):
        with pytest.raises(
            StatisticsMismatch, match=r"lacks 'config', the digest of the model's configuration.*-m"
        ):
            parse(line.replace("|config:0a1b2c3d", ""))


def broken():
    fields = GOOD.split("|")
    yield "", "key:value"
    yield "hello", "not a signature"
    yield GOOD.replace("|", " "), "."
    for field in fields:
        key = field.partition(":")[0]
        if key != "nrefs":  # which signatures of earlier versions do not have
            yield "|".join(one for one in fields if one != field), f"lacks {key!r}"
    yield GOOD + "|colour:red", "unknown key 'colour'"
    yield GOOD + "|" + fields[3], "twice"
    yield GOOD + "|", "not a signature"
    yield GOOD.replace("metric:twmd", "metric:nothing"), "cannot be read"
    yield GOOD.replace("ground:cosine", "ground:cosin"), "did you mean cosine"
    yield GOOD.replace("temperature=0.1", "temperature=-1"), "cannot be read"
    yield GOOD.replace("temperature=0.1", "temprature=0.1"), "did you mean temperature"
    yield GOOD.replace("precision:fp32", "precision:fp99"), "cannot be read"
    yield GOOD.replace("layers:auto", "layers:deep"), "cannot be read"
    yield GOOD.replace("stats:idf=11aa22bb/33cc44dd", "stats:nonsense"), "not kind=digest"


@pytest.mark.parametrize(("line", "message"), list(broken()))
def test_bad_signatures(line, message):
    with pytest.raises(StatisticsMismatch, match=message):
        parse(line)


def test_difference():
    other = signed(
        "twmd",
        with_model(find_preset("twmd").spec).changed(["transport.temperature=0.02"]),
        stats={},
    )
    keys = [key for key, _, _ in difference(GOOD, other)]
    assert keys == ["transport", "stats"]
    assert difference(GOOD, GOOD) == []


@pytest.mark.parametrize(("layers", "at"), [
    (Layers(at="auto"), 4), (Layers(at="last"), 6), (Layers(at=0.5), 3), (Layers(at=1.0), 6), (Layers(at=0.0), 0),
    (Layers(at=0), 0), (Layers(at=6), 6), (Layers(at=0.75), 4),
])  # fmt: skip
def test_layers_become_numbers(layers, at):
    found = resolve_layers(layers, "some/unknown-model", 6)
    assert found.at == at
    assert layer_numbers(found, 6) == (at,)


def test_layers_known_by_name():
    assert automatic_layer("bert-base-uncased", 12) == 9
    assert automatic_layer("google-bert/bert-base-uncased", 12) == 9
    assert automatic_layer("FacebookAI/roberta-large", 24) == 17
    assert automatic_layer("roberta-large", 6) == round(0.75 * 6)
    assert automatic_layer("no-such-model", 24) == 18


@pytest.mark.parametrize(
    ("span", "wanted"),
    [(5, (2, 3, 4, 5, 6)), (1, (6,)), (-1, (1, 2, 3, 4, 5, 6)), (7, (0, 1, 2, 3, 4, 5, 6))],
)
def test_spans_reach_the_embeddings_only_when_asked(span, wanted):
    found = resolve_layers(Layers(at="last", span=span, pool="mean"), "m", 6)
    assert layer_numbers(found, 6) == wanted


@pytest.mark.parametrize("layers", [Layers(at=7), Layers(at="last", span=8, pool="mean")])
def test_layers_out_of_range(layers):
    with pytest.raises(InvalidSetting, match="6"):
        resolve_layers(layers, "m", 6)


def test_every_axis_stands_in_the_signature():
    fields = dict(Signature.parse(GOOD).fields)
    spec = with_model(find_preset("twmd").spec)
    for axis in AXES:
        if axis not in ("encoder", *OPTIONAL):
            assert fields[axis] == show_choice(spec.choice(axis))
    assert not set(OPTIONAL) & set(fields), "what is left out is named only where it is chosen"


def test_signatures_of_before_mean_what_they_meant():
    """Without `unknown` unknown pieces matched each other; without `against` references were
    compared with.
    """
    for name in ("xmoverscore", "yisi-2", "bertscore"):
        line = signed(name, with_model(find_preset(name).spec))
        assert "unknown=apart" in line
        assert ("|against:source" in line) == (name != "bertscore")
        said = parse(line).spec
        assert (said.units.unknown, said.against.name) == (
            "apart",
            "references" if name == "bertscore" else "source",
        )
        before = parse(line.replace(",unknown=apart", "").replace("|against:source", "")).spec
        assert (before.units.unknown, before.against.name) == ("match", "references")


def test_only_published_profiles_let_unknown_pieces_match():
    assert {name for name, one in PRESETS.items() if one.spec.units.unknown == "match"} == {
        name for name in PRESETS if "@" in name
    }
