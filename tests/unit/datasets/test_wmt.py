"""WMT layouts in miniature: each trap of the published files once."""

import numpy as np
import pytest

from monge.datasets import open_dataset
from monge.datasets.wmt_rankings import open_rankings
from monge.errors import InvalidSetting, Misaligned, UnknownName, Unreadable


class Tree:
    def __init__(self, root):
        self.root = root

    def put(self, name, *lines):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), newline="\n")
        return path


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "judgements")


@pytest.fixture
def raw(tree):
    """Two systems, three segments, raw."""
    tree.put("a/references/newstest2017-csen-ref.en", "Ref One.", "Ref Two.", "Ref Three.")
    tree.put("a/sources/newstest2017-csen-src.cs", "Zdroj 1", "Zdroj 2", "Zdroj 3")
    tree.put(
        "a/system-outputs/newstest2017/cs-en/newstest2017.X.1.cs-en",
        "X One.",
        "",
        "X Three\u2028still.",
    )
    tree.put(
        "a/system-outputs/newstest2017/cs-en/newstest2017.CASICT-DCU-NMT.5144.cs-en",
        "Y 1",
        "Y 2",
        "Y 3",
    )
    return tree


@pytest.fixture
def tokenised(raw):
    """The same test set, tokenised and lowercased, with one system more."""
    raw.put("b/newstest2017-csen-ref.en", "ref one .", "České &apos;s two .", "ref three .")
    raw.put("b/cs-en/newstest2017.X.1.cs-en", "x one .", "", "x three .")
    raw.put("b/cs-en/newstest2017.Z.9.cs-en", "z &quot; one .", "z two .", "z three .")
    return raw


def da(tree, *rows):
    tree.put("DA-seglevel.csv", "LP DATA SYSTEM SID HUMAN", *rows)


def test_line_aligned_files(tree):
    for part, lines in {
        "human": ["0.5", "-1"],
        "mt-system": ["h1", "h2"],
        "reference": ["r1", "r2"],
        "source": ["s1", "s2"],
    }.items():
        tree.put(f"x/DAseg.newstest2015.{part}.cs-en", *lines)
    judged = open_dataset("wmt15", tree.root)
    [segment, _] = judged.groups["cs-en"].segments
    assert (segment.id, segment.hypothesis, segment.references, segment.source) == (
        "1",
        "h1",
        ("r1",),
        "s1",
    )
    assert judged.groups["cs-en"].scores.tolist() == [0.5, -1.0]
    assert judged.warnings == ("cs-en: 2 judgements, but 500 were published",)
    tree.put("x/DAseg.newstest2015.reference.cs-en", "r1")
    with pytest.raises(Misaligned, match=r"has 2 lines but .*reference.cs-en has 1"):
        open_dataset("wmt15", tree.root)
    tree.put("x/DAseg.newstest2015.human.cs-en", "0.5", "NaN")
    with pytest.raises(
        Unreadable, match=r"human\.cs-en:2, field 'HUMAN': expected a finite number, got 'NaN'"
    ):
        open_dataset("wmt15", tree.root)


def test_columns_by_name_and_segments_from_one(raw):
    raw.put(
        "DA-seglevel.csv",
        "HUMAN SID SYSTEM DATA LP",
        "0.25 3 X.1 newstest2017 cs-en",
        "1 1 X.1 newstest2016 cs-en",
    )
    judged = open_dataset("wmt17", raw.root)
    [segment] = judged.groups["cs-en"].segments
    assert (segment.id, segment.hypothesis) == ("3", "X Three\u2028still.")
    assert (segment.references, segment.source, segment.system) == (
        ("Ref Three.",),
        "Zdroj 3",
        "X.1",
    )
    assert judged.groups["cs-en"].scores.tolist() == [0.25]


def test_the_first_of_joined_names_and_aliases(raw):
    da(raw, "cs-en newstest2017 CASICT-cons.5144+Q.2 2 0.1", "cs-en newstest2017 X.1+Q.2 1 0.2")
    group = open_dataset("wmt17", raw.root).groups["cs-en"]
    assert [s.hypothesis for s in group.segments] == ["Y 2", "X One."]
    assert [s.system for s in group.segments] == ["CASICT-cons.5144", "X.1"]


