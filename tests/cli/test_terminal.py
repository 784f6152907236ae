"""The command at a terminal: results are whole wherever they go, and an interrupted run goes on."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import pytest

from monge import api
from monge.render.cells import display_width
from monge.render.drawing import worst_told

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals and signals of POSIX")
STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
UNDER_WAY = re.compile(r"\b[1-9]\d?%")
WORDS = [
    "the", "cat", "sat", "on", "mat", "dog", "ran", "to", "house", "and", "slept", "a", "is", "of", "in", "he", "said",
]  # fmt: skip


def texts(count, seed, longest=24):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(12, longest))) for _ in range(count)]


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


@pytest.fixture
def files(workplace):
    """300 segments of two systems, and judgements of one of them in two groups."""
    first, second, references = (texts(300, seed) for seed in (1, 2, 3))
    for name, lines in (("a", first), ("b", second), ("r", references)):
        write(workplace / f"{name}.txt", lines)
    rows = [f"{i}\tg{i % 2}\t{first[i]}\t{references[i]}\t{i * 7919 % 100}" for i in range(300)]
    write(workplace / "judged.tsv", ["id\tgroup\thypothesis\treference\thuman", *rows])
    return workplace


JUDGED = "table --data judged.tsv --resamples 50 --model MODEL"
CHRF = "metric:chrf|options:char_order=6,word_order=0,beta=2|lib:sacrebleu|nrefs:1|version:2.6.0|monge:0.1.0"
PROGRESS = {
    "score": "score -t a.txt -t b.txt -r r.txt -m twmd -m bertscore --model MODEL",
    "compare": "compare -t a.txt -t b.txt -r r.txt --resamples 50 --model MODEL",
    "evaluate": f"evaluate {JUDGED} -m twmd -m bertscore",
    "sweep": f"sweep {JUDGED} -m twmd --vary layers=1,2",
    "sensitivity": f"sensitivity {JUDGED} -m bertscore --factor stopwords",
}
VERBS = PROGRESS | {
    "score jsonl": "score -t a.txt -r r.txt -f jsonl --model MODEL",
    "explain": "explain cat dog --model MODEL",
    "reproduce": "reproduce",
    "analyse": "analyse a.txt --model MODEL --sentences 50 --pairs 50",
    "metrics": "metrics",
    "show": "show twmd",
    "signature parse": f"signature parse {CHRF}",
    "signature diff": f"signature diff {CHRF} {CHRF.replace('chrf', 'bleu')}",
    "cache info": "cache info .",
}


@pytest.mark.parametrize(
    "line", ["report -t a.txt -r r.txt -m chrf", "score -t a.txt -r r.txt -m chrf -f html"]
)
def test_a_page_does_not_fill_a_terminal(start, files, line):
    refused = start(*line.split(), tty="in out err").outcome()
    assert (
        refused.code == 2
        and "-o FILE.html" in refused.err + refused.out
        and "<html" not in refused.out
    )
    piped = start(*line.split(), tty="in err").outcome()
    assert piped.code == 0 and piped.out.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("verb", VERBS)
def test_results_are_whole_with_and_without_a_terminal(start, files, tiny_bert, verb):
    line = VERBS[verb].replace("MODEL", str(tiny_bert)).split()
    plain = start(*line).outcome()
    redirected = start(*line, tty="in err").outcome()
    shown = start(*line, tty="in out err").outcome()
    assert plain.code == redirected.code == shown.code == 0, plain.err
    assert plain.out
    assert redirected.out == plain.out
    texts = [STYLES.sub("", one.out) for one in (plain, shown)]
    assert not Counter(texts[0].replace(" ", "")) - Counter(texts[1]), "no letter is lost"
    if verb not in (
        "show",
        "signature parse",
    ):  # long signatures stand in a cell, which is broken within them
        words = [Counter(text.split()) for text in texts]
        assert (
            not words[0] - words[1]
        )  # cells may be broken into lines, and columns that name rows may stand twice
    if verb in PROGRESS:
        assert "scoring" not in plain.err
        assert all("scoring" in one.err and "100%" in one.err for one in (redirected, shown))


LONG = "a-system-whose-name-tells-the-corpus_the-seed_and-the-checkpoint-at-step-120000.txt"
GIVEN = f"-t a.txt -t {LONG} -t b.txt -r r.txt"
VARIANTS = "-m twmd -m bertscore[units.stopwords=en,units.punctuation=drop,weights=uniform] -m chrf"
GROUPED = "table --data grouped.tsv --resamples 50 --model MODEL"
TABLES = {
    "score": f"score {GIVEN} {VARIANTS} --ci --model MODEL",
    "score with texts": f"score {GIVEN} -m bertscore --with-texts --model MODEL",
    "score of a system": "score -t a.txt -r r.txt -m chrf -m bleu -m ter --ci",
    "compare": f"compare {GIVEN} {VARIANTS} --resamples 50 --model MODEL",
    "evaluate": f"evaluate {GROUPED} {VARIANTS}",
    "evaluate uniformly": f"evaluate {GROUPED} -m twmd -m bertscore --uniform-units",
    "sweep": f"sweep {GROUPED} -m twmd -m bertscore --vary layers=1,2 --vary "
    f"units.punctuation=keep,drop",
    "sensitivity": f"sensitivity {GROUPED} -m bertscore -m twmd --factor stopwords --factor "
    f"punctuation --cross",
    "reproduce": "reproduce",
    "analyse": "analyse a.txt --model MODEL --sentences 50 --pairs 50",
    "explain": "explain sentences.tsv --id 1 -m twmd -m bertscore --model MODEL",
    "tune": "tune twmd --train table --data judged.tsv --dev .2 --epochs 1 --model MODEL -o tuned "
    "--dry-run",
    "metrics": "metrics",
    "show": "show twmd",
    "data": "data",
    "recommend": "recommend",
    "recommend translation": "recommend --task translation",
    "recommend similarity": "recommend --task similarity",
    "signature parse": f"signature parse {CHRF}",
    "signature diff": f"signature diff {CHRF} {CHRF.replace('chrf', 'bleu')}",
    "cache info": "cache info .",
}


@pytest.fixture
def named_files(files):
    """The files, one of a system with a long name, and judgements in seven groups."""
    write(files / LONG, texts(300, 8))
    head, *rows = (files / "judged.tsv").read_text("utf-8").splitlines()
    groups = ["cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en"]
    fields = [row.split("\t") for row in rows]
    write(
        files / "grouped.tsv",
        [head, *("\t".join([f[0], groups[k % 7], *f[2:]]) for k, f in enumerate(fields))],
    )
    write(files / "sentences.tsv", [head, *rows[:2]])
    return files


@pytest.mark.parametrize("verb", TABLES)
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(
    start, monkeypatch, named_files, tiny_bert, verb
):
    """A signature is one line, however long, so that it can be copied: the terminal breaks it.
    Nothing else is.
    """
    line = TABLES[verb].replace("MODEL", str(tiny_bert)).split()
    plain = start(*line).outcome()
    assert plain.code == 0, plain.err
    for columns in (80, 100, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        shown = STYLES.sub("", start(*line, tty="in out err").outcome().out)
        long = [
            one
            for one in shown.splitlines()
            if display_width(one) > columns and not one.startswith("signature")
        ]
        assert long == []
        if verb == "tune":  # its times differ
            continue
        letters, wanted = (Counter(re.sub(r"\s", "", text)) for text in (shown, plain.out))
        assert not wanted - letters, (
            "columns that name rows may stand twice, and nothing is left out"
        )
        small = {word for word in plain.out.split() if len(word) <= 16}
        assert small <= set(shown.split()), "no short word and no number is broken"


def test_a_redirected_table_is_as_wide_as_it_is(start, monkeypatch, named_files, tiny_bert):
    monkeypatch.setenv("COLUMNS", "80")
    line = TABLES["score"].replace("MODEL", str(tiny_bert)).split()
    redirected = start(*line, tty="in err").outcome().out
    assert (
        LONG.removesuffix(".txt") in redirected
        and max(map(display_width, redirected.splitlines())) > 120
    )


def test_score_compare_and_their_pages_have_one_order(start, named_files, tiny_bert):
    """Metrics as they were asked for, systems from best to worst by the first metric."""
    asked = f"-t b.txt -t {LONG} -t a.txt -r r.txt -m twmd -m bertscore --model {tiny_bert}"

    def order(text):
        names = ("a", "b", LONG.removesuffix(".txt"))
        cells = re.findall(r"(?:<bdi>|^|  )([^<>\s]+)(?:</bdi>|\s)", text, re.MULTILINE)
        return [name for name in cells if name in names]

    shown = [start(*f"{verb} {asked} {form}".split()).outcome().out for verb, form in
             (("score", ""), ("score", "-f html"), ("compare --resamples 50", ""))]  # fmt: skip
    first, page, compared = map(order, shown)
    assert len(first) == 6 and first[:3] == first[3:]
    assert page[:6] == first and compared[:3] == first[:3]


def test_an_explanation_at_a_terminal_has_the_sentence_and_colour(start, workplace):
    line = "explain", "the dog sat on a mat", "the cat sat on a mat"
    plain = start(*line).outcome().out
    sentence = plain.split("\n\n")[1].replace("\n", " ")
    assert sentence == worst_told(api.explain(*line[1:])) and sentence.startswith(
        "Most was lost by matching “dog”"
    )
    shown = start(*line, tty="in out err").outcome().out
    assert STYLES.search(shown) and not STYLES.search(plain)
    assert STYLES.sub("", shown).split() == plain.split()


def test_fit_writes_the_same_with_and_without_a_terminal(start, files, tiny_bert):
    for path, tty in (("plain.json", ""), ("shown.json", "in out err")):
        found = start(
            "fit", "-r", "r.txt", "-m", "moverscore", "--model", tiny_bert, "-o", path, tty=tty
        ).outcome()
        assert (found.code, found.out) == (0, "")
        assert found.err == "monge: fitted 300 texts of the references (idf) for moverscore\n"
    assert (files / "plain.json").read_bytes() == (files / "shown.json").read_bytes() != b""


def test_a_pipe_at_a_terminal_gets_every_byte(files, start, tiny_bert):
    """`monge score … -f json | wc -c` counted 0."""
    line = f"score -t a.txt -r r.txt -m twmd -f json --model {tiny_bert}"
    code = "from monge.cli.main import main; main()"
    ours, theirs = os.openpty()
    try:
        found = subprocess.run(
            ["sh", "-c", f"'{sys.executable}' -c '{code}' {line} | wc -c"],
            cwd=files, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, check=True,
        )  # fmt: skip
        assert b"scoring" in os.read(ours, 1 << 16)
    finally:
        os.close(ours)
        os.close(theirs)
    assert int(found.stdout) == len(start(*line.split()).outcome().out.encode()) > 500


@pytest.fixture
def long(workplace, tiny_bert):
    """A command that scores 2,500 segments into a file, and what it writes."""
    write(workplace / "h.txt", texts(2500, 4))
    write(workplace / "r.txt", texts(2500, 5))
    return (
        f"score -t h.txt -r r.txt -m twmd -f json --segments --model {tiny_bert} -o out.json"
    ).split()


def encoded(shown):
    return int(re.search(r"monge: \d+ texts, (\d+) encoded", shown)[1])


def told(shown):
    """The messages among what a terminal shows."""
    return [
        line[line.index("monge: ") :]
        for line in STYLES.sub("", shown).splitlines()
        if "monge: " in line
    ]


def interrupted(start, line, number):
    """Send a signal as soon as the bar has moved."""
    run = start(*line, tty="err")
    run.until(UNDER_WAY.search)
    os.kill(run.pid, number)
    found = run.outcome()
    assert "100%" not in found.err
    assert "Traceback" not in found.err
    return found


def test_an_interrupted_run_goes_on_by_itself(start, long, workplace):
    """Without `--resume` the scores so far were deleted; now every run goes on unless told to begin
    anew.
    """
    out, journal = workplace / "out.json", workplace / "out.json.partial"
    whole = start(*long, tty="err").outcome()
    expected = out.read_bytes()
    assert whole.code == 0
    assert not journal.exists()
    out.unlink()

    stopped = interrupted(start, long, signal.SIGINT)
    assert stopped.code == 130
    kept = "monge: scores so far are kept in out.json.partial: the same command goes on from there"
    assert told(stopped.err) == [kept, "monge: interrupted"]
    killed = interrupted(start, long, signal.SIGKILL)
    assert killed.code == -signal.SIGKILL
    assert not out.exists()

    resumed = start(*long, tty="err").outcome()
    going = (
        "monge: going on with what an interrupted run left in out.json.partial (--fresh "
        "begins anew)"
    )
    assert told(resumed.err)[0] == told(killed.err)[0] == going
    assert 0 < encoded(resumed.err) < encoded(whole.err)
    assert out.read_bytes() == expected
    assert not journal.exists()


def test_fresh_begins_anew(start, long, workplace):
    interrupted(start, long, signal.SIGINT)
    anew = start(*long, "--fresh", tty="err").outcome()
    assert anew.code == 0
    assert "going on" not in anew.err
    assert encoded(anew.err) == 5000
    assert not (workplace / "out.json.partial").exists()


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_an_interrupted_run_without_a_file_says_how_to_go_on(start, workplace, tiny_bert, verb):
    for name, seed in (("a", 6), ("b", 7), ("r", 8)):
        write(workplace / f"{name}.txt", texts(1500, seed))
    line = [
        verb,
        "-t",
        "a.txt",
        "-t",
        "b.txt",
        "-r",
        "r.txt",
        "-m",
        "twmd",
        "--model",
        str(tiny_bert),
    ]
    lost = interrupted(start, line, signal.SIGINT)
    said, last = told(lost.err)
    assert lost.code == 130 and last == "monge: interrupted"
    assert (
        said.startswith("monge: nothing is kept: with ")
        and "--cache DIR the same command goes on" in said
    )
    kept = interrupted(start, [*line, "--cache", "kept"], signal.SIGINT)
    going = "monge: what was computed so far is kept in kept: the same command goes on from there"
    assert told(kept.err) == [going, "monge: interrupted"]


INTO_FILE = (
    "score",
    "-t",
    "system-a.txt",
    "-r",
    "reference.txt",
    "-m",
    "chrf",
    "-f",
    "json",
    "-o",
    "out.json",
)


def test_a_foreign_file_in_the_journals_place_is_left_alone(start, workplace):
    place = workplace / "out.json.partial"
    for mine in (place, place / "notes.txt"):
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("mine", "utf-8")
        for more in ((), ("--fresh",)):
            found = start(*INTO_FILE, *more, tty="err").outcome()
            name = mine.relative_to(workplace)
            wanted = (
                f"monge: {name} is where an unfinished run would be kept: move it, or choose "
                f"another -o FILE\n"
            )
            assert (found.code, found.err) == (2, wanted)
            assert mine.read_text("utf-8") == "mine"
        mine.unlink()


def scores_without_a_journal(start, workplace, reason, *options):
    """The scores come out, and one line says at once why none are kept on the way."""
    found = start(*INTO_FILE, *options).outcome()
    assert found.code == 0, found.err
    assert [line for line in found.err.splitlines() if "going on" not in line] == [
        f"monge: out.json.partial: {reason}, so scores are not kept during the run: if it is "
        "interrupted, it starts again"
    ]
    assert json.loads((workplace / "out.json").read_text("utf-8"))["results"][0]["n"] == 6


UNWRITABLE = "it cannot be written (no permission, or read-only)"


def test_a_journal_that_cannot_be_opened(start, workplace):
    (workplace / "out.json.partial" / "monge-cache.sqlite").mkdir(parents=True)
    scores_without_a_journal(start, workplace, UNWRITABLE)


def test_a_damaged_journal_is_begun_anew(start, workplace):
    """What was set aside as damaged was then taken for a foreign file, and the run was refused."""
    place = workplace / "out.json.partial"
    place.mkdir()
    for name in ("monge-cache.sqlite", "monge-cache.damaged"):
        (place / name).write_bytes(b"no database" * 100)
    found = start(*INTO_FILE).outcome()
    assert found.code == 0, found.err
    assert not place.exists()


def test_a_journal_that_another_process_has_locked(start, workplace):
    """It waited a minute to write what it then deleted."""
    (workplace / "out.json.partial").mkdir()
    other = sqlite3.connect(
        workplace / "out.json.partial" / "monge-cache.sqlite", isolation_level=None
    )
    other.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    scores_without_a_journal(start, workplace, "another process keeps it locked")
    assert time.monotonic() - began < 45
    other.close()


@pytest.mark.parametrize(
    ("options", "reason"), [("size=4k", "the disk is full"), ("ro", UNWRITABLE)]
)
def test_a_journal_on_a_disk_that_takes_nothing(start, workplace, options, reason):
    place = workplace / "out.json.partial"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only a superuser who may mount can make such a disk")
    try:
        scores_without_a_journal(start, workplace, reason)
        if options == "ro":
            anew = start(*INTO_FILE, "--fresh").outcome()
            wanted = "monge: cache out.json.partial: cannot be emptied (Read-only file system)\n"
            assert (anew.code, anew.err) == (2, wanted)
        else:
            scores_without_a_journal(start, workplace, reason, "--fresh")
    finally:
        subprocess.run(["umount", place], check=True)


def test_progress_moves_by_small_steps(tiny_bert):
    """300 segments of sentences showed 0 % until 100 %."""
    steps = []
    rows = api.segments_of(texts(300, 6, 60), texts(300, 7, 60))
    api.score_segments(
        [api.load("twmd", model=str(tiny_bert))], rows, watch=api.Watch(steps.append)
    )
    assert sum(steps) == 300
    assert len(steps) >= 3


def test_lines_of_a_blend_beside_other_metrics(monge, tiny_bert):
    """With a blend among the metrics, no segment of any was printed."""
    line = (
        "score -t system-a.txt -t system-b.txt -r reference.txt -m sentsim -m twmd -m chrf -f jsonl"
    )
    found = monge(*line.split(), "--model", tiny_bert)
    rows = [json.loads(line) for line in found.out.splitlines()]
    for metric in ("sentsim", "twmd", "chrf"):
        for system in ("system-a", "system-b"):
            mine = [row for row in rows if (row["metric"], row["system"]) == (metric, system)]
            assert [row.get("id") for row in mine if row["type"] == "segment"] == list("123456")
            assert [row["n"] for row in mine if row["type"] == "result"] == [6]
            mean = sum(row["score"] for row in mine[:-1]) / 6
            assert mine[-1]["score"] == pytest.approx(mean) or metric == "chrf"


@pytest.mark.parametrize("kind", ["text", "json", "jsonl", "tsv", "latex", "html"])
def test_variants_of_a_metric_are_told_apart(monge, tiny_bert, kind):
    """Both were called twmd."""
    metrics = ("twmd", "twmd[transport=exact]")
    line = [
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
        "--segments",
        "--model",
        tiny_bert,
        "-f",
        kind,
    ]
    found = monge(*line, *(word for name in metrics for word in ("-m", name)))
    assert found.code == 0, found.err
    if kind == "json":
        assert [one["metric"] for one in json.loads(found.out)["results"]] == list(metrics)
    elif kind == "jsonl":
        assert [json.loads(row)["metric"] for row in found.out.splitlines()].count(metrics[1]) == 7
    elif kind == "tsv":
        assert [row.split("\t")[0] for row in found.out.splitlines()[1:]] == [metrics[0]] * 6 + [
            metrics[1]
        ] * 6
    else:
        assert ("transport=exact" if kind == "latex" else metrics[1]) in found.out


def test_statistics_of_different_kinds_together(monge, tiny_bert):
    line = [
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
        "--model",
        tiny_bert,
        "-f",
        "json",
    ]
    metrics = {"moverscore": "idf.json", "bertscore[scale=baseline]": "base.json"}
    assert (
        monge(
            "fit",
            "-r",
            "reference-2.txt",
            "-m",
            "moverscore",
            "--model",
            tiny_bert,
            "-o",
            "idf.json",
        ).code
        == 0
    )
    assert (
        monge(
            "fit",
            "--baseline",
            "reference.txt",
            "-m",
            "bertscore",
            "--model",
            tiny_bert,
            "-o",
            "base.json",
        ).code
        == 0
    )
    both = [word for name, path in metrics.items() for word in ("-m", name, "--stats", path)]
    together = json.loads(monge(*line, *both).out)["results"]
    alone = [
        json.loads(monge(*line, "-m", name, "--stats", path).out)["results"][0]
        for name, path in metrics.items()
    ]
    assert [one["score"] for one in together] == [one["score"] for one in alone]
    assert [one["signature"] for one in together] == [one["signature"] for one in alone]
    twice = monge(*line, "-m", "moverscore", "--stats", "idf.json", "--stats", "idf.json")
    assert (twice.code, twice.out) == (3, "")
    assert twice.err.startswith(
        "monge: idf.json and idf.json: both statistics hold counts of references"
    )
    assert twice.err.count("\n") == 1


def test_an_interrupt_while_it_starts_is_one_line(workplace):
    """Ctrl-C in the first half second printed a traceback: main was imported after all the rest."""
    heard = "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    entered = (
        "from monge.cli.main import main; assert 'typer' not in sys.modules; os.write(1, "
        "b'!'); main()"
    )
    command = [
        sys.executable,
        "-c",
        f"{heard}; {entered}",
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
    ]
    swallowed = 0
    for moment in range(10):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout.read(1) == b"!", process.stderr.read()
            time.sleep(0.05 + 0.06 * moment)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        if err.startswith(
            b"Exception ignored in"
        ):  # Python itself drops an interrupt that meets one of its callbacks
            swallowed += 1
            continue
        assert (process.returncode, out, err) == (130, b"", b"monge: interrupted\n")
    assert swallowed <= 2
