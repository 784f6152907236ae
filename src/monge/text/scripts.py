"""Detect the script of a text, and list the languages that are written in a script.

The script of a letter is the first word of its Unicode name: CYRILLIC SMALL LETTER A, CJK UNIFIED
IDEOGRAPH-4E00.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

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
LANGUAGES_OF: Mapping[str, tuple[str, ...]] = {
    script: tuple(codes.split()) for script, codes in _LANGUAGES.items()
}
_BOTH = frozenset(("sr", "uz", "bs", "ku", "mn", "iu"))  # written in Latin letters too
_NAMES = {"CJK": "Chinese characters", "CANADIAN": "Canadian syllabics"}


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str | None:
    """Return the script of a letter; None for anything else, and for a letter without a name."""
    if not unicodedata.category(character).startswith("L"):
        return None
    return unicodedata.name(character, "").split(" ")[0].partition("-")[0] or None


def main_script(texts: Iterable[str]) -> str | None:
    """Return the script of most letters in some texts; None where they have no letters.

    Japanese mixes three: Chinese characters count as kana where a part of the letters are.
    """
    counts: Counter[str] = Counter()
    for text in texts:
        for character, times in Counter(text).items():
            script = _script(character)
            if script is not None:
                counts[script] += times
    kana = sum(counts[script] for script in _KANA)
    if kana and kana >= KANA_SHARE * (kana + counts["CJK"]):
        counts["HIRAGANA"] = kana + counts.pop("CJK", 0)
        del counts["KATAKANA"]
    return max(counts, key=lambda script: (counts[script], script)) if counts else None


@cache
def scripts_of(languages: frozenset[str]) -> frozenset[str]:
    """Return the scripts that languages (ISO 639-1) are written in; Latin by default."""
    non_latin = {script for script, codes in LANGUAGES_OF.items() if languages.intersection(codes)}
    latin = (
        languages - {code for codes in LANGUAGES_OF.values() for code in codes} or languages & _BOTH
    )
    return frozenset(non_latin | ({"LATIN"} if latin else set()))


def likely_language(script: str | None) -> str | None:
    """Return the likeliest language of a script; None for Latin and unknown scripts."""
    return next(iter(LANGUAGES_OF.get(script or "", ())), None)


def script_label(script: str) -> str:
    """Return a script's name for messages: Cyrillic letters, Chinese characters."""
    return _NAMES.get(script, f"{script.capitalize()} letters")
