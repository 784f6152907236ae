"""What a difference of two systems means to people: kept curves, and where there are none."""

import json

import pytest

import monge
from monge.cli.app import run
from monge.evaluation.human_meaning import find_meaning, key_of
from monge.evaluation.saved_studies import comparison_of
from monge.probing.challenge import example_texts

EXAMPLE = example_texts()
GOOD = [row.hypothesis for row in EXAMPLE]
REFERENCES = [row.references[0] for row in EXAMPLE]
BAD = [" ".join(text.split()[: len(text.split()) // 2]) for text in GOOD]
GERMAN = [
    "Die Katze schläft auf der Matte.",
    "Der Zug kommt heute nicht an.",
    "Es regnet oft hier.",
]


@pytest.fixture(scope="module")
def comparison():
    pytest.importorskip("sacrebleu", reason="install monge[lexical]")
    return monge.compare({"good": GOOD, "bad": BAD}, REFERENCES, ["chrf", "bleu", "rouge1"])


def test_the_share_grows_with_the_difference(comparison):
    signature = monge.Signature.parse(comparison.standings[0].signature)
    shares = [find_meaning(signature, d, "en").share for d in (0, 0.5, 2, 10, 60)]
    assert shares == sorted(shares) and shares[0] < 0.75 < shares[-1]
    assert find_meaning(signature, -2, "en") == find_meaning(signature, 2, "en")
    assert find_meaning(signature, 2, "de") is None


def test_json_has_the_meaning_of_every_pair_that_is_known(comparison):
    data = comparison.to_dict()
    assert data["study"]["language"] == "en"
    people = data["study"]["people"]
    assert [row["metric"] for row in people] == ["chrf", "bleu"]  # no curve was kept for rouge1
    assert all(0.5 <= row["ranked_the_same_way"] <= 1 and row["pairs"] > 600 for row in people)
    again = comparison_of(json.loads(json.dumps(data)))
    assert again.to_dict() == data


def test_tables_have_a_column_where_it_is_known(comparison):
    _, chrf, bleu, rouge = comparison.sheets()
    assert "people" in chrf.head and "people" in bleu.head and "people" not in rouge.head
    assert len(chrf.rows[0]) == len(chrf.head) and len(rouge.rows[0]) == len(rouge.head)
    (note,) = chrf.notes
    assert note.startswith("people: of system pairs of WMT17 and WMT18 into English")
    assert rouge.notes == ()


def test_texts_in_another_language_have_too_few_judgements():
    pytest.importorskip("sacrebleu", reason="install monge[lexical]")
    comparison = monge.compare({"a": GERMAN, "b": GERMAN[::-1]}, GERMAN, "chrf")
    assert comparison.language == "de" and comparison.to_dict()["study"]["people"] == []
    (note,) = comparison.sheets()[1].notes
    assert note == "people: not enough judgements of texts in German to say what a difference means"


def test_other_settings_have_no_curve():
    pytest.importorskip("sacrebleu", reason="install monge[lexical]")
    comparison = monge.compare({"good": GOOD, "bad": BAD}, REFERENCES, "chrf[beta=1]")
    assert comparison.to_dict()["study"]["people"] == []
    assert comparison.sheets()[1].notes == ()


def test_what_belongs_to_a_run_is_not_in_the_name_of_a_curve():
    line = "metric:chrf|options:a=1|lib:sacrebleu|nrefs:1|version:2.6.0|monge:0.1.0"
    assert key_of(monge.Signature.parse(line)) == "metric:chrf|options:a=1|lib:sacrebleu|nrefs:1"


def test_the_command_shows_it(tmp_path, capsys):
    pytest.importorskip("sacrebleu", reason="install monge[lexical]")
    for name, texts in (("a", GOOD), ("b", BAD), ("ref", REFERENCES)):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n")
    files = ["-t", tmp_path / "a.txt", "-t", tmp_path / "b.txt", "-r", tmp_path / "ref.txt"]
    assert run(["compare", *map(str, files), "-m", "chrf", "-q"]) == 0
    output = capsys.readouterr().out
    assert "people" in output and "ranked the same way" in output
