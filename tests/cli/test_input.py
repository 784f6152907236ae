"""Input as people have it: their columns and delimiters, directories of outputs, one segment,
scores of others.
"""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from monge.datasets import dataset_names
from monge.datasets import lines as lines_module

BASIC = ("score", "-t", "system-a.txt", "-r", "reference.txt")
FAST = ("-m", "chrf", "--resamples", "50")


@pytest.fixture
def lines(workplace):
    """The lines of the example, by file."""
    return {path.stem: path.read_text("utf-8").splitlines() for path in workplace.glob("*.txt")}


@pytest.fixture
def table(workplace, lines):
    """Write rows as a CSV, a column a keyword: `table("t.csv", mt=[…], ref=[…])`."""

    def write(name, delimiter=",", encoding="utf-8", **columns):
        with (workplace / name).open("w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return name

    return write


@pytest.fixture
def judged(table, lines):
    """A spreadsheet's table of two systems with judgements: semicolons, a byte order mark, decimal
    commas.
    """
    a, b, reference = (lines[name] for name in ("system-a", "system-b", "reference"))
    human = [f"{k % 3},{k % 7}" for k in range(12)]
    columns = {
        "mt": a + b,
        "Ref": reference * 2,
        "model": ["a"] * 6 + ["b"] * 6,
        "human score": human,
    }
    return table("judged.csv", ";", "utf-8-sig", **columns)


def scores(found):
    assert found.code == 0, found.err
    return [(one["system"], one["score"]) for one in json.loads(found.out)["results"]]


# --- tables
# --------------------------------------------------------------------------------------------------------


def test_tables_of_every_kind_score_as_the_files_do(monge, workplace, table, lines):
    wanted = scores(monge(*BASIC, "-m", "chrf", "-f", "json"))[0][1]
    a, reference, source = (lines[name] for name in ("system-a", "reference", "source-de"))
    rows = [
        {"mt": one, "ref": other, "src": third}
        for one, other, third in zip(a, reference, source, strict=True)
    ]
    table("src-mt-ref.csv", src=source, mt=a, ref=reference)
    table("semicolons.csv", ";", "utf-8-sig", hypothesis=a, reference=reference)
    table("tabs.csv", "\t", Output=a, Gold=reference, extra=a)
    logged = [
        {"doc_id": k, "doc": {}, "filtered_resps": [row["mt"]], "target": row["ref"]}
        for k, row in enumerate(rows)
    ]
    predicted = [{"prompt": row["src"], "predict": row["mt"], "label": row["ref"]} for row in rows]
    nested = [
        {"id": k, "prediction": row["mt"], "references": [[row["ref"]]]}
        for k, row in enumerate(rows)
    ]
    for name, some in {
        "lm-eval.jsonl": logged,
        "generated_predictions.jsonl": predicted,
        "nested.jsonl": nested,
    }.items():
        (workplace / name).write_text("".join(json.dumps(one) + "\n" for one in some))
    (workplace / "array.json").write_text(json.dumps(nested, indent=2))
    (workplace / "lists.json").write_text(
        json.dumps({"predictions": a, "references": [[one] for one in reference]})
    )
    for path in sorted(workplace.glob("*.csv")) + sorted(workplace.glob("*.json*")):
        found = monge("score", path.name, "-m", "chrf", "-f", "json")
        assert scores(found) == [("", wanted)], path.name
        assert found.err.startswith(f"monge: {path.name}: read with "), path.name
        assert found.err.count("\n") == 1
        assert monge("score", path.name, "-m", "chrf", "-q").err == ""


def test_what_was_taken_for_what_is_said_as_columns_take_it(monge, table, lines):
    table("t.csv", ";", src=lines["source-de"], mt=lines["system-a"], ref=lines["reference"])
    found = monge("score", "t.csv", "-m", "chrf")
    said = "hypothesis=mt,reference=ref,source=src"
    assert found.err == (
        f"monge: t.csv: read with fields separated by semicolons and columns {said} (--columns "
        f"chooses others)\n"
    )
    again = monge("score", "t.csv", "-m", "chrf", "--columns", said)
    assert again.out == found.out
    assert again.err == "monge: t.csv: read with fields separated by semicolons\n"


def test_columns_decide_where_names_do_not(monge, table, lines):
    table(
        "t.csv",
        mt=lines["system-a"],
        output=lines["system-b"],
        x=lines["reference"],
        y=lines["reference-2"],
    )
    with_b = scores(
        monge(
            "score",
            "t.csv",
            "-m",
            "chrf",
            "-f",
            "json",
            "--columns",
            "hypothesis=output,reference=x",
        )
    )
    files = ("-t", "system-b.txt", "-r", "reference.txt")
    assert with_b[0][1] == scores(monge("score", *files, "-m", "chrf", "-f", "json"))[0][1]
    both = "hypothesis=mt,reference=x,reference=y"
    found = monge("score", "t.csv", "-m", "chrf", "-f", "json", "--columns", both)
    assert (
        scores(found)[0][1]
        == scores(monge(*BASIC, "-r", "reference-2.txt", "-m", "chrf", "-f", "json"))[0][1]
    )
    assert found.err == ""


def test_a_table_on_standard_input_is_looked_at_too(outside, lines):
    text = "mt;ref\n" + "".join(
        f"{a};{b}\n" for a, b in zip(lines["system-a"][:4], lines["reference"], strict=False)
    )
    found = outside("score", "-", "--table-format", "csv", "-m", "chrf", input=text.encode())
    assert found.code == 0, found.err
    assert (
        "standard input: read with fields separated by semicolons and columns "
        "hypothesis=mt,reference" in found.err
    )


def test_ids_count_from_one(monge, table, lines):
    for found in (
        monge(*BASIC, "-m", "chrf", "-f", "json", "--segments"),
        monge(
            "score",
            table("t.csv", mt=lines["system-a"], ref=lines["reference"]),
            "-m",
            "chrf",
            "-f",
            "json",
            "--segments",
        ),
    ):
        assert [one["id"] for one in json.loads(found.out)["results"][0]["segments"]] == list(
            "123456"
        )


# --- directories of outputs
# ----------------------------------------------------------------------------------------


@pytest.fixture
def outputs(workplace):
    folder = workplace / "outputs"
    folder.mkdir()
    for name in ("system-b", "system-a"):
        (folder / f"{name}.txt").write_bytes((workplace / f"{name}.txt").read_bytes())
    (folder / ".DS_Store").write_bytes(b"\xff")
    (folder / "old").mkdir()
    return folder


def test_a_directory_is_every_output_in_it(monge, outputs):
    each = monge(
        "score",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "-m",
        "chrf",
        "-f",
        "json",
    )
    for name in ("outputs", "outputs/"):
        assert scores(
            monge("score", "-t", name, "-r", "reference.txt", "-m", "chrf", "-f", "json")
        ) == scores(each)
    compared = json.loads(
        monge("compare", "-t", "outputs", "-r", "reference.txt", *FAST, "-f", "json").out
    )
    assert [one["system"] for one in compared["results"][0]["systems"]] == [
        "system-a",
        "system-b",
    ]


# --- one segment
# ---------------------------------------------------------------------------------------------------


def test_a_segment_of_files_is_explained_as_its_texts_are(monge, lines):
    k = 3
    typed = monge("explain", lines["system-a"][k - 1], lines["reference"][k - 1], "-f", "json")
    picked = monge(
        "explain", "-t", "system-a.txt", "-r", "reference.txt", "--id", str(k), "-f", "json"
    )
    assert picked.code == 0, picked.err
    assert json.loads(picked.out) == json.loads(typed.out)


def test_a_segment_of_a_table_by_its_id(monge, table, lines):
    table("t.csv", key=[f"k{n}" for n in range(6)], mt=lines["system-a"], ref=lines["reference"])
    typed = json.loads(
        monge("explain", lines["system-a"][4], lines["reference"][4], "-f", "json").out
    )
    found = monge("explain", "t.csv", "--id", "k4", "-f", "json")
    assert json.loads(found.out) == typed
    assert (
        found.err
        == "monge: t.csv: read with columns hypothesis=mt,reference=ref,id=key (--columns chooses "
        "others)\n"
    )


def test_of_several_references_the_one_that_wins_is_shown_and_named(monge, lines):
    texts = lines["system-a"][0], lines["reference-2"][0], lines["reference"][0]
    alone = [
        json.loads(monge("explain", texts[0], one, "-f", "json").out)["score"] for one in texts[1:]
    ]
    found = json.loads(monge("explain", *texts, "-f", "json").out)
    best = max(range(2), key=lambda k: alone[k])
    assert found["score"] == alone[best]
    assert found["reference"]["text"] == texts[1 + best]
    assert found["notes"][0].startswith(
        f"Reference {best + 1} of 2 gives the best score; {min(alone):.4f} with reference"
    )
    run = json.loads(monge(*BASIC, "-r", "reference-2.txt", "-f", "json", "--segments").out)
    assert found["score"] == pytest.approx(run["results"][0]["segments"][0]["score"], abs=1e-6)
    distance = json.loads(monge("explain", *texts, "-m", "emd", "-f", "json").out)
    each = [
        json.loads(monge("explain", texts[0], one, "-m", "emd", "-f", "json").out)["score"]
        for one in texts[1:]
    ]
    assert distance["score"] == min(each), "of a distance the lowest wins"


def test_hypotheses_stand_side_by_side(monge, lines):
    command = (
        "explain",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-r",
        "reference.txt",
        "--id",
        "2",
    )
    found = json.loads(monge(*command, "-f", "json").out)["explanations"]
    assert [one["name"] for one in found] == ["system-a", "system-b"]
    assert [one["hypothesis"]["text"] for one in found] == [
        lines["system-a"][1],
        lines["system-b"][1],
    ]
    shown = monge(*command).out
    unit = found[0]["reference"]["units"][0]["text"]
    lost = [one["reference"]["units"][0]["lost"] for one in found]
    row = [unit, *(f"{value:.4f}".replace("-", "−") for value in (*lost, lost[1] - lost[0]))]
    assert found[0]["score"] > found[1]["score"] and row in [
        line.split() for line in shown.splitlines()
    ]
    assert "system-b is worse than system-a by " in shown
    page = monge(*command, "-f", "html").out
    for name in ("system-a", "system-b"):
        assert f"Hypothesis: {name}." in shown and f"<h2>{name}</h2>" in page
    for form in ("markdown", "latex", "tsv"):
        other = monge(*command, "-f", form).out
        assert row[1] in other or form == "tsv"
        assert other.count("system-b") >= 4, form  # its score, its column, its texts
    typed = monge(
        "explain",
        lines["system-a"][1],
        lines["reference"][1],
        "--also",
        lines["system-b"][1],
        "-f",
        "json",
    )
    assert [one["score"] for one in json.loads(typed.out)["explanations"]] == [
        one["score"] for one in found
    ]


def test_a_long_text_shows_its_worst_words(monge):
    text = " ".join(f"number {n} is fine" for n in range(12))
    found = monge("explain", f"{text} zebra", f"{text} apple", "-m", "emd")
    units = json.loads(
        monge("explain", f"{text} zebra", f"{text} apple", "-m", "emd", "-f", "json").out
    )["hypothesis"]
    many = len(units["units"])
    assert f"the worst 20 of {many} units, worst first (--all shows all)" in found.out
    assert f"and {many - 20} more units (--all shows all)" in found.out
    worst = max(units["units"], key=lambda one: one["share"])["text"]
    assert found.out.split("(--all shows all)")[1].split()[0] == worst
    every = monge("explain", f"{text} zebra", f"{text} apple", "-m", "emd", "--all")
    assert "--all" not in every.out
    assert len(every.out) > len(found.out)


# --- scores of others
# ----------------------------------------------------------------------------------------------


@pytest.fixture
def comet(workplace):
    """Scores of another metric for the systems a and b, six segments each."""
    rows = [
        (system, k, (k * k % 5) / 10 + 0.3 * (system == "a"))
        for system in "ab"
        for k in range(1, 7)
    ]
    lines = ["system\tid\tscore", *(f"{system}\t{k}\t{value}" for system, k, value in rows)]
    (workplace / "comet.tsv").write_text("".join(f"{line}\n" for line in lines))
    return rows


def test_scores_of_others_are_compared_as_a_metric_is(monge, judged, comet):
    found = json.loads(
        monge("compare", judged, *FAST, "--scores", "comet=comet.tsv", "-f", "json").out
    )["results"]
    assert [one["metric"] for one in found] == ["chrf", "comet"]
    means = {system: sum(v for s, _, v in comet if s == system) / 6 for system in "ab"}
    assert {one["system"]: one["score"] for one in found[1]["systems"]} == pytest.approx(means)
    assert [one["cluster"] for one in found[1]["systems"]] == [1, 2]
    assert found[1]["signature"].startswith("scores:comet#")
    alone = json.loads(
        monge(
            "compare", judged, "--resamples", "50", "--scores", "ter=comet.tsv,lower", "-f", "json"
        ).out
    )
    assert [one["metric"] for one in alone["results"]] == ["ter"], "without -m, the scores alone"
    assert [one["cluster"] for one in alone["results"][0]["systems"]] == [2, 1], "lower is better"
    shown = monge("compare", judged, *FAST, "--scores", "comet=comet.tsv").out
    assert "comet ↑" in shown
    assert "comet: every two systems" in shown


def test_scores_of_others_are_evaluated_as_a_metric_is(monge, judged, comet):
    data = ("evaluate", "table", "--data", judged, *FAST)
    found = json.loads(
        monge(
            *data, "--scores", "comet=comet.tsv", "--scores", "neg=comet.tsv,lower", "-f", "json"
        ).out
    )
    values = {one["metric"]: one["mean"] for one in found["results"]}
    assert list(values) == ["chrf", "comet", "neg"]
    assert values["neg"] == pytest.approx(-values["comet"])
    assert found["study"]["standings"][0]["metrics"] == ["chrf", "comet", "neg"]
    system = monge(
        *data,
        "--level",
        "system",
        "--scores",
        "comet=comet.tsv",
        "--statistic",
        "spa",
        "-f",
        "json",
    )
    assert system.code == 0, system.err
    uniform = json.loads(
        monge(
            *data, "--scores", "comet=comet.tsv", "--uniform-units", "-m", "bertscore", "-f", "json"
        ).out
    )
    assert [one["metric"] for one in uniform["results"]].count("comet") == 1
    assert {name for order in uniform["study"]["orders"] for name in order["own"]} >= {"comet"}


def test_our_own_scores_can_be_given(monge, workplace, judged):
    assert (
        monge("score", judged, "-m", "chrf", "-f", "tsv", "--segments", "-o", "ours.tsv").code == 0
    )
    assert monge("score", judged, "-m", "rouge1", "-f", "jsonl", "-o", "ours.jsonl").code == 0
    given = ("--scores", "c=ours.tsv", "--scores", "r=ours.jsonl")
    found = json.loads(
        monge(
            "evaluate", "table", "--data", judged, *FAST, "-m", "rouge1", *given, "-f", "json"
        ).out
    )
    values = {one["metric"]: one["mean"] for one in found["results"]}
    assert values["c"] == pytest.approx(values["chrf"])
    assert values["r"] == pytest.approx(values["rouge1"])


# --- fit, and data sets
# --------------------------------------------------------------------------------------------


def test_a_table_is_fitted_as_its_files_are(monge, workplace, judged, lines):
    assert monge("fit", judged, "-m", "moverscore", "-o", "table.json").code == 0
    assert monge("fit", "-r", "reference.txt", "-m", "moverscore", "-o", "files.json").code == 0
    assert (workplace / "table.json").read_bytes() == (workplace / "files.json").read_bytes()


def test_evaluate_reads_a_spreadsheet(monge, judged):
    found = monge("evaluate", "table", "--data", judged, *FAST, "-f", "json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["results"][0]["groups"]["all"]["n"] == 12
    assert "human=human score" in found.err
    said = "human=human score,hypothesis=mt,reference=Ref,system=model"
    again = json.loads(
        monge("evaluate", "table", "--data", judged, *FAST, "-f", "json", "--columns", said).out
    )
    assert again["results"] == json.loads(found.out)["results"]


def test_data_lists_sets_files_and_what_is_there(monge, workplace):
    (workplace / "sts-test.csv").write_text("g\tf\ty\t01\t2.5\ta\tb\ng\tf\ty\t02\t3\tc\td\n")
    everything = json.loads(monge("data", "-f", "json").out)["datasets"]
    assert [one["name"] for one in everything] == [
        name for name in dataset_names() if name != "table"
    ]
    assert "newstest2017-{langs}-ref.{target}" in monge("data", "wmt17").out
    here = {
        one["name"]: one["readable"]
        for one in json.loads(monge("data", ".", "-f", "json").out)["datasets"]
    }
    assert {name for name, some in here.items() if some} == {"stsb"}
    shown = monge("data", "stsb", ".").out
    assert "sts-test.csv" in shown
    assert "missing" in shown
    for form in ("latex", "html", "markdown"):
        assert "sts-{split}.csv" in monge("data", "stsb", "-f", form).out.replace("\\", "").replace(
            "&#123;", "{"
        )


def test_a_directory_without_the_files_gets_their_list(monge, workplace):
    (workplace / "nothing").mkdir()
    found = monge("evaluate", "wmt17", "--data", "nothing", "-m", "chrf")
    assert found.code == 1
    for word in (
        "wmt17",
        "DA-seglevel.csv",
        "newstest2017.{system}-{target}",
        "monge data wmt17 nothing",
    ):
        assert word in found.err


def test_what_another_user_s_run_left_is_told(monge, monkeypatch, workplace):
    (workplace / "out.txt.partial").mkdir()

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.iterdir", refuse)
    found = monge(*BASIC, "-m", "chrf", "-o", "out.txt")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(
        "monge: out.txt.partial is where an unfinished run would be kept, and cannot be read"
    )
    assert found.err.count("\n") == 1


# --- how often files are read
# --------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(monkeypatch):
    """The names of the files that were opened, in order."""
    names = []
    open_file = lines_module._open_file

    def record(path):
        names.append(path)
        return open_file(path)

    monkeypatch.setattr(lines_module, "_open_file", record)
    return names


def test_parallel_files_are_read_once_to_scan_and_once_to_score(monge, workplace, opened):
    assert monge(*BASIC, "-m", "chrf").code == 0
    assert Counter(opened) == {"system-a.txt": 2, "reference.txt": 2}


def test_a_table_of_json_lines_is_read_for_its_columns_then_scanned_then_scored(
    monge, workplace, lines, opened
):
    rows = zip(lines["system-a"], lines["reference"], strict=True)
    objects = [json.dumps({"hypothesis": text, "reference": other}) for text, other in rows]
    (workplace / "rows.jsonl").write_text("\n".join(objects) + "\n", "utf-8")
    assert monge("score", "rows.jsonl", "-m", "chrf").code == 0
    assert Counter(opened) == {"rows.jsonl": 3}
