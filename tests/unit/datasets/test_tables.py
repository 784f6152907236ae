"""Tables: columns by name, the four formats, and rows that are wrong."""

import gzip
import io
import json
import lzma
import sys

import pytest

from monge.datasets import read_table, rows
from monge.errors import InvalidSetting, MissingExtra, Unreadable
from monge.types import Segment


@pytest.fixture
def write(tmp_path):
    def _write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return _write


def test_columns_are_found_by_name_in_any_order(write):
    path = write("t.tsv", "extra\tsystem\treference\thypothesis\tsource\tid\n?\tA\tr\th\ts\t7\n")
    assert list(read_table(path)) == [Segment("7", "h", ("r",), "s", "A")]


def test_ids_run_within_the_system(write):
    path = write("t.csv", "system,hypothesis,reference\nA,1,r\nB,2,r\nA,3,r\n")
    table = read_table(path)
    assert [(s.system, s.id) for s in table] == [("A", "1"), ("B", "1"), ("A", "2")]
    assert table.systems == {"A": 2, "B": 1}
    assert len(table) == 3
    assert list(table) == list(table)


def test_tsv_has_no_quoting(write):
    path = write("t.tsv", 'hypothesis\treference\n"open\tthe "end"\n')
    assert list(read_table(path)) == [Segment("1", '"open', ('the "end"',))]


def test_csv_has_quotes_and_newlines(write):
    path = write("t.csv", 'hypothesis,reference\n"two\nlines, ""so""",r\nx,y\n')
    assert [s.hypothesis for s in read_table(path)] == ['two\nlines, "so"', "x"]
    assert [row.line for row in rows(path)] == [2, 4]


def test_a_csv_field_may_be_long(write):
    assert (
        len(
            next(
                iter(read_table(write("t.csv", "hypothesis,reference\n" + "x" * 200_000 + ",r\n")))
            ).hypothesis
        )
        == 200_000
    )


def test_several_references(write):
    path = write(
        "t.tsv", "hypothesis\treference_2\treference10\treference1\nh\tb\tj\ta\nh\t\t\ta\n"
    )
    assert [s.references for s in read_table(path)] == [("a", "b", "j"), ("a",)]
    path = write(
        "t.jsonl",
        '{"hypothesis": "h", "references": ["a", "b"]}\n{"hypothesis": "h", "references": ["c"]}\n',
    )
    assert [s.references for s in read_table(path)] == [("a", "b"), ("c",)]


def test_one_reference_column_may_hold_an_empty_text(write):
    assert [
        s.references for s in read_table(write("t.tsv", "hypothesis\treference\nh\t\n\tr\n"))
    ] == [("",), ("r",)]


def test_without_references_the_source_stands(write):
    table = read_table(write("t.tsv", "hypothesis\tsource\nh\ts\n"))
    assert table.against == "source"
    assert list(table) == [Segment("1", "h", (), "s")]
    path = write("t.jsonl", '{"hypothesis": "h", "source": "s", "references": []}\n')
    assert list(read_table(path, against="source")) == [Segment("1", "h", (), "s")]


