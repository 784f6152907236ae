"""MQM, ESA and rankings as JSON lines in miniature: what is read, and what each fault says."""

from dataclasses import dataclass

import numpy as np
import pytest

from monge.cli.app import run
from monge.datasets import open_dataset
from monge.datasets.annotations import ErrorSpan, RaterAnnotation, SegmentRecord
from monge.errors import MongeError, UnknownName
from monge.types import Segment

MQM, SCORES = "mqm_ted_zhen.tsv", "mqm_ted_zhen.avg_seg_scores.tsv"
ESA, DOCS, OUTPUT = (
    "esa_generalMT2024.en-cs.csv",
    "txt/documents/en-cs.docs",
    "txt/system-outputs/en-cs/A.txt",
)
RANKED = "wmt19/gu-en.jsonl"
HUMAN_SCORES, JSON_OUTPUT = "human-scores/en-ja_JP.esa.seg.score", "system-outputs/en-ja_JP/A.jsonl"
SPAN = '"[{""start_i"":0,""end_i"":3,""severity"":""major"",""error_type"":null}]"'
FILES = {
    "mqm": {
        MQM: [
            "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
            "A\ttalk.1\t1\t1\tr1\t源一\tOne <v>bad</v> text.\tAccuracy/Mistranslation\tMajor",
            "A\ttalk.1\t1\t1\tr1\t源一\tOne bad text<v>.</v>\tFluency/Punctuation\tMinor",
            "A\ttalk.1\t2\t2\tr1\t源二\tClean\tNo-error\tNo-error",
            "B\ttalk.1\t1\t1\tr2\t源一\tAnother\tNo-error\tNo-error",
            "B\ttalk.1\t2\t2\tr2\t源<v>二</v>\tLess\tAccuracy/Omission\tMajor",
            "B\ttalk.1\t2\t2\tr4\t源二\t<v>Less</v>\tNon-translation!\tMajor",
            "ref\ttalk.1\t1\t1\tr3\t源一\tOne good text\tNo-error\tNo-error",
            "ref\ttalk.1\t2\t2\tr3\t源二\tClean indeed\tNo-error\tNo-error",
        ],
        SCORES: [
            "system mqm_avg_score seg_id",
            "A\t-5.100000 1",
            "A\t-0.000000 2",
            "B\t-0.000000 1",
            "B\t-15.000000 2",
            "ref-A\t-0.000000 1",
            "ref-A\t-0.000000 2",
            "A\tNone 3",
        ],
    },
    "esa": {
        ESA: [
            "u1,A,1,TGT,eng,ces,90,doc1,False,[],1,2",
            f"u1,A,2,TGT,eng,ces,40,doc2,False,{SPAN},1,2",
            "u2,B,1,TGT,eng,ces,70,doc1,False,[],1,2",
            "u2,B,2,BAD,eng,ces,10,doc2#bad,False,[],1,2",
            "u2,refA,2,TGT,eng,ces,99,doc2,False,[],1,2",
            "u2,en-tutorial1,9,TGT,eng,ces,99,en-tutorial1,False,[],1,2",
            "u2,B,2,TGT,eng,ces,50,doc2,True,[],1,2",
        ],
        "txt/sources/en-cs.txt": ["CANARY", "First", "Second"],
        "txt/references/en-cs.refA.txt": ["CANARY", "První", "Druhý"],
        DOCS: ["canary\tcanary", "news\tdoc1", "speech\tdoc2"],
        OUTPUT: ["CANARY", "Prvá", "Druhé"],
        "txt/system-outputs/en-cs/B.txt": ["CANARY", "Prví", "Druhá"],
        "txt/system-outputs/en-cs/refA.txt": ["CANARY", "První", "Druhý"],
    },
    "wmt19": {
        RANKED: [
            '{"id": "0", "source": "s", "reference": "r", "better": "a", "worse": "b"}',
            '{"id": "1", "source": "s", "reference": "r", "better": "c", "worse": "b"}',
            '{"id": "2", "source": "t", "reference": "q", "better": "a", "worse": "d"}',
        ],
    },
    "mt-metrics-eval": {
        "sources/en-ja_JP.jsonl": ['{"source": "One"}', '{"source": "Two"}'],
        "references/en-ja_JP.refA.jsonl": ['{"target": "一"}', '{"target": "二"}'],
        JSON_OUTPUT: ['{"hypothesis": "一"}', '{"hypothesis": "三"}'],
        "documents/en-ja_JP.docs": ["news a", "news b"],
        HUMAN_SCORES: ["A\t90", "A\t70"],
    },
}
OPTIONS = {"mt-metrics-eval": {"human": "esa"}}


