"""Units of other languages and scripts through multilingual-e5-small, where its directory is."""

import pytest

from monge import api
from monge.metrics.axes import UnitSettings
from monge.text import stopwords
from monge.text.select import select

TEXTS = {
    "de": ("„Der Hund“ – so hieß es – bellt nicht!", ["Hund", "hieß", "bellt"]),
    "ru": ("«Кошка», однако, не спит…", ["Кошка", "спит"]),
    "tr": ("Kedi, 'halının' üstünde uyuyor mu?", ["Kedi", "halının", "üstünde", "uyuyor"]),
    "fi": ("Kissa ei nuku — ”miksi”?", ["Kissa", "nuku"]),
    "zh": ("猫在垫子上睡觉。“真的”？", None),
}


@pytest.fixture(scope="module")
def encoder(models_dir):
    return api.encoder_for(str(models_dir / "multilingual-e5-small"))


@pytest.mark.parametrize("language", TEXTS)
def test_words_without_punctuation_and_stopwords(encoder, language):
    text, wanted = TEXTS[language]
    units = UnitSettings(subwords="mean", punctuation="drop", stopwords=language)
    tokens = encoder.tokenise([text])[0]
    labels = list(select(tokens, units, stopwords.load(language)).labels)
    assert not any(mark in "".join(labels) for mark in "„“–!«»,…?—”'。")
    if wanted is None:
        assert len(labels) >= 4  # no spaces, and yet more than one word
        assert "猫" in "".join(labels)
        assert all(len(label) <= 4 for label in labels)
    else:
        assert [word for word in labels if word in wanted] == wanted


def test_other_scripts_score(models_dir):
    hypotheses = [text for text, _ in TEXTS.values()]
    result = api.score(
        hypotheses,
        hypotheses,
        metric="xmoverscore",
        model=str(models_dir / "multilingual-e5-small"),
    )
    assert result.segments == pytest.approx(1, abs=1e-6)
    assert result.run["flagged"] == {}
