"""Output as people need it: texts beside scores, formats, settings that fit, notes and colours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from monge.cli.app import VERBS
from monge.types.table import STUDY_FORMATS

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "chrf")
BOTH = (*BASIC, "-t", "system-b.txt", "-r", "reference-2.txt", "-s", "source-de.txt")
STYLES = re.compile(r"\x1b\[[0-9;]*m")


def lines(path):
    return path.read_text("utf-8").split("\n")[:-1]


def ok(found):
    assert found.code == 0, found.err
    return found.out


# --- texts beside scores
# -------------------------------------------------------------------------------------------


def test_texts_stand_beside_their_scores(monge, workplace):
    texts = {
        name: lines(workplace / f"{name}.txt")
        for name in ("system-b", "reference", "reference-2", "source-de")
    }
    plain = json.loads(ok(monge(*BOTH, "--segments", "-f", "json")))["results"][1]["segments"]
    found = json.loads(ok(monge(*BOTH, "--with-texts", "-f", "json")))["results"][1]["segments"]
    for k, (row, bare) in enumerate(zip(found, plain, strict=True)):
        assert {name: row[name] for name in bare} == bare
        assert row["hypothesis"] == texts["system-b"][k]
        assert row["references"] == [texts["reference"][k], texts["reference-2"][k]]
        assert row["source"] == texts["source-de"][k]


def test_streamed_lines_carry_texts_as_whole_ones_do(monge, workplace):
    """Blends wait for the last segment and are written at the end."""
    metrics = ("-m", "sbert", "-m", "sentsim", "--with-texts", "-f", "jsonl")
    streamed = ok(monge(*BASIC, *metrics)).splitlines()
    assert monge(*BASIC, *metrics, "-o", "out.jsonl").code == 0
    written = lines(workplace / "out.jsonl")
    assert sorted(streamed) == sorted(written)
    assert sum('"hypothesis": ' in line for line in streamed) == 18


def test_tsv_with_texts_can_be_scored_again(monge, workplace):
    assert monge(*BOTH, "--with-texts", "-f", "tsv", "-o", "scored.tsv").code == 0
    first = json.loads(ok(monge(*BOTH, "--segments", "-f", "json")))["results"]
    again = json.loads(ok(monge("score", "scored.tsv", "-m", "chrf", "--segments", "-f", "json")))[
        "results"
    ]
    assert [one["segments"] for one in again] == [one["segments"] for one in first]


def test_parquet(monge, workplace):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    assert (
        monge(*BOTH, "-m", "sbert", "--with-texts", "-f", "parquet", "-o", "out.parquet").out == ""
    )
    table = pyarrow.read_table("out.parquet")
    results = json.loads(ok(monge(*BOTH, "-m", "sbert", "--with-texts", "-f", "json")))["results"]
    rows = [
        {"metric": one["metric"], "system": one["system"], **row}
        for one in results
        for row in one["segments"]
    ]
    for row in rows:
        row.update(row.pop("parts"))
    assert table.to_pylist() == [{**dict.fromkeys(table.column_names), **row} for row in rows]
    about = json.loads(table.schema.metadata[b"monge"])
    assert [one["signature"] for one in about["results"]] == [one["signature"] for one in results]
    bare = monge(*BASIC, "-f", "parquet", "-o", "bare.parquet")
    assert bare.code == 0 and "hypothesis" not in pyarrow.read_table("bare.parquet").column_names
    assert sorted(path.name for path in workplace.glob("*parquet*")) == [
        "bare.parquet",
        "out.parquet",
    ]


def test_parquet_needs_a_file(monge):
    found = monge(*BASIC, "-f", "parquet")
    assert (found.code, found.out) == (2, "")
    assert (
        found.err == "monge: --format parquet writes a file, not a stream: give -o FILE.parquet\n"
    )


def test_parquet_without_its_library(monge, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = monge(*BASIC, "-f", "parquet", "-o", "out.parquet")
    assert (found.code, found.out) == (2, "") and "monge[parquet]" in found.err


def test_people_count_from_one(monge):
    """Which of several references was the best is told as people count them."""
    line = (
        "score",
        "-t",
        "system-a.txt",
        "-r",
        "reference.txt",
        "-r",
        "reference-2.txt",
        "-m",
        "sbert",
    )
    rows = ok(monge(*line, "--segments", "-f", "tsv")).splitlines()
    at = rows[0].split("\t").index("best_reference")
    assert {row.split("\t")[at] for row in rows[1:]} == {"1", "2"}
    assert [row.split("\t")[2] for row in rows[1:]] == list("123456")


# --- the same formats everywhere
# -----------------------------------------------------------------------------------

CHRF = "metric:chrf|options:char_order=6,word_order=0,beta=2|lib:sacrebleu|nrefs:1|version:2.6.0|monge:0.1.0"
LISTS = {
    "compare": "compare -t system-a.txt -t system-b.txt -r reference.txt -m chrf --resamples 50",
    "evaluate": "evaluate table --data judged.tsv -m chrf -m bleu --resamples 50",
    "sensitivity": "sensitivity table --data judged.tsv -m bertscore --factor stopwords "
    "--resamples 50",
    "sweep": "sweep table --data judged.tsv -m bertscore --vary layers=1,2 --resamples 50",
    "explain": "explain cat dog",
    "analyse": "analyse reference.txt --pairs 20 --contexts 2",
    "reproduce": "reproduce",
    "metrics": "metrics",
    "show": "show twmd",
    "signature parse": f"signature parse {CHRF}",
    "signature diff": f"signature diff {CHRF} {CHRF.replace('beta=2', 'beta=1')}",
    "cache info": "cache info .",
    "dry run": "score -t system-a.txt -r reference.txt --dry-run",
}
BEGINS = {
    "text": "",
    "json": "{",
    "jsonl": "{",
    "tsv": "",
    "markdown": "",
    "latex": "",
    "html": "<!DOCTYPE html>",
}
HOLDS = {
    "text": "",
    "json": "}",
    "jsonl": "}",
    "tsv": "\t",
    "markdown": "| --- |",
    "latex": r"\toprule",
    "html": "<t",
}


@pytest.fixture
def judged(workplace):
    hypotheses, references = lines(workplace / "system-a.txt"), lines(workplace / "reference.txt")
    rows = [
        f"{h}\t{r}\t{k * 7 % 5}"
        for k, (h, r) in enumerate(zip(hypotheses, references, strict=True))
    ]
    (workplace / "judged.tsv").write_text(
        "\n".join(["hypothesis\treference\thuman", *rows]) + "\n", "utf-8"
    )


@pytest.mark.parametrize("verb", LISTS)
def test_every_verb_has_every_format(monge, judged, monkeypatch, verb):
    line = LISTS[verb].split()
    assert monge(*BASIC, "--cache", ".").code == 0
    for form in STUDY_FORMATS:
        shown = ok(monge(*line, "-f", form))
        assert shown.startswith(BEGINS[form]) and shown.endswith("\n") and HOLDS[form] in shown, (
            form
        )
        if form in ("json", "jsonl"):
            assert all(json.loads(one) for one in shown.splitlines())
        if form == "tsv":
            assert len({one.count("\t") for one in shown.splitlines()}) == 1
        monkeypatch.setenv("MONGE_FORMAT", form)
        assert ok(monge(*line)) == shown
        monkeypatch.delenv("MONGE_FORMAT")


def test_an_unknown_format_says_where_it_comes_from(monge, monkeypatch):
    assert "did you mean markdown?" in monge(*BASIC, "-f", "markdwn").err
    monkeypatch.setenv("MONGE_FORMAT", "yaml")
    assert "got 'yaml' (from MONGE_FORMAT)" in monge("metrics").err


# --- signatures
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric",
    ["twmd", "moverscore", "chrf[beta=1]", "sentsim", "twmd-b[layers=2,units.stopwords=en]"],
)
def test_a_short_signature_replays_to_the_same_segments(monge, metric):
    line = ("score", "-t", "system-a.txt", "-r", "reference.txt")
    shown = ok(monge(*line, "-m", metric))
    short = re.search(r"^signature  (.*)$", shown, re.M)[1]
    long = json.loads(ok(monge(*line, "-m", metric, "--segments", "-f", "json")))["results"][0]
    again = json.loads(ok(monge(*line, "--signature", short, "--segments", "-f", "json")))[
        "results"
    ][0]
    assert again == long
    assert not short.startswith("metric:") and len(short) < len(long["signature"]) / 1.5
    assert ok(monge("signature", "diff", short, long["signature"])) == ""
    parsed = json.loads(ok(monge("signature", "parse", short, "-f", "json")))
    assert (parsed["long"], parsed["short"]) == (long["signature"], short)
    spelt = ok(monge(*line, "-m", metric, "--signature-form", "long"))
    assert f"signature  {long['signature']}\n" in spelt


@pytest.mark.parametrize(
    ("file", "settings", "what"),
    [
        ("config.json", {"layer_norm_eps": 1e-3}, "configuration is"),
        ("tokenizer_config.json", {"do_lower_case": False}, "tokenizer is"),
    ],
)
def test_a_short_signature_is_refused_with_another_model(monge, model_copy, file, settings, what):
    line = ("score", "-t", "system-a.txt", "-r", "reference.txt")
    shown = ok(monge(*line, "-m", "bertscore", "--model", model_copy))
    short = re.search(r"^signature  (.*)$", shown, re.M)[1]
    assert monge(*line, "--signature", short, "--model", model_copy).code == 0
    written = json.loads((model_copy / file).read_text("utf-8"))
    (model_copy / file).write_text(json.dumps({**written, **settings}), "utf-8")
    refused = monge(*line, "--signature", short, "--model", model_copy)
    assert (refused.code, refused.out) == (3, "")
    assert f"the signature's {what}" in refused.err


def test_a_short_signature_with_other_statistics_is_refused(monge):
    line = ("score", "-t", "system-a.txt", "-m", "moverscore", "-r")
    short = re.search(r"^signature  (.*)$", ok(monge(*line, "reference.txt")), re.M)[1]
    assert re.search(r"\|stats:idf=[0-9a-f]+", short)
    refused = monge("score", "-t", "system-a.txt", "-r", "reference-2.txt", "--signature", short)
    assert (refused.code, refused.out) == (3, "") and "--refit" in refused.err


@pytest.mark.parametrize("verb", ["score", "compare", "explain"])
def test_signatures_are_one_line_at_a_narrow_terminal(outside, verb):
    """Eighty columns, as the shell says."""
    texts = (
        ("cat", "dog")
        if verb == "explain"
        else ("-t", "system-a.txt", "-t", "system-b.txt", "-r", "reference.txt")
    )
    found = outside(verb, *texts, "--signature-form", "long", env={"COLUMNS": "80"})
    signature = re.search(r"^signature  (metric:.*)$", ok(found), re.M)[1]
    assert len(signature) > 300 and signature.count("|monge:") == 1


def test_signature_forms(monge):
    found = monge(*BASIC, "--signature-form", "tiny")
    assert (found.code, found.err) == (2, "monge: --signature-form takes short, long, got 'tiny'\n")


# --- settings
# ------------------------------------------------------------------------------------------------------


def signature_of(monge, *arguments):
    line = ("score", "-t", "system-a.txt", "-r", "reference.txt", "-f", "json")
    return [one["signature"] for one in json.loads(ok(monge(*line, *arguments)))["results"]]


def test_settings_of_a_lexical_metric(monge):
    assert signature_of(monge, "-m", "chrf", "--set", "beta=1") == signature_of(
        monge, "-m", "chrf[beta=1]"
    )


def test_settings_apply_where_they_can_and_one_note_says_so(monge):
    both = ("-m", "bleu", "-m", "twmd", "--set", "layers=3", "--set", "lowercase=yes")
    assert signature_of(monge, *both) == [
        *signature_of(monge, "-m", "bleu[lowercase=yes]"),
        *signature_of(monge, "-m", "twmd[layers=3]"),
    ]
    found = monge("score", "-t", "system-a.txt", "-r", "reference.txt", *both)
    assert (
        found.err
        == "monge: layers=3 applies to twmd, not to bleu; lowercase=yes applies to bleu, not to "
        "twmd\n"
    )
    assert monge("score", "-t", "system-a.txt", "-r", "reference.txt", *both, "-q").err == ""


def test_settings_apply_where_they_can_in_a_comparison(monge):
    line = (
        "compare",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "--resamples",
        "50",
    )
    found = monge(*line, "-m", "chrf", "-m", "twmd", "--set", "layers=1", "-f", "json")
    assert "|layers:1|" in json.loads(ok(found))["results"][1]["signature"]
    assert found.err == "monge: layers=1 applies to twmd, not to chrf\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("-m", "bleu", "-m", "chrf", "--set", "layers=3"),
            "--set layers=3: none of bleu, chrf has 'layers'",
        ),
        (
            ("-m", "bleu", "-m", "twmd", "--set", "layrs=3"),
            "none of bleu, twmd has 'layrs'; did you mean layers?",
        ),
        (("-m", "bleu", "-m", "chrf", "--set", "betta=3"), "'betta'; did you mean beta?"),
        (
            ("-m", "bleu", "--set", "layers=3"),
            "bleu compares words, not vectors: it has no 'layers'",
        ),
        (("-m", "chrf", "--set", "betta=3"), "unknown chrf option 'betta'; did you mean beta?"),
        (("-m", "bleu", "-m", "twmd", "--set", "layers=deep"), "layers takes"),
    ],
)
def test_a_setting_that_fits_nothing(monge, arguments, message):
    found = monge("score", "-t", "system-a.txt", "-r", "reference.txt", *arguments)
    assert (found.code, found.out) == (2, "")
    assert message in found.err and found.err.count("\n") == 1


# --- notes, colours, versions
# --------------------------------------------------------------------------------------


def test_more_notes(monge):
    found = monge("score", "-t", "system-a.txt", "-r", "reference.txt", "-m", "bertscore", "-v")
    stages = ["read", "loaded the model", "fitted, encoded and scored", "written"]
    timed = re.findall(r"^monge: ([a-z, ]+): \d+\.\d\d s$", found.err, re.M)
    assert timed == stages
    assert re.search(r"^monge: 12 texts, 12 encoded \(\d+ pieces\)$", found.err, re.M)


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals of POSIX")
def test_colours_at_a_terminal(workplace, variables, coloured):
    assert bool(STYLES.search(at_terminal(workplace, variables))) is coloured


@pytest.mark.parametrize("variables", [{"FORCE_COLOR": "1"}, {"FORCE_COLOR": "1", "TERM": "dumb"}])
def test_colours_by_force(outside, variables):
    assert STYLES.search(ok(outside(*BASIC, env={"NO_COLOR": "", **variables})))
    assert not STYLES.search(ok(outside(*BASIC, env={"NO_COLOR": "", "FORCE_COLOR": "0"})))


def at_terminal(workplace, variables):
    """What a command writes to a terminal that is both of its streams."""
    ours, theirs = os.openpty()
    kept = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    command = [sys.executable, "-c", "from monge.cli.main import main; main()", *BASIC]
    with subprocess.Popen(
        command,
        cwd=workplace,
        env={**kept, "TERM": "xterm", **variables},
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 1 << 16):
                shown += some
        except OSError:  # how Linux says that nobody has the other end open
            pass
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


def test_versions(monge):
    assert ok(monge("-V")) == ok(monge("--version")) != ""


# --- completion
# ----------------------------------------------------------------------------------------------------


def completed(line, shell="fish"):
    words = line.split()[1:] + ([""] if line.endswith(" ") else [])
    code = (
        "import sys; from monge.cli.main import main\n"
        "try: main()\nfinally: sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    environment = {**os.environ, "MONGE_COMPLETE": shell, "COMP_LINE": line}
    arguments = [] if shell == "bash" else words
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, check=True
    )
    return found.stdout.decode().splitlines()


def test_completion_of_verbs_options_metrics_and_formats():
    assert completed("monge s") == [verb for verb in VERBS if verb.startswith("s")]
    assert {"twmd", "twmd@paper", "twmd-b"} <= set(completed("monge score -m tw"))
    assert completed("monge compare --resam") == ["--resamples"]
    assert completed("monge score -f ") == [*STUDY_FORMATS, "parquet"]
    assert completed("monge cache ") == ["info", "clear"]
    assert completed("monge show chr") == ["chrf", "chrf++"]
    assert completed("monge score -t ") == []  # a file: the shell completes it
    assert completed("monge nothing -") == []


def test_completion_in_bash_does_not_write_again_what_stands_before_an_at():
    assert completed("monge score -m twmd@", "bash") == ["release", "paper"]
    assert completed("monge score -m moversc", "bash")[0] == "moverscore"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_once(monge, tmp_path, monkeypatch, shell):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    start = tmp_path / f".{shell}rc"
    start.write_text("as it was", "utf-8")
    for _ in range(2):
        found = monge("completion", "install")
        assert (found.code, found.out) == (0, "")
    place = re.search(r"is in (.*); it works", found.err)[1]
    script = ok(monge("completion", "show", shell))
    assert Path(place).read_text("utf-8") == script
    added = [] if shell == "fish" else [f'source "{place}"  # completion of monge']
    assert start.read_text("utf-8").splitlines() == ["as it was", *added]


def test_completion_of_an_unknown_shell(monge):
    found = monge("completion", "install", "fsh")
    assert (found.code, found.err) == (
        2,
        "monge: unknown shell 'fsh'; did you mean fish? (shells: bash, fish, zsh)\n",
    )


def test_the_script_of_bash_works():
    script = subprocess.run(
        ["bash", "--norc", "-c", _IN_BASH],
        env={**os.environ, "PY": sys.executable},
        capture_output=True,
        check=True,
    )
    assert script.stdout.decode().split() == ["score"]


_IN_BASH = """
monge() { "$PY" -c 'from monge.cli.main import main; main()' "$@"; }
eval "$(monge completion show bash)"
COMP_LINE="monge sc" COMP_POINT=8
_monge_complete
echo "${COMPREPLY[@]}"
"""
