"""STS, TAC, SummEval, data-to-text, captions, MLQE-PE and tables in miniature."""

import json

import pytest

from monge.datasets import open_dataset
from monge.errors import InvalidSetting, Misaligned, UnknownName, Unreadable
from monge.types import Segment


@pytest.fixture
def put(tmp_path):
    def _put(name, *lines):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), newline="\n")
        return path

    return _put


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


def test_sts_subset_in_both_formats_counts_once(put, root):
    put("orig/STS2013-gold/STS.input.surprise.OnWN.txt", 'a "one\tb', "c\td")
    put("orig/STS2013-gold/STS.gs.surprise.OnWN.txt", "4.5", "")
    put("orig/STS2013-gold/STS.input.ALL.txt", "x\ty")
    put("orig/STS2013-gold/STS.gs.ALL.txt", "1")
    put("tsv-2012-2014/2013/OnWN.test.tsv", "4.5\ta\tb")
    put("tsv-2012-2014/2013/FNWN.test.tsv", "1\te\tf", "\tg\th")
    put("tsv-2012-2014/2014/OnWN.test.tsv", "0\tz\tz")
    judged = open_dataset("sts13", root)
    assert list(judged.groups) == ["FNWN", "OnWN"]
    assert judged.groups["OnWN"].segments == (Segment("1", 'a "one', ("b",)),)
    assert judged.groups["OnWN"].scores.tolist() == [4.5]
    assert judged.excluded == {"unannotated": 2}
    assert judged.mean == "weighted"


def test_sts_splits_and_later_names(put, root):
    put("STS2012-train/STS.input.MSRpar.txt", "a\tb")
    put("STS2012-train/STS.gs.MSRpar.txt", "1")
    put("STS2012-gold/STS.input.MSRpar.txt", "c\td")
    put("STS2012-gold/STS.gs.MSRpar.txt", "2")
    put("x/STS2016.input.answer-answer.txt", "e\tf\turl1\turl2", "g\th\turl1\turl2")
    put("x/STS2016.gs.answer-answer.txt", "", "3")
    assert open_dataset("sts12", root).groups["MSRpar"].scores.tolist() == [2]
    assert open_dataset("sts12", root, split="train").groups["MSRpar"].scores.tolist() == [1]
    assert open_dataset("sts16", root).groups["answer-answer"].segments == (
        Segment("2", "g", ("h",)),
    )
    with pytest.raises(
        Unreadable, match=r"sts15: no file STS\.input.* or \{subset\}\.test\.tsv.* of 2015"
    ):
        open_dataset("sts15", root)
    with pytest.raises(UnknownName, match="unknown sts12 split 'dev'"):
        open_dataset("sts12", root, split="dev")
    put("STS2012-gold/STS.gs.MSRpar.txt", "2", "3")
    with pytest.raises(Misaligned, match=r"has 1 pairs but .* has 2 scores"):
        open_dataset("sts12", root)


def test_sts_benchmark_formats(put, root):
    put("o/sts-test.csv", 'g\tf\ty\t01\t2.5\tan "a\tb\tsrc\tsrc', "g\tf\ty\t02\t3\tc\td")
    put("m/stsb-de-test.csv", '"ein ""a"", so",b,1.5', "c,d,2")
    put("m/stsb-en-test.csv", "c,d,2")
    put("g/aws/stsb_de_test.csv", "1.5\ta, b\tc")
    judged = open_dataset("stsb", root)
    assert list(judged.groups) == ["en"]
    assert [s.hypothesis for s in judged.groups["en"].segments] == ['an "a', "c"]
    several = open_dataset("stsb", root, languages="de,de.aws")
    assert [s.hypothesis for s in several.groups["de"].segments] == ['ein "a", so', "c"]
    assert several.groups["de.aws"].segments == (Segment("1", "a, b", ("c",)),)
    assert list(open_dataset("stsb", root, pairs=["en.multi-mt"]).groups) == ["en.multi-mt"]
    with pytest.raises(UnknownName, match="unknown stsb language 'fr'"):
        open_dataset("stsb", root, pairs=["fr"])
    with pytest.raises(Unreadable, match=r"no file sts-\{split\}\.csv or stsb-"):
        open_dataset("stsb", root, split="dev")


