"""Numbers that a user gets wrong by doing the obvious: each is read as it was meant, refused, or
warned of.
"""

import numpy as np
import pandas
import polars
import pytest

import monge
from monge.cli.app import run
from monge.errors import Flagged, InvalidSetting, UsageError

HYPOTHESES = ["the cat sat", "a dog ran"]
REFERENCES = [["the cat sat", "a cat slept"], ["the dog ran", "a dog ran"]]


@pytest.mark.parametrize("library", [pandas, polars])
def test_a_frame_of_references_is_read_by_rows(library):
    """Iterating over a frame gives the names of its columns: 2.98 was given for 100."""
    frame = library.DataFrame(
        {"mt": HYPOTHESES, "ref": [r[0] for r in REFERENCES], "ref2": [r[1] for r in REFERENCES]}
    )
    found = monge.score(frame["mt"], frame[["ref", "ref2"]], metric="chrf")
    assert found.score == monge.score(HYPOTHESES, REFERENCES, metric="chrf").score == 100
    with pytest.raises(
        UsageError,
        match=r"hypotheses: expected one text per segment, got a table of 1 columns.*\['mt'\]",
    ):
        monge.score(frame[["mt"]], REFERENCES, metric="chrf")


def test_missing_cells_of_a_frame_are_no_references():
    frame = pandas.DataFrame({"ref": ["the cat sat", "a dog"], "ref2": [None, "a dog ran"]})
    assert monge.score(HYPOTHESES, frame, metric="chrf").score == 100
    with pytest.raises(
        monge.MongeError, match=r"references\[1\]: row 1 of the frame has no reference"
    ):
        monge.score(HYPOTHESES, pandas.DataFrame({"ref": ["the cat sat", None]}), metric="chrf")


@pytest.mark.parametrize("name", ["twmd", "moverscore", "chrf", "rouge1"])
@pytest.mark.parametrize("rule", ["max", "mean", "first"])
def test_blank_references_among_several_are_left_out(name, rule, tiny_bert):
    """Under the mean they counted as 0: .92 became .66."""
    options = {"model": str(tiny_bert), "device": "cpu"}
    if name in ("twmd", "moverscore"):
        options["settings"] = [f"references={rule}"]
    metric = monge.load(name, **options)
    plain = metric.score(["the cat sat", "a dog"], [["a cat slept", "the cat ran"], ["a dog ran"]])
    with pytest.warns(Flagged, match="reference is empty"):
        blank = metric.score(
            ["the cat sat", "a dog"],
            [["", "a cat slept", " \u200b", "the cat ran"], ["a dog ran", ""]],
        )
    assert np.allclose(plain.segments, blank.segments)
    assert blank.run["flagged"] == {"empty-reference": 2}
    assert blank.signature["nrefs"] == plain.signature["nrefs"] == "var"
    if name == "twmd" and rule == "max":
        assert blank.references[0] in (1, 3), (
            "places are those of the references as they were given"
        )


@pytest.mark.parametrize("name", ["twmd", "chrf"])
def test_an_empty_output_is_not_perfect_because_one_reference_is_blank(name, tiny_bert):
    metric = monge.load(name, model=str(tiny_bert), device="cpu")
    with pytest.warns(Flagged):
        assert metric.score([""], [["a cat slept", ""]]).score == 0
        assert metric.score([""], [["", " "]]).segments[0] == pytest.approx(
            100 if name == "chrf" else 1
        )


def test_flags_are_warned_of_once(tiny_bert):
    """2,000 words scored 1.0000 without a word."""
    metric = monge.load("twmd", model=str(tiny_bert), device="cpu")
    with pytest.warns(Flagged) as seen:
        metric.score(["the cat " * 50, "the dog " * 50, ""], ["the cat " * 50, "a dog", "a"])
    (warning,) = seen
    said = str(warning.message)
    assert "The hypothesis was longer than the model reads, and was cut (2 ×)" in said
    assert "encoder.overlong=window" in said and "The hypothesis is empty (1 ×)" in said
    with pytest.warns(Flagged, match="cut"):
        monge.score(
            ["the cat " * 50],
            ["a cat"],
            metric=["twmd", "chrf"],
            model=str(tiny_bert),
            device="cpu",
        )


def test_a_length_that_the_model_does_not_read_is_refused(tiny_bert):
    with pytest.raises(
        InvalidSetting, match=r"encoder.max_length=2000, but tiny-bert reads 48 pieces.*window"
    ):
        monge.load("twmd", model=str(tiny_bert), device="cpu", settings=["encoder.max_length=2000"])


@pytest.mark.parametrize("form", ["-o {0}", "--output {0}", "--output={0}", "-o{0}"])
@pytest.mark.parametrize("given", ["-t {0} -r {1}", "-t {1} -r {0}"])
def test_an_input_is_never_overwritten_by_the_output(form, given, tmp_path, capsys):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in files:
        path.write_text("the cat\n")
    arguments = f"score {given.format(*files)} -m chrf {form.format(files[0])}".split()
    assert run(arguments) == 2
    assert (
        "this file is also read" in capsys.readouterr().err and files[0].read_text() == "the cat\n"
    )
    other = tmp_path / "link.txt"
    other.symlink_to(files[0])
    assert run(f"score -t {files[0]} -r {files[1]} -m chrf -o {other}".split()) == 2
    assert run(f"score -t {files[0]} -r {files[1]} -m chrf -o {tmp_path / 'new.txt'}".split()) == 0


def test_rouge_of_two_blank_texts_is_one_in_every_part():
    with pytest.warns(Flagged):
        found = monge.score(["", "a", ""], [" ", "", "b"], metric="rouge1")
    assert found.segments.tolist() == [1, 0, 0]
    assert found.parts["precision"].tolist() == found.parts["recall"].tolist() == [1, 0, 0]


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_roberta", "tiny_xlmr"])
def test_a_prefix_of_one_character_is_no_word_of_the_text(model, request):
    encoder = monge.load(
        "twmd", model=str(request.getfixturevalue(model)), device="cpu"
    ).scorer.reader.encoder
    for prefix in ("q", "x ", "query: "):
        (tokens,) = encoder.tokenise(["the cat"], prefix=prefix)
        kept = "".join(tokens.surface([k]) for k in range(len(tokens.ids)) if not tokens.special[k])
        assert kept.replace(" ", "") == "thecat", (prefix, tokens.pieces)


def test_a_duplicate_id_is_refused_by_every_verb(tmp_path, capsys):
    table = tmp_path / "t.tsv"
    table.write_text(
        "id\tsystem\thypothesis\treference\n1\ta\tx y\tx\n1\tb\tx\tx\n2\ta\tz\tz\n1\ta\tw\tw\n"
    )
    for verb in ("score", "compare"):
        assert run([verb, str(table), "-m", "chrf"]) == 1
        assert (
            "t.tsv:5, field 'id': id '1' of system a stands in line 2 already"
            in capsys.readouterr().err
        )


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA", "null"])
def test_a_missing_human_score_is_left_out_however_it_is_written(missing, tmp_path):
    table = tmp_path / "t.tsv"
    rows = [f"x {k}\tx {k % 3} y\t{k}" for k in range(8)]
    table.write_text(
        "hypothesis\treference\thuman\n" + "\n".join([*rows, f"x\tx\t{missing}"]) + "\n"
    )
    from monge.datasets import open_dataset

    judged = open_dataset("table", table)
    assert judged.groups["all"].n == 8 and judged.excluded == {"no human score": 1}
