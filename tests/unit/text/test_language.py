"""Guesses of the language of texts in Latin letters: right where they are given, and given for a
few sentences.
"""

import pytest

from monge.evaluation.task import Task, target_language
from monge.text.language import _FAMILIES, _FREQUENT, guess_language

GERMAN = [
    "Die Regierung hat am Montag angekündigt, dass die Steuern nicht erhöht werden.",
    "Er ist mit dem Zug nach Berlin gefahren und hat dort einen Freund besucht.",
]
ENGLISH = [
    "The government announced on Monday that taxes will not be raised this year.",
    "He went to Berlin by train and visited a friend of his in the city there.",
]


def test_two_sentences_are_enough():
    assert (guess_language(GERMAN), guess_language(ENGLISH)) == ("de", "en")


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["Berlin London Paris " * 20], ["the cat"], GERMAN + ENGLISH, ["猫 坐 在 " * 30]],
)
def test_nothing_is_guessed_of_short_or_mixed_texts(texts):
    assert guess_language(texts) is None


def test_every_language_is_of_one_family():
    assert sorted(language for family in _FAMILIES for language in family.split()) == sorted(
        _FREQUENT
    )


@pytest.mark.parametrize("dataset", ["wmt17", "wmt18"])
def test_references_of_wmt(dataset, data_dir):
    """64 segments at a time, as a run looks at: always right; five at a time: never wrong for
    English.
    """
    for judged in Task(dataset, data_dir).open():
        for name, group in judged.groups.items():
            references = list(dict.fromkeys(row.references[0] for row in group.segments))[:960]
            target = target_language(name)
            expected = target if target in _FREQUENT else None
            for start in range(0, len(references) - 63, 64):
                assert guess_language(references[start : start + 64]) == expected, (name, start)
            if target == "en":
                guesses = {
                    guess_language(references[k : k + 5]) for k in range(0, len(references), 5)
                }
                assert guesses <= {"en", None}, name