def write(root, files):
    for name, lines in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = lines if isinstance(lines, bytes) else "".join(f"{s}\n" for s in lines).encode()
        path.write_bytes(content)
    return root


def test_mqm_scores_records_and_systems(tmp_path):
    root = write(tmp_path, FILES["mqm"])
    judged = open_dataset("mqm", root)
    group = judged.groups["zh-en"]
    assert group.segments[0] == Segment("1", "One bad text.", ("One good text",), "源一", "A")
    assert group.scores.tolist() == [-5.1, 0, 0, -15]  # (5 + 25) / 2 raters
    assert group.records[3] == SegmentRecord(
        "talk.1",
        "",
        (
            RaterAnnotation(
                "r2", (ErrorSpan("Major", "Accuracy/Omission", "source", 1, 2),), score=-5
            ),
            RaterAnnotation(
                "r4", (ErrorSpan("Major", "Non-translation!", "hypothesis", 0, 4),), score=-25
            ),
        ),
    )
    assert judged.excluded == {"human translations": 2}
    published = open_dataset("mqm", root, human="mqm-published").groups["zh-en"]
    assert published.scores.tolist() == group.scores.tolist()
    assert open_dataset("mqm", root, level="system").groups["zh-en"].systems == {
        "A": -2.55,
        "B": -7.5,
    }
    documents = open_dataset("mqm", root, level="document").groups["zh-en"]
    assert [(unit.system, unit.document) for unit in documents.units] == [
        ("A", "talk.1"),
        ("B", "talk.1"),
    ]
    people = open_dataset("mqm", root, human_systems=True, reference="").groups["zh-en"]
    assert {segment.system for segment in people.segments} == {"A", "B", "ref"}
    assert people.segments[0].references == ()
    with pytest.raises(UnknownName, match="unknown zh-en reference 'reff'; did you mean ref"):
        open_dataset("mqm", root, reference="reff")


def test_mqm_weights_are_data(tmp_path):
    root = write(tmp_path, FILES["mqm"])
    rows = [("Major", 3), ("Minor", 2), ("No-error", 0)]
    table = "".join(f'[[weights]]\nseverity = "{name}"\npenalty = {p}\n' for name, p in rows)
    (tmp_path / "weights.toml").write_text(table)
    group = open_dataset("mqm", root, weights=str(tmp_path / "weights.toml")).groups["zh-en"]
    assert group.scores.tolist() == [-5, 0, 0, -3]


def test_an_open_span_is_read_to_the_end_if_asked(tmp_path):
    files = {MQM: [line.replace("bad</v>", "bad") for line in FILES["mqm"][MQM]]}
    judged = open_dataset("mqm", write(tmp_path, files), close_spans=True)
    span = judged.groups["zh-en"].records[0].annotations[0].errors[0]
    assert (span.start, span.end) == (4, len("One bad text."))
    assert f"{MQM}:2, field 'target': <v> without </v>; the span is read up to" in " ".join(
        judged.warnings
    )


def test_esa_scores_records_and_what_is_dropped(tmp_path):
    root = write(tmp_path, FILES["esa"])
    judged = open_dataset("esa", root)
    group = judged.groups["en-cs"]
    assert group.segments[1] == Segment("2", "Druhé", ("Druhý",), "Second", "A")
    assert group.scores.tolist() == [90, 40, 70]
    assert group.records[1] == SegmentRecord(
        "doc2",
        "speech",
        (RaterAnnotation("u1", (ErrorSpan("major", "", "hypothesis", 0, 3),), 40),),
    )
    assert judged.excluded == {
        "quality control (BAD)": 1,
        "human translations": 1,
        "tutorial": 1,
        "judgements of whole documents": 1,
    }
    assert judged.human_range == (0, 100)
    people = open_dataset("esa", root, human_systems=True, reference="refA").groups["en-cs"]
    assert {segment.system for segment in people.segments} == {"A", "B"}  # refA is the reference


def test_esa_of_waves_gives_pairs_and_waves(tmp_path):
    files = dict(FILES["esa"])
    lines = files.pop(ESA)
    files["esa_generalMT2024_wave2.csv"] = lines[:2]
    files["esa_generalMT2024_wave3.csv"] = lines[2:]
    group = open_dataset("esa", write(tmp_path, files)).groups["en-cs"]
    waves = [record.annotations[0].wave for record in group.records]
    assert waves == ["2", "2", "3"]


