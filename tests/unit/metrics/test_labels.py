"""Labels tell the metrics of a run apart, and read back as what they stand for."""

from __future__ import annotations

import pytest

from monge.metrics.labels import labels
from monge.metrics.presets import resolve, split_name


def of(*asked: str) -> list[str]:
    """Labels of metrics that are known by their bare names only, as after a replay of
    signatures.
    """
    return labels([(split_name(one)[0], resolve(one)[1]) for one in asked])


def test_names_that_differ_stay_as_they_were_given():
    asked = ["twmd", "twmd@release", "bleu", "sentsim", "twmd[layers=3]"]
    assert labels([(one, resolve(one)[1]) for one in asked]) == asked


@pytest.mark.parametrize(
    "asked",
    [
        ("twmd", "twmd[transport=exact]"),
        ("twmd[layers=3]", "twmd[layers=4,transport.temperature=0.3]"),
        ("bleu", "bleu[lowercase=yes]", "bleu[tokenize=char]"),
        ("sentsim", "sentsim[words.layers=3]", "sentsim[units.stopwords=en]"),
        ("wmd", "wmd[transport=tempered,transport.temperature=0.1]"),
        ("twmd", "twmd[encoder.model=roberta-base]"),
        ("bertscore@release", "bertscore@release[weights=idf]"),
    ],
)
def test_one_name_with_several_settings_says_what_differs(asked):
    found = of(*asked)
    assert found == list(asked)
    assert [resolve(one) for one in found] == [resolve(one) for one in asked]


def test_what_all_share_is_not_said():
    assert of("twmd[layers=3]", "twmd[layers=3,transport=exact]") == [
        "twmd",
        "twmd[transport=exact]",
    ]


def test_settings_equal_to_those_of_the_row_are_the_row():
    plain = resolve("twmd")[1].transport.temperature
    assert of(f"twmd[transport.temperature={plain}]", "twmd[layers=3]") == [
        "twmd",
        "twmd[layers=3]",
    ]
    assert of("twmd", f"twmd[transport.temperature={plain}]") == ["twmd", "twmd (2)"]


def test_settings_equal_to_a_profile_are_told_apart_from_it():
    release = resolve("twmd@release")[1]
    found = labels([("twmd", resolve("twmd")[1]), ("twmd", release), ("twmd@release", release)])
    assert len(set(found)) == 3
    assert found[0] == "twmd" and found[2] == "twmd@release"
    assert resolve(found[1])[1] == release


def test_models_are_called_by_the_last_part_of_their_path_where_that_is_enough():
    assert of("twmd[encoder.model=/a/one]", "twmd[encoder.model=/a/two]") == [
        "twmd[encoder.model=one]",
        "twmd[encoder.model=two]",
    ]
    assert of("twmd[encoder.model=/a/one]", "twmd[encoder.model=/b/one]") == [
        "twmd[encoder.model=/a/one]",
        "twmd[encoder.model=/b/one]",
    ]


def test_a_value_with_a_slash_is_no_path():
    """`lazy-emd[transport.slack=0.5]` stood for 0.1/0.5."""
    names = ["lazy-emd[transport.slack=0.1/0.5]", "lazy-emd[transport.slack=0.1/0.7]"]
    assert of(*names) == names
    names = ["baryscore[readout.temperatures=1/0.5]", "baryscore[readout.temperatures=1/0.7]"]
    assert of(*names) == names


def test_paths_are_still_called_by_their_last_part():
    assert of("twmd[encoder.model=/models/one]", "twmd[encoder.model=/models/two]") == [
        "twmd[encoder.model=one]",
        "twmd[encoder.model=two]",
    ]
