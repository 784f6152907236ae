"""Entities and the spaces of the Moses tokeniser."""

import pytest

from monge.datasets.prepare import detokenise, map_texts, unescape
from monge.types import Segment


def test_entities():
    assert unescape("it &apos;s &quot; a &amp; b &quot; &#124; &lt;") == 'it \'s " a & b " | <'


@pytest.mark.parametrize(
    ("tokenised", "text"),
    [
        ("the cat sat .", "the cat sat."),
        ("it &apos;s john &apos;s , is n&apos;t it ?", "it's john's, is n't it?"),
        ("don &apos;t", "don't"),
        ("the joneses &apos; house", "the joneses' house"),
        ("he said , &quot; go away ! &quot; and left", 'he said, "go away!" and left'),
        ("&quot; a &quot; and &quot; b &quot;", '"a" and "b"'),
        ("a ( small ) test [ x ]", "a (small) test [x]"),
        ("$ 5 and 10 %", "$5 and 10%"),
        ("state @-@ of @-@ the @-@ art", "state-of-the-art"),
        ("&apos; quoted &apos; text", "'quoted' text"),
        ("", ""),
        ("one", "one"),
    ],
)
def test_detokenise(tokenised, text):
    assert detokenise(tokenised) == text


def test_a_segment_keeps_its_source():
    segment = Segment("1", "a .", ("b .", "c ."), "s .", "x")
    assert map_texts(segment, detokenise) == Segment("1", "a.", ("b.", "c."), "s .", "x")
