"""The sentence splitter, rule by rule."""

import time

import pytest

from monge.errors import UnknownName
from monge.text.sentences import sentence_spans, sentences

ENGLISH = [
    "One. Two! Three? Four… Five",
    "It rose 3.5 percent to $1.20. | It fell.",
    "Mr. Smith met Dr. J. K. Jones. | They spoke.",
    "She lives in the U.S. | The law is old.",
    "The U.S. Senate voted.",
    "Apples, pears, etc. | They are fruit.",
    "Apples etc. are fruit.",
    "We met at 5 p.m. on Monday.",
    "We met at 5 p.m. | It rained.",
    "It was I. | Then he left.",
    'He said: "Stop!" | He left.',
    'She asked, "Really?" and left.',
    "“It is late.” | “I know.”",
    "(It was cold.) | Nobody came.",
    "Wait... what?! | Yes.",
    "e.g. Paris and i.e. Rome are meant. | See Fig. 3 there.",
    "It ended in 1999. | Nobody knew.",
    "1. First point. | 2. Second point.",
    "a) one thing. | B. another thing.",
    "Line one\ngoes on. | Next.",
    "A title\n\n | A text.",
    "Visit example.com today. | Now.",
    "No stop at the end",
    "¿Qué? | ¡No!",
]
GERMAN = [
    "Am 3. Oktober war es soweit. | Alle kamen.",
    "Das kostet ca. 5 Mio. Euro.",
    "Er kam z.B. aus Köln, d.h. aus dem Westen.",
    "Sie heißt Dr. Müller. | Er heißt Prof. Schmidt.",
    "Äpfel, Birnen usw. | Das ist Obst.",
    "Das geschah 1989. | Danach war alles anders.",
    "Er wurde 12. | Das war gut.",
    "„Halt!“ | Er lief weg.",
    "„Wirklich?“ fragte sie.",
    "Die Müller GmbH & Co. KG liefert.",
]
OTHERS = [
    "这是一句。 | 这是第二句！ | 好吗？ | 好",
    "「はい。」 | 次の文。",
    "यह एक है। | यह दो है।",
    "هل هذا صحيح؟ | نعم.",
    "Это А. С. Пушкин. | Да!",
]


def split(line):
    return [part.strip() for part in line.split(" | ")]


def whole(line):
    return line.replace(" | ", " ") if "\n\n" not in line else line.replace(" | ", "")


@pytest.mark.parametrize("line", ENGLISH[1:])
def test_english(line):
    assert sentences(whole(line)) == split(line)


def test_every_mark_ends_a_sentence():
    assert sentences(ENGLISH[0]) == ["One.", "Two!", "Three?", "Four…", "Five"]


@pytest.mark.parametrize("line", GERMAN)
def test_german(line):
    assert sentences(whole(line), "de") == split(line)


@pytest.mark.parametrize("line", OTHERS)
def test_other_scripts(line):
    assert sentences(whole(line), "none") == split(line)


def test_full_width_marks_need_no_space():
    assert sentences("一。二！三", "none") == ["一。", "二！", "三"]


@pytest.mark.parametrize("text", ["", "  ", "\n\n \n"])
def test_nothing(text):
    assert sentence_spans(text) == []


def test_the_language_decides():
    assert sentences("Am 3. Oktober.", "en") == ["Am 3.", "Oktober."]
    assert sentences("See Mr. Smith.", "none") == ["See Mr.", "Smith."]
    with pytest.raises(UnknownName, match="did you mean en"):
        sentences("x", "eng")


def test_spans_are_trimmed_in_order_and_cover_all_text():
    text = "  One is here.   Two\n\n\nThree!  Four "
    spans = sentence_spans(text)
    assert [text[a:b] for a, b in spans] == ["One is here.", "Two", "Three!", "Four"]
    covered = "".join(text[a:b] for a, b in spans)
    assert covered.replace(" ", "") == "".join(text.split())


def test_long_texts_take_linear_time():
    start = time.perf_counter()
    assert len(sentences("Mr. A. was here etc. " * 20000)) == 1
    assert len(sentences("...." * 50000 + "x")) == 1
    assert len(sentences("." + '"' * 200000 + "x")) == 1
    assert len(sentences("a" * 200000 + ". B")) == 2
    assert len(sentences("\n" * 200000 + "x")) == 1
    assert time.perf_counter() - start < 10, "a second or so; a quadratic search takes many minutes"
