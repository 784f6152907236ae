"""`monge score`: inputs, formats, options."""

from __future__ import annotations

import gzip
import json
import lzma

import numpy as np
import pytest

import monge as package
from monge.metrics.presets import PRESETS

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt")


def lines(path):
    return path.read_text("utf-8").split("\n")[:-1]


def results(found):
    assert found.code == 0, found.err
    return json.loads(found.out)["results"]


def scores(result):
    return [segment["score"] for segment in result["segments"]]


def test_two_files_and_no_option(monge):
    found = monge(*BASIC)
    assert found.code == 0
    assert found.err == ""
    assert "monge" in found.out
    assert "system-a" in found.out and "system-a.txt" not in found.out
    assert "signature" in found.out


def test_json_is_as_designed(monge, workplace):
    found = json.loads(monge(*BASIC, "-f", "json", "--segments").out)
    assert found["monge"] == "0.1.0"
    (result,) = found["results"]
    keys = [
        "metric",
        "system",
        "score",
        "higher_is_better",
        "n",
        "parts",
        "signature",
        "run",
        "segments",
    ]
    assert list(result) == keys
    assert (result["metric"], result["system"], result["n"], result["higher_is_better"]) == (
        "monge",
        "system-a",
        6,
        True,
    )
    assert result["run"]["truncated"] == 0
    assert result["run"]["flagged"] == {}
    assert list(result["segments"][0]) == ["id", "score", "parts", "best_reference", "flags"]
    assert [one["id"] for one in result["segments"]] == list("123456")
    parts = {"precision", "recall", "f1", "transport", "surface"}
    assert set(result["parts"]) == set(result["segments"][0]["parts"]) == parts
    assert result["score"] == pytest.approx(np.mean(scores(result)))
    assert "segments" not in json.loads(monge(*BASIC, "-f", "json").out)["results"][0]


def test_command_and_api_agree_to_the_bit(monge, workplace):
    hypotheses, references = lines(workplace / "system-a.txt"), lines(workplace / "reference.txt")
    for name in ("twmd", "moverscore", "emd"):
        (result,) = results(monge(*BASIC, "-m", name, "-f", "json", "--segments"))
        api = package.score(hypotheses, references, metric=name)
        assert scores(result) == api.segments.tolist()
        assert result["signature"] == str(api.signature)


def test_results_come_system_by_system_metrics_in_order(monge):
    found = results(
        monge(*BASIC, "-t", "system-b.txt", "-m", "wmd", "-m", "bertscore", "-f", "json")
    )
    assert [(one["system"], one["metric"]) for one in found] == [
        ("system-a", "wmd"),
        ("system-a", "bertscore"),
        ("system-b", "wmd"),
        ("system-b", "bertscore"),
    ]


def test_another_system_changes_nothing(monge):
    alone = results(monge(*BASIC, "-m", "moverscore", "-f", "json", "--segments"))[0]
    beside = results(
        monge(*BASIC, "-t", "system-b.txt", "-m", "moverscore", "-f", "json", "--segments")
    )[0]
    assert np.allclose(scores(alone), scores(beside), atol=1e-5, rtol=0)
    assert alone["signature"] == beside["signature"]


def test_several_references_by_rule(monge):
    each = [
        scores(
            results(monge("score", "-t", "system-a.txt", "-r", name, "-f", "json", "--segments"))[0]
        )
        for name in ("reference.txt", "reference-2.txt")
    ]
    table = np.array(each)
    expected = {"max": table.max(0), "mean": table.mean(0), "first": table[0]}
    for rule, wanted in expected.items():
        arguments = (
            *BASIC,
            "-r",
            "reference-2.txt",
            "--references-rule",
            rule,
            "-f",
            "json",
            "--segments",
        )
        (result,) = results(monge(*arguments))
        assert np.allclose(scores(result), wanted, atol=1e-5, rtol=0)
        winner = [one["best_reference"] for one in result["segments"]]
        wanted_winner = {
            "max": (table.argmax(0) + 1).tolist(),
            "mean": [None] * 6,
            "first": [1] * 6,
        }
        assert winner == wanted_winner[rule]


PLAIN = ("-m", "twmd", "--segments")
"""A metric with the same weights against references and sources, unlike the default."""


