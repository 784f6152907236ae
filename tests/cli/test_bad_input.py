"""Bad input: one line that names the place, the right exit code, nothing on stdout, no file
touched.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from refusals import BASIC, refused, text

# --- texts
# ---------------------------------------------------------------------------------------------------------

GOOD = "".join(f"line {i}\n" for i in range(6))
UNREADABLE = {
    "one line short": ("line\n" * 5, ("5 lines", "6", "line 6 of reference.txt")),
    "one line more": ("line\n" * 7, ("7 lines", "line 7 of bad.txt")),
    "empty file": ("", ("bad.txt is empty",)),
    "invalid UTF-8": (b"line\nline\nbad \xff\xfe here\nline\nline\nline\n", ("bad.txt:3", "0xff")),
    "Latin-1": ("caf\xe9\n".encode("latin-1") * 6, ("bad.txt:1", "iconv")),
    "UTF-16": (GOOD.encode("utf-16"), ("bad.txt", "UTF-16")),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), ("bad.txt", "UTF-16")),
    "gzip without its name": (gzip.compress(GOOD.encode()), ("bad.txt", "gzip")),
    "zip": (b"PK\x03\x04 and more\n", ("bad.txt", "zip")),
}


@pytest.mark.parametrize("case", UNREADABLE)
@pytest.mark.parametrize("side", ["-t", "-r"])
def test_lines(monge, workplace, case, side):
    content, words = UNREADABLE[case]
    text(workplace, content)
    text(workplace, "as it was", "out.txt")
    names = (
        {"-t": "bad.txt", "-r": "reference.txt"}
        if side == "-t"
        else {"-t": "system-a.txt", "-r": "bad.txt"}
    )
    found = monge("score", "-t", names["-t"], "-r", names["-r"], "-o", "out.txt")
    if side == "-r" and "line" in case:
        words = ("bad.txt", "has 6 lines", words[0].partition(" ")[0])
    refused(found, 1, *words)
    assert (workplace / "out.txt").read_text("utf-8") == "as it was"


def test_missing_file_names_the_nearest(monge):
    refused(
        monge("score", "-t", "sistem-a.txt", "-r", "reference.txt"),
        1,
        "sistem-a.txt",
        "did you mean",
        "system-a.txt",
    )
    refused(monge("score", "-t", "nowhere/a.txt", "-r", "reference.txt"), 1, "nowhere")
    refused(monge(*BASIC, "-s", "missing.txt"), 1, "missing.txt")


def test_directory_without_outputs(monge, workplace):
    (workplace / "folder").mkdir()
    refused(
        monge("score", "-t", "folder", "-r", "reference.txt"),
        1,
        "folder is a directory without a file in it",
    )


@pytest.mark.parametrize("cut", [10, 40, -1])
def test_truncated_gzip(monge, workplace, cut):
    whole = gzip.compress(GOOD.encode() * 20)
    text(workplace, whole[:cut], "bad.txt.gz")
    refused(monge("score", "-t", "bad.txt.gz", "-r", "reference.txt"), 1, "bad.txt.gz", "gzip")


# --- the command line
# ----------------------------------------------------------------------------------------------

USAGE = {
    "nothing": (("score",), ("-t",)),
    "no reference": (("score", "-t", "system-a.txt"), ("-r",)),
    "no hypothesis": (("score", "-r", "reference.txt"), ("-t",)),
    "table and files": (("score", "x.tsv", "-t", "system-a.txt"), ("table",)),
    "text as a table": (("score", "system-a.txt"), ("system-a.txt", ".tsv")),
    "two files without options": (("score", "system-a.txt", "reference.txt"), ("reference.txt",)),
    "a file twice": (
        ("score", "-t", "system-a.txt", "-t", "system-a.txt", "-r", "reference.txt"),
        ("twice",),
    ),
    "stdin twice": (("score", "-t", "-", "-r", "-"), ("standard input",)),
    "empty name of hypotheses": (
        ("score", "-t", "", "-r", "reference.txt"),
        ("empty file name", "variable unset"),
    ),
    "empty name of references": (("score", "-t", "system-a.txt", "-r", ""), ("empty file name",)),
    "empty name of a table": (("score", ""), ("empty file name", "expected a table")),
    "a table on stdin": (("score", "-"), ("standard input", "--table-format tsv, csv or jsonl")),
    "unknown table format": (("score", "-", "--table-format", "xls"), ("'xls'", "tsv, csv, jsonl")),
    "table format of no table": ((*BASIC, "--table-format", "tsv"), ("--table-format", "give one")),
    "unknown language": (
        (*BASIC, "--lang", "klingon"),
        ("unknown language 'klingon'", "two letters"),
    ),
    "language by its name": (
        (*BASIC, "-m", "chrf", "--lang", "German"),
        ("did you mean de (German)?",),
    ),
    "unknown verb": (("scroe",), ("score",)),
    "unknown option": ((*BASIC, "--metrc", "twmd"), ("--metric",)),
    "unknown metric": ((*BASIC, "-m", "bertscor"), ("bertscor", "did you mean bertscore")),
    "metric in capitals": ((*BASIC, "-m", "BERTScore"), ("did you mean bertscore",)),
    "unknown profile": ((*BASIC, "-m", "twmd@relase"), ("relase", "did you mean release")),
    "no such profile": ((*BASIC, "-m", "emd@v1"), ("v1", "emd")),
    "open bracket": ((*BASIC, "-m", "twmd[layers=2"), ("bracket",)),
    "unknown axis": ((*BASIC, "--set", "transprt=exact"), ("transprt", "did you mean transport")),
    "unknown field": (
        (*BASIC, "--set", "transport.temprature=1"),
        ("temprature", "did you mean temperature"),
    ),
    "unknown choice": ((*BASIC, "--set", "transport=exakt"), ("exakt", "did you mean exact")),
    "field of another choice": (
        (*BASIC, "-m", "emd", "--set", "transport.temperature=1"),
        ("exact", "tempered"),
    ),
    "no value": ((*BASIC, "--set", "transport"), ("AXIS=VALUE",)),
    "layer out of range": ((*BASIC, "--layers", "7"), ("layers", "0 to 6")),
    "too many layers": ((*BASIC, "--layers", "last9:mean"), ("last9", "0 to 6")),
    "negative layer": ((*BASIC, "--layers", "-1"), ("layers", "-1")),
    "layer as text": ((*BASIC, "--layers", "top"), ("layers", "top")),
    "temperature 0": (
        (*BASIC, "--set", "transport.temperature=0"),
        ("transport.temperature", "positive"),
    ),
    "negative temperature": (
        (*BASIC, "--set", "transport.temperature=-1"),
        ("transport.temperature",),
    ),
    "temperature NaN": ((*BASIC, "--set", "transport.temperature=nan"), ("transport.temperature",)),
    "temperature inf": ((*BASIC, "--set", "transport.temperature=inf"), ("transport.temperature",)),
    "temperature as text": (
        (*BASIC, "--set", "transport.temperature=warm"),
        ("transport.temperature", "warm"),
    ),
    "negative slack": ((*BASIC, "-m", "lazy-emd[transport.slack=-1/1]"), ("slack",)),
    "one slack": ((*BASIC, "-m", "lazy-emd[transport.slack=1]"), ("slack",)),
    "sweeps 0": ((*BASIC, "--set", "transport.sweeps=0"), ("sweeps",)),
    "alpha 2": ((*BASIC, "-m", "bertscore[readout.alpha=2]"), ("alpha",)),
    "n-gram 0": ((*BASIC, "--set", "units.ngram=0"), ("ngram",)),
    "stopwords of nowhere": ((*BASIC, "--set", "units.stopwords=klingon"), ("klingon",)),
    "parts that do not meet": (
        (*BASIC, "--set", "ground=euclidean"),
        ("self-normalised", "euclidean"),
    ),
    "objective without entropy": ((*BASIC, "-m", "emd[readout=objective]"), ("tempered", "exact")),
    "unknown precision": ((*BASIC, "--precision", "fp8"), ("fp8", "bf16")),
    "unknown overlong": ((*BASIC, "--on-overlong", "cut"), ("cut", "truncate")),
    "unknown rule": ((*BASIC, "--references-rule", "median"), ("median", "mean")),
    "unknown format": ((*BASIC, "-f", "yaml"), ("yaml", "json")),
    "unknown device": ((*BASIC, "--device", "gpu"), ("gpu", "cuda")),
    "seed as text": ((*BASIC, "--seed", "x"), ("--seed",)),
    "negative seed": ((*BASIC, "--ci", "--seed", "-1"), ("seed",)),
    "gate NaN": ((*BASIC, "--fail-under", "nan"), ("--fail-under",)),
    "both -m and --signature": (
        (*BASIC, "-m", "twmd", "--signature", "metric:twmd"),
        ("--signature", "-m"),
    ),
    "corpus without idf": ((*BASIC, "-m", "twmd", "--idf-corpus", "reference-2.txt"), ("idf",)),
    "output is a directory": ((*BASIC, "-o", "."), ("directory",)),
    "output in no directory": ((*BASIC, "-o", "no/where/out.txt"), ("no/where",)),
    "output below a file": ((*BASIC, "-o", "reference.txt/out.txt"), ("reference.txt",)),
    "explain into a directory": (("explain", "a", "b", "-o", "."), ("directory",)),
    "explain one text": (("explain", "a"), ("reference",)),
    "explain format": (("explain", "a", "b", "-f", "gif"), ("gif", "svg")),
    "fit nothing": (("fit", "-m", "moverscore", "-o", "s.json"), ("-r",)),
    "fit without output": (("fit", "-r", "reference.txt"), ("--output",)),
    "fit one side of two": (
        ("fit", "-r", "reference.txt", "-m", "moverscore@v1", "-o", "s.json"),
        ("-t",),
    ),
    "show nothing": (("show",), ("metric",)),
    "show unknown": (("show", "movrscore"), ("moverscore",)),
}


@pytest.mark.parametrize("case", USAGE)
def test_usage(monge, workplace, case):
    arguments, words = USAGE[case]
    before = sorted(path.name for path in workplace.iterdir())
    refused(monge(*arguments), 2, *words)
    assert sorted(path.name for path in workplace.iterdir()) == before


# --- statistics
# ----------------------------------------------------------------------------------------------------


def test_idf_of_one_text(monge, workplace):
    """The original code would score unrelated texts 1.0."""
    text(workplace, "a cat\n", "h.txt")
    text(workplace, "profits rose\n", "r.txt")
    refused(
        monge("score", "-t", "h.txt", "-r", "r.txt", "-m", "moverscore"),
        1,
        "1 text",
        "--idf-corpus",
    )
    refused(monge("fit", "-r", "r.txt", "-m", "moverscore", "-o", "s.json"), 1, "1 text")
    assert not (workplace / "s.json").exists()


def test_idf_of_equal_texts(monge, workplace):
    text(workplace, "a cat\n" * 6)
    refused(
        monge("score", "-t", "system-a.txt", "-r", "bad.txt", "-m", "moverscore"),
        1,
        "6 equal texts",
    )


@pytest.mark.parametrize("content", ["", "\n\n\n"])
def test_idf_corpus_without_words(monge, workplace, content):
    text(workplace, content)
    refused(monge(*BASIC, "-m", "moverscore", "--idf-corpus", "bad.txt"), 1)


def test_missing_corpus(monge):
    refused(
        monge(*BASIC, "-m", "moverscore", "--idf-corpus", "refrence-2.txt"), 1, "reference-2.txt"
    )
    refused(monge(*BASIC, "-m", "moverscore[weights.corpus=none.txt]"), 1, "none.txt")
    refused(monge(*BASIC, "-m", "moverscore[weights.corpus=sources]"), 1, "source")


STATS = {
    "not JSON": ("{", ("bad.json",)),
    "a list": ("[1, 2]", ("bad.json",)),
    "another object": ('{"a": 1}', ("bad.json",)),
    "another version": ('{"monge-statistics": 99}', ("99",)),
    "no numbers": (
        '{"monge-statistics": 1, "reader": "x", "counts": {"references": 3}, "sums": {}}',
        ("bad.json",),
    ),
    "negative counts": (
        '{"monge-statistics": 1, "reader": "READER", "sums": {}, "counts": {"references": '
        '{"n": -3, "texts": "0", "df": {"5": 2}}}}',
        ("bad.json",),
    ),
    "more documents than there are": (
        '{"monge-statistics": 1, "reader": "READER", "sums": {}, "counts": {"references": '
        '{"n": 3, "texts": "0", "df": {"5": 2000, "6": 1}}}}',
        ("bad.json",),
    ),
    "NaN mean": (
        '{"monge-statistics": 1, "reader": "READER", "counts": {}, "sums": {"x": {"references": '
        '{"count": 3, "texts": "0", "total": [NaN, 1.0]}}}}',
        ("bad.json",),
    ),
}


@pytest.mark.parametrize("case", STATS)
def test_statistics_that_are_none(monge, workplace, case):
    content, words = STATS[case]
    monge("fit", "-r", "reference.txt", "-m", "moverscore", "-o", "good.json")
    reader = json.loads((workplace / "good.json").read_text("utf-8"))["reader"]
    text(workplace, content.replace("READER", reader), "bad.json")
    refused(monge(*BASIC, "-m", "moverscore", "--stats", "bad.json"), 3, *words)


def test_statistics_that_do_not_fit(monge):
    monge("fit", "-r", "reference.txt", "-m", "moverscore", "-o", "idf.json")
    monge("fit", "-r", "reference.txt", "-m", "twmd-b", "-o", "mean.json")
    refused(monge(*BASIC, "-m", "twmd-b", "--stats", "idf.json"), 3, "mean")
    refused(monge(*BASIC, "-m", "moverscore", "--stats", "mean.json"), 3, "counts")
    refused(monge(*BASIC, "-m", "twmd-b", "--layers", "2", "--stats", "mean.json"), 3, "mean")
    refused(monge(*BASIC, "-m", "moverscore@v1", "--stats", "idf.json"), 3, "hypotheses")
    refused(
        monge(*BASIC, "-m", "moverscore", "--set", "encoder.max_length=20", "--stats", "idf.json"),
        3,
        "fitted for",
    )
    refused(monge(*BASIC, "-m", "moverscore", "--stats", "idf.jso"), 1, "idf.json")


def test_statistics_of_another_model(monge, model_copy):
    tokenizer = json.loads((model_copy / "tokenizer.json").read_text("utf-8"))
    tokenizer["model"]["max_input_chars_per_word"] = 99
    (model_copy / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    assert (
        monge(
            "fit", "-r", "reference.txt", "-m", "moverscore", "--model", "model", "-o", "s.json"
        ).code
        == 0
    )
    refused(monge(*BASIC, "-m", "moverscore", "--stats", "s.json"), 3, "fitted for")


@pytest.mark.parametrize(
    "signature", ["garbage", "", "a:b|c", "metric:twmd", "metric:twmd|metric:twmd", "|||", ":"]
)
def test_signatures_that_are_none(monge, signature):
    refused(monge(*BASIC, "--signature", signature), 3, "signature")
    refused(monge("signature", "parse", signature), 3, "signature")


# --- models
# --------------------------------------------------------------------------------------------------------


def without(*patterns):
    def spoil(model: Path):
        for pattern in patterns:
            for path in model.glob(pattern):
                path.unlink()

    return spoil


def pickled(model: Path):
    without("*.safetensors")(model)
    (model / "pytorch_model.bin").write_bytes(b"\x80\x02}q\x00.")


def remote(model: Path):
    config = json.loads((model / "config.json").read_text("utf-8"))
    config["auto_map"] = {"AutoModel": "evil.Model"}
    (model / "config.json").write_text(json.dumps(config), "utf-8")


def damaged(model: Path):
    for path in model.glob("*.safetensors"):
        data = path.read_bytes()[:5000]
        path.unlink()
        path.write_bytes(data)


def larger(model: Path):
    tokenizer = json.loads((model / "tokenizer.json").read_text("utf-8"))
    tokenizer["model"]["vocab"].update(
        {f"extra{i}": len(tokenizer["model"]["vocab"]) + i for i in range(50)}
    )
    (model / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")


MODELS = {
    "no tokenizer": (without("tokenizer.json", "vocab.txt"), "no tokenizer"),
    "no weights": (without("*.safetensors"), "no weights"),
    "pickles only": (pickled, "pytorch_model.bin"),
    "remote code": (remote, "auto_map"),
    "damaged weights": (damaged, "model"),
    "no configuration": (without("config.json"), "config.json"),
    "configuration not JSON": (
        lambda model: (model / "config.json").write_text("{", "utf-8"),
        "config.json",
    ),
    "tokenizer not JSON": (
        lambda model: (model / "tokenizer.json").write_text("{", "utf-8"),
        "model",
    ),
    "vocabulary larger than the table": (larger, "pieces"),
}


@pytest.mark.parametrize("case", MODELS)
def test_models(monge, model_copy, case):
    spoil, word = MODELS[case]
    spoil(model_copy)
    refused(monge(*BASIC, "--model", "model"), 3, "model", word)


def test_a_file_is_no_model(monge):
    refused(monge(*BASIC, "--model", "reference.txt"), 3, "reference.txt")


@pytest.mark.parametrize(
    "name", ["bert-base-uncasd", "no/such-model", "../../etc", "a b", "x" * 300, ""]
)
def test_unknown_model(monge, name):
    refused(monge(*BASIC, "--model", name), 3)


def test_a_good_copy_is_the_model(monge, model_copy):
    """The spoiled copies above fail for what was spoiled."""
    usual, copied = (
        json.loads(monge(*BASIC, *more, "-f", "json").out) for more in ((), ("--model", "model"))
    )
    assert usual["results"][0]["score"] == copied["results"][0]["score"]
    shutil.rmtree(model_copy)


def test_what_is_not_ours_is_not_removed(monge, workplace):
    """An unfinished run is kept beside its output; a directory of the user's by that name is left
    alone.
    """
    (workplace / "out.txt.partial").mkdir()
    text(workplace, "precious", "out.txt.partial/mine")
    refused(monge(*BASIC, "-o", "out.txt"), 2, "out.txt.partial/mine")
    assert (workplace / "out.txt.partial" / "mine").read_text("utf-8") == "precious"
    assert not (workplace / "out.txt").exists()
