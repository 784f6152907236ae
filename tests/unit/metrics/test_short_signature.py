"""The short form of a signature: it gives the long one back, whatever the settings, or is
refused.
"""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monge.errors import StatisticsMismatch
from monge.metrics import signature as module
from monge.metrics.axes import AXES
from monge.metrics.blend import BLENDS
from monge.metrics.codec import read_layers, settable
from monge.metrics.lexical import LEXICAL, LexicalSpec
from monge.metrics.presets import PRESETS, find_preset
from monge.metrics.signature import (
    ModelIdentity,
    difference,
    full,
    parse,
    shortened,
    sign,
    sign_blend,
    sign_lexical,
)
from monge.types import Signature

MODEL = ModelIdentity("all-MiniLM-L6-v2", "53aa51172d142c89", "7318b6f1aa", "e2383566bb")
STATS = {"idf": "11aa22bb/33cc44dd", "mean": "55ee66ff"}
LIBRARY = "lib:sacrebleu|nrefs:1|case:mixed|version:2.6.0"


def signed(name, spec, stats=STATS, model=MODEL):
    marks = {"stopwords": "0000aaaa", "language_model": "1111bbbb"}
    return str(
        sign(
            name,
            replace(spec, encoder=replace(spec.encoder, model=model.name)),
            model,
            stats=stats,
            **marks,
        )
    )


def assert_nothing_is_lost(line):
    short = shortened(line)
    assert short != line and not short.startswith("metric:")
    assert "\n" not in short
    assert full(short) == Signature.parse(line)
    assert parse(short) == parse(line)
    assert shortened(short) == short
    assert difference(short, line) == []
    return short


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("stats", [STATS, {}])
def test_every_preset(name, stats):
    line = signed(name, find_preset(name).spec, stats)
    short = assert_nothing_is_lost(line)
    assert len(short) < len(line) / 2
    assert all(digest in short for digest in stats.values())


@pytest.mark.parametrize("name", LEXICAL)
def test_every_lexical_metric(name):
    assert_nothing_is_lost(str(sign_lexical(LexicalSpec(name), LIBRARY)))


@pytest.mark.parametrize("name", BLENDS)
@pytest.mark.parametrize(
    "change", [(), ("layers=3",), ("words.units.stopwords=en", "sentence.layers=2")]
)
def test_every_blend(name, change):
    spec = BLENDS[name].spec.changed(change)
    parts = {
        member: sign(
            member,
            replace(one, encoder=replace(one.encoder, max_length=64)),
            MODEL,
            stats={},
            stopwords="ab",
        )
        for member, one in spec.members.items()
    }
    short = assert_nothing_is_lost(str(sign_blend(name, parts, {"range": "99ff88ee"})))
    assert "encoder.max_length=64" in short


def test_it_says_what_differs_and_nothing_else():
    spec = find_preset("twmd").spec.changed(
        ["layers=4", "transport.temperature=0.05", "weights=idf"]
    )
    short = shortened(signed("twmd", spec, {"idf": "11aa22bb"}))
    first, model, references, stats, last = short.split("|")
    assert first == "twmd[layers=4,weights=idf,transport.temperature=0.05]"
    assert model == "all-MiniLM-L6-v2#53aa5117-7318b6f1-e2383566"
    assert (references, stats) == ("nrefs:1", "stats:idf=11aa22bb")
    assert re.fullmatch(r"monge:[^#|]+#[0-9a-f]{8}", last)
    assert shortened(signed("twmd", find_preset("twmd").spec, {})).startswith("twmd|")


TEXTS = st.text(min_size=1) | st.text("%|,#=()[]ab \n:/", min_size=1)