def test_source_stands_in_for_references(monge):
    free = results(
        monge("score", "-t", "system-a.txt", "-s", "source-de.txt", *PLAIN, "-f", "json")
    )[0]
    same = results(
        monge("score", "-t", "system-a.txt", "-r", "source-de.txt", *PLAIN, "-f", "json")
    )[0]
    assert scores(free) == scores(same)
    both = results(monge(*BASIC, "-s", "source-de.txt", "-f", "json", "--segments"))[0]
    assert scores(both) == scores(results(monge(*BASIC, "-f", "json", "--segments"))[0])


def rows(workplace):
    texts = [lines(workplace / f"{name}.txt") for name in ("system-a", "reference")]
    return [
        {"id": f"x{i}", "system": "A", "hypothesis": h, "reference": r}
        for i, (h, r) in enumerate(zip(*texts, strict=True))
    ]


def write_tsv(path, table):
    text = "\n".join("\t".join(row.values()) for row in table)
    path.write_text("\t".join(table[0]) + "\n" + text + "\n", "utf-8")


def write_csv(path, table):
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


def write_jsonl(path, table):
    path.write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")


def write_parquet(path, table):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(table), path)


WRITERS = {"tsv": write_tsv, "csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


@pytest.mark.parametrize("kind", WRITERS)
def test_tables_give_what_lines_give(monge, workplace, kind):
    WRITERS[kind](workplace / f"table.{kind}", rows(workplace))
    (table,) = results(monge("score", f"table.{kind}", "-f", "json", "--segments"))
    (plain,) = results(monge(*BASIC, "-f", "json", "--segments"))
    assert scores(table) == scores(plain)
    assert table["system"] == "A"
    assert [one["id"] for one in table["segments"]] == [f"x{i}" for i in range(6)]


def test_table_with_a_list_of_references(monge, workplace):
    table = [
        {"hypothesis": row["hypothesis"], "references": [row["reference"], second]}
        for row, second in zip(rows(workplace), lines(workplace / "reference-2.txt"), strict=True)
    ]
    write_jsonl(workplace / "many.jsonl", table)
    listed = results(monge("score", "many.jsonl", "-f", "json", "--segments"))[0]
    plain = results(monge(*BASIC, "-r", "reference-2.txt", "-f", "json", "--segments"))[0]
    assert scores(listed) == scores(plain)


def test_table_with_a_source_only(monge, workplace):
    write_tsv(
        workplace / "free.tsv",
        [{"hypothesis": r["hypothesis"], "source": r["reference"]} for r in rows(workplace)],
    )
    free = results(monge("score", "free.tsv", *PLAIN, "-f", "json"))[0]
    assert scores(free) == scores(results(monge(*BASIC, *PLAIN, "-f", "json"))[0])


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_compressed_files_are_read_as_they_are(monge, workplace, suffix, pack):
    (workplace / f"hyp.txt{suffix}").write_bytes(pack((workplace / "system-a.txt").read_bytes()))
    packed = results(
        monge("score", "-t", f"hyp.txt{suffix}", "-r", "reference.txt", "-f", "json", "--segments")
    )[0]
    assert scores(packed) == scores(results(monge(*BASIC, "-f", "json", "--segments"))[0])


def test_standard_input(outside, monge, workplace):
    found = outside(
        "score",
        "-t",
        "-",
        "-r",
        "reference.txt",
        "-f",
        "json",
        "--segments",
        input=(workplace / "system-a.txt").read_bytes(),
    )
    assert scores(results(found)[0]) == scores(
        results(monge(*BASIC, "-f", "json", "--segments"))[0]
    )


def test_a_system_on_standard_input_is_called_so(outside, workplace):
    typed = (workplace / "system-a.txt").read_bytes()
    found = outside(
        "score", "-t", "-", "-r", "reference.txt", "-m", "chrf", "-f", "json", input=typed
    )
    assert results(found)[0]["system"] == "stdin"


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
def test_a_table_on_standard_input(outside, monge, form):
    rows = [("a cat", "the cat"), ("a dog sat", "a dog sat")]
    head = [("hypothesis", "reference")]
    lines = {
        "tsv": ["\t".join(row) for row in head + rows],
        "csv": [",".join(f'"{cell}"' for cell in row) for row in head + rows],
        "jsonl": [json.dumps(dict(zip(head[0], row, strict=True))) for row in rows],
    }[form]
    typed = "".join(f"{line}\n" for line in lines).encode()
    options = ("-m", "chrf", "-f", "json", "--segments")
    found = results(outside("score", "-", "--table-format", form, *options, input=typed))[0]
    assert len(scores(found)) == 2 and scores(found)[1] == pytest.approx(100)


@pytest.mark.parametrize("text", ["no newline at the end", "CRLF", "BOM"])
def test_how_lines_end_does_not_matter(monge, workplace, text):
    raw = (workplace / "system-a.txt").read_bytes()
    raw = {
        "no newline at the end": raw[:-1],
        "CRLF": raw.replace(b"\n", b"\r\n"),
        "BOM": b"\xef\xbb\xbf" + raw,
    }[text]
    (workplace / "odd.txt").write_bytes(raw)
    odd = results(
        monge("score", "-t", "odd.txt", "-r", "reference.txt", "-f", "json", "--segments")
    )[0]
    assert scores(odd) == scores(results(monge(*BASIC, "-f", "json", "--segments"))[0])


def test_other_separators_do_not_end_a_line(monge, workplace):
    """splitlines() would see five lines."""
    (workplace / "h.txt").write_text("one\u2028two\x85three\x0cfour\nsecond\n", "utf-8")
    (workplace / "r.txt").write_text("one two\nsecond\n", "utf-8")
    assert results(monge("score", "-t", "h.txt", "-r", "r.txt", "-f", "json"))[0]["n"] == 2


@pytest.mark.parametrize(
    ("kind", "start", "holds"),
    [
        ("text", "metric", "signature"),
        ("json", "{", '"results"'),
        ("jsonl", "{", '"signature"'),
        ("tsv", "", "\t"),
        ("markdown", "| metric", "| `monge ↑` |"),
        ("latex", "", "\\"),
        ("html", "<!", "</html>"),
    ],
)
def test_formats(monge, workplace, kind, start, holds):
    found = monge(*BASIC, "-f", kind, "--segments")
    assert found.code == 0
    assert found.out.lower().startswith(start)
    assert holds in found.out
    assert found.out.endswith("\n")
    written = monge(*BASIC, "-f", kind, "--segments", "-o", "out.txt")
    assert (written.code, written.out) == (0, "")
    if kind != "jsonl":  # lines of segments stream while results are still unknown
        assert (workplace / "out.txt").read_text("utf-8") == found.out
    assert sorted(path.name for path in workplace.glob("*out*")) == ["out.txt"]


def test_json_lines_are_json(monge):
    found = monge(*BASIC, "-f", "jsonl", "--segments")
    each = [json.loads(line) for line in found.out.splitlines()]
    assert len([one for one in each if "id" in one]) == 6
    assert len([one for one in each if "signature" in one]) == 1


def test_format_from_the_environment(monge, monkeypatch):
    monkeypatch.setenv("MONGE_FORMAT", "json")
    assert json.loads(monge(*BASIC).out)["monge"]
    monkeypatch.setenv("MONGE_FORMAT", "yaml")
    assert monge(*BASIC).code == 2


def test_interval_and_seed(monge):
    first, again, other = (
        results(monge(*BASIC, "--ci", "--seed", seed, "-f", "json"))[0]["interval"]
        for seed in (1, 1, 2)
    )
    assert first == again != other
    result = results(monge(*BASIC, "--ci", "-f", "json"))[0]
    assert result["interval"]["low"] <= result["score"] <= result["interval"]["high"]


@pytest.mark.parametrize(
    ("metric", "limit", "code", "word"),
    [
        ("twmd", 0.5, 0, ""),
        ("twmd", 0.99, 4, "below"),
        ("emd", 0.5, 0, ""),
        ("emd", 0.01, 4, "above"),
    ],
)
def test_gate(monge, metric, limit, code, word):
    found = monge(*BASIC, "-m", metric, "--fail-under", limit)
    assert found.code == code
    assert word in found.err
    assert metric in found.out  # the results are shown either way


def test_quiet_says_nothing_about_cut_texts(monge, workplace):
    (workplace / "long.txt").write_text("word " * 600 + "\n", "utf-8")
    arguments = ("score", "-t", "long.txt", "-r", "long.txt")
    assert "cut" in monge(*arguments).err
    assert monge(*arguments, "--quiet").err == ""
    assert monge(*arguments, "--on-overlong", "window").err == ""
    (result,) = results(monge(*arguments, "-f", "json", "--segments", "-q"))
    assert result["run"]["truncated"] == 2
    assert set(result["segments"][0]["flags"]) == {"truncated-hypothesis", "truncated-reference"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--layers", "2"),
        ("--layers", "last2:mean"),
        ("--set", "transport.temperature=0.05"),
        ("--set", "weights=idf"),
        ("-m", "twmd[transport.temperature=0.05,weights=idf]"),
        ("--set", "centre=corpus"),
        ("--set", "units.stopwords=en"),
        ("--set", "units.ngram=2"),
        ("--references-rule", "mean"),
        ("--precision", "bf16"),
        ("--on-overlong", "window"),
        ("--set", "encoder.prefix=query: "),
        ("--set", "encoder.max_length=20"),
        ("--set", "normalise=none"),
        ("--set", "ground=dot"),
        ("--set", "transport.sweeps=5"),
        ("--set", "transport.sweeps=converged"),
        ("--set", "transport.order=reference-last"),
        ("--set", "readout.headline=recall"),
        ("-m", "twmd@release"),
    ],
)
def test_every_setting_shows_in_the_signature(monge, arguments):
    usual = results(monge(*BASIC, "-f", "json"))[0]["signature"]
    assert results(monge(*BASIC, *arguments, "-f", "json"))[0]["signature"] != usual


