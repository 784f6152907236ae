"""Codes of languages, and what is offered for others."""

import re

import pytest

from monge.errors import InvalidSetting
from monge.metrics.languages import LANGUAGES, check_language
from monge.metrics.presets import resolve


def test_every_code_is_two_letters_with_a_name():
    assert len(LANGUAGES) == 183
    assert all(
        re.fullmatch("[a-z]{2}", code) and name[0].isupper() for code, name in LANGUAGES.items()
    )
    for code in LANGUAGES:
        check_language(code)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("klingon", r"^unknown language 'klingon' \(accepted"),
        ("Germn", r"did you mean de \(German\)"),
        ("chinese", r"did you mean zh \(Chinese\)"),
        ("EN", r"did you mean en \(English\)"),
        ("", r"unknown language ''"),
    ],
)
def test_others_are_refused_whatever_the_metric(given, said):
    for name in ("twmd", "lazy-emd", "chrf", "sentsim"):
        with pytest.raises(InvalidSetting, match=said):
            resolve(name, (), given)