def test_empty_hypotheses_stay(raw):
    da(raw, "cs-en newstest2017 X.1 2 0.1")
    assert open_dataset("wmt17", raw.root).groups["cs-en"].segments[0].hypothesis == ""


@pytest.mark.parametrize("sid", ["0", "4", "1.5", "x"])
def test_segment_numbers_outside_are_refused(raw, sid):
    da(raw, "cs-en newstest2017 X.1 1 0.1", f"cs-en newstest2017 X.1 {sid} 0.1")
    with pytest.raises(Unreadable, match=r"DA-seglevel\.csv:3, field 'SID'"):
        open_dataset("wmt17", raw.root)


def test_a_missing_column_is_named(raw):
    raw.put("DA-seglevel.csv", "LP DATA SYSTEM SID SCORE", "cs-en newstest2017 X.1 1 0.1")
    with pytest.raises(
        Unreadable, match=r"no column 'HUMAN' \(columns: LP, DATA, SYSTEM, SID, SCORE\)"
    ):
        open_dataset("wmt17", raw.root)


def test_two_versions_of_the_texts(tokenised):
    da(tokenised, "cs-en newstest2017 X.1 1 0.1", "cs-en newstest2017 X.1 2 0.3")
    raw = open_dataset("wmt17", tokenised.root)
    other = open_dataset("wmt17", tokenised.root, text="tokenised")
    assert (raw.text, other.text) == ("raw", "tokenised")
    assert raw.groups["cs-en"].segments[0].hypothesis == "X One."
    assert other.groups["cs-en"].segments[0].hypothesis == "x one ."
    assert other.groups["cs-en"].segments[1].references == ("České 's two .",)
    escaped = open_dataset("wmt17", tokenised.root, text="tokenised", entities=False)
    assert escaped.groups["cs-en"].segments[1].references == ("České &apos;s two .",)
    joined = open_dataset("wmt17", tokenised.root, text="tokenised", detokenise=True)
    assert joined.groups["cs-en"].segments[1].references == ("České's two.",)


def test_outputs_that_only_the_tokenised_archive_has(tokenised):
    da(
        tokenised,
        "cs-en newstest2017 X.1 1 0.1",
        "cs-en newstest2017 Z.9 1 0.3",
        "cs-en newstest2017 Z.9+X.1 3 0.3",
    )
    judged = open_dataset("wmt17", tokenised.root)
    filled = judged.groups["cs-en"].segments[1]
    assert (filled.hypothesis, filled.references) == ('z " one .', ("ref one .",))
    assert (
        "cs-en: Z.9 has no raw output; 2 judgements use the tokenised, lowercased texts"
        in judged.warnings
    )
    dropped = open_dataset("wmt17", tokenised.root, fill=False)
    assert dropped.n == 1
    assert dropped.excluded == {"no system output": 2}
    assert "cs-en: Z.9 has no raw output; 2 judgements left out" in dropped.warnings


def test_an_output_of_another_length_is_refused(raw):
    raw.put("a/system-outputs/newstest2017/cs-en/newstest2017.X.1.cs-en", "only one")
    da(raw, "cs-en newstest2017 X.1 1 0.1")
    with pytest.raises(Misaligned, match=r"X\.1\.cs-en has 1 lines but its reference .* has 3"):
        open_dataset("wmt17", raw.root)


