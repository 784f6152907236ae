"""Which script and language texts are in: no model, no dictionary, good enough for a warning.

The script of a letter is the first word of its Unicode name: CYRILLIC SMALL LETTER A, CJK UNIFIED
IDEOGRAPH-4E00. The language of a text in Latin letters is guessed from its most frequent words; a
word that several languages share counts for each of them in parts. `guess_language` gives None
wherever the texts are short or two languages are close.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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


WORDS = 24
"""Words that a guess needs at least."""
SHARE, MARGIN = 0.08, 1.6
"""The least share of words typical of a language, and its least lead over the next one."""

_FREQUENT = {
    "en": "the of and to in a is that for it was on with as be at by this have from are not he his "
    "they which were but",
    "de": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch es "
    "an werden aus er hat",
    "fr": "le la les de des du et en un une est que qui dans pour pas au sur avec par plus ne ce "
    "il se sont aux cette",
    "es": "el la los las de del y en un una que es por con para no se su al lo como más pero sus "
    "ha este entre sobre",
    "it": "il lo la gli le di del della e in un una che è per con non si da al dei sono anche più "
    "nel alla ha come",
    "pt": "o os as de do da dos das e em um uma que é por com para não se no na ao mais como foi "
    "pelo sua são",
    "nl": "de het een van en in is dat op te voor met zijn niet aan er ook als om bij door maar "
    "naar worden heeft dan",
    "sv": "och att det i som en på är av för den med till inte har de om ett var men så från eller "
    "vi kan när efter",
    "da": "og at det i som en på er af for den med til ikke har de om et var men så fra eller vi "
    "kan når efter ved",
    "no": "og å det i som en på er av for den med til ikke har de om et var men så fra eller vi "
    "kan når etter ble",
    "fi": "ja on ei se että oli hän mutta myös kun joka ovat sekä niin mukaan jo vain voi tai "
    "hänen kuin olla mitä sen",
    "et": "ja on ei see et oli ta aga ka kui mis kes ning siis oma seda selle nii või mida olid "
    "tema üks kuid veel",
    "lv": "un ir ka no par ar uz tas kas bija lai kā bet pēc viņš arī nav tā vai jau to gan tikai "
    "ko pie savu gada",
    "lt": "ir yra kad iš su tai bet kaip jis buvo ne už apie dėl taip po į jo prie tik jau kurie "
    "metų jos nuo",
    "pl": "i w na z że się nie do jest to o jak po za od dla przez przy które był co ale są już "
    "jego tym oraz czy",
    "cs": "a v na se že je to s z do i o jako by pro ve za po od podle ale který jsou byl při není "
    "aby také které jeho",
    "sk": "a v na sa že je to s z do aj o ako by pre vo za po od podľa ale ktorý sú bol pri nie "
    "aby tiež ktoré jeho",
    "sl": "in v na se da je to s z do pa o kot bi za po od ki so bil pri ni tudi še ali iz ne bo "
    "njegov tako med",
    "hr": "i u na se da je to s z do o kao bi za po od koji su bio pri nije također ali iz ne će "
    "njegov što te ili",
    "ro": "și de la în a care cu pe nu este un o mai din să pentru ce ale al sunt au fost prin sau "
    "dar lui după",
    "hu": "a az és hogy nem is egy van meg csak de volt ez már még mint el ki azt vagy ha be lesz "
    "majd sem szerint",
    "tr": "ve bir bu da de için ile çok daha olarak gibi olan ne en ama kadar sonra var değil onun "
    "ki her o şey",
    "id": "yang dan di dengan untuk dari ini itu pada dalam tidak akan adalah juga ke oleh sebagai "
    "karena bisa telah",
    "vi": "và của là có không được các cho trong một người những đã với này để khi đến về như cũng "
    "ra",
    "ca": "el la els les de del i en un una que és per amb no es al com més però seu ha aquest "
    "entre sobre dels",
}
_FAMILIES = (
    "en",
    "de nl",
    "sv da no",
    "fr es it pt ca ro",
    "fi et",
    "lv lt",
    "pl cs sk sl hr",
    "hu",
    "tr",
    "id",
    "vi",
)
"""Languages with shared frequent words: families must lead, a language only within its own."""
_WORD = re.compile(r"[^\W\d_]+")


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    """Return each frequent word's weight by language and family: 1 / how many share it."""
    family_of = {language: family for family in _FAMILIES for language in family.split()}
    owners: dict[str, list[str]] = {}
    for language, words in _FREQUENT.items():
        for word in words.split():
            owners.setdefault(word, []).append(language)
    weights: dict[str, dict[str, float]] = {}
    for word, languages in owners.items():
        families = {f"family {family_of[language]}" for language in languages}
        weights[word] = dict.fromkeys(languages, 1 / len(languages)) | dict.fromkeys(
            families, 1 / len(families)
        )
    return weights


def guess_language(texts: Iterable[str]) -> str | None:
    """Guess the language (ISO 639-1) of texts in Latin letters; None where it cannot be told."""
    weights, total = _weights(), 0
    points = dict.fromkeys([*_FREQUENT, *(f"family {family}" for family in _FAMILIES)], 0.0)
    for text in texts:
        for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
            total += 1
            for owner, weight in weights.get(word, {}).items():
                points[owner] += weight
    ranked = sorted(_FAMILIES, key=lambda family: points[f"family {family}"], reverse=True)
    most, second = (points[f"family {family}"] for family in ranked[:2])
    if total < WORDS or most < SHARE * total or most < MARGIN * second:
        return None
    return max(ranked[0].split(), key=lambda language: points[language])


def detect_languages(
    texts: Mapping[str, Sequence[str]],
) -> dict[str, tuple[str | None, str | None]]:
    """Return the script and the likely language of the texts under each name."""
    detected = {}
    for name, group in texts.items():
        script = main_script(group)
        is_latin = script == "LATIN"
        detected[name] = script, guess_language(group) if is_latin else likely_language(script)
    return detected