def test_rankings_of_one_source_are_one_item(tmp_path):
    group = open_dataset("wmt19", write(tmp_path, FILES["wmt19"])).groups["gu-en"]
    assert group.rankings.tolist() == [[0, 1], [2, 1], [3, 4]]
    assert [segment.id for segment in group.segments] == ["1", "1", "1", "2", "2"]
    assert group.rankings.dtype == np.int64


@dataclass(frozen=True)
class Fault:
    """A change of a file: of one line, or of the whole file where `line` is 0, and the message."""

    dataset: str
    file: str
    line: int
    old: str
    new: str | bytes | None
    words: str
    at: int | None = None
    options: tuple[tuple[str, object], ...] = ()
    named: str = ""

    def apply(self):
        files = dict(FILES[self.dataset])
        if self.new is None or self.line == 0:
            lines = list(files[self.file])
            if self.new is None:
                del lines[self.line - 1]
            files[self.file] = lines if self.new is None else self.new
            return files
        lines = list(files[self.file])
        assert self.old in lines[self.line - 1]
        lines[self.line - 1] = lines[self.line - 1].replace(self.old, self.new, 1)
        files[self.file] = lines
        return files


PUBLISHED = (("human", "mqm-published"),)
SEVERITY, CATEGORY = "\tMajor", "Accuracy/Mistranslation"
FAULTS = [
    # MQM: columns, fields, marks
    Fault("mqm", MQM, 1, "rater", "annotator", "no column 'rater'", at=2),
    Fault("mqm", MQM, 1, "target", "output", "no column 'target'", at=2),
    Fault("mqm", MQM, 1, "\tseverity", "", "9 fields, expected 8", at=2),
    Fault("mqm", MQM, 3, "\tMinor", "", "'severity' is missing"),
    Fault("mqm", MQM, 1, "doc_id", "doc", "the header names column 'doc' twice"),
    Fault("mqm", MQM, 2, "</v>", "", "field 'target': <v> without </v>"),
    Fault("mqm", MQM, 2, "<v>", "", "field 'target': </v> without <v> at character 8"),
    Fault("mqm", MQM, 2, "bad</v>", "<v>bad</v>", "a second <v> before </v> at character 8"),
    Fault("mqm", MQM, 6, "</v>", "", "field 'source': <v> without </v>"),
    Fault("mqm", MQM, 3, "bad", "worse", "without marks it is not the text of A, segment 1"),
    Fault("mqm", MQM, 5, "源一", "源三", "field 'source': '源三', but"),
    Fault("mqm", MQM, 4, "talk.1\t2\t2", "talk.1\t2\t1", "field 'source': '源二', but"),
    Fault("mqm", MQM, 5, "talk.1", "talk.2", "field 'doc': 'talk.2', but"),
    Fault("mqm", MQM, 5, "r2", "", "field 'rater': is empty"),
    Fault("mqm", MQM, 5, "B\t", "\t", "field 'system': is empty"),
    Fault("mqm", MQM, 2, SEVERITY, "\tMayor", "unknown severity 'Mayor'; did you mean 'Major'?"),
    Fault("mqm", MQM, 2, CATEGORY, "Acuracy/Mistranslation", "unknown category 'Acuracy/Mist"),
    Fault("mqm", MQM, 5, "Another", "<v>Another</v>", "No-error, but a span is marked"),
    Fault(
        "mqm", MQM, 3, "Fluency/Punctuation\tMinor", "No-error\tNo-error", "No-error, but a span"
    ),
    Fault(
        "mqm",
        MQM,
        3,
        "<v>.</v>\tFluency/Punctuation\tMinor",
        ".\tNo-error\tNo-error",
        "No-error stands beside other rows",
    ),
    Fault(
        "mqm",
        MQM,
        0,
        "",
        "".join(f"{line}\n" for line in [*FILES["mqm"][MQM], FILES["mqm"][MQM][4]]).encode(),
        "the same row stands in line 5 already",
        at=10,
    ),
    Fault("mqm", MQM, 0, "", b"", "is empty; expected at least one line"),
    Fault("mqm", MQM, 0, "", f"{FILES['mqm'][MQM][0]}\n".encode(), "a header but no rows"),
    Fault(
        "mqm",
        MQM,
        0,
        "",
        "\n".join(FILES["mqm"][MQM])
        .replace("Clean", "Über")
        .replace("源", "s")
        .encode("latin-1", "replace"),
        "not UTF-8: byte 0xdc",
        at=4,
    ),
    Fault("mqm", MQM, 0, "", "\n".join(FILES["mqm"][MQM]).encode("utf-16"), "looks like UTF-16"),
    # MQM: published scores
    Fault("mqm", SCORES, 1, "seg_id", "segment", "no column 'seg_id'", 2, PUBLISHED),
    Fault("mqm", SCORES, 2, "-5.100000", "five", "expected a finite number", None, PUBLISHED),
    Fault("mqm", SCORES, 2, "-5.100000", "nan", "expected a finite number", None, PUBLISHED),
    Fault("mqm", SCORES, 2, " 1", "", "2 fields, expected 3", None, PUBLISHED),
    Fault("mqm", SCORES, 2, "A\t", "C\t", "no rater has rated this system", None, PUBLISHED),
    Fault("mqm", SCORES, 8, "None", "-1.0", "there are no rows of raters", None, PUBLISHED),
    Fault("mqm", SCORES, 3, "-0.000000", "None", "None, but", None, PUBLISHED),
    Fault("mqm", SCORES, 3, " 2", " 1", "stands in line 2 already", None, PUBLISHED),
    Fault("mqm", SCORES, 7, "", None, "no score of ref, segment 2", 0, PUBLISHED),
    Fault("mqm", SCORES, 0, "", b"", "is empty", None, PUBLISHED),
    # ESA: fields
    Fault("esa", ESA, 1, ",1,2", "", "10 fields, expected 12"),
    Fault("esa", ESA, 1, ",1,2", ",1,2,3", "13 fields, expected 12"),
    Fault("esa", ESA, 2, ",40,", ",forty,", "field 'score': expected a finite number, got 'forty'"),
    Fault("esa", ESA, 2, ",40,", ",140,", "expected a score from 0 to 100, got 140"),
    Fault("esa", ESA, 2, ",40,", ",-1,", "expected a score from 0 to 100, got -1"),
    Fault("esa", ESA, 3, "eng", "egn", "unknown language code 'egn'; did you mean 'eng'?"),
    Fault("esa", ESA, 3, "ces", "jpn", "a judgement of en-ja in the file of en-cs"),
    Fault("esa", ESA, 3, "TGT", "TRG", "unknown type 'TRG' (accepted are TGT, BAD)"),
    Fault("esa", ESA, 3, "False", "no", "expected True or False, got 'no'"),
    Fault("esa", ESA, 3, "u2", "", "field 'user': is empty"),
    Fault("esa", ESA, 3, "B,1", "B,7", "expected a line of the texts from 0 to 2, got 7"),
    Fault("esa", ESA, 3, "B,1", "B,1.5", "expected a line of the texts from 0 to 2, got 1.5"),
    Fault("esa", ESA, 3, "B,1", "C,1", "has no C.txt (systems: A, B, refA)"),
    Fault("esa", ESA, 3, "doc1", "doc2", "doc2, but line 1 of documents/en-cs.docs is of doc1"),
    # ESA: spans
    Fault("esa", ESA, 1, "[]", "[", "field 'spans': not JSON"),
    Fault("esa", ESA, 1, "[]", "{}", "expected a list of spans, got dict"),
    Fault("esa", ESA, 1, "[]", "[1]", "span 1: expected a JSON object"),
    Fault("esa", ESA, 2, '""end_i"":3', '""end_i"":9', "start_i <= end_i <= 5"),
    Fault("esa", ESA, 2, '""start_i"":0', '""start_i"":4', "got 4 and 3"),
    Fault("esa", ESA, 2, '""start_i"":0', '""start_i"":""missing""', "got 'missing' and 3"),
    Fault("esa", ESA, 2, '""end_i""', '""end""', "span 1: no 'end_i'"),
    Fault("esa", ESA, 2, "major", "grave", "unknown severity 'grave' (accepted are minor, major"),
    # ESA: files
    Fault("esa", ESA, 0, "", b"", "is empty"),
    Fault("esa", ESA, 0, "", b'u1,"A,1\n', "not CSV", at=1),
    Fault("esa", ESA, 0, "", "u1,\xe9".encode("latin-1"), "not UTF-8", at=1),
    Fault("esa", OUTPUT, 3, "", None, "has 2 lines, the source has 3", 0),
    Fault("esa", DOCS, 1, "", None, "has 2 lines, the source has 3", 0),
    Fault("esa", DOCS, 0, "", b"news doc1\nspeech doc2\nx y\n", "is of doc2", 1, named=ESA),
    # rankings as JSON lines
    Fault("wmt19", RANKED, 2, '"better"', '"best"', "no column 'better'; did you mean 'best'?"),
    Fault("wmt19", RANKED, 2, '"c"', "null", "field 'better': expected a text (str), got None"),
    Fault("wmt19", RANKED, 2, '"c"', '"b"', "the better and the worse text are equal"),
    Fault("wmt19", RANKED, 2, '"1"', '"0"', "'0' stands in line 1 already"),
    Fault("wmt19", RANKED, 3, '"t"', '" "', "field 'source': is empty"),
    Fault("wmt19", RANKED, 3, "}", "", "not JSON"),
    # mt-metrics-eval as JSON lines
    Fault("mt-metrics-eval", JSON_OUTPUT, 2, "hypothesis", "target", "no column 'hypothesis'"),
    Fault("mt-metrics-eval", JSON_OUTPUT, 2, '"三"', "3", "field 'hypothesis': expected a text"),
    Fault("mt-metrics-eval", JSON_OUTPUT, 2, "}", "", "not JSON"),
    Fault("mt-metrics-eval", JSON_OUTPUT, 2, "", None, "has 1 lines, the source has 2", 0),
    Fault("mt-metrics-eval", HUMAN_SCORES, 2, "70", "high", "expected a system and its score"),
    Fault("mt-metrics-eval", HUMAN_SCORES, 2, "", None, "1 scores of A, expected 2", 0),
]