def test_pairs_are_selected(raw):
    raw.put("a/references/newstest2017-enru-ref.ru", "один")
    raw.put("a/system-outputs/newstest2017/en-ru/newstest2017.X.1.en-ru", "два")
    da(
        raw,
        "cs-en newstest2017 X.1 1 0.1",
        "en-ru newstest2017 X.1 1 0.1",
        "xx-en newstest2017 X.1 1 0.1",
    )
    assert list(open_dataset("wmt17", raw.root).groups) == ["cs-en", "en-ru"]
    assert list(open_dataset("wmt17", raw.root, pairs=["*-en"]).groups) == ["cs-en"]
    with pytest.raises(
        UnknownName, match="unknown wmt17 language pair 'cs-em'; did you mean cs-en"
    ):
        open_dataset("wmt17", raw.root, pairs=["cs-em"])
    with pytest.raises(InvalidSetting, match="no language pair was asked for"):
        open_dataset("wmt17", raw.root, pairs=[])
    warned = open_dataset("wmt17", raw.root, pairs=["en-ru"], detokenise=True).warnings
    assert "en-ru: detokenisation knows English only; these texts are left as they are" in warned


HEADERS = ["LP DATA SID BETTER WORSE", "LP SID BETTER WORSE", "DATA SID BETTER WORSE"]


@pytest.mark.parametrize("header", HEADERS)
def test_rankings_point_into_distinct_segments(raw, header):
    raw.put(
        "RR-seglevel.csv",
        header,
        "cs-en newstest2017 1 X.1 CASICT-cons.5144",
        "cs-en newstest2017 3 CASICT-cons.5144 X.1",
        "cs-en newstest2017 1 X.1 CASICT-cons.5144",
        "cs-en newstest2017 1 HUMAN X.1",
        "cs-en newstest2018 1 X.1 CASICT-cons.5144",
    )
    judged = open_dataset("wmt17", raw.root, human="darr")
    group = judged.groups["cs-en"]
    assert [s.hypothesis for s in group.segments] == ["X One.", "Y 1", "Y 3", "X Three\u2028still."]
    assert group.rankings.tolist() == [[0, 1], [2, 3], [0, 1]]
    assert group.rankings.dtype == np.int64
    assert judged.excluded == {"HUMAN rows": 1}
    assert (judged.kind, judged.statistic, judged.n) == ("rankings", "darr", 3)


def test_a_header_that_lacks_two_names_is_an_error(tree):
    path = tree.put("RR-seglevel.csv", "SID BETTER WORSE", "cs-en newstest2017 1 A B")
    with pytest.raises(Unreadable, match="5 fields, expected 3"):
        list(open_rankings(path))


def campaign(tree, *rows):
    tree.put("scores/ad-seg-scores-cs-en.csv", "SYS SID RAW.SCR Z.SCR N ", *rows)


def test_rankings_are_rebuilt_from_the_campaign(raw):
    campaign(
        raw,
        "X.1 1 75 0.5 1 ",
        "CASICT-cons.5144 1 50 0.1 2 ",
        "X.1 2 74.9 0.5 1 ",
        "CASICT-cons.5144 2 50 0.1 1 ",
        "HUMAN 1 100 2 1 ",
        "X.1 3 10 0.5 1 ",
        "CASICT-cons.5144 3 90 0.1 1 ",
    )
    judged = open_dataset("wmt17", raw.root, human="darr")
    group = judged.groups["cs-en"]
    ranked = [
        (group.segments[a].hypothesis, group.segments[b].hypothesis) for a, b in group.rankings
    ]
    assert ranked == [("X One.", "Y 1"), ("Y 3", "X Three\u2028still.")]
    assert judged.excluded == {"HUMAN rows": 1}
    assert (
        "cs-en: rankings rebuilt from ad-seg-scores (raw difference of at least 25)"
        in judged.warnings
    )


def test_campaign_scores(raw):
    campaign(raw, "X.1 1 75 0.5 3 ", "HUMAN 1 100 2 1 ", "CASICT-cons.5144 3 50 -0.25 1 ")
    z = open_dataset("wmt17", raw.root, human="da-z")
    assert z.groups["cs-en"].scores.tolist() == [0.5, -0.25]
    assert z.groups["cs-en"].judgements.tolist() == [3, 1]
    assert z.excluded == {"HUMAN rows": 1}
    assert open_dataset("wmt17", raw.root, human="da-raw").groups["cs-en"].scores.tolist() == [
        75,
        50,
    ]
    often = open_dataset("wmt17", raw.root, human="da-raw", min_judgements=2)
    assert often.groups["cs-en"].scores.tolist() == [75]
    assert often.excluded == {"HUMAN rows": 1, "fewer than 2 judgements": 1}
    systems = open_dataset("wmt17", raw.root, human="da-raw", level="system")
    assert systems.groups["cs-en"].systems == {"X.1": 75.0, "CASICT-cons.5144": 50.0}