def test_labels_may_be_whole_numbers(write):
    path = write(
        "t.jsonl", '{"hypothesis": "h", "reference": "r", "id": 12, "system": 3, "source": null}\n'
    )
    assert list(read_table(path)) == [Segment("12", "h", ("r",), None, "3")]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.tsv", "hypotesis\treference\nh\tr\n", r"t\.tsv: no column 'hypothesis'; did you mean "
            r"'hypotesis'\?"),
        ("t.tsv", "hypothesis\trefer\nh\tr\n", r"no column 'reference'; did you mean 'refer'\?"),
        ("t.tsv", "a\tb\nh\tr\n", r"no column 'hypothesis' \(columns: a, b; say which: "
         r"columns={'hypothesis': 'COLUMN'}\)"),
        ("t.tsv", "hypothesis\treference\nh\tr\nh\n", r"t\.tsv:3: 1 field, expected 2 "
            r".*'reference' is missing"),
        ("t.tsv", "hypothesis\treference\nh\tr\tz\n", r"t\.tsv:2: 3 fields, expected 2 "
            r".*unexpected 'z'"),
        ("t.tsv", "hypothesis\treference\nh\tr\n\nh\tr\n", r"t\.tsv:3: 1 field"),
        ("t.tsv", "hypothesis\thypothesis\treference\nh\th\tr\n", r"t\.tsv:1: the header names "
            r".*'hypothesis' twice"),
        ("t.tsv", "hypothesis\treference\n", "a header but no rows"),
        ("t.tsv", "", "is empty"),
        ("t.csv", 'hypothesis,reference\nx,y\n"open,r\n', r"t\.csv:3: not CSV"),
        ("t.csv", 'hypothesis,reference\n"a"b,r\n', r"t\.csv:2: not CSV"),
        ("t.csv", "hypothesis,reference\nx,y\n\nx,y\n", r"t\.csv:3: 0 fields"),
        ("t.jsonl", '{"hypothesis": "h", "reference": "r"}\n{"hypothesis": '
            '\n', r"t\.jsonl:2: not JSON"),
        ("t.jsonl", '["h", "r"]\n', r"t\.jsonl:1: expected a JSON object.*got list"),
        ("t.jsonl", '{"hypothesis": "h", "hypothesis": "h"}\n', "field 'hypothesis' stands twice"),
        ("t.jsonl", "[" * 100_000 + "\n", r"t\.jsonl:1: (JSON nested too deeply|not JSON)"),
        ("t.jsonl", '{"hypothesis": null, "reference": '
            '"r"}\n', r"t\.jsonl:1, field 'hypothesis': .*got None"),
        ("t.jsonl", '{"hypothesis": NaN, "reference": '
            '"r"}\n', r"field 'hypothesis': .*got float nan"),
        ("t.jsonl", '{"hypothesis": "a\\ud800", "reference": '
            '"r"}\n', r"field 'hypothesis': lone surrogate"),
        ("t.jsonl", '{"hypothesis": "h", "references": ["r", '
            '3]}\n', r"field 'references', item 2: .*got int 3"),
        ("t.jsonl", '{"hypothesis": "h", "references": {"en": '
            '"r"}}\n', r"'references': expected a text .*got dict"),
        ("t.jsonl", '{"hypothesis": "h", "references": ["r", '
            'null]}\n', r"field 'references', item 2: .*got None"),
        ("t.jsonl", '{"hypothesis": "h", "references": ["r"], "reference": '
            '"r"}\n', "both 'references' and 'ref"),
        ("t.jsonl", '{"hypothesis": "", "references": ["r"]}\n{"hypothesis": "", "references": '
            '[]}\n', "l:2: no ref"),
        ("t.jsonl", '{"hypothesis": "h", "reference": "r"}\n{"hypothesis": '
            '"h"}\n', r"l:2: no column 'reference'"),
        ("t.tsv", "hypothesis\treference1\treference2\nh\ta\tb\nh\t\t\n", r"t\.tsv:3: no "
            r"reference"),
        ("t.jsonl", '{"hypothesis": "h", "source": "s"}\n{"hypothesis": '
            '"h"}\n', r"t\.jsonl:2: no column 'source'"),
        ("t.jsonl", '{"hypothesis": "h", "reference": "r", "id": '
            '1.5}\n', r"field 'id': .*got float 1.5"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(write, name, text, says):
    with pytest.raises(Unreadable, match=says) as caught:
        list(read_table(write(name, text)))
    assert "\n" not in str(caught.value)


def test_blank_lines_at_the_end_are_no_rows(write):
    for name, text in [
        ("t.tsv", "hypothesis\treference\nh\tr\n\n\n"),
        ("t.csv", "hypothesis,reference\nh,r\n\n\n"),
        ("t.jsonl", '{"hypothesis": "h", "reference": "r"}\n\n'),
    ]:
        assert len(read_table(write(name, text))) == 1


def test_compressed_and_named_formats(tmp_path, monkeypatch):
    text = b"hypothesis\treference\nh\tr\n"
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "t.tsv.xz").write_bytes(lzma.compress(text))
    (tmp_path / "t.dat").write_bytes(text)
    for path, kind in [("t.tsv.gz", None), ("t.tsv.xz", None), ("t.dat", "tsv")]:
        assert len(read_table(tmp_path / path, format=kind)) == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    table = read_table("-", format="tsv")
    assert list(table) == list(table) == [Segment("1", "h", ("r",))]
    with pytest.raises(InvalidSetting, match=r"t\.dat: no table by its name; accepted are \.tsv"):
        read_table(tmp_path / "t.dat")
    with pytest.raises(InvalidSetting, match="unknown table format 'xls'"):
        read_table(tmp_path / "t.dat", format="xls")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table({"hypothesis": ["h", "i"], "references": [["a", "b"], ["c"]], "id": [4, 5]}), path
    )
    assert list(read_table(path)) == [Segment("4", "h", ("a", "b")), Segment("5", "i", ("c",))]
    parquet.write_table(pa.table({"hypothesis": ["h", None], "reference": ["a", "b"]}), path)
    with pytest.raises(Unreadable, match=r"t\.parquet:2, field 'hypothesis': .*got None"):
        read_table(path)
    parquet.write_table(pa.table({"hypo": ["h"], "reference": ["a"]}), path)
    with pytest.raises(Unreadable, match="no column 'hypothesis'; did you mean 'hypo'"):
        read_table(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(Unreadable, match=r"t\.parquet: not Parquet"):
        read_table(path)
    with pytest.raises(Unreadable, match="no such file"):
        read_table(tmp_path / "u.parquet")
    with pytest.raises(Unreadable, match="standard input"):
        read_table("-", format="parquet")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"monge\[parquet\]"):
        read_table(tmp_path / "t.parquet")


