"""`monge probe` at the command line: output formats, files for other programs, bad input."""

import json

import pytest
from refusals import refused


def test_json_names_texts_seed_kinds_and_signatures(monge):
    outcome = monge("probe", "-m", "chrf", "--kind", "number,typo", "--seed", 3, "-f", "json", "-q")
    assert outcome.code == 0
    data = json.loads(outcome.out)
    assert data["study"]["origin"] == "the packaged example" and data["study"]["seed"] == 3
    assert [kind["kind"] for kind in data["study"]["kinds"]] == ["number", "typo"]
    assert data["results"][0]["signature"].startswith("metric:chrf|")
    again = monge("probe", "-m", "chrf", "--kind", "number,typo", "--seed", 3, "-f", "json", "-q")
    assert again.out == outcome.out


def test_own_texts_references_and_sources(monge):
    files = ("-t", "system-a.txt", "-r", "reference.txt", "-s", "source-de.txt")
    outcome = monge("probe", *files, "-m", "chrf", "-f", "json", "-q", "--kind", "source-copied")
    data = json.loads(outcome.out)
    assert data["study"]["origin"].startswith("outputs") and data["study"]["texts"] == 6
    assert data["results"][0]["kinds"][0]["share"] == 1.0
    outcome = monge(
        "probe", "-r", "reference.txt", "-r", "reference-2.txt", "-m", "chrf", "-f", "json", "-q"
    )
    data = json.loads(outcome.out)
    assert data["study"]["origin"].startswith("the references themselves")
    assert data["study"]["left_out"]["source-copied"] == "needs sources (-s)"


def test_a_table_is_read_as_for_other_verbs(monge, workplace):
    (workplace / "t.tsv").write_text("mt\tref\nHe has 3 cars.\tHe owns 3 cars.\n")
    columns = "hypothesis=mt,reference=ref"
    outcome = monge("probe", "t.tsv", "--columns", columns, "-m", "chrf", "--kind", "number", "-q")
    assert outcome.code == 0 and "1 texts: outputs" in outcome.out


def test_pictures_and_pages(monge, workplace):
    for form in ("svg", "html"):
        outcome = monge(
            "probe", "-m", "chrf", "--kind", "number,typo", "-f", form, "-o", f"map.{form}"
        )
        assert outcome.code == 0
        # two kinds by one metric
        assert (workplace / f"map.{form}").read_text().count('<rect class="mg-c') == 2
    page = (workplace / "map.html").read_text()
    assert "What chrf does not see" in page and page.count('<rect class="mg-c') == 2


def test_texts_are_written_and_scores_of_others_are_read(monge, workplace):
    common = ("--kind", "number,typo", "--seed", 5)
    outcome = monge("probe", *common, "--write", "files")
    assert outcome.code == 0 and outcome.out == "" and "index.jsonl" in outcome.err
    texts = (workplace / "files" / "texts.txt").read_text("utf-8").split("\n")[:-1]
    references = (workplace / "files" / "reference.txt").read_text("utf-8").split("\n")[:-1]
    scores = [-abs(len(a) - len(b)) for a, b in zip(texts, references, strict=True)]
    (workplace / "s.txt").write_text("".join(f"{score}\n" for score in scores))
    outcome = monge("probe", *common, "--scores", "length=s.txt", "-f", "json", "-q")
    (result,) = json.loads(outcome.out)["results"]
    by_kind = {row["kind"]: row for row in result["kinds"]}
    assert by_kind["typo"]["ties"] == by_kind["typo"]["n"]
    assert result["signature"].startswith("scores:length#")


def test_the_kinds_are_listed(monge):
    outcome = monge("probe", "--list")
    assert outcome.code == 0 and "negation-dropped" in outcome.out
    data = json.loads(monge("probe", "--list", "-f", "json").out)
    assert {row["severity"] for row in data["kinds"]} == {"critical", "major", "minor", "neutral"}


FILES = ("-t", "system-a.txt", "-r", "reference.txt")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--kind", "nubmer"), 2, ["unknown kind 'nubmer'", "did you mean number"]),
        (("--sample", "0"), 2, ["--sample", "at least 1", "got 0"]),
        (("--seed", "-1"), 2, ["-1"]),
        (("--resamples", "0", "-m", "chrf"), 2, ["resamples 0"]),
        (("--confidence", "2", "-m", "chrf"), 2, ["confidence"]),
        (("-t", "system-a.txt"), 2, ["-r REFERENCES"]),
        (("-s", "source-de.txt"), 2, ["-t HYPOTHESES"]),
        (("-t", "system-a.txt", *FILES), 2, ["system-a"]),
        (("-t", "system-b.txt", *FILES), 2, ["one system, got 2", "system-b"]),
        (("-r", "reference.txt", "-r", "short.txt"), 2, ["reference.txt has 6", "short.txt has 2"]),
        (("-t", "short.txt", "-r", "reference.txt"), 1, ["short.txt"]),
        (("-t", "blank.txt", "-r", "reference.txt"), 2, ["all of the texts are empty"]),
        (("-f", "pdf"), 2, ["--format takes", "svg", "'pdf'"]),
        (("--list", "-f", "svg"), 2, ["--format takes", "'svg'"]),
        (("-m", "twdm"), 2, ["twdm", "did you mean twmd"]),
        (("--kind", "source-copied", *FILES), 2, ["none of the kinds", "needs sources (-s)"]),
        (("--scores", "x=short.txt", "--kind", "typo", *FILES), 1, ["2 scores for 12 segments"]),
        (("--scores", "chrf=short.txt", "-m", "chrf"), 2, ["name of a metric"]),
        (("--scores", "short.txt"), 2, ["--scores takes NAME=FILE"]),
        (("--write", "short.txt"), 2, ["--write short.txt"]),
        (("twice.tsv", "-m", "chrf"), 1, ["'1'"]),
    ],
)  # fmt: skip
def test_bad_input_gets_one_clear_line(monge, workplace, arguments, code, words):
    (workplace / "short.txt").write_text("1\n2\n")
    (workplace / "blank.txt").write_text("\n" * 6)
    (workplace / "twice.tsv").write_text("id\thypothesis\treference\n1\ta b\ta b\n1\tb c\tb c\n")
    refused(monge("probe", *arguments, "-q"), code, *words)
