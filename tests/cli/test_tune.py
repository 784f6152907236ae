"""`monge tune` at the front door: an adapter is made, scores with it, and what cannot be is one
line.
"""

import pytest


@pytest.fixture
def judged(workplace):
    words = ["the", "cat", "sat", "on", "mat", "dog", "ran", "house"]
    rows = ["hypothesis\treference\thuman"]
    for k in range(40):
        reference = [words[(k + i) % 8] for i in range(5)]
        kept = [
            word if (k >> i) & 1 else words[(k * 3 + i) % 8] for i, word in enumerate(reference)
        ]
        shared = sum(a == b for a, b in zip(reference, kept, strict=True))
        rows.append(f"{' '.join(kept)}\t{' '.join(reference)}\t{shared + k / 100}")
    (workplace / "judged.tsv").write_text("\n".join(rows) + "\n")
    (workplace / "h.txt").write_text("the cat sat\nthe dog ran\n")
    (workplace / "r.txt").write_text("the cat ran\nthe dog sat on the mat\n")
    return [
        "tune",
        "twmd",
        "--train",
        "table",
        "--data",
        "judged.tsv",
        "--dev",
        "0.25",
        "--layers",
        "2",
        "--batch",
        "8",
    ]


def test_an_adapter_is_made_and_scores(monge, judged, tiny_bert, workplace):
    said = monge(*judged, "--model", tiny_bert, "-o", "adapter/", "--epochs", "1")
    assert said.code == 0, said.err
    assert "before" in said.err and "use it with --model adapter" in said.err
    scored = monge("score", "-t", "h.txt", "-r", "r.txt", "--model", "adapter", "--layers", "2")
    assert scored.code == 0, scored.err
    assert f"{tiny_bert.name}+adapter#" in scored.out
    again = monge(*judged, "--model", tiny_bert, "-o", "adapter")
    assert again.code == 2
    assert "adapter exists already" in again.err


def test_a_dry_run_writes_nothing(monge, judged, tiny_bert, workplace):
    said = monge(*judged, "--model", tiny_bert, "-o", "adapter", "--dry-run")
    assert said.code == 0, said.err
    assert "30 judgements of table" in said.out and "10 judgements of table" in said.out
    assert not list(workplace.glob("adapter*"))


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--device", "cuda"], 2, "--device is not supported by tune"),
        (["--precision", "int8"], 2, "tuning takes precision fp32 or bf16, got 'int8'"),
        (["--teacher-model", "x"], 2, "are for --teacher METRIC"),
        (
            ["--train", "distil:table"],
            2,
            "distil:table learns from a teacher: give --teacher METRIC",
        ),
        (["--train", "nli:table"], 2, "nli learns from a file of labelled pairs"),
        (["--train", "judged.tsv"], 2, "say what its last column is, nli:judged.tsv"),
        (["--human", "reference"], 1, "reference"),
        (["--lang", "de"], 2, "--lang is not supported by tune"),
        (["--dev", "1.5"], 2, "between 0 and 1, got 1.5"),
        (["--method", "lorra"], 2, "method takes lora, last, all, mix, got 'lorra'"),
        (
            ["--train", "table*x"],
            2,
            "--train takes [OBJECTIVE:]DATASET|FILE[(OPTION=VALUE,…)][*WEIGHT]",
        ),
        (["--rate", "3"], 2, "rate 3"),
    ],
)
def test_what_is_refused(monge, judged, tiny_bert, workplace, more, code, message):
    said = monge(*judged, "--model", tiny_bert, "-o", "adapter", *more)
    assert said.code == code
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not list(workplace.glob("adapter*"))


def test_scores_in_human_units_say_how_far_they_are_off(monge, judged, tiny_bert, workplace):
    assert monge(*judged, "--model", tiny_bert, "-o", "adapter", "--epochs", "1").code == 0
    texts = ["score", "-t", "h.txt", "-r", "r.txt"]
    said = monge(*texts, "--model", tiny_bert, "--adapter", "adapter", "--calibrate", "human")
    assert said.code == 0, said.err
    assert "scale=human" in said.out
    assert "monge: in human z scores, off by" in said.err
    plain = monge(*texts, "--model", tiny_bert, "--calibrate", "human")
    assert plain.code == 3
    assert "needs a model that was tuned on human scores" in plain.err
    wrong = monge(*texts, "--model", tiny_bert, "--adapter", "mt")
    assert wrong.code == 3
    assert "no adapter mt for tiny-bert" in wrong.err and "all-MiniLM-L6-v2" in wrong.err


def test_pairs_with_labels_and_grades_are_learned_from(monge, judged, tiny_bert, workplace):
    (workplace / "nli.tsv").write_text(
        "a cat\ta dog\tneutral\nthe cat sat\ta cat sat\tentailment\n" * 8
    )
    (workplace / "grades.tsv").write_text("1\ta cat\ta dog\t2\n2\tthe cat sat\ta cat sat\t4\n" * 8)
    more = ["--train", "nli:nli.tsv*0.5", "--train", "paraphrase:grades.tsv", "--epochs", "1"]
    said = monge(*judged, *more, "--model", tiny_bert, "-o", "adapter")
    assert said.code == 0, said.err
    card = (workplace / "adapter" / "README.md").read_text()
    assert "--train 'nli:nli.tsv*0.5'" in card and "| grades.tsv | 16 |" in card


def test_labels_alone_are_learned_and_reported_as_accuracy(monge, tiny_bert, workplace):
    lines = [f"the {k} cat\ta {k} {'cat' if k % 2 else 'dog'}\t{k % 2}" for k in range(60)]
    (workplace / "pairs.tsv").write_text("\n".join(lines) + "\n")
    command = ["tune", "twmd", "--train", "classify:pairs.tsv", "--data", ".", "--dev", "0.25"]
    command += ["--layers", "2", "--batch", "8", "--epochs", "1", "--model", tiny_bert]
    dry = monge(*command, "-o", "adapter", "--dry-run")
    assert dry.code == 0, dry.err
    assert "choose by  15 judgements of pairs.tsv" in dry.out
    said = monge(*command, "-o", "adapter")
    assert said.code == 0, said.err
    assert "accuracy with held-out judgements of pairs.tsv 0." in said.err
    shown = monge("show", "adapter")
    assert "pairs.tsv, 15 judgements: accuracy 0." in shown.out


@pytest.mark.parametrize(
    ("lesson", "code", "message"),
    [
        ("classify:stsb", 2, "classify:stsb(paraphrase_from=GRADE)"),
        ("classify:wrong.tsv", 1, "wrong.tsv, line 2: label 'maybe'; labels: entailment"),
        ("classify:wrong.tsv(labels=x)", 2, "labels takes two or three labels"),
        ("classify:wrong.tsv(pool=max)", 2, "pool takes first or mean, got 'max'"),
        ("classify:wrong.tsv(split=train)", 2, "takes the options sample, batch, labels"),
        ("clasify:wrong.tsv", 2, "objective takes score, correlation"),
    ],
)
def test_wrong_labels_are_one_line(monge, tiny_bert, workplace, lesson, code, message):
    (workplace / "wrong.tsv").write_text("a cat\ta dog\tentailment\na cat\ta dog\tmaybe\n")
    said = monge("tune", "twmd", "--train", lesson, "--data", ".", "--model", tiny_bert, "-o", "x")
    assert said.code == code and message in said.err, said.err
    assert said.err.count("\n") == 1
