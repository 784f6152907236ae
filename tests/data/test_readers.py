"""The published judgements themselves: row counts, the traps of their files, and known
correlations.

MONGE_DATA names a directory with one directory a data set (`unpack` of the shared data makes it).
"""

import json
import os
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from monge.datasets import describe, open_dataset
from monge.datasets.lines import read_lines
from monge.errors import UnknownName, Unreadable

ROOT = Path(os.environ.get("MONGE_DATA", ""))

pytestmark = pytest.mark.skipif(not os.environ.get("MONGE_DATA"), reason="MONGE_DATA is not set")


@cache
def opened(name, **options):
    """A data set from the common root: equal file names of other years stand beside it."""
    pairs = options.pop("pairs", None)
    return open_dataset(name, ROOT, pairs=pairs.split() if pairs else None, **options)


def sizes(judged):
    return {name: group.n for name, group in judged.groups.items()}


def chrf(hypothesis, reference):
    """Characters 1 to 6, beta 2, spaces removed, orders without any n-gram counted as 0: what the
    notes measured.
    """
    texts = hypothesis.replace(" ", ""), reference.replace(" ", "")
    ratios = []
    for order in range(1, 7):
        one, other = (
            Counter(text[i : i + order] for i in range(len(text) - order + 1)) for text in texts
        )
        common = (one & other).total()
        ratios.append((common / max(one.total(), 1), common / max(other.total(), 1)))
    precision, recall = np.mean(ratios, axis=0)
    return 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


def correlation(group):
    scores = [chrf(segment.hypothesis, segment.references[0]) for segment in group.segments]
    return np.corrcoef(scores, group.scores)[0, 1]


@pytest.mark.parametrize(
    ("name", "options", "total"),
    [
        ("wmt15", {}, 5 * 500),
        ("wmt16", {}, 7 * 560),
        ("wmt17", {}, 9 * 560),
        ("wmt17", {"text": "tokenised"}, 7 * 560),
        ("wmt17", {"human": "darr"}, 43_010),
        ("wmt17", {"level": "system", "pairs": "cs-en de-en en-de"}, 4 + 11 + 16),
        ("wmt18", {}, 326_852),
        ("sts12", {}, 3_108),
        ("sts13", {}, 2_250),
        ("sts13", {"pairs": "FNWN OnWN headlines"}, 1_500),
        ("sts14", {}, 3_750),
        ("stsb", {"split": "train"}, 5_749),
        ("stsb", {"split": "dev"}, 1_500),
        ("stsb", {}, 1_379),
        ("stsb", {"pairs": "*"}, 14 * 1_379),
        ("tac08", {"include_human_peers": True, "include_one_sentence_peers": True}, 48 * 62),
        ("summeval", {}, 1_600),
        ("summeval", {"level": "system"}, 16),
        ("bagel", {}, 404),
        ("sfhotel", {}, 875),
        ("sfrest", {}, 1_181),
        ("flickr8k", {}, 5_664),
        ("mlqe-pe", {}, 4 * 1_000),
        ("mlqe-pe", {"split": "dev"}, 4 * 1_000),
    ],
)
def test_the_published_numbers_of_rows(name, options, total):
    judged = opened(name, **options)
    assert judged.n == total
    assert not [warning for warning in judged.warnings if "were published" in warning]


@pytest.mark.parametrize(
    ("name", "human"),
    [("wmt15", "da"), ("wmt16", "da"), ("wmt17", "da"), ("wmt17", "darr"), ("wmt18", "darr")],
)
def test_the_published_numbers_of_each_pair(name, human):
    judged = opened(name) if human == describe(name).human else opened(name, human=human)
    assert sizes(judged) == describe(name).expected[human]


KNOWN = {
    "wmt15": {"cs-en": 0.551, "de-en": 0.604, "fi-en": 0.573, "ru-en": 0.610, "en-ru": 0.650},
    "wmt16": {
        "cs-en": 0.657, "de-en": 0.469, "fi-en": 0.456, "ro-en": 0.580, "ru-en": 0.534, "tr-en": 0.555, "en-ru": 0.681,
    },
    "wmt17": {
        "cs-en": 0.514, "de-en": 0.531, "fi-en": 0.671, "lv-en": 0.525, "ru-en": 0.599, "tr-en": 0.607, "zh-en": 0.592,
        "en-ru": 0.605, "en-zh": 0.608,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "pair"), [(name, pair) for name, pairs in KNOWN.items() for pair in pairs]
)
def test_texts_and_scores_are_aligned(name, pair):
    assert correlation(opened(name).groups[pair]) == pytest.approx(KNOWN[name][pair], abs=0.001)