def name_fault(fault):
    return f"{fault.dataset}-{fault.file.rpartition('/')[2]}-{fault.line}-{fault.words[:40]}"


@pytest.mark.parametrize("fault", FAULTS, ids=name_fault)
def test_a_fault_names_file_line_and_what_is_accepted(tmp_path, fault):
    root = write(tmp_path, fault.apply())
    with pytest.raises(MongeError) as caught:
        open_dataset(fault.dataset, root, **OPTIONS.get(fault.dataset, {}), **dict(fault.options))
    message = str(caught.value)
    line = fault.line if fault.at is None else fault.at
    path = root / (fault.named or fault.file)
    assert (f"{path}:{line}" if line else str(path)) in message, message
    assert fault.words in message, message
    assert "\n" not in message


def test_there_are_forty_faults_and_none_is_in_the_files_themselves(tmp_path):
    assert len(FAULTS) >= 40
    for number, (dataset, files) in enumerate(FILES.items()):
        assert open_dataset(
            dataset, write(tmp_path / str(number), files), **OPTIONS.get(dataset, {})
        ).n


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mqm_ted_zhxx.tsv", r"mqm_ted_zhxx\.tsv: unknown language code 'xx' in 'zhxx'"),
        ("mqm_ted_chinese.tsv", "expected the languages as four letters"),
        ("mqm_other_ende.tsv", r"several test sets \(other, ted\): switches={'test_set': 'NAME'}"),
    ],
)
def test_names_of_mqm_files_tell_the_languages(tmp_path, name, words):
    root = write(tmp_path, {**FILES["mqm"], name: FILES["mqm"][MQM]})
    with pytest.raises(MongeError, match=words):
        open_dataset("mqm", root)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("weights = 1", r"no \[\[weights\]\]"),
        ("[[weights]", "not TOML"),
        ('[[weights]]\nseverity = "Major"\npenalty = -5', "penalty of 0 or more, got -5"),
        ('[[weights]]\nseverity = "Major"', "penalty of 0 or more, got None"),
        ('[[weights]]\nseverty = "Major"', "unknown key 'severty'; did you mean 'severity'"),
        (
            'categories = 3\n[[weights]]\nseverity = "Major"\npenalty = 5',
            "expected a list of texts",
        ),
        ("[[weights]]\nseverity = 1\npenalty = 5", "severity and category must be texts"),
    ],
)
def test_faults_of_weights_are_named(tmp_path, content, words):
    root = write(tmp_path, FILES["mqm"])
    (tmp_path / "own.toml").write_text(content)
    with pytest.raises(MongeError, match=rf"own\.toml.*{words}"):
        open_dataset("mqm", root, weights=str(tmp_path / "own.toml"))


def test_the_command_ends_with_one_line(tmp_path, capsys):
    files = {**FILES["mqm"], MQM: [s.replace("</v>", "") for s in FILES["mqm"][MQM]]}
    root = write(tmp_path, files)
    assert run(["evaluate", "mqm", "--data", str(root), "-m", "chrf"]) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{root / MQM}:2, field 'target': <v> without </v>" in error