def test_settings_reach_the_same_spec_by_every_way(monge):
    ways = (
        ("-m", "twmd", "--set", "transport.temperature=0.05"),
        ("-m", "twmd[transport.temperature=0.05]"),
        ("-m", "twmd[transport.temperature=0.05]", "--set", "transport.temperature=0.9"),
    )
    assert len({results(monge(*BASIC, *way, "-f", "json"))[0]["signature"] for way in ways}) == 1


def test_language_picks_what_a_metric_declares(monge):
    english, chinese, other = (
        results(monge(*BASIC, "-m", "lazy-emd", "--lang", code, "-f", "json"))[0]["signature"]
        for code in ("en", "zh", "fi")
    )
    assert "slack=0.23/0.31" in english
    assert "slack=0.018/0.97" in chinese
    assert "slack=0.009/0.95" in other


def test_fitting_beforehand_is_fitting_in_the_run(monge):
    for name in ("moverscore", "twmd-b", "moverscore@v1", "bertscore[weights=idf]"):
        in_run = results(monge(*BASIC, "-m", name, "-f", "json", "--segments"))[0]
        fitted = monge(
            "fit", "-r", "reference.txt", "-t", "system-a.txt", "-m", name, "-o", "stats.json"
        )
        assert (fitted.code, fitted.out) == (0, "")
        assert "fitted" in fitted.err
        later = results(
            monge(*BASIC, "-m", name, "--stats", "stats.json", "-f", "json", "--segments")
        )[0]
        assert np.allclose(scores(later), scores(in_run), atol=1e-9, rtol=0)
        assert later["signature"] == in_run["signature"]


