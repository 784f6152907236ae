"""The first hour of a new user: forty-odd tasks, each a command as people type it and what they
must see.

A task says what the user wants, the command, the exit code, and patterns for standard output and
standard error. Those at a terminal run in a process of their own under a pseudo-terminal.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
from typing import NamedTuple

import pytest


class Task(NamedTuple):
    """What a user wants, what is typed, and what must be seen."""

    wants: str
    types: str
    code: int = 0
    out: tuple[str, ...] = ()
    err: tuple[str, ...] = ()


SCORE = "score -t system-a.txt -r reference.txt"
BOTH = "score -t system-a.txt -t system-b.txt -r reference.txt"
TASKS = [
    Task("know what there "
        "is", "--help", 0, (r"score +Score generated texts", r"explain", r"serve|compare")),
    Task("know the version", "-V", 0, (r"^monge \d+\.\d+",)),
    Task("score a "
        "file", SCORE, 0, (r"monge ↑ +system-a "
            r"+0\.\d{4}", r"signature +monge.*\|monge:.*#[0-9a-f]{8}")),
    Task("score two systems", BOTH, 0, (r"0\.\d{4}\*", r"not tested here: monge compare")),
    Task("score with several "
        "metrics", f"{SCORE} -m twmd -m chrf -m bleu", 0, (r"twmd ↑", r"chrf ↑", r"bleu ↑")),
    Task("see an interval, of corpus metrics too", f"{SCORE} -m chrf -m bleu -m ter --ci", 0,
         (r"chrf ↑.*\[\d+(\.\d)?, \d+(\.\d)?\]", r"bleu ↑.*\[", r"ter ↓.*\[")),
    Task("use two "
        "references", "score -t system-a.txt -r reference.txt -r "
            "reference-2.txt", 0, (r"0\.\d{4}",)),
    Task("read a gzip "
        "file", "score -t system-a.txt.gz -r reference.txt -m chrf", 0, (r"chrf ↑ +system-a +\d",)),
    Task("get JSON", f"{SCORE} -m chrf -f "
        f"json", 0, (r'"metric": ?"chrf"', r'"signature": ?"metric:chrf\|')),
    Task("get the scores of "
        "segments", f"{SCORE} -m chrf --segments -f tsv", 0, (r"(?m)^chrf\tsystem-a\t1\t",)),
    Task("get them with "
        "texts", f"{SCORE} -m chrf --with-texts -f jsonl", 0, (r'"hypothesis": ?"', r'"id": ?"1"')),
    Task("paste a table into a merge "
        "request", f"{BOTH} -m chrf -f markdown", 0, (r"\| *system *\|", r"\| ---")),
    Task("paste a table into a paper", f"{BOTH} -m chrf -f latex", 0, (r"\\toprule",)),
    Task("open a page", f"{BOTH} -m chrf -f html -o page.html", 0),
    Task("score a COMET-like "
        "table", "score comet.tsv -m chrf", 0, (r"chrf",), (r"hypothesis=mt,reference=ref",)),
    Task("score a spreadsheet's "
        "CSV", "score sheet.csv -m chrf", 0, (r"chrf",), (r"semicolon|';'|;",)),
    Task("score a generation "
        "run", "score run.jsonl -m chrf", 0, (r"chrf",), (r"hypothesis=prediction",)),
    Task("name the "
        "columns", "score odd.tsv -m chrf --columns "
            "hypothesis=ours,reference=theirs", 0, (r"chrf",)),
    Task("score a directory of "
        "outputs", "score -t outputs -r reference.txt -m chrf", 0, (r"\bone +\d", r"\btwo +\d")),
    Task("give a workbook", "score book.xlsx -m chrf", 1, (), (r"book.xlsx", r"CSV or TSV")),
    Task("give files of unequal "
        "length", "score -t short.txt -r reference.txt", 1, (), (r"5 .*6|6 .*5",)),
    Task("mistype a file", "score -t sytem-a.txt -r reference.txt", 1, (), (r"sytem-a.txt",)),
    Task("mistype a metric", f"{SCORE} -m bertscor", 2, (), (r"did you mean bertscore",)),
    Task("mistype an "
        "option", f"{SCORE} --metrik twmd", 2, (), (r"--metrik", r"monge score --help")),
    Task("forget the "
        "reference", "score -t system-a.txt", 2, (), (r"give -r REFERENCES, or -s SOURCE",)),
    Task("explain a "
        "pair", "explain 'The cat slept.' 'A cat was "
            "sleeping.'", 0, (r"cat +→ +cat", r"signature")),
    Task("explain a segment of a "
        "file", "explain comet.tsv --id 2 -m bertscore", 0, (r"bertscore ↑",)),
    Task("explain a line of two "
        "files", "explain -t system-a.txt -r reference.txt --id 3", 0, (r"monge ↑",)),
    Task("ask for a segment that is not "
        "there", "explain comet.tsv --id 99", 2, (), (r"no such segment; there are 6",)),
    Task("tell which system is "
        "better", "compare -t system-a.txt -t system-b.txt -r reference.txt -m chrf", 0,
         (r"cluster", r"Holm")),
    Task("bring scores of another "
        "metric", "compare comet-two.tsv --scores comet=scores.tsv -m chrf", 0,
         (r"comet", r"scores:comet#")),
    Task("evaluate with one's own "
        "judgements", "evaluate table --data judged.tsv -m chrf", 0, (r"chrf", r"pearson")),
    Task("ask which data sets there are", "data", 0, (r"wmt17", r"summeval")),
    Task("ask what is missing in a directory", "data wmt17 outputs", 0, (r"DA-seglevel.csv",)),
    Task("evaluate without the "
        "files", "evaluate wmt17 --data outputs -m chrf", 1, (), (r"monge data wmt17 outputs",)),
    Task("score Chinese with the English "
        "model", "score -t zh-a.txt -r zh-r.txt", 1, (), (r"--lang zh",)),
    Task("score Chinese", "score -t zh-a.txt -r zh-r.txt --lang zh -m twmd -m bleu", 0,
         (r"multilingual-e5-small#", r"tok(?:enize)?[:=]zh")),
    Task("score Russian without saying "
        "so", "score -t ru-a.txt -r ru-r.txt", 0, (r"monge",), (r"Cyrillic.*--lang ru",)),
    Task("give an unknown language", f"{SCORE} --lang xx", 2, (), (r"xx",)),
    Task("pass a gate", f"{SCORE} -m chrf --fail-under 1", 0),
    Task("fail a gate", f"{SCORE} -m twmd -m chrf --fail-under "
        f"chrf=99.9,twmd=.1", 4, (), (r"chrf", r"below 99.9")),
    Task("know beforehand how long it "
        "takes", f"{BOTH} --dry-run", 0, (r"about", r"12|distinct texts")),
    Task("rescale", f"{SCORE} -m bertscore --rescale", 0, (r"baseline",)),
    Task("set something for one of "
        "two", f"{SCORE} -m chrf -m twmd --set layers=3", 0, (r"layers=3",), (r"chrf",)),
    Task("set a lexical option", f"{SCORE} -m chrf --set beta=1", 0, (r"beta[=:]1",)),
    Task("ask what a metric is", "show twmd", 0, (r"range +-1 to 1", r"temperature=0.1")),
    Task("compare with source and "
        "reference", "score -t system-a.txt -r reference.txt -s source-de.txt -m chrf "
         "-m yisi-2 --model "
         "multilingual", 0, (r"yisi-2 ↑",), (r"yisi-2 compares with the source",)),
    Task("complete in the shell", "completion show bash", 0, (r"monge",)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def desk(workplace):
    """What a new user has lying about."""
    lines = {
        name: (workplace / f"{name}.txt").read_text("utf-8").splitlines()
        for name in ("system-a", "system-b", "reference")
    }
    a, b, r = lines["system-a"], lines["system-b"], lines["reference"]
    (workplace / "system-a.txt.gz").write_bytes(
        gzip.compress((workplace / "system-a.txt").read_bytes())
    )
    rows = [("src", "mt", "ref"), *zip(["x"] * 6, a, r, strict=True)]
    (workplace / "comet.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    both = [
        ("sys", "id", "mt", "ref"),
        *[(s, str(k), t, r[k]) for s, of in (("a", a), ("b", b)) for k, t in enumerate(of)],
    ]
    (workplace / "comet-two.tsv").write_text(
        "".join("\t".join(row) + "\n" for row in both), "utf-8"
    )
    scores = [
        ("system", "id", "score"),
        *[(s, str(k), f"0.{k + (s == 'a')}") for s in "ab" for k in range(6)],
    ]
    (workplace / "scores.tsv").write_text("".join("\t".join(row) + "\n" for row in scores), "utf-8")
    quoted = [(t.replace('"', '""'), o.replace('"', '""')) for t, o in zip(a, r, strict=True)]
    sheet = "\ufeffhypothesis;reference\n" + "".join(f'"{t}";"{o}"\n' for t, o in quoted)
    (workplace / "sheet.csv").write_text(sheet, "utf-8")
    run = [
        json.dumps({"prediction": t, "references": [o], "latency": 0.1})
        for t, o in zip(a, r, strict=True)
    ]
    (workplace / "run.jsonl").write_text("\n".join(run) + "\n", "utf-8")
    odd = "ours\ttheirs\n" + "".join(f"{t}\t{o}\n" for t, o in zip(a, r, strict=True))
    (workplace / "odd.tsv").write_text(odd, "utf-8")
    (workplace / "outputs").mkdir()
    for name, of in (("one", a), ("two", b)):
        (workplace / "outputs" / f"{name}.txt").write_text("\n".join(of) + "\n", "utf-8")
    (workplace / "book.xlsx").write_bytes(b"PK\x03\x04" + bytes(200))
    (workplace / "short.txt").write_text("\n".join(a[:5]) + "\n", "utf-8")
    judged = [f"{t}\t{o}\t{k}\n" for k, (t, o) in enumerate(zip(a + b, r + r, strict=True))]
    (workplace / "judged.tsv").write_text(
        "hypothesis\treference\thuman\n" + "".join(judged), "utf-8"
    )
    foreign = {
        "zh-a": "厨师购买了新鲜的鱼。\n孩子们在公园里玩耍。\n",
        "zh-r": "厨师买了鲜鱼。\n孩子们在花园玩。\n",
        "ru-a": "Повар купил свежую рыбу.\nДети играют в парке.\n",
        "ru-r": "Повар купил рыбу.\nДети играли в саду.\n",
    }
    for name, text in foreign.items():
        (workplace / f"{name}.txt").write_text(text, "utf-8")
    return workplace


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.wants.replace(" ", "-"))
def test_a_task_of_the_first_hour(monge, task):
    found = monge(*shlex.split(task.types))
    assert found.code == task.code, found.err
    for pattern in task.out:
        assert re.search(pattern, found.out), f"{pattern!r} not in\n{found.out}"
    for pattern in task.err:
        assert re.search(pattern, found.err), f"{pattern!r} not in\n{found.err}"
    assert "Traceback" not in found.err
    assert all(line.startswith("monge: ") for line in found.err.splitlines()) or found.code == 4
    assert not re.search(r"\bnan\b", found.out)


def test_there_are_forty_tasks():
    assert len(TASKS) >= 40
    assert len({task.types for task in TASKS}) == len(TASKS)


def test_a_signature_copied_from_the_screen_replays(monge):
    shown = monge("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "moverscore").out
    short = re.search(r"signature +(\S+)", shown)[1]
    again = monge("score", "-t", "system-a.txt", "-r", "reference.txt", "--signature", short)
    assert again.code == 0, again.err
    assert again.out == shown
    other = monge("score", "-t", "system-b.txt", "-r", "reference-2.txt", "--signature", short)
    assert other.code == 3
    assert "--refit" in other.err


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
@pytest.mark.parametrize(
    "line", [SCORE, f"{SCORE} -m chrf -f json", "explain cat 'the cat'", "metrics", "data"]
)
def test_at_a_terminal_what_is_redirected_is_whole(start, line):
    arguments = shlex.split(line)
    plain, redirected = start(*arguments).outcome(), start(*arguments, tty="in err").outcome()
    assert plain.code == redirected.code == 0, redirected.err
    assert redirected.out == plain.out != ""
    shown = start(*arguments, tty="in out err").outcome()
    letters = "".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.out).split())
    assert sorted(letters) == sorted("".join(plain.out.split()))  # cells may be broken into lines
