"""Settings as text: every spec reads back, and every mistake names what was meant."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.axes import AXES, Layers
from monge.metrics.codec import read_choice, settable, show_choice, split_changes
from monge.metrics.labels import list_changes
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import PRESETS, find_preset, resolve
from monge.metrics.rules import bounds, check
from monge.types import settings as kinds

finite = st.floats(min_value=0, max_value=1e12, allow_nan=False)
positive = st.floats(min_value=1e-12, max_value=1e12)
name = st.text("abcdefghijklmnopqrstuvwxyz-_./0123456789#", min_size=1, max_size=12)
KINDS = {
    id(kinds.POSITIVE): positive,
    id(kinds.SMALL): finite,
    id(kinds.UNIT): st.floats(0, 1),
    id(kinds.CEILING): positive | st.just(inf),
    id(kinds.COUNT): st.integers(1, 10**6),
    id(kinds.SWITCH): st.booleans(),
    id(kinds.NGRAM): st.integers(0, 99),
    id(kinds.SWEEPS): st.integers(0, 999),
    id(kinds.LENGTH): st.integers(0, 9999),
    id(kinds.SLACK): st.tuples(finite | st.just(inf), finite | st.just(inf)),
    id(kinds.NAME): name,
    id(kinds.TEXT): st.text(max_size=20),
}
SEVERAL = st.lists(positive, min_size=1, max_size=4).map(tuple)


def values(kind):
    """Values of a kind; a choice lists its words in what it accepts."""
    if id(kind) in KINDS:
        return KINDS[id(kind)]
    if kind.accepts == "positive numbers joined by /":
        return SEVERAL
    assert kind.accepts.startswith("one of "), f"a new kind of field: add it here ({kind.accepts})"
    return st.sampled_from(kind.accepts.removeprefix("one of ").split(", "))


exponent = st.floats(-50, 50).filter(bool) | st.sampled_from([inf, -inf])
layers = st.one_of(
    st.builds(Layers, at=st.integers(0, 60) | st.floats(0, 1) | st.sampled_from(["auto", "last"])),
    st.builds(
        Layers, at=st.just("last"), span=st.integers(1, 40) | st.just(-1), pool=st.sampled_from(["mean", "routing"])
    ),
    st.builds(
        Layers, at=st.just("last"), span=st.integers(1, 40) | st.just(-1), pool=st.just("barycentre"),
        start=st.sampled_from(["mean", "zero"]),
    ),
    st.builds(
        Layers, at=st.just("last"), span=st.integers(1, 40) | st.just(-1), pool=st.just("pmeans"),
        exponents=st.lists(exponent, min_size=1, max_size=4).map(tuple),
    ),
)  # fmt: skip


@st.composite
def parts(draw, axis):
    if axis == "layers":
        return draw(layers)
    part = draw(st.sampled_from(list(AXES[axis].values())))
    drawn = {name: draw(values(one.metadata["kind"])) for name, one in settable(part).items()}
    return replace(part, **drawn)


specs = st.builds(MetricSpec, **{axis: parts(axis) for axis in AXES})


@given(specs)
@settings(max_examples=2000, deadline=None)
def test_every_spec_reads_back(spec):
    written = spec.written()
    assert list(written) == list(AXES)
    again = MetricSpec(**{axis: read_choice(axis, text) for axis, text in written.items()})
    assert again == spec
    assert (
        find_preset("bertscore").spec.changed([f"{axis}={text}" for axis, text in written.items()])
        == spec
    )


@given(specs)
@settings(max_examples=500, deadline=None)
def test_every_spec_can_be_set_field_by_field(spec):
    """What stands in `NAME[...]` and after `--set`: a choice an axis, then its fields one by
    one.
    """
    changes = []
    for axis in AXES:
        part = spec.choice(axis)
        if axis == "layers" or part.name:
            changes.append(f"{axis}={show_choice(part) if axis == 'layers' else part.name}")
        for field, one in settable(part).items():
            changes.append(f"{axis}.{field}={one.metadata['kind'].show(getattr(part, field))}")
    assert find_preset("moverscore@v1").spec.changed(split_changes(",".join(changes))) == spec


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_reads_back(preset):
    spec = PRESETS[preset].spec
    again = MetricSpec(**{axis: read_choice(axis, text) for axis, text in spec.written().items()})
    assert again == spec
    check(spec)
    assert resolve(preset) == (preset, spec)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_bounds_that_hold_together(preset):
    limits = bounds(PRESETS[preset].spec)
    assert limits.low <= limits.best <= limits.high
    if limits.worst is not None:
        assert limits.low <= limits.worst <= limits.high
        assert limits.worst < limits.best if limits.higher_is_better else limits.worst > limits.best


@pytest.mark.parametrize(
    "preset", ["emd", "lazy-emd", "wmd", "rwmd", "moverscore@paper", "smd@paper"]
)
def test_distances_say_so(preset):
    assert not bounds(PRESETS[preset].spec).higher_is_better
    assert bounds(PRESETS[preset].spec).best == 0


@pytest.mark.parametrize(("text", "wanted"), [
    ("a.b=1,c=d(1,2),e.f=3,4", ["a.b=1", "c=d(1,2)", "e.f=3,4"]),
    ("transport.slack=0.1,0.2", ["transport.slack=0.1,0.2"]),
    ("layers=last5:pmeans(1,-inf,inf),weights=idf", ["layers=last5:pmeans(1,-inf,inf)", "weights=idf"]),
    ("", []),
])  # fmt: skip
def test_commas_split_before_the_next_name(text, wanted):
    assert split_changes(text) == wanted


@pytest.mark.parametrize(("change", "axis", "field", "value"), [
    ("transport.temperature=.05", "transport", "temperature", 0.05),
    ("transport.slack=0.5,inf", "transport", "slack", (0.5, inf)),
    ("transport.slack=0.5/inf", "transport", "slack", (0.5, inf)),
    ("transport.sweeps=converged", "transport", "sweeps", 0),
    ("transport=tempered(0.3)", "transport", "temperature", 0.3),
    ("transport=tempered,temperature=0.3,slack=1/2", "transport", "slack", (1.0, 2.0)),
    ("centre=batch(16)", "centre", "size", 16),
    ("centre=batch(16)", "centre", "sides", "separate"),
    ("units.ngram=sentence", "units", "ngram", 0),
    ("units=subwords=mean,ngram=2", "units", "ngram", 2),
    ("encoder.prefix=query: ", "encoder", "prefix", "query: "),
    ("encoder.prefix=query%3A%20", "encoder", "prefix", "query: "),
    ("ground=cosine(yes)", "ground", "clip", True),
    ("layers=0.75", "layers", "at", 0.75),
    ("layers=7", "layers", "at", 7),
    ("layers=all:mean", "layers", "span", -1),
    ("layers=last5:pmeans(1,2.5)", "layers", "exponents", (1.0, 2.5)),
])  # fmt: skip
def test_grammar(change, axis, field, value):
    assert getattr(find_preset("twmd").spec.changed([change]).choice(axis), field) == value


@pytest.mark.parametrize(("metric", "change", "error", "message"), [
    ("twmd", "transprt=exact", UnknownName, "did you mean transport"),
    ("twmd", "transport=exakt", UnknownName, "did you mean exact"),
    ("twmd", "transport.temprature=1", UnknownName, "did you mean temperature"),
    ("twmd", "units.stopword=en", UnknownName, "did you mean stopwords"),
    ("twmd", "ground=cosin", UnknownName, "did you mean cosine"),
    ("twmd", "readout=selfnormalised", UnknownName, "did you mean self-normalised"),
    ("emd", "transport.temperature=1", InvalidSetting, "transport=exact has no field "
        "'temperature'.*tempered"),
    ("twmd", "weights.corpus=references", InvalidSetting, "weights=uniform has no field 'corpus'"),
    ("twmd", "transport.temperature=0", InvalidSetting, "transport.temperature takes a positive"),
    ("twmd", "transport.temperature=warm", InvalidSetting, "got 'warm'"),
    ("twmd", "transport.temperature=inf", InvalidSetting, "positive finite"),
    ("twmd", "transport.temperature=nan", InvalidSetting, "positive finite"),
    ("twmd", "transport.sweeps=-1", InvalidSetting, "whole number"),
    ("twmd", "transport.sweeps=1.5", InvalidSetting, "whole number"),
    ("twmd", "transport.slack=1", InvalidSetting, "two numbers"),
    ("twmd", "transport.slack=1/2/3", InvalidSetting, "two numbers"),
    ("twmd", "transport.slack=-1/2", InvalidSetting, "two numbers"),
    ("twmd", "units.subwords=some", InvalidSetting, "one of first, all, mean"),
    ("twmd", "units.ngram=0", InvalidSetting, "or sentence"),
    ("bertscore", "readout.alpha=1.5", InvalidSetting, "from 0 to 1"),
    ("bertscore", "ground.clip=perhaps", InvalidSetting, "yes or no"),
    ("bertscore", "centre=sentence(3)", InvalidSetting, "takes no value"),
    ("bertscore", "centre=batch(0)", InvalidSetting, "at least 1"),
    ("bertscore", "transport", InvalidSetting, "expected AXIS=VALUE"),
    ("bertscore", "layers=deep", InvalidSetting, "a layer number"),
    ("bertscore", "layers=-1", InvalidSetting, "a layer number"),
    ("bertscore", "layers=1.5", InvalidSetting, "a layer number"),
    ("bertscore", "layers=nan", InvalidSetting, "a layer number"),
    ("bertscore", "layers=last0:mean", InvalidSetting, "at least one layer"),
    ("bertscore", "layers=last5:pmeans(nan)", InvalidSetting, "exponents must be numbers"),
    ("bertscore", "layers=last5:routing(width=0)", InvalidSetting, "width of routing takes a posi"),
    ("bertscore", "layers=last5:routing(cosine)", InvalidSetting, "one of gaussian, epanechnikov"),
    ("bertscore", "layers=last5:routing(step=1)", UnknownName, "setting of routing"),
    ("bertscore", "layers=last5:routing()", InvalidSetting, "a layer number"),
    ("bertscore", "layers=last5:pmeans(one)", InvalidSetting, "takes numbers"),
    ("bertscore", "units=mean", InvalidSetting, "field=value"),
])  # fmt: skip
def test_mistakes(metric, change, error, message):
    with pytest.raises(error, match=message):
        resolve(metric, (change,))
    with pytest.raises(error, match=message):
        resolve(f"{metric}[{change}]")


@pytest.mark.parametrize(("metric", "message"), [
    ("bertscor", "did you mean "
        "bertscore"), ("twmd@v9", "profile 'v9'.*release, paper"), ("emd@paper", "no other"),
    ("twmd[transport.temperature=1", "not closed"), ("", "unknown metric"),
])  # fmt: skip
def test_names_that_are_none(metric, message):
    with pytest.raises((UnknownName, InvalidSetting), match=message):
        resolve(metric)


@pytest.mark.parametrize(("metric", "changes", "message"), [
    ("twmd", ("ground=euclidean",), "self-normalised does not go with ground=euclidean"),
    ("wordset-cka", ("ground=manhattan",), "distance of a text to itself is 0"),
    ("emd", ("readout=objective",), "needs transport=tempered"),
    ("twmd", ("transport=exact", "readout.of=objective"), "needs transport=tempered"),
    ("twmd", ("units.stopwords=lang",), "needs lang"),
])  # fmt: skip
def test_parts_that_may_not_meet(metric, changes, message):
    with pytest.raises(InvalidSetting, match=message):
        resolve(metric, changes)


def test_the_nearest_setting_wins():
    _, spec = resolve("lazy-emd[transport.slack=3/3]", ("transport.slack=2/2",), "zh")
    assert spec.transport.slack == (3.0, 3.0)
    _, spec = resolve("lazy-emd", ("transport.slack=2/2",), "zh")
    assert spec.transport.slack == (2.0, 2.0)
    assert resolve("lazy-emd", lang="zh")[1].transport.slack == (0.018, 0.97)
    assert resolve("f-alpha", lang="de")[1].readout.alpha == 0.96
    assert resolve("twmd", ("units.stopwords=lang",), "de")[1].units.stopwords == "de"


def test_changes_name_each_field():
    base = find_preset("twmd").spec
    changes = ["layers=3", "centre=batch", "centre.size=8", "transport.temperature=1"]
    assert list_changes(base.written(), base.changed(changes).written()) == changes


@pytest.mark.parametrize("text", ["tempered", "tempered,temperature=1,heat=2"])
def test_settings_with_other_fields_than_this_version_writes_are_no_changes(text):
    base = find_preset("twmd").spec.written()
    with pytest.raises(InvalidSetting, match="transport: expected the fields of"):
        list_changes(base, {**base, "transport": text})


@pytest.mark.parametrize(
    "part", [part for axis in AXES.values() for part in axis.values()], ids=show_choice
)
def test_every_choice_shows_all_it_has(part):
    text = show_choice(part)
    assert all(f"{field}=" in text for field in settable(part))