def test_system_level(raw):
    raw.put(
        "DA-syslevel.csv",
        "LP HUMAN SYSTEM",
        "cs-en 0.5 X.1",
        "cs-en -0.2 CASICT-cons.5144",
        "cs-en 0 Q.2",
    )
    judged = open_dataset("wmt17", raw.root, level="system")
    group = judged.groups["cs-en"]
    assert group.systems == {"X.1": 0.5, "CASICT-cons.5144": -0.2}
    assert [s.system for s in group.segments] == ["X.1"] * 3 + ["CASICT-cons.5144"] * 3
    assert judged.excluded == {"systems without output": 1}
    assert (judged.kind, judged.statistic, group.n) == ("systems", "pearson", 2)
    with pytest.raises(InvalidSetting, match="darr ranks segments"):
        open_dataset("wmt17", raw.root, level="system", human="darr")


def test_system_level_keeps_what_people_thought_of_segments(raw):
    """z scores of the campaign beside the official scores of systems; equal outputs were judged
    once.
    """
    raw.put("DA-syslevel.csv", "LP HUMAN SYSTEM", "cs-en 0.5 X.1", "cs-en -0.2 CASICT-cons.5144")
    assert open_dataset("wmt17", raw.root, level="system").groups["cs-en"].each is None
    campaign(
        raw,
        "X.1+CASICT-cons.5144 1 75 0.5 3 ",
        "HUMAN 2 100 2 1 ",
        "CASICT-cons.5144 3 50 -0.25 1 ",
    )
    judged = open_dataset("wmt17", raw.root, level="system")
    assert judged.groups["cs-en"].systems == {"X.1": 0.5, "CASICT-cons.5144": -0.2}
    each = judged.groups["cs-en"].each
    assert np.array_equal(each, [0.5, np.nan, np.nan, 0.5, np.nan, -0.25], equal_nan=True)
    assert judged.excluded == {}


def test_wmt19_names_carry_the_pair(tree):
    tree.put("references/newstest2019-zhen-ref.en", "Ref.")
    for system in ("A.1", "B.2"):
        tree.put(f"system-outputs/newstest2019/zh-en/newstest2019.{system}.zh-en", f"{system} out")
    tree.put("RR-seglevel.csv", HEADERS[0], "zh-en newstest2019 1 A.1.zh-en B.2.zh-en")
    group = open_dataset("wmt19", tree.root).groups["zh-en"]
    assert [s.hypothesis for s in group.segments] == ["A.1 out", "B.2 out"]
    assert group.segments[0].source is None


def test_absent_files_are_named(tree, raw):
    with pytest.raises(
        Unreadable,
        match=r"wmt17: no file DA-seglevel\.csv of 2017 below .*; da needs .*monge data wmt17 ",
    ):
        open_dataset("wmt17", tree.root)
    with pytest.raises(Unreadable, match=r"wmt16: no file DAseg\.newstest2016\.human\.\{pair\}"):
        open_dataset("wmt16", tree.root)
    with pytest.raises(Unreadable, match=r"raw texts of wmt19: no file newstest2019-.* of 2019"):
        open_dataset("wmt19", tree.root)
    with pytest.raises(Unreadable, match=r"no file RR-seglevel\.csv"):
        open_dataset("wmt17", tree.root, human="darr")
    with pytest.raises(Unreadable, match=r"no file ad-seg-scores-\{pair\}\.csv"):
        open_dataset("wmt17", tree.root, human="da-z")
    da(raw, "cs-en newstest2017 X.1 1 0.1")
    with pytest.raises(Unreadable, match="tokenised texts of wmt17: no file"):
        open_dataset("wmt17", tree.root, text="tokenised")
