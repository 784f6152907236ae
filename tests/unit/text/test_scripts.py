"""Which script texts are in, and which languages are written in it."""

import pytest

from monge.metrics.languages import LANGUAGES
from monge.text.language import LANGUAGES_OF, likely_language, main_script, script_label, scripts_of


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("The dog barks.", "LATIN", None),
        ("Kedi pencerenin yanında uyuyor, çay içiyor.", "LATIN", None),
        ("敏捷的棕色狐狸跳过了懒狗。", "CJK", "zh"),
        ("敏捷的棕色狐狸 iPhone 15", "CJK", "zh"),
        ("猫が窓のそばで眠る", "HIRAGANA", "ja"),
        ("東京都庁舎前広場駐車場入口の案内", "HIRAGANA", "ja"),
        ("コーヒー", "HIRAGANA", "ja"),
        ("고양이가 창가에서 잔다", "HANGUL", "ko"),
        ("Кошка спит у окна", "CYRILLIC", "ru"),
        ("القطة تنام", "ARABIC", "ar"),
        ("השועל החום", "HEBREW", "he"),
        ("बिल्ली सो रही है", "DEVANAGARI", "hi"),
        ("Η γάτα κοιμάται", "GREEK", "el"),
        ("แมวนอนหลับ", "THAI", "th"),
        ("🍕🍕 123 ?! ", None, None),
        ("", None, None),
    ],
)
def test_main_script_and_its_likely_language(text, script, language):
    assert main_script([text]) == script
    assert likely_language(script) == language


def test_scripts_are_counted_over_all_texts():
    assert main_script(["ab", "б", "1 ?"]) == "LATIN"
    assert main_script(["English words", "и", "три"]) == "LATIN"
    assert main_script(["OK", "Кошка спит у окна"]) == "CYRILLIC"


def test_what_languages_are_written_in():
    assert scripts_of(frozenset({"en"})) == {"LATIN"}
    assert scripts_of(frozenset({"ru"})) == {"CYRILLIC"}
    assert scripts_of(frozenset({"sr"})) == {"CYRILLIC", "LATIN"}
    assert scripts_of(frozenset({"ja"})) == {"CJK", "HIRAGANA", "KATAKANA"}
    assert scripts_of(frozenset(LANGUAGES)) == {"LATIN", *LANGUAGES_OF}
    assert scripts_of(frozenset()) == frozenset()


def test_the_table_has_known_languages_alone_and_every_script_a_name():
    assert {code for codes in LANGUAGES_OF.values() for code in codes} <= set(LANGUAGES)
    assert (
        script_label("CYRILLIC") == "Cyrillic letters"
        and script_label("CJK") == "Chinese characters"
    )