def test_rows_are_dictionaries_with_lines(write):
    path = write("t.jsonl", "".join(json.dumps({"k": k}) + "\n" for k in (1, 2)))
    table = rows(path)
    assert [(row.line, row.fields) for row in table] == [(1, {"k": 1}), (2, {"k": 2})]
    assert list(table) == list(table)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "hypothesis;reference\n\"a;b\nc\";r, s\n"),
        ("t.csv", "\ufeffhypothesis;reference\n\"a;b\nc\";\"r, s\"\n"),
        ("t.csv", "hypothesis;reference;;\n\"a;b\nc\";r, s;;\n"),
        ("t.csv", "sep=;\nhypothesis;reference\n\"a;b\nc\";r, s\n"),
        ("t.csv", "hypothesis\treference\n\"a;b\nc\"\tr, s\n"),
        ("t.csv", "hypothesis|reference\r\n\"a;b\nc\"|r, s\r\n"),
        ("t.csv", "hypothesis,reference\n\"a;b\nc\",\"r, s\"\n"),
        ("t.tsv", "hypothesis,reference\n\"a;b\nc\",\"r, s\"\n"),
    ],
)  # fmt: skip
def test_the_delimiter_is_found(write, name, text):
    assert [(s.hypothesis, s.references) for s in read_table(write(name, text))] == [
        ("a;b\nc", ("r, s",))
    ]


def test_a_delimiter_that_the_name_does_not_say_is_told(write):
    assert read_table(write("t.csv", "hypothesis,reference\na,b\n")).note == ""
    assert (
        "fields separated by semicolons"
        in read_table(write("t.csv", "hypothesis;reference\na;b\n")).note
    )
    with pytest.raises(
        Unreadable, match=r"t\.csv:3: 3 fields, expected 2 .*\(fields separated by semicolons\)"
    ):
        read_table(write("t.csv", "hypothesis;reference\na;b\na;b;c\n"))
    with pytest.raises(
        Unreadable,
        match=r"no column 'reference' \(columns: hypothesis, x; fields separated by bars",
    ):
        read_table(write("t.csv", "hypothesis|x\na|b\n"))


def test_numbers_with_a_decimal_comma(write):
    def number(name, text):
        table = rows(write(name, text))
        return table.number(next(iter(table)), "human")

    assert number("t.csv", "hypothesis;human\nh;-0,75\n") == -0.75
    for name, text in [
        ("t.tsv", "hypothesis\thuman\nh\t0,75\n"),
        ("u.csv", 'hypothesis,human\nh,"0,75"\n'),
    ]:
        with pytest.raises(
            Unreadable, match=r":2, field 'human': .*got '0,75' \(a decimal comma\? write 0\.75\)"
        ):
            number(name, text)


@pytest.mark.parametrize(
    "text",
    [
        '[{"hypothesis": "h", "references": ["a", ["b"]]}, {"hypothesis": "i", "references": "c"}]',
        '{"hypothesis": ["h", "i"], "references": [["a", "b"], ["c"]]}',
        '{"hypothesis": "h", "references": ["a", "b"]}\n{"hypothesis": "i", "references": ["c"]}\n',
    ],
)
def test_a_json_file_is_a_list_or_lists_or_lines(write, text):
    table = read_table(write("t.json", text))
    assert list(table) == list(table) == [Segment("1", "h", ("a", "b")), Segment("2", "i", ("c",))]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", r"t\.json: no rows"),
        ('[{"hypothesis": "h", "reference": "r"}, 3]', r"t\.json, item 2: expected a JSON object"),
        ('[{"hypothesis": "h", "reference": ""}, {"hypothesis": null, "reference": '
            '""}]', r", item 2, field 'hyp"),
        ('{"hypothesis": ["h", "i"], "reference": '
            '["a"]}', r"t\.json: 2 items in 'hypothesis' but 1 in 'reference'"),
        ('"h"', r"t\.json: expected a list of objects with named fields, got str"),
        ('[{"hypothesis": "h",\n "reference": }]', r"t\.json: not JSON .*line 2"),
        ('{"hypothesis": {"0": "h"}, "reference": {"0": '
            '"r"}}', r"field 'hypothesis': expected a text .*got dict"),
    ],
)  # fmt: skip
def test_json_that_is_no_table(write, text, says):
    with pytest.raises(Unreadable, match=says):
        read_table(write("t.json", text))


def test_a_list_may_be_written_in_a_cell(write):
    for cell in ('"[""a"", ""b""]"', "\"['a', 'b']\""):
        assert next(
            iter(read_table(write("t.csv", f"hypothesis,references\nh,{cell}\n")))
        ).references == ("a", "b")
    assert next(
        iter(read_table(write("t.tsv", 'hypothesis\treference\nh\t["a"]\n')))
    ).references == ('["a"]',)
    with pytest.raises(
        Unreadable, match=r"t\.tsv:2, field 'references': begins and ends as a list"
    ):
        read_table(write("t.tsv", 'hypothesis\treferences\nh\t["a", b]\n'))


@pytest.mark.parametrize("name", ["t.xlsx", "t.ods", "t.docx", "t.pdf", "t.zip", "T.XLS"])
def test_office_files_are_refused_with_advice(write, name):
    with pytest.raises(Unreadable, match="save it as CSV or TSV"):
        read_table(write(name, "x"))