def peer(name, sentences, **scores):
    return {"summ_id": name, "text": sentences, "topic_id": "T1-A", **scores}


@pytest.fixture
def tac(put):
    def _tac(*peers, topic="T1"):
        references = [{"id": "r", "text": ["Ref one.", "Two."]}, {"id": "q", "text": ["Other."]}]
        put(
            "tac.08.mds.gen.resp-pyr",
            json.dumps({topic: {"references": references, "annotations": list(peers)}}),
        )

    return _tac


def test_tac_peers(tac, root):
    tac(
        peer("1", ["A.", "B."], responsiveness=2.0, pyr_score=0.5, pyr_mod_score=0.4),
        peer("2", ["Only one."], responsiveness=3.0, pyr_score=0.1, pyr_mod_score=0.2),
        peer("A", ["Ref one.", "Two."], responsiveness=5.0, pyr_score=1.1),
    )
    judged = open_dataset("tac08", root)
    assert judged.groups["T1"].segments == (
        Segment("T1", "A. B.", ("Ref one. Two.", "Other."), None, "1"),
    )
    assert judged.excluded == {"one-sentence peers": 1, "human peers": 1}
    assert judged.references == "mean"
    everyone = open_dataset(
        "tac08", root, include_human_peers=True, include_one_sentence_peers=True
    )
    assert [s.system for s in everyone.groups["T1"].segments] == ["1", "2", "A"]
    modified = open_dataset("tac08", root, human="pyramid-modified", include_human_peers=True)
    assert modified.excluded == {"one-sentence peers": 1, "no pyr_mod_score": 1}
    assert open_dataset("tac08", root, human="pyramid").groups["T1"].scores.tolist() == [0.5]
    systems = open_dataset("tac08", root, level="system", include_one_sentence_peers=True)
    assert systems.groups["tac08"].systems == {"1": 2.0, "2": 3.0}


def test_tac_faults(tac, root, put):
    tac(peer("1", ["A.", "B."], responsiveness="high"))
    with pytest.raises(
        Unreadable, match="topic T1, summary 1, field 'responsiveness': expected a finite number"
    ):
        open_dataset("tac08", root)
    tac(peer("1", ["A.", None], responsiveness=1.0))
    with pytest.raises(Unreadable, match="topic T1, summary 1: expected a text"):
        open_dataset("tac08", root)
    tac(peer("A", ["A.", "B."], responsiveness=1.0))
    with pytest.raises(Unreadable, match=r"no judgements are left .*human peers"):
        open_dataset("tac08", root)
    put("tac.08.mds.gen.resp-pyr", "{")
    with pytest.raises(Unreadable, match="not JSON"):
        open_dataset("tac08", root)
    with pytest.raises(Unreadable, match=r"tac09: no file tac\.09\.mds\.gen\.resp-pyr"):
        open_dataset("tac09", root)


def test_summeval(put, root):
    scores = {"coherence": 1, "consistency": 2, "fluency": 3, "relevance": 4.5}
    line = {"key": "d", "src": "doc", "ref_summ": "r", "ref_summs": ["r", "q"]}
    put(
        "bartscore-summeval.jsonl",
        json.dumps({**line, "sys_summs": {"M0": {"sys_summ": "h", "scores": scores}}}),
    )
    judged = open_dataset("summeval", root)
    assert judged.groups["summeval"].segments == (Segment("d", "h", ("r", "q"), "doc", "M0"),)
    assert judged.groups["summeval"].scores.tolist() == [4.5]
    assert open_dataset("summeval", root, level="system", human="coherence").groups[
        "summeval"
    ].systems == {"M0": 1.0}
    put(
        "bartscore-summeval.jsonl",
        json.dumps({**line, "sys_summs": {"M0": {"sys_summ": "h", "scores": {}}}}),
    )
    with pytest.raises(Unreadable, match=r"summeval\.jsonl:1, system M0: no column 'relevance'"):
        open_dataset("summeval", root)


