"""Which script a text is written in, and which languages are written in it: no model, no dictionary.

The script of a letter is the first word of its Unicode name: CYRILLIC SMALL LETTER A, CJK UNIFIED IDEOGRAPH-4E00.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

_KANA = ("HIRAGANA", "KATAKANA")
KANA_SHARE = 0.05
"""A text with Chinese characters is Japanese where at least this share of its letters are kana."""

# script: the language that is most likely meant by it first, then the others that are written in it
_LANGUAGES = {
    "CYRILLIC": "ru uk bg be sr mk kk ky mn tg tt ba ce cv os ab cu kv uz bs",
    "ARABIC": "ar fa ur ps ug sd ks ku",
    "HEBREW": "he yi",
    "CJK": "zh ja ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "GREEK": "el",
    "DEVANAGARI": "hi mr ne sa ks",
    "BENGALI": "bn as",
    "GURMUKHI": "pa",
    "GUJARATI": "gu",
    "ORIYA": "or",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "THAI": "th",
    "LAO": "lo",
    "TIBETAN": "bo dz",
    "MYANMAR": "my",
    "KHMER": "km",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "ETHIOPIC": "am ti",
    "THAANA": "dv",
    "YI": "ii",
    "CANADIAN": "cr iu oj",
    "AVESTAN": "ae",
}
LANGUAGES_OF: Mapping[str, tuple[str, ...]] = {script: tuple(codes.split()) for script, codes in _LANGUAGES.items()}
_BOTH = frozenset(("sr", "uz", "bs", "ku", "mn", "iu"))  # written in Latin letters too
_NAMES = {"CJK": "Chinese characters", "CANADIAN": "Canadian syllabics"}


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str | None:
    """The script of a letter; None for anything else, and for a letter without a name."""
    if not unicodedata.category(character).startswith("L"):
        return None
    return unicodedata.name(character, "").split(" ")[0].partition("-")[0] or None


def letters(texts: Iterable[str]) -> Counter[str]:
    """How many letters of each script some texts have."""
    found: Counter[str] = Counter()
    for text in texts:
        for character, times in Counter(text).items():
            script = _script(character)
            if script is not None:
                found[script] += times
    return found


def main_script(texts: Iterable[str]) -> str | None:
    """The script that most letters of some texts are in; None where they have no letters.

    Japanese mixes three: Chinese characters count as kana where a part of the letters are.
    """
    found = letters(texts)
    kana = sum(found[one] for one in _KANA)
    if kana and kana >= KANA_SHARE * (kana + found["CJK"]):
        found["HIRAGANA"] = kana + found.pop("CJK", 0)
        del found["KATAKANA"]
    return max(found, key=lambda one: (found[one], one)) if found else None


def written_in(languages: Iterable[str]) -> frozenset[str]:
    """The scripts that languages (ISO 639-1) are written in: Latin for those that no other is known of."""
    wanted = set(languages)
    other = {script for script, codes in LANGUAGES_OF.items() if wanted.intersection(codes)}
    latin = wanted - {code for codes in LANGUAGES_OF.values() for code in codes} or wanted & _BOTH
    return frozenset(other | ({"LATIN"} if latin else set()))


def likely_language(script: str | None) -> str | None:
    """The language that a script most likely means; None for Latin letters and unknown scripts."""
    return next(iter(LANGUAGES_OF.get(script or "", ())), None)


def said(script: str) -> str:
    """A script as people call it: Cyrillic letters, Chinese characters."""
    return _NAMES.get(script, f"{script.capitalize()} letters")
