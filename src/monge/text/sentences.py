"""A small sentence splitter with declared rules, for metrics that move sentences.

A sentence ends

1. after a run of . ! ? … (with closing quotes and brackets) that white space follows, unless one of
4-7 forbids it; 2. after 。！？ and the like, with closing quotes, white space or not; 3. at a blank
line. A single line break is white space.

A full stop does not end a sentence

4. before a lower-case letter (nor do ! ? … there: "Really?" she asked); 5. after an abbreviation of
the language (`ABBREVIATIONS`), an initial (J. Smith) or letters with inner points (U.S.,
   z.B.) — but one that can stand last (etc., Inc., U.S.) ends it before a word that usually begins
   sentences (`STARTERS`);
6. in German after a number of one or two digits (am 3. Oktober), except before one of `STARTERS`;
7. after a number or letter that opens the line or follows another boundary (1. First point).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from monge.errors import UnknownName

_CLOSERS = "\"'”’»«›‹“)\\]}」』】）"
_OPENERS = "\"'“‘„‚«»‹›([{¿¡"
_STOPS = ".!?…؟۔।॥።։"
_BREAK = re.compile(
    rf"(?<![{_STOPS}])(?P<stop>[{_STOPS}]++)[{_CLOSERS}]*+(?=\s|$)|[。！？｡]++[{_CLOSERS}]*+|\n[^\S\n]*+\n\s*+"
)
LONGEST_WORD = 40
_LAST_WORD = re.compile(rf"[^\s{_OPENERS}—–/]*$")
_NEXT_WORD = re.compile(rf"\s*[{_OPENERS}]*(?P<word>[^\W_]+(?:['’]\w+)?|\S)?")
_POINTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LABEL = re.compile(r"(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})")

# Never the last word of a sentence: titles, and what a name or a number follows.
_BEFORE = {
    "en": "mr mrs ms dr prof st mt gen col lt sgt capt cmdr sen rep gov pres rev hon messrs mme "
    "mlle no nos vs cf fig figs eq eqs sec ch vol pp p ed eds jan feb mar apr jun jul aug sept "
    "sep oct nov dec e.g i.e viz approx",
    "de": "hr hrn fr frl dr prof dipl ing mag st nr art abs kap bd s vgl ca bzw evtl ggf inkl "
    "exkl zzgl abzgl z.b d.h u.a i.d.r o.ä s.o s.u v.a z.t geb gest jan feb mär apr jun jul aug "
    "sept sep okt nov dez mio mrd tel str jh jhd sog usf allg bes dt engl frz",
}
# May be the last word of a sentence.
_LAST = {
    "en": "etc inc ltd co corp jr sr bros al a.m p.m ph.d b.a m.a u.s u.k u.n e.u d.c ave blvd "
    "dept est",
    "de": "usw etc u.s.w u.dgl usf co gmbh ag e.v a.d n.chr v.chr",
}
_STARTERS = {
    "en": "the a an this that these those he she it they we you i there here in on at but and so "
    "however then when while if as after before his her its their our my what who why how where "
    "not no yes for with from by one some",
    "de": "der die das ein eine einen einem er sie es wir ihr ich dieser diese dieses dies hier "
    "da dort dann doch aber und so wenn als nach vor während im in am an auf bei mit für von zu "
    "sein seine ihre unser was wer wie wo nicht nein ja auch jedoch man nun",
}


def _split_words(table: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType(
        {language: frozenset(words.split()) for language, words in table.items()}
    )


ABBREVIATIONS = _split_words(_BEFORE)
FINAL_ABBREVIATIONS = _split_words(_LAST)
STARTERS = _split_words(_STARTERS)


def sentence_spans(text: str, language: str = "en") -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, without the white space around them.

    Args:
        text: any text; an empty one has no sentences.
        language: `en` or `de`, whose abbreviations are known, or `none` for a text of another
            language.
    """
    if language != "none" and language not in ABBREVIATIONS:
        raise UnknownName("sentence language", language, [*ABBREVIATIONS, "none"])
    ends = []
    start = 0
    for match in _BREAK.finditer(text):
        if match["stop"] is None or _ends_sentence(text, start, match, language):
            ends.append(match.end())
            start = match.end()
    spans = zip([0, *ends], [*ends, len(text)], strict=True)
    return [trimmed for span in spans if (trimmed := _trim(text, *span)) is not None]


def sentences(text: str, language: str = "en") -> list[str]:
    """Split a text into sentences."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    body = text[start:end]
    first, size = start + len(body) - len(body.lstrip()), len(body.strip())
    return (first, first + size) if size else None


def _ends_sentence(text: str, start: int, match: re.Match[str], language: str) -> bool:
    """Return whether a run of . ! ? … followed by white space ends a sentence (rules 4 to 7)."""
    following = _NEXT_WORD.match(text, match.end())
    after = (following and following["word"]) or ""
    if after[:1].islower():
        return False
    if match["stop"] != ".":
        return True
    near = text[max(start, match.start() - LONGEST_WORD) : match.start()]
    last_word = _LAST_WORD.search(near)
    word = last_word[0] if last_word else ""
    opens = match.start() - start < LONGEST_WORD and not near[: len(near) - len(word)].strip(
        _OPENERS + " \n\t"
    )
    if opens and _LABEL.fullmatch(word):
        return False
    starts = after.lower() in STARTERS.get(language, frozenset())
    if word.lower() in ABBREVIATIONS.get(language, frozenset()):
        return False
    if language == "de" and re.fullmatch(r"\d{1,2}", word):
        return starts
    final = (
        word.lower() in FINAL_ABBREVIATIONS.get(language, frozenset())
        or _POINTED.fullmatch(word) is not None
    )
    initial = len(word) == 1 and word.isupper() and (word != "I" or language != "en")
    return starts if final or initial else True
