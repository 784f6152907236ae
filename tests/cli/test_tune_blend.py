"""`monge tune blend` at the front door: a blend is fitted, is a metric of every command, and what
cannot be is one line.
"""

import json

import numpy as np
import pytest
from refusals import refused

FIT = ("tune", "blend", "-m", "chrf", "-m", "ter", "--train", "table", "--data", "judged.tsv")


@pytest.fixture
def judged(workplace):
    """60 judgements of outputs that keep more or fewer words of their references."""
    words = ["the", "cat", "sat", "on", "mat", "dog", "ran", "house", "by", "river"]
    random = np.random.default_rng(4)
    rows = ["hypothesis\treference\thuman"]
    for k in range(60):
        reference = [str(word) for word in random.choice(words, 7)] + [f"n{k}"]
        shared = random.random()
        kept = [w if random.random() < shared else str(random.choice(words)) for w in reference]
        human = shared + random.normal(0, 0.05)
        rows.append(f"{' '.join(kept)}\t{' '.join(reference)}\t{human:.4f}")
    (workplace / "judged.tsv").write_text("\n".join(rows) + "\n")
    return workplace / "judged.tsv"


@pytest.fixture
def blend(monge, judged, workplace):
    outcome = monge(*FIT, "-o", "own.json")
    assert outcome.code == 0, outcome.err
    return outcome


def test_a_blend_is_fitted_and_says_how_well_it_agrees(blend, monge, workplace):
    for text in ("own: a blend fitted on human scores", "weight", "blend minus this",
                 "60 judgements in 60 sets that share no text"):  # fmt: skip
        assert text in blend.out
    assert "best member" in blend.out
    assert blend.err == "monge: own.json: use it with -m own.json\n"
    assert monge("show", "own.json").out == blend.out
    card = json.loads(monge("show", "own.json", "-f", "json").out)
    assert card == json.loads((workplace / "own.json").read_text())
    assert monge(*FIT, "-o", "own.json", "-q").err == ""


def test_it_is_a_metric_of_every_command(blend, monge, workplace):
    files = ("-t", "system-a.txt", "-t", "system-b.txt", "-r", "reference.txt")
    scored = monge("score", *files, "-m", "own.json", "--ci", "-f", "json")
    assert scored.code == 0, scored.err
    first = json.loads(scored.out)["results"][0]
    assert first["metric"] == "own" and set(first["parts"]) == {"chrf", "ter"}
    low, high = first["interval"].values()
    assert low < first["score"] < high
    kept = monge("score", *files, "-m", "own.json", "--cache", "kept", "-f", "json")
    again = monge("score", *files, "-m", "own.json", "--cache", "kept", "-f", "json")
    assert json.loads(kept.out)["results"] == json.loads(again.out)["results"]
    line = first["signature"]
    replayed = monge("score", *files, "--signature", line, "-f", "json")
    assert json.loads(replayed.out)["results"][0]["score"] == first["score"]
    compared = monge("compare", *files, "-m", "own.json")
    assert compared.code == 0 and "own ↑" in compared.out
    report = monge("report", *files, "-m", "own.json", "-m", "chrf", "-o", "report.html")
    assert report.code == 0, report.err
    judged = monge("evaluate", "table", "--data", "judged.tsv", "-m", "own.json", "-m", "chrf")
    assert judged.code == 0 and "own" in judged.out
    probed = monge("probe", "-m", "own.json", "-r", "reference.txt")
    assert probed.code == 0 and "own" in probed.out
    planned = monge("score", *files, "-m", "own.json", "--dry-run")
    assert planned.code == 0 and "own" in planned.out
    for word in ("system-a", "2 systems"):
        assert word in compared.out


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "tsv", "markdown", "latex", "html"])
def test_it_is_explained_by_its_members(blend, monge, form):
    outcome = monge("explain", "the cat sat", "the cat ran", "-m", "own.json", "-f", form)
    assert outcome.code == 0, outcome.err
    assert "chrf" in outcome.out and "ter" in outcome.out and "contribution" in outcome.out
    two = monge("explain", "the cat", "a cat", "--also", "a dog", "-m", "own.json", "-f", form)
    assert two.code == 0, two.err


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_blend_has_no_picture(blend, monge, form):
    outcome = monge("explain", "a cat", "a dog", "-m", "own.json", "-f", form, "-o", f"x.{form}")
    refused(outcome, 2, "own is a blend: it moves no words")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-o", "own.txt"), ("-o own.txt", "ends in .json")),
        (("-o", "chrf.json"), ("a metric of monge is called chrf",)),
        (("-o", "own.json", "--dry-run"), ("--dry-run is not for a blend",)),
        (("-o", "own.json", "--rank", "4"), ("--rank is not for a blend",)),
        (("-o", "own.json", "--teacher", "twmd"), ("--teacher is not for a blend",)),
        (("-o", "own.json", "--dev", "0.2"), ("--dev takes a data set", "got 0.2")),
        (("-o", "own.json", "--rows", "some"), ("--rows takes all, held-out, got 'some'",)),
        (("-o", "own.json", "--folds", "1"), ("--folds takes", "got 1")),
        (("-o", "own.json", "--lang", "de"), ("--lang is not supported by tune",)),
        (("-o", "own.json", "-m", "chrf"), ("chrf is given twice",)),
        (("-o", "own.json", "-m", "chrff"), ("unknown metric 'chrff'", "did you mean chrf")),
    ],
)
def test_what_makes_no_blend_is_one_line(monge, judged, more, words):
    refused(monge(*FIT, *more), 2, *words)


def test_options_of_a_blend_are_for_a_blend(monge, judged):
    options = ("--train", "table", "--data", "judged.tsv", "-o", "x")
    refused(monge("tune", "twmd", "-m", "chrf", *options), 2, "are for a blend")
    refused(monge("tune", "blend", "-m", "chrf", *options), 2, "-o x", "ends in .json")


def test_a_file_that_is_no_blend_is_one_line(blend, monge, workplace):
    files = ("-t", "system-a.txt", "-r", "reference.txt")
    refused(monge("score", *files, "-m", "none.json"), 1, "none.json", "cannot be read")
    (workplace / "bad.json").write_text("{}")
    refused(monge("score", *files, "-m", "bad.json"), 1, "bad.json", "monge_blend")
    refused(monge("score", *files, "-m", "own.json[beta=1]"), 2, "were fitted with the settings")
    only_source = ("-t", "system-a.txt", "-s", "source-de.txt")
    refused(monge("score", *only_source, "-m", "own.json"), 2, "own: the weights of this blend")


def test_a_setting_of_other_metrics_is_not_for_a_blend(blend, monge):
    files = ("-t", "system-a.txt", "-r", "reference.txt")
    scored = monge("score", *files, "-m", "own.json", "-m", "chrf", "--set", "beta=1")
    assert scored.code == 0
    assert "beta=1 applies to chrf, not to own.json" in scored.err
