"""A signature replays to the same segments, and refuses what does not fit."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt")
REPLAYED = [
    "bertscore",
    "bertscore@release",
    "moverscore",
    "moverscore@v1",
    "moverscore-2@web",
    "twmd",
    "twmd-b",
    "twmd-b@release",
    "trwmd-b",
    "lazy-emd",
    "yisi-1",
    "sbert",
    "wordset-cka",
    "smd",
    "twmd[transport.temperature=0.05,weights=idf,centre=corpus,units.stopwords=en,layers=last3:mean]",
    "sentsim",
    "sentsim[words.units.stopwords=en]",
    "sentsim[sentence.units.stopwords=de,words.units.stopwords=en]",
    "sentsim[words.layers=3,words.units.ngram=2]",
]


def result(found):
    assert found.code == 0, found.err
    return json.loads(found.out)["results"][0]


def scores(one):
    return [segment["score"] for segment in one["segments"]]


@pytest.mark.parametrize("name", REPLAYED)
def test_replay_gives_the_same_segments(monge, name):
    first = result(monge(*BASIC, "-m", name, "-f", "json", "--segments"))
    again = result(monge(*BASIC, "--signature", first["signature"], "-f", "json", "--segments"))
    assert scores(again) == scores(first)
    assert again["signature"] == first["signature"]
    assert monge("signature", "diff", first["signature"], again["signature"]).out == ""


def changed(signature, key, value):
    assert re.search(rf"{key}", signature)
    return re.sub(key, value, signature)


@pytest.mark.parametrize(
    ("what", "key", "value"),
    [
        ("weights", r"#[0-9a-f]{8}\|", "#00000000|"),
        ("tokenizer is 00000000", r"tokenizer:[0-9a-f]{8}", "tokenizer:00000000"),
        ("configuration is 00000000", r"config:[0-9a-f]{8}", "config:00000000"),
        ("lacks 'config', the digest of the model's configuration", r"\|config:[0-9a-f]{8}", ""),
        ("statistics", r"idf=[0-9a-f]{8}", "idf=00000000"),
        ("lacks", r"\|weights:[^|]*", ""),
        ("unknown key", r"\|monge:", "|colour:red|monge:"),
        ("layers", r"layers:[^|]*", "layers:99"),
        ("temperature|readout|transport", r"transport:[^|]*", "transport:teleport"),
        ("stands twice", r"\|stats:", "|ground:cosine,clip=no|stats:"),
    ],
)
def test_a_signature_that_does_not_fit_is_refused(monge, what, key, value):
    signature = result(monge(*BASIC, "-m", "moverscore", "-f", "json"))["signature"]
    found = monge(*BASIC, "--signature", changed(signature, key, value))
    assert (found.code, found.out) == (3, "")
    assert re.search(what, found.err)
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    ("file", "settings", "what"),
    [
        ("config.json", {"hidden_act": "relu"}, "configuration is"),
        ("config.json", {"layer_norm_eps": 1e-3}, "configuration is"),
        ("tokenizer_config.json", {"do_lower_case": False}, "tokenizer is"),
    ],
)
def test_a_changed_configuration_is_signed_and_refuses_the_old_signature(
    monge, model_copy, file, settings, what
):
    """Before: all of these moved the score, under one signature, and `--cache` gave the old
    score.
    """
    usual = ("-m", "bertscore", "--model", model_copy, "-f", "json", "--segments")
    first = result(monge(*BASIC, *usual, "--cache", "kept"))
    written = json.loads((model_copy / file).read_text("utf-8"))
    (model_copy / file).write_text(json.dumps({**written, **settings}), "utf-8")
    other = result(monge(*BASIC, *usual))
    assert scores(other) != scores(first)
    assert result(monge(*BASIC, *usual, "--cache", "kept")) == other
    assert other["signature"] != first["signature"]
    refused = monge(*BASIC, "--signature", first["signature"], "--model", model_copy)
    assert (refused.code, refused.out) == (3, "")
    assert f"the signature's {what}" in refused.err


ODD = "a,b|c#d=(e)%41 f"


def test_odd_names_are_signed_and_replayed(monge, model_copy, workplace):
    """Before: a traceback after all scoring, or a signature that could not be parsed."""
    model_copy.rename(ODD)
    (workplace / f"{ODD}.txt").write_text("the\nof\n", "utf-8")
    words = f"units.stopwords={ODD}.txt"
    first = result(
        monge(*BASIC, "-m", "bertscore", "--model", ODD, "--set", words, "-f", "json", "--segments")
    )
    again = (
        "--signature",
        first["signature"],
        "--model",
        ODD,
        "--set",
        words,
        "-f",
        "json",
        "--segments",
    )
    assert result(monge(*BASIC, *again)) == first
    assert (
        json.loads(monge("signature", "parse", first["signature"], "-f", "json").out)["metric"]
        == "bertscore"
    )


def test_odd_names_of_vector_files_are_signed_and_replayed(monge, workplace):
    (workplace / f"{ODD}.vec").write_text("the 1 2\na 3 4\nof 1 1\n", "utf-8")
    first = result(monge(*BASIC, "-m", "wmd", "--model", f"{ODD}.vec", "-f", "json", "--segments"))
    again = ("--signature", first["signature"], "--model", f"{ODD}.vec", "-f", "json", "--segments")
    assert result(monge(*BASIC, *again)) == first


def test_stopwords_of_another_list_are_refused(monge, workplace):
    (workplace / "words.txt").write_text("the\nof\n", "utf-8")
    usual = (*BASIC, "-m", "moverscore", "--set", "units.stopwords=words.txt")
    first = result(monge(*usual, "-f", "json", "--segments"))
    name_again = ("--signature", first["signature"], "--set", "units.stopwords=words.txt")
    assert scores(result(monge(*BASIC, *name_again, "-f", "json", "--segments"))) == scores(first)
    (workplace / "words.txt").write_text("the\nof\nand\n", "utf-8")
    found = monge(*BASIC, *name_again)
    assert found.code == 3
    assert "stopwords" in found.err


def test_other_texts_need_refit_and_get_a_new_signature(monge):
    signature = result(monge(*BASIC, "-m", "moverscore", "-f", "json"))["signature"]
    other = ("score", "-t", "system-a.txt", "-r", "reference-2.txt")
    refused = monge(*other, "--signature", signature)
    assert (refused.code, refused.out) == (3, "")
    assert "--refit" in refused.err
    accepted = result(
        monge(*other, "--signature", signature, "--refit", "-f", "json", "--segments")
    )
    assert accepted["signature"] != signature
    assert scores(accepted) == scores(
        result(monge(*other, "-m", "moverscore", "-f", "json", "--segments"))
    )
    diff = json.loads(
        monge("signature", "diff", signature, accepted["signature"], "-f", "json").out
    )
    assert list(diff) == ["stats"]


def test_replay_with_saved_statistics(monge):
    monge("fit", "-r", "reference-2.txt", "-m", "moverscore", "-o", "stats.json")
    first = result(
        monge(*BASIC, "-m", "moverscore", "--stats", "stats.json", "-f", "json", "--segments")
    )
    assert monge(*BASIC, "--signature", first["signature"]).code == 3
    again = result(
        monge(
            *BASIC,
            "--signature",
            first["signature"],
            "--stats",
            "stats.json",
            "-f",
            "json",
            "--segments",
        )
    )
    assert scores(again) == scores(first)
    corpus = result(
        monge(
            *BASIC,
            "-m",
            "moverscore",
            "--idf-corpus",
            "reference-2.txt",
            "-f",
            "json",
            "--segments",
        )
    )
    assert np.allclose(scores(corpus), scores(first), atol=1e-9)
    replayed = ("--signature", corpus["signature"], "--idf-corpus", "reference-2.txt")
    assert scores(result(monge(*BASIC, *replayed, "-f", "json", "--segments"))) == scores(corpus)


def test_two_signatures_of_one_metric_replay_together(monge):
    each = [
        result(
            monge(*BASIC, "-m", f"moverscore[weights.corpus={corpus}]", "-f", "json", "--segments")
        )
        for corpus in ("references", "each-side")
    ]
    assert each[0]["signature"] != each[1]["signature"]
    signatures = [word for one in each for word in ("--signature", one["signature"])]
    found = monge(*BASIC, *signatures, "-f", "json", "--segments")
    assert found.code == 0, found.err
    assert [scores(one) for one in json.loads(found.out)["results"]] == [
        scores(one) for one in each
    ]


def test_replay_takes_no_other_settings(monge):
    """A replay that computes something else than its signature says is no replay."""
    signature = result(monge(*BASIC, "-m", "twmd", "-f", "json"))["signature"]
    for arguments in (
        ("--set", "transport.temperature=0.5"),
        ("--layers", "1"),
        ("--references-rule", "mean"),
    ):
        found = monge(*BASIC, "--signature", signature, *arguments)
        assert (found.code, found.out) == (2, ""), arguments


def test_parse_and_diff(monge):
    signature = result(monge(*BASIC, "-m", "bertscore", "-f", "json"))["signature"]
    other = result(monge(*BASIC, "-m", "bertscore", "--layers", "1", "-f", "json"))["signature"]
    parsed = json.loads(monge("signature", "parse", signature, "-f", "json").out)
    assert parsed["metric"] == "bertscore"
    assert "|".join(f"{key}:{value}" for key, value in parsed["fields"].items()) == signature
    text = monge("signature", "parse", signature)
    assert text.code == 0
    assert text.out.startswith("field       value\nmetric      bertscore\n")
    assert monge("signature", "diff", signature, other).out.startswith("layers\n")
    assert list(json.loads(monge("signature", "diff", signature, other, "-f", "json").out)) == [
        "layers"
    ]
