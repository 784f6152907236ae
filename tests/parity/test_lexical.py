"""Lexical metrics against real judgements (MONGE_DATA) and against nltk's METEOR.

The correlations are those of the data's README: chrF, characters 1-6, beta 2, spaces removed,
Pearson. Its chrF counts 0 for an order that a text is too short for; sacrebleu's default leaves
that order out, and `eps_smoothing` does as the README. One short segment of WMT17 cs-en shows the
difference (.514 and .517).
"""

import csv
import os
import random
from pathlib import Path

import numpy as np
import pytest

from monge.metrics.lexical import LexicalSpec
from monge.text import lexical
from monge.text.lexical import porter_stemmer
from monge.text.meteor import MeteorScorer

pytest.importorskip("sacrebleu")

DASEG = {
    2015: {"cs-en": 0.551, "de-en": 0.604, "fi-en": 0.573, "ru-en": 0.610, "en-ru": 0.650},
    2016: {
        "cs-en": 0.657,
        "de-en": 0.469,
        "fi-en": 0.456,
        "ro-en": 0.580,
        "ru-en": 0.534,
        "tr-en": 0.555,
        "en-ru": 0.681,
    },
}
WMT17 = {
    "cs-en": 0.514,
    "de-en": 0.531,
    "fi-en": 0.671,
    "lv-en": 0.525,
    "ru-en": 0.599,
    "tr-en": 0.607,
    "en-ru": 0.605,
    "en-zh": 0.608,
}
ALIASES = {"CASICT-cons.5144": "CASICT-DCU-NMT.5144", "CASICT-cons.5157": "CASICT-DCU-NMT.5157"}


def directory(name):
    root = os.environ.get("MONGE_DATA")
    if not root and not os.environ.get("CI"):
        pytest.skip("MONGE_DATA is not set to a directory")
    assert root and (Path(root) / name).is_dir(), f"MONGE_DATA has no {name}"
    return Path(root) / name


def lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def pearson(hypotheses, references, human, **options):
    scores = lexical.score(
        LexicalSpec("chrf", options), hypotheses, [[reference] for reference in references]
    )
    return np.corrcoef(scores.segments, human)[0, 1]


@pytest.mark.parametrize(
    ("year", "pair"), [(year, pair) for year, pairs in DASEG.items() for pair in pairs]
)
def test_chrf_with_judgements_of_wmt15_and_16(year, pair):
    folder = directory(f"wmt{year % 100}-seg-da") / f"wmt{year % 100}-daseg"
    part = {
        kind: lines(folder / f"DAseg.newstest{year}.{kind}.{pair}")
        for kind in ("human", "mt-system", "reference")
    }
    human = [float(judgement) for judgement in part["human"]]
    assert pearson(part["mt-system"], part["reference"], human) == pytest.approx(
        DASEG[year][pair], abs=0.002
    )


@pytest.mark.parametrize("pair", WMT17)
def test_chrf_with_judgements_of_wmt17(pair):
    folder = directory("wmt17-seg-da")
    raw, (source, target) = folder / "wmt17-raw-to-and-from-english", pair.split("-")
    references = lines(raw / "references" / f"newstest2017-{source}{target}-ref.{target}")
    with (folder / "DA-seglevel.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter=" ") if row["LP"] == pair]
    outputs = {}
    for row in rows:
        system = row["SYSTEM"].split("+")[0]
        path = (
            raw
            / "system-outputs"
            / "newstest2017"
            / pair
            / f"newstest2017.{ALIASES.get(system, system)}.{pair}"
        )
        if path not in outputs:
            outputs[path] = lines(path)
        row["text"] = outputs[path][int(row["SID"]) - 1]
    human = [float(row["HUMAN"]) for row in rows]
    texts = [row["text"] for row in rows], [references[int(row["SID"]) - 1] for row in rows]
    assert len(rows) == 560
    assert pearson(*texts, human, eps_smoothing=True) == pytest.approx(WMT17[pair], abs=0.002)
    effective = 0.517 if pair == "cs-en" else WMT17[pair]
    assert pearson(*texts, human) == pytest.approx(effective, abs=0.002)


class NoWordnet:
    def synsets(self, word):
        return []


def sentences(count, vocabulary, seed):
    draw = random.Random(seed)
    return [[draw.choice(vocabulary) for _ in range(draw.randint(1, 25))] for _ in range(count)]


WORDS = [
    "the",
    "a",
    "cat",
    "cats",
    "sat",
    "sitting",
    "sit",
    "run",
    "running",
    "runs",
    "on",
    "mat",
    "mats",
    "of",
    "nation",
]
WORDS += ["he", "her", "national", "nations"]


def test_greedy_meteor_is_that_of_nltk():
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    scorer = MeteorScorer(porter_stemmer(), alignment="greedy")
    best = MeteorScorer(porter_stemmer())
    higher = 0
    for hypothesis, reference in zip(
        sentences(400, WORDS, 1), sentences(400, WORDS, 2), strict=True
    ):
        nltk_score = nltk.single_meteor_score(reference, hypothesis, wordnet=NoWordnet())
        assert scorer.score(hypothesis, reference).score == pytest.approx(nltk_score, abs=1e-12)
        fewest = best.score(hypothesis, reference)
        assert fewest.score >= nltk_score - 1e-12
        assert fewest.matches == scorer.score(hypothesis, reference).matches
        higher += fewest.score > nltk_score + 1e-9
    assert higher > 100, "fewer chunks are found where words repeat"


def test_meteor_is_that_of_nltk_where_no_word_repeats():
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    scorer, draw = MeteorScorer(porter_stemmer()), random.Random(4)
    pairs = [
        ("cat", "cats"),
        ("sat", "sits"),
        ("mat", "mats"),
        ("nation", "nations"),
        ("jumped", "jumps"),
        ("dog", "dogs"),
    ]
    same = ["the", "on", "of", "he", "her", "brown", "fox", "lazy"]
    words, other = [a for a, _ in pairs] + same, [b for _, b in pairs] + same
    for _ in range(300):
        hypothesis, reference = (
            draw.sample(words, draw.randint(1, 14)),
            draw.sample(other, draw.randint(1, 14)),
        )
        theirs = nltk.single_meteor_score(reference, hypothesis, wordnet=NoWordnet())
        assert scorer.score(hypothesis, reference).score == pytest.approx(theirs, abs=1e-12)