def test_idf_corpus(monge, workplace):
    (workplace / "corpus.txt").write_text(
        (workplace / "reference-2.txt").read_text("utf-8") + "one more line\n", "utf-8"
    )
    usual = results(monge(*BASIC, "-m", "moverscore", "-f", "json"))[0]
    other = results(monge(*BASIC, "-m", "moverscore", "--idf-corpus", "corpus.txt", "-f", "json"))[
        0
    ]
    named = results(monge(*BASIC, "-m", "moverscore[weights.corpus=corpus.txt]", "-f", "json"))[0]
    assert usual["score"] != other["score"] == named["score"]
    assert usual["signature"] != other["signature"] == named["signature"]


def test_empty_texts_are_counted(monge, workplace):
    (workplace / "h.txt").write_text("\nhello\n\n", "utf-8")
    (workplace / "r.txt").write_text("hello\nhello\n \n", "utf-8")
    (result,) = results(monge("score", "-t", "h.txt", "-r", "r.txt", "-f", "json", "--segments"))
    assert scores(result) == pytest.approx([0, 1, 1])
    assert result["run"]["flagged"] == {"empty-hypothesis": 2, "empty-reference": 1}
    assert result["segments"][2]["flags"] == ["empty-hypothesis", "empty-reference"]


def test_every_metric_runs_through_the_front_door(monge):
    arguments = [one for name in PRESETS if "lang" not in name for one in ("-m", name)]
    found = results(monge(*BASIC, *arguments, "-f", "json"))
    assert [one["metric"] for one in found] == arguments[1::2]
    assert len({one["signature"] for one in found}) == len(found)
