"""Units of other languages and scripts through multilingual-e5-small, where its directory is."""

import os
from pathlib import Path

import pytest

from monge import api
from monge.spec.parts import Units
from monge.text import stopwords
from monge.text.select import select

MODEL = Path(os.environ.get("MONGE_CI_MODELS", "/root/.cache/monge-ci/models")) / "multilingual-e5-small"
pytestmark = pytest.mark.skipif(not MODEL.is_dir(), reason="needs multilingual-e5-small")

TEXTS = {
    "de": ("„Der Hund“ – so hieß es – bellt nicht!", ["Hund", "hieß", "bellt"]),
    "ru": ("«Кошка», однако, не спит…", ["Кошка", "спит"]),
    "tr": ("Kedi, 'halının' üstünde uyuyor mu?", ["Kedi", "halının", "üstünde", "uyuyor"]),
    "fi": ("Kissa ei nuku — ”miksi”?", ["Kissa", "nuku"]),
    "zh": ("猫在垫子上睡觉。“真的”？", None),
}


@pytest.fixture(scope="module")
def encoder():
    return api.encoder_for(str(MODEL))


@pytest.mark.parametrize("language", TEXTS)
def test_words_without_punctuation_and_stopwords(encoder, language):
    text, wanted = TEXTS[language]
    units = Units(subwords="mean", punctuation="drop", stopwords=language)
    tokens = encoder.tokenise([text])[0]
    labels = list(select(tokens, units, stopwords.load(language)).labels)
    assert not any(mark in "".join(labels) for mark in "„“–!«»,…?—”'。")
    if wanted is None:
        assert len(labels) >= 4  # no spaces, and yet more than one word
        assert "猫" in "".join(labels)
        assert all(len(label) <= 4 for label in labels)
    else:
        assert [word for word in labels if word in wanted] == wanted


def test_other_scripts_score(encoder):
    hypotheses = [text for text, _ in TEXTS.values()]
    result = api.score(hypotheses, hypotheses, metric="xmoverscore", model=str(MODEL))
    assert result.segments == pytest.approx(1, abs=1e-6)
    assert result.run["flagged"] == {}