def of_kind(kind):
    """Values of a kind of setting."""
    if kind.accepts.startswith("one of "):
        return st.sampled_from(kind.accepts.removeprefix("one of ").split(", "))
    texts = st.sampled_from(
        ["1", "3", "0.25", "0.5", "1e-5", "inf", "0/inf", "0.1/0.2", "converged", "yes", "no"]
    )
    if kind.accepts in ("a name or a file", "any text"):
        return TEXTS

    def taken(text):
        try:
            return (kind.read(text),)
        except ValueError:
            return ()

    return texts.map(taken).filter(bool).map(lambda one: one[0])


@st.composite
def specs(draw):
    """Settings made up axis by axis; not all of them would score, all of them can be signed."""
    chosen = {
        "layers": read_layers(
            draw(st.sampled_from(["4", "0.5", "last", "auto", "last5:pmeans(-inf,1)"]))
        )
    }
    for axis, choices in AXES.items():
        if axis == "layers":
            continue
        part = choices[draw(st.sampled_from(list(choices)))]
        for name, field in settable(part).items():
            if draw(st.booleans()):
                values = (
                    st.sampled_from(["de", "zh"])
                    if name == "lang"
                    else of_kind(field.metadata["kind"])
                )
                part = replace(part, **{name: draw(values)})
        chosen[axis] = part
    return replace(find_preset("bertscore").spec, **chosen)


@given(spec=specs(), name=TEXTS, metric=st.sampled_from(list(PRESETS)))
def test_any_settings_and_any_names(spec, name, metric):
    line = signed(metric, spec, model=replace(MODEL, name=name))
    assert_nothing_is_lost(line)


@given(data=st.data(), name=st.sampled_from(list(LEXICAL)))
def test_any_settings_of_a_lexical_metric(data, name):
    options = {
        option: data.draw(of_kind(kind)) if data.draw(st.booleans()) else value
        for option, (value, kind) in LEXICAL[name].options.items()
    }
    assert_nothing_is_lost(str(sign_lexical(LexicalSpec(name, options), LIBRARY)))


SHORT = shortened(signed("moverscore", find_preset("moverscore").spec.changed(["layers=3"])))


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        (
            "layers=3",
            "layers=2",
            "it was changed, or made by a version of monge with other defaults",
        ),
        ("53aa5117", "53aa5118", "it was changed"),
        ("7318b6f1", "7318b6f2", "it was changed"),
        ("e2383566", "e2383567", "it was changed"),
        ("11aa22bb", "11aa22bc", "it was changed"),
        ("moverscore[", "moverscore-2[", "it was changed"),
        ("moverscore[", "moverscor[", "did you mean moverscore"),
        ("layers=3]", "layers=3", "bracket is not closed"),
        ("layers=3", "layrs=3", "did you mean layers"),
        ("-e2383566", "", "expected NAME"),
        ("|stats:", "|statistics:", "expected NAME"),
    ],
)
def test_a_short_signature_that_says_something_else_is_refused(was, now, message):
    assert was in SHORT
    with pytest.raises(StatisticsMismatch, match=message):
        parse(SHORT.replace(was, now))


def test_a_version_with_other_defaults_refuses_it_and_reads_the_long_one(monkeypatch):
    line = signed("twmd", find_preset("twmd").spec)
    short = shortened(line)
    other = replace(
        find_preset("twmd"), spec=find_preset("twmd").spec.changed(["transport.temperature=0.3"])
    )
    monkeypatch.setattr(module, "find_preset", lambda name: other)
    with pytest.raises(StatisticsMismatch, match=r"other defaults.*the long signature replays"):
        parse(short)
    assert parse(line).spec.transport.temperature == 0.1


def test_the_version_alone_is_no_difference():
    """A short signature of another version is read where the defaults are the same."""
    said = parse(SHORT.replace("monge:0", "monge:9"))
    assert said.monge.startswith("9") and said.spec == parse(SHORT).spec


def test_a_line_that_cannot_be_given_back_stays_as_it_is():
    # options that are left out are written out
    line = "metric:chrf|options:beta=1|lib:sacrebleu|monge:0.1.0"
    assert shortened(line) == line
