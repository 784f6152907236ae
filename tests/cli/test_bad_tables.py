"""Bad tables, and what is given beside them: columns, directories, segments, scores of others, data
sets.
"""

from __future__ import annotations

import pytest
from refusals import BASIC, refused, text

TABLES = {
    "missing column": (
        "t.tsv",
        "hypothesis\trefrence\na\tb\n",
        ("t.tsv", "reference", "did you mean 'refrence'"),
    ),
    "no hypothesis": ("t.tsv", "text\treference\na\tb\n", ("t.tsv", "hypothesis")),
    "short row": ("t.tsv", "hypothesis\treference\na\tb\nc\n", ("t.tsv:3", "reference")),
    "long row": ("t.tsv", "hypothesis\treference\na\tb\tc\n", ("t.tsv:2",)),
    "header only": ("t.csv", "hypothesis,reference\n", ("t.csv", "no rows")),
    "open quote": ("t.csv", 'hypothesis,reference\n"a,b\nc,d\n', ("t.csv:2",)),
    "column twice": ("t.csv", "hypothesis,hypothesis,reference\na,b,c\n", ("t.csv:1", "twice")),
    "bad JSON": (
        "t.jsonl",
        '{"hypothesis": "a", "reference": "b"}\n{"hypothesis": \n',
        ("t.jsonl:2", "JSON"),
    ),
    "JSON list": ("t.jsonl", '["a", "b"]\n', ("t.jsonl:1", "object")),
    "number for a text": (
        "t.jsonl",
        '{"hypothesis": 3, "reference": "b"}\n',
        ("t.jsonl:1", "'hypothesis'", "int"),
    ),
    "null for a text": (
        "t.jsonl",
        '{"hypothesis": null, "reference": "b"}\n',
        ("t.jsonl:1", "hypothesis", "None"),
    ),
    "references by language": (
        "t.jsonl",
        '{"hypothesis": "a", "references": {"en": "b"}}\n',
        ("t.jsonl:1", "dict"),
    ),
    "no reference": (
        "t.jsonl",
        '{"hypothesis": "a", "references": []}\n',
        ("t.jsonl:1", "no reference"),
    ),
    "lone surrogate": (
        "t.jsonl",
        '{"hypothesis": "a\\ud800b", "reference": "b"}\n',
        ("t.jsonl:1", "hypothesis", "U+D800"),
    ),
    "two in one": (
        "t.jsonl",
        '{"predictions": ["a", "b"], "reference": "c"}\n',
        ("t.jsonl:1", "a list of 2", "a row"),
    ),
    "null among references": (
        "t.jsonl",
        '{"hyp": "a", "refs": ["b", null]}\n',
        ("t.jsonl:1, field 'refs', item 2", "None"),
    ),
    "two hypotheses": (
        "t.csv",
        "mt,output,ref\na,b,c\n",
        ("t.csv: both 'mt' and 'output'", "--columns hypothesis=mt"),
    ),
    "two references": (
        "t.csv",
        "mt,gold,target\na,b,c\n",
        ("t.csv: both 'gold' and 'target' can be the reference",),
    ),
    "nothing that is known": (
        "t.csv",
        "a,b\nx,y\n",
        ("no column 'hypothesis' (columns: a, b", "--columns hypothesis="),
    ),
    "semicolons that do not fit": (
        "t.csv",
        "mt;ref\na;b\na;b;c\n",
        ("t.csv:3", "3 fields", "separated by semicolons"),
    ),
    "a wrong delimiter": (
        "t.csv",
        "mt|x\na|b\n",
        ("no column 'reference'", "fields separated by bars"),
    ),
    "a list that is none": (
        "t.csv",
        'mt,refs\na,"[""b"", c]"\n',
        ("t.csv:2, field 'refs'", "list of texts", "is none"),
    ),
    "a spreadsheet": ("t.xlsx", b"PK\x03\x04", ("t.xlsx", "save it as CSV or TSV")),
    "a spreadsheet in disguise": (
        "t.csv",
        b"PK\x03\x04\x14",
        ("t.csv", "office file", "save a spreadsheet as CSV or TSV"),
    ),
    "an old spreadsheet": (
        "t.csv",
        b"\xd0\xcf\x11\xe0\xa1",
        ("t.csv", "old office file", "CSV or TSV"),
    ),
    "a document": ("t.odt", b"PK\x03\x04", ("t.odt", "save it as CSV or TSV")),
    "PDF": ("t.tsv", b"%PDF-1.7\n%\xe2", ("t.tsv", "looks like PDF")),
    "binary": ("t.tsv", b"\x89PNG\r\n\x1a\n\x00", ("t.tsv:1", "0x89")),
    "an empty array": ("t.json", "[]", ("t.json: no rows",)),
    "an array of texts": ("t.json", '["a", "b"]', ("t.json, item 1", "object")),
    "uneven lists": (
        "t.json",
        '{"mt": ["a", "b"], "ref": ["c"]}',
        ("t.json", "2 items in 'mt' but 1 in 'ref'"),
    ),
    "an array that breaks off": (
        "t.json",
        '[{"mt": "a",\n "ref": "b"},',
        ("t.json: not JSON", "line 2"),
    ),
    "null in an array": (
        "t.json",
        '[{"mt": "a", "ref": "b"}, {"mt": null, "ref": "b"}]',
        ("t.json, item 2, field 'mt'", "None"),
    ),
    "not a table": ("t.parquet", "hypothesis", ("t.parquet", "Parquet")),
    "empty table": ("t.tsv", "", ("t.tsv is empty",)),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(monge, workplace, case):
    name, content, words = TABLES[case]
    text(workplace, content, name)
    refused(monge("score", name), 1, *words)


# --- what is given beside them
# -------------------------------------------------------------------------------------

TABLE = "mt,ref,system\n" + "".join(f"a {k},b {k},{system}\n" for system in "xy" for k in range(3))
HEAD = "system\tid\tscore\n"
LONG = "x" * 300
WITH_TABLE = {
    "a role there is not": (
        ("score", "t.csv", "--columns", "hypotesis=mt"),
        2,
        ("'hypotesis'", "did you mean hypothesis"),
    ),
    "a role without a column": (
        ("score", "t.csv", "--columns", "hypothesis"),
        2,
        ("ROLE=COLUMN", "'hypothesis'"),
    ),
    "a role twice": (
        ("score", "t.csv", "--columns", "id=mt,id=ref"),
        2,
        ("two columns", "'mt'", "'ref'"),
    ),
    "a column that is not there": (
        ("score", "t.csv", "--columns", "hypothesis=mtt"),
        2,
        ("t.csv has no column 'mtt'", "did you mean 'mt'?"),
    ),
    "a column for two roles": (
        ("score", "t.csv", "--columns", "hypothesis=ref,reference=ref"),
        2,
        ("'ref'", "two roles"),
    ),
    "columns of no table": (
        (*BASIC, "--columns", "hypothesis=mt"),
        2,
        ("--columns is for a table",),
    ),
    "columns of published data": (
        ("evaluate", "wmt17", "--data", ".", "--columns", "human=x"),
        2,
        ("wmt17", "--columns", "table of your own"),
    ),
    "no human column": (
        ("evaluate", "table", "--data", "t.csv", "-m", "chrf"),
        1,
        ("no column 'human'", "--columns human="),
    ),
    "a human column that is not there": (
        ("evaluate", "table", "--data", "t.csv", "-m", "chrf", "--human", "sistem"),
        2,
        ("'sistem'", "did you mean 'system'?"),
    ),
    "words for human scores": (
        ("evaluate", "table", "--data", "t.csv", "-m", "chrf", "--human", "system"),
        1,
        ("t.csv:2, field 'system'", "number"),
    ),
    "a name longer than a file's": (("score", "-t", LONG, "-r", "reference.txt"), 1, ("too long",)),
    "a table's name that is too long": (("score", f"{LONG}.csv"), 1, ("too long",)),
    "a text and no reference": (("explain", "猫" * 200), 2, ("give the reference too",)),
    "judgements under a long name": (
        ("evaluate", "table", "--data", f"{LONG}.csv"),
        1,
        ("too long",),
    ),
    "data under a long name": (("data", "wmt17", f"{LONG}/"), 1, ("no such directory",)),
    "a directory for a table": (("score", "folder"), 2, ("folder is a directory", "-t folder -r")),
    "a directory with a spreadsheet": (
        ("score", "-t", "mixed", "-r", "reference.txt"),
        1,
        ("mixed/s.xlsx", "CSV or TSV"),
    ),
    "a directory of references": (
        ("score", "-t", "system-a.txt", "-r", "folder"),
        1,
        ("folder is a directory",),
    ),
    "a directory twice": (
        ("score", "-t", "mixed", "-t", "mixed", "-r", "reference.txt"),
        2,
        ("twice",),
    ),
    "explain: no such line": (
        ("explain", "-t", "system-a.txt", "-r", "reference.txt", "--id", "7"),
        2,
        ("--id 7", "there are 6", "from '1' to '6'"),
    ),
    "explain: lines count from 1": (
        ("explain", "-t", "system-a.txt", "-r", "reference.txt", "--id", "0"),
        2,
        ("--id 0",),
    ),
    "explain: no such id": (("explain", "t.csv", "--id", "x"), 2, ("--id x", "there are 3")),
    "explain: an id of two": (
        ("explain", "twice.csv", "--id", "1"),
        1,
        ("twice.csv:3", "stands in line 2 already"),
    ),
    "explain: which line": (("explain", "-t", "system-a.txt", "-r", "reference.txt"), 2, ("--id",)),
    "explain: which row": (("explain", "t.csv"), 2, ("t.csv", "--id")),
    "explain: nothing": (("explain",), 2, ("HYPOTHESIS", "--id")),
    "explain: texts and an id": (("explain", "a", "b", "--id", "1"), 2, ("--id",)),
    "explain: files of nothing": (("explain", "--id", "1"), 2, ("nothing to explain",)),
    "explain: a picture of two": (
        ("explain", "t.csv", "--id", "1", "-f", "svg"),
        2,
        ("svg", "2 hypotheses"),
    ),
    "scores without a name": (
        ("compare", "t.csv", "--scores", "s.tsv"),
        2,
        ("NAME=FILE", "'s.tsv'"),
    ),
    "scores of no file": (
        ("compare", "t.csv", "--scores", "c=t.tsv"),
        1,
        ("t.tsv: no such file", "did you mean"),
    ),
    "scores in a wrong direction": (
        ("compare", "t.csv", "--scores", "c=s.tsv,lowest"),
        2,
        ("'lowest'", "did you mean lower?"),
    ),
    "scores under a metric's name": (
        ("compare", "t.csv", "-m", "chrf", "--scores", "chrf=s.tsv"),
        2,
        ("--scores chrf", "another name"),
    ),
    "a score too few": (
        ("compare", "t.csv", "--scores", "c=few.tsv"),
        1,
        ("few.tsv", "has 5 scores", "6 segments", "system 'y', id '3'"),
    ),
    "ids from 0": (("compare", "t.csv", "--scores", "c=zero.tsv"), 1, ("id '3'", "begin at 0")),
    "scores of other systems": (
        ("compare", "t.csv", "--scores", "c=other.tsv"),
        1,
        ("systems p, q", "here are x, y"),
    ),
    "scores that are words": (
        ("compare", "t.csv", "--scores", "c=words.tsv"),
        1,
        ("words.tsv:2, field 'score'", "'good'"),
    ),
    "numbers without an order": (
        (
            "compare",
            "-t",
            "system-a.txt",
            "-t",
            "system-b.txt",
            "-r",
            "reference.txt",
            "--scores",
            "c=numbers.txt",
        ),
        1,
        ("numbers.txt", "one number a line", "SYSTEM, tab, SCORE"),
    ),
    "an item twice": (
        ("compare", "twice.csv", "-m", "chrf"),
        1,
        ("twice.csv:3", "stands in line 2 already"),
    ),
    "one system": (("compare", "-t", "system-a.txt", "-r", "reference.txt"), 2, ("two systems",)),
    "a set there is not": (("data", "wmt-17"), 2, ("'wmt-17'", "did you mean wmt17")),
    "a directory there is not": (
        ("data", "wmt17", "no/where"),
        1,
        ("no/where", "no such directory"),
    ),
    "a file for a directory": (("data", "wmt17", "t.csv"), 1, ("t.csv", "is a file")),
    "files of a table": (("data", "table"), 2, ("table of your own",)),
    "an unknown format of data": (("data", "-f", "yaml"), 2, ("yaml", "markdown")),
    "judgements that are not there": (
        ("evaluate", "wmt17", "--data", "folder"),
        1,
        ("wmt17: no file DA-seglevel.csv", "monge data wmt17 folder"),
    ),
    "fit from a table and files": (
        ("fit", "t.csv", "-r", "reference.txt", "-m", "moverscore", "-o", "s.json"),
        2,
        ("give one of them",),
    ),
    "fit columns of no table": (
        ("fit", "-r", "reference.txt", "--columns", "id=x", "-m", "moverscore", "-o", "s.json"),
        2,
        ("for a table",),
    ),
}


@pytest.mark.parametrize("case", WITH_TABLE)
def test_what_is_given_beside_a_table(monge, workplace, case):
    arguments, code, words = WITH_TABLE[case]
    text(workplace, TABLE, "t.csv")
    scores = [f"{system}\t{k}\t{k / 10}\n" for system in "xy" for k in (1, 2, 3)]
    text(workplace, HEAD + "".join(scores), "s.tsv")
    text(workplace, HEAD + "".join(scores[:-1]), "few.tsv")
    text(
        workplace,
        HEAD + "".join(f"{system}\t{k}\t0.5\n" for system in "xy" for k in range(3)),
        "zero.tsv",
    )
    text(workplace, HEAD + "p\t1\t0.5\nq\t1\t0.5\n", "other.tsv")
    text(workplace, HEAD + "x\t1\tgood\n", "words.tsv")
    text(workplace, "0.5\n" * 12, "numbers.txt")
    text(workplace, "id,mt,ref\n1,a,b\n1,c,d\n", "twice.csv")
    for name in ("folder", "mixed"):
        (workplace / name).mkdir()
    text(workplace, "line\n" * 6, "mixed/a.txt")
    text(workplace, b"PK\x03\x04", "mixed/s.xlsx")
    before = sorted(path.name for path in workplace.iterdir())
    refused(monge(*arguments, *(["-q"] if arguments[0] != "data" else [])), code, *words)
    assert sorted(path.name for path in workplace.iterdir()) == before
