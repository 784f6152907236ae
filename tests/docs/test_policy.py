"""docs/policy.md and the schema of scores say what the package does: changing either is deliberate."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import monge
from monge import errors
from monge.cli.app import run
from monge.metrics.signature import parse

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "policy.md").read_text("utf-8")
SCHEMA = json.loads((ROOT / "docs" / "reference" / "score.schema.json").read_text("utf-8"))


def read_names(block):
    """The names in code in the paragraph below a mark of the page."""
    paragraph = PAGE.partition(f"<!-- {block} -->\n")[2].partition("\n\n")[0]
    return re.findall(r"`([^`]+)`", paragraph)


def read_exit_codes():
    table = PAGE.partition("<!-- exit codes -->\n")[2].partition("\n\n")[0]
    return {
        int(code): name for code, name in re.findall(r"^\| (\d+) .*\| *`?(\w*)`? *\|$", table, re.M)
    }


def test_the_public_names_are_those_of_the_page():
    assert read_names("names") == sorted(monge.__all__), (
        "a public name is added or removed: docs/policy.md says when that may happen"
    )


def list_exceptions(kind=errors.MongeError):
    return [kind, *(inner for child in kind.__subclasses__() for inner in list_exceptions(child))]


def test_the_exit_codes_are_those_of_the_page():
    codes = read_exit_codes()
    assert sorted(codes) == [0, 1, 2, 3, 4, 130]
    for code, name in codes.items():
        if name:
            assert getattr(errors, name).exit_code == code
    assert {kind.exit_code for kind in list_exceptions()} == {1, 2, 3}
    assert errors.GATE_FAILED == 4


@pytest.fixture
def example(tmp_path, monkeypatch):
    """A directory with the bundled example, its outputs cut to four lines, one of them empty."""
    for name in ("reference", "reference-2", "source-de", "system-a", "system-b"):
        text = (files("monge") / "example" / f"{name}.txt").read_text("utf-8")
        lines = text.splitlines()[:4]
        lines[3] = "" if name == "system-b" else lines[3]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "vectors.txt").write_text("the 1 0 0\nvote 0 2 0\npolice 0 0 4\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("MONGE_FORMAT", "MONGE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def score_json(capsys, *arguments):
    capsys.readouterr()
    assert run(["score", *arguments, "-f", "json"]) == 0
    return json.loads(capsys.readouterr().out)


BOTH = ["-t", "system-a.txt", "-t", "system-b.txt", "-r", "reference.txt"]


def test_exit_codes_of_real_commands(example, capsys):
    assert run(["score", *BOTH, "-m", "chrf"]) == 0
    assert run(["score", "-t", "missing.txt", "-r", "reference.txt", "-m", "chrf"]) in (1, 2)
    Path("short.txt").write_text("a line\n")
    assert run(["score", "-t", "short.txt", "-r", "reference.txt", "-m", "chrf"]) == 1
    assert run(["score", *BOTH, "-m", "nothing"]) == 2
    assert run(["score", *BOTH, "-m", "twmd", "--model", "missing/model"]) == 3
    assert run(["score", *BOTH, "-m", "chrf", "--fail-under", "99"]) == 4


def test_the_fields_of_a_signature_are_those_of_the_page(example, capsys):
    (result, _) = score_json(capsys, *BOTH, "-m", "twmd")["results"]
    fields = [part.partition(":")[0] for part in result["signature"].split("|")]
    assert fields == read_names("signature")
    arguments = ["-t", "system-a.txt", "-s", "reference.txt", "-r", "reference.txt"]
    (result,) = score_json(capsys, *arguments, "-m", "xmoverscore")["results"]
    further = [part.partition(":")[0] for part in result["signature"].split("|")]
    assert set(further) - set(fields) <= {"fluency", "against"} and parse(result["signature"])


def close_objects(schema):
    """The schema with no other keys than those it names: what a new key is noticed by."""
    if isinstance(schema, list):
        return [close_objects(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close_objects(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        closed["additionalProperties"] = False
    return closed


STRICT = jsonschema.Draft202012Validator(close_objects(SCHEMA))
RUNS = {
    "plain": [*BOTH, "-m", "twmd", "-m", "chrf", "-m", "bleu", "-m", "wmdo"],
    "segments and intervals": [*BOTH, "-m", "bertscore", "-m", "ter", "--ci", "--segments"],
    "texts, two references": [*BOTH, "-r", "reference-2.txt", "-m", "twmd", "--with-texts"],
    "sources": ["-t", "system-a.txt", "-s", "source-de.txt", "-m", "sentsim", "--with-texts"],
    "static vectors": [*BOTH, "-m", "wmd", "--model", "vectors.txt", "--segments"],
}


@pytest.mark.parametrize("arguments", RUNS.values(), ids=RUNS)
@pytest.mark.filterwarnings("ignore::monge.errors.Notice")
def test_real_output_is_valid_and_has_no_key_that_the_schema_lacks(example, capsys, arguments):
    output = score_json(capsys, *arguments)
    assert output["results"]
    assert [error.message for error in STRICT.iter_errors(output)] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda output: output["results"][0].pop("signature"), "'signature' is a required"),
        (lambda output: output["results"][0].update(score="0.9"), "is not of type 'number'"),
        (lambda output: output["results"][0].update(rank=1), "'rank' was unexpected"),
        (lambda output: output["results"][0]["segments"][0].update(best_reference=0), "minimum"),
        (lambda output: output["results"][0].update(signature="chrf"), "does not match"),
    ],
)
def test_the_schema_refuses_other_output(example, capsys, change, message):
    output = score_json(capsys, *BOTH, "-m", "chrf", "--segments")
    assert STRICT.is_valid(output)
    change(output)
    (error,) = STRICT.iter_errors(output)
    assert message in error.message


def test_the_schema_is_one_and_knows_segments_that_failed(example, capsys):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    output = score_json(capsys, *BOTH, "-m", "chrf")
    output["results"][0]["run"]["failed"] = [{"id": "3", "why": "transport has not settled"}]
    assert STRICT.is_valid(output)
    output["results"][0]["run"]["failed"] = [{"id": "3"}]
    assert not STRICT.is_valid(output)