def test_repeated_references_are_kept_once(put, root):
    scores = {"informativeness": 6, "naturalness": 5, "quality": 4}
    put(
        "bartscore-bagel.jsonl",
        json.dumps(
            {"key": 0, "src": "mr", "sys_summ": "h", "ref_summs": ["a", "b", "a"], "scores": scores}
        ),
    )
    judged = open_dataset("bagel", root, human="quality")
    assert judged.groups["bagel"].segments == (Segment("0", "h", ("a", "b"), "mr"),)
    assert judged.excluded == {"repeated references": 1}
    assert judged.groups["bagel"].scores.tolist() == [4]
    every = open_dataset("bagel", root, distinct_references=False)
    assert every.groups["bagel"].segments[0].references == ("a", "b", "a")


def test_captions(put, root):
    put("flickr.json", json.dumps({"0": {"refs": ["a"] * 5, "cand": ["c"], "score": 2.0}}))
    assert open_dataset("flickr8k", root).groups["flickr8k"].segments == (
        Segment("0", "c", ("a",) * 5),
    )
    put("Flickr8k.token.txt", *(f"i.jpg#{n}\tcaption {n}" for n in range(5)), "j.jpg#2\tother")
    put("ExpertAnnotations.txt", "i.jpg\tj.jpg#2\t1\t1\t2", "i.jpg\ti.jpg#0\t4\t4\t4")
    judged = open_dataset("flickr8k", root)
    [segment] = judged.groups["flickr8k"].segments
    assert (segment.hypothesis, segment.references[4]) == ("other", "caption 4")
    assert judged.groups["flickr8k"].scores[0] == pytest.approx(4 / 3)
    assert judged.excluded == {"captions of the image itself": 1}
    put("ExpertAnnotations.txt", "i.jpg\tk.jpg#2\t1\t1\t2")
    with pytest.raises(Unreadable, match=r"ExpertAnnotations\.txt:1: no caption k\.jpg#2"):
        open_dataset("flickr8k", root)


MLQE = "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores"


def test_mlqe_takes_z_mean_whatever_the_first_column_is_called(put, root):
    put(
        "test20.ende.df.short.tsv",
        MLQE,
        '7\tein "x\ta "x\t[1]\t50\t[0]\t0.5\t-0.1',
        "8\ty\tz\t[1]\t60\t[0]\t0.7\t-0.9",
    )
    put(
        "test20.ruen.df.short.tsv",
        MLQE.replace("index", "segid"),
        "9\ts\th\t[1]\t50\t[0]\t0.25\t-0.1",
    )
    put("dev.ende.df.short.tsv", MLQE, "1\ts\th\t[1]\t50\t[0]\t-1\t-0.1")
    judged = open_dataset("mlqe-pe", root)
    assert judged.groups["en-de"].segments[0] == Segment("7", 'a "x', (), 'ein "x')
    assert judged.groups["en-de"].scores.tolist() == [0.5, 0.7]
    assert judged.groups["ru-en"].segments[0].id == "9"
    assert judged.against == "source"
    assert open_dataset("mlqe-pe", root, split="dev").groups["en-de"].scores.tolist() == [-1]
    assert open_dataset("mlqe-pe", root, human="mean").groups["en-de"].scores.tolist() == [50, 60]
    with pytest.raises(UnknownName, match="unknown mlqe-pe split 'tset'; did you mean test20"):
        open_dataset("mlqe-pe", root, split="tset")