def test_texts_of_the_tokenised_archive_are_aligned():
    judged = opened("wmt17", text="tokenised")
    assert correlation(judged.groups["zh-en"]) == pytest.approx(0.582, abs=0.001)


@pytest.mark.parametrize(("pair", "tau"), [("cs-en", 0.290), ("en-cs", 0.509), ("en-tr", 0.406)])
def test_rankings_point_at_the_right_texts(pair, tau):
    group = opened("wmt18").groups[pair]
    scores = np.array(
        [chrf(segment.hypothesis, segment.references[0]) for segment in group.segments]
    )
    better, worse = scores[group.rankings].T
    assert (2 * (better > worse).sum() - len(better)) / len(better) == pytest.approx(tau, abs=0.001)


# Trap 1: segment numbers start at 1 (the alignments above), lines end at "\n" only.
def test_only_newline_ends_a_line():
    for path in (ROOT / "wmt18-darr").rglob("newstest2018*"):
        if path.is_file():
            assert len(read_lines(path)) == path.read_bytes().count(b"\n")


# Trap 2: of names joined by "+" the first.
def test_joined_system_names():
    text = (ROOT / "wmt17-seg-da/DA-seglevel.csv").read_text()
    assert sum("+" in line for line in text.split("\n")) == 155
    segments = [segment for group in opened("wmt17").groups.values() for segment in group.segments]
    assert not [segment.system for segment in segments if "+" in segment.system]


# Trap 3: names in the judgements that differ from the files, and one submission that the raw
# archive lacks.
def test_aliases_and_the_missing_submission():
    judged = opened("wmt17")
    assert judged.warnings == (
        "zh-en: ROCMT.5167 has no raw output; 25 judgements use the tokenised, lowercased texts",
    )
    systems = {segment.system for segment in judged.groups["zh-en"].segments}
    assert {"CASICT-cons.5144", "ROCMT.5167"} <= systems
    without = opened("wmt17", pairs="zh-en", fill=False)
    assert without.excluded == {"no system output": 25}
    assert not opened("wmt17", text="tokenised").warnings
    assert (
        "fbk-nmt-combination.4870"
        in opened("wmt17", level="system", pairs="en-de").groups["en-de"].systems
    )


# Trap 4: two versions of WMT17.
def test_two_versions_of_wmt17():
    raw, other = opened("wmt17").groups["de-en"], opened("wmt17", text="tokenised").groups["de-en"]
    assert [(s.id, s.system) for s in raw.segments] == [(s.id, s.system) for s in other.segments]
    assert raw.scores.tolist() == other.scores.tolist()
    assert any(segment.hypothesis != segment.hypothesis.lower() for segment in raw.segments)
    assert not any("&apos;" in segment.hypothesis for segment in other.segments)
    escaped = opened("wmt17", text="tokenised", entities=False).groups["de-en"]
    assert any("&apos;" in segment.hypothesis for segment in escaped.segments)
    joined = opened("wmt17", text="tokenised", detokenise=True).groups["de-en"]
    assert sum(segment.hypothesis.endswith(" .") for segment in joined.segments) == 0
    both = zip(raw.segments, joined.segments, strict=True)
    assert (
        np.mean([one.references[0].lower() == two.references[0].lower() for one, two in both]) > 0.9
    )
    assert list(opened("wmt17", text="tokenised").groups) == [
        "cs-en",
        "de-en",
        "fi-en",
        "lv-en",
        "ru-en",
        "tr-en",
        "zh-en",
    ]


# Trap 5: a ready-joined file of lv-en has 435 rows; we read the full 560.
def test_latvian_is_whole():
    assert (
        len(read_lines(ROOT / "wmt17-seg-da/wmt17-xmoverscore-testset-tsv/testset_lv-en.tsv"))
        == 436
    )
    assert opened("wmt17").groups["lv-en"].n == 560


# Trap 6: empty hypotheses are texts.
def test_empty_hypotheses():
    blank = {}
    for name in ("wmt17", "wmt18"):
        groups = open_dataset(name, ROOT, level="system").groups.values()  # too many to keep
        blank[name] = sum(
            not segment.hypothesis.strip() for group in groups for segment in group.segments
        )
    assert blank == {"wmt17": 1, "wmt18": 17}


# Trap 7: references judged as if they were systems.
def test_human_rows_and_peers():
    judged = opened("wmt18", human="da", pairs="cs-en")
    assert judged.excluded == {"HUMAN rows": 850}
    assert judged.n == 9_272
    assert judged.groups["cs-en"].judgements.min() >= 1
    tac = opened("tac08")
    assert tac.excluded == {"human peers": 192, "one-sentence peers": 168}
    assert (len(tac.groups), tac.n) == (48, 2_976 - 192 - 168)
    assert not [
        s for group in tac.groups.values() for s in group.segments if s.hypothesis in s.references
    ]
    included = opened("tac08", include_human_peers=True)
    itself = [
        s.system
        for group in included.groups.values()
        for s in group.segments
        if s.hypothesis in s.references
    ]
    assert (len(itself), set(itself)) == (192, set("ABCDEFGH"))