def test_mlqe_model_scores_warn(put, root):
    lines = [f"{n}\ts\th\t[1]\t50\t[0]\t{n % 3}\t-0.{n}" for n in range(1, 6)]
    put("test20.ende.df.short.tsv", MLQE, *lines)
    assert not any("perfectly" in warning for warning in open_dataset("mlqe-pe", root).warnings)
    [warning] = [
        w for w in open_dataset("mlqe-pe", root, human="model_scores").warnings if "perfectly" in w
    ]
    assert warning.startswith("en-de: human column 'model_scores' correlates perfectly")
    put("test20.ende.df.short.tsv", MLQE.replace("z_mean", "z"), *lines)
    with pytest.raises(Unreadable, match="no column 'z_mean'"):
        open_dataset("mlqe-pe", root)


def test_a_table_by_group(put):
    path = put(
        "mine.tsv",
        "group\thuman\tsystem\thypothesis\treference1\treference2\tfluency",
        "g1\t1\tA\th1\tr1\t\t9",
        "g1\t2\tB\th2\tr1\tr2\t8",
        "g2\t\tA\th3\tr3\t\t7",
        "g2\t4\tB\th4\tr3\t\t6",
    )
    judged = open_dataset("table", path)
    assert {name: group.scores.tolist() for name, group in judged.groups.items()} == {
        "g1": [1, 2],
        "g2": [4],
    }
    assert judged.excluded == {"no human score": 1}
    assert judged.direction == 1
    other = open_dataset(
        "table", path.parent, human="fluency", pairs=["g2"], higher_is_better=False
    )
    assert other.groups["g2"].scores.tolist() == [7, 6]
    assert (other.direction, list(other.groups)) == (-1, ["g2"])
    assert open_dataset("table", path, level="system").groups["g1"].systems == {"A": 1.0, "B": 2.0}
    with pytest.raises(InvalidSetting, match="no column 'fluent'; did you mean 'fluency'"):
        open_dataset("table", path, human="fluent")
    with pytest.raises(UnknownName, match="unknown group 'g3'"):
        open_dataset("table", path, pairs=["g3"])
    assert list(open_dataset("table", path, human="fluency", pairs=["g*"]).groups) == ["g1", "g2"]
    assert list(open_dataset("table", path, human="fluency", pairs=["*2"]).groups) == ["g2"]


def test_a_table_that_is_suspicious_or_not_there(put, root):
    path = put(
        "a.jsonl",
        *(
            json.dumps({"hypothesis": "h", "source": "s", "human": n, "model_score": -n})
            for n in (1, 2)
        ),
    )
    [warning] = open_dataset("table", path).warnings
    assert "correlates perfectly" in warning
    assert open_dataset("table", path).against == "source"
    path = put(
        "b.jsonl", *(json.dumps({"hypothesis": "h", "reference": "r", "human": 3}) for _ in (1, 2))
    )
    assert "constant" in open_dataset("table", path).warnings[0]
    with pytest.raises(Unreadable, match=r"expected one table .* found 2 \(a\.jsonl, b\.jsonl\)"):
        open_dataset("table", root)
    with pytest.raises(Unreadable, match="no such file"):
        open_dataset("table", root / "c.tsv")
    path = put("c.tsv", "hypothesis\treference\thuman", "h\tr\tgood")
    with pytest.raises(
        Unreadable, match=r"c\.tsv:2, field 'human': expected a finite number, got 'good'"
    ):
        open_dataset("table", path)
    path = put("c.tsv", "hypothesis\treference\thuman", "h\tr\t")
    with pytest.raises(Unreadable, match="no row has a value in the human column 'human'"):
        open_dataset("table", path)


def test_unknown_words_are_refused(root, put):
    put("x", "x")
    with pytest.raises(UnknownName, match="unknown wmt15 level 'system'"):
        open_dataset("wmt15", root, level="system")
    with pytest.raises(UnknownName, match="unknown wmt15 text version 'tokenised'"):
        open_dataset("wmt15", root, text="tokenised")
    with pytest.raises(UnknownName, match="unknown wmt15 human column 'darr'"):
        open_dataset("wmt15", root, human="darr")