# Trap 8: no quoting, `segid` for `index`, and the human target is z_mean.
def test_mlqe_columns():
    measured = {}
    for pair, group in opened("mlqe-pe").groups.items():
        measured[pair] = np.corrcoef(group.scores, group.model_scores)[0, 1]
    assert measured == pytest.approx(
        {"en-de": 0.208, "en-zh": 0.257, "ro-en": 0.647, "ru-en": 0.536}, abs=0.0006
    )
    assert len(opened("mlqe-pe", human="model_scores").warnings) == 4
    assert not opened("mlqe-pe").warnings
    assert all(
        segment.source and not segment.references
        for segment in opened("mlqe-pe").groups["ru-en"].segments
    )


# Trap 9: the dialects of STS; subsets that only one archive has; nothing counted twice.
def test_sts_dialects():
    assert sizes(opened("sts12")) == describe("sts12").expected["score"]
    assert sizes(opened("sts13")) == describe("sts13").expected["score"]
    assert sizes(opened("sts14")) == describe("sts14").expected["score"]
    tsv = open_dataset("sts12", ROOT / "sts12-14/semeval-sts-2012-2014")
    assert sizes(tsv) == {"MSRpar": 750, "OnWN": 750, "SMTeuroparl": 459, "SMTnews": 399}
    assert tsv.groups["OnWN"].scores.tolist() == opened("sts12").groups["OnWN"].scores.tolist()
    every = opened("stsb", pairs="*")
    assert set(every.groups) == {
        "en", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh", "en.multi-mt", "de.aws", "de.deepl",
    }  # fmt: skip
    for group in every.groups.values():
        assert np.abs(group.scores - every.groups["en"].scores).max() < 0.06


# Trap 10: references that repeat.
def test_repeated_references():
    kept = opened("sfhotel").groups["sfhotel"].segments
    every = opened("sfhotel", distinct_references=False).groups["sfhotel"].segments
    assert np.mean([len(segment.references) for segment in every]) == pytest.approx(127.7, abs=0.05)
    assert np.mean([len(segment.references) for segment in kept]) == pytest.approx(8.4, abs=0.05)


# Trap 11: texts that are lists of sentences.
def test_sentences_are_joined_with_a_space():
    file = json.loads((ROOT / "tac08/tac.08.mds.gen.resp-pyr.json").read_text())
    segment = opened("tac08").groups["D0801"].segments[0]
    texts = {" ".join(one["text"]) for one in file["D0801"]["annotations"]}
    assert segment.hypothesis in texts
    assert len(segment.references) == 4


def test_rankings_rebuilt_from_the_campaign_are_the_shipped_ones(tmp_path):
    for part in ("wmt18-outputs-references-sources", "newstest2018-humaneval-ad-seg-scores"):
        (tmp_path / part).mkdir()
    for path in (ROOT / "wmt18-darr").rglob("*cs*en*"):
        if path.is_file():
            link = tmp_path / path.relative_to(ROOT / "wmt18-darr")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    rebuilt, shipped = open_dataset("wmt18", tmp_path, human="darr"), opened("wmt18")
    assert sizes(rebuilt)["cs-en"] == 5_110
    pairs = []
    for judged in (rebuilt, shipped):
        group = judged.groups["cs-en"]
        keys = [(segment.id, segment.system) for segment in group.segments]
        pairs.append({(keys[better], keys[worse]) for better, worse in group.rankings})
    assert pairs[0] == pairs[1]


def test_captions_are_the_joined_ones():
    file = json.loads((ROOT / "captioning/flickr8k-expert/flickr8k-expert-5664.json").read_text())
    group = opened("flickr8k").groups["flickr8k"]
    for segment, score, row in zip(group.segments, group.scores, file.values(), strict=True):
        assert (segment.hypothesis, list(segment.references)) == (row["cand"][0], row["refs"])
        assert score == pytest.approx(row["score"])
    assert opened("flickr8k").excluded == {"captions of the image itself": 158}


@pytest.mark.parametrize("name", ["sts15", "sts16", "tac09"])
def test_what_is_not_here_is_named(name):
    with pytest.raises(
        Unreadable, match=rf"{name}: no file .* of 20\d\d below .*monge data {name} "
    ):
        open_dataset(name, ROOT)


def test_pairs_of_the_other_version_are_unknown():
    with pytest.raises(UnknownName, match="unknown wmt17 language pair 'en-ru'"):
        opened("wmt17", text="tokenised", pairs="en-ru")
