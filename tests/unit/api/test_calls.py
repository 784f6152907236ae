"""Python as people expect it: several metrics in one call, results that show themselves, wrong
types named.
"""

import json
import re
from pathlib import Path

import pytest

import monge
from monge import api

HYPOTHESES = ["the cat sat on the mat", "a dog barked"]
REFERENCES = ["the cat was on the mat", "the dog barked loudly"]


@pytest.fixture(scope="module")
def several():
    return monge.score(HYPOTHESES, REFERENCES, metric=["bertscore", "chrf", "bertscore[layers=3]"])


def test_several_metrics_in_one_call(several):
    assert list(several) == ["bertscore", "chrf", "bertscore[layers=3]"]
    for name, result in several.items():
        alone = monge.score(HYPOTHESES, REFERENCES, metric=name)
        assert result.score == pytest.approx(alone.score, abs=1e-6)
        assert str(result.signature) == str(alone.signature)


def test_a_result_prints_one_short_line(several):
    assert re.fullmatch(
        r"<bertscore: 0\.\d{4}, higher is better, 2 segments>", repr(several["bertscore"])
    )
    assert re.fullmatch(r"<bertscore: [^\n]*, chrf: [^\n]*>", repr(several))
    alone = monge.score(HYPOTHESES[:1], REFERENCES[:1], metric="ter")
    assert repr(alone).endswith("lower is better, 1 segment>")


def test_results_become_data_frames(several):
    one = several["bertscore"].to_frame()
    assert list(one.columns) == [
        "id",
        "score",
        "best_reference",
        "flags",
        "precision",
        "recall",
        "f1",
    ]
    assert one["score"].tolist() == several["bertscore"].segments.tolist()
    every = several.to_frame()
    assert list(every.columns) == ["id", *several]
    assert every["chrf"].tolist() == several["chrf"].segments.tolist()


def test_results_show_themselves_in_a_notebook(several):
    for shown in (several, several["chrf"]):
        html = shown._repr_html_()
        assert "<table" in html
        assert "chrf" in html
        assert str(several["chrf"].signature) in html.replace("<wbr>", "")


def test_a_frame_without_pandas_says_what_to_install(several, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(monge.MongeError, match="pip install pandas"):
        several.to_frame()


def test_studies_show_themselves(tmp_path):
    found = monge.compare({"a": HYPOTHESES, "b": REFERENCES[::-1]}, REFERENCES, ["chrf"])
    assert "2 systems" in str(found)
    assert "<table" in found._repr_html_()
    assert found.to_frame()["system"].tolist() == ["a", "b"]
    judged = tmp_path / "judged.tsv"
    rows = [
        f"{h}\t{r}\t{score}\n"
        for h, r, score in zip(HYPOTHESES * 3, REFERENCES * 3, range(6), strict=True)
    ]
    judged.write_text("hypothesis\treference\thuman\n" + "".join(rows))
    agreed = monge.evaluate(monge.Task("table", judged), ["chrf"])
    assert "pearson" in str(agreed)
    assert set(agreed.to_frame()["metric"]) == {"chrf"}
    assert "mean" in agreed.to_frame()["group"].tolist()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: monge.score(HYPOTHESES, REFERENCES, metric=5), "metric: expected a name or a list "
            "of names, got int"),
        (lambda: monge.score(HYPOTHESES, REFERENCES, metric=[]), "metric: the list of names is "
            "empty"),
        (lambda: monge.score(HYPOTHESES, REFERENCES, metric=[5]), "metric: expected a name such as "
            "'twmd', got int"),
        (lambda: monge.load(5), "metric: expected a name such as 'twmd', got int"),
        (lambda: monge.load(model=5), "model: expected a name or a directory, got int"),
        (lambda: monge.load(cache=5), "cache: expected a directory, got int"),
        (lambda: monge.load(lang=5), "lang: expected a language code such as 'de', got int"),
        (lambda: monge.load(layers=[3]), "layers: expected a number or a text such as "
            "'last5:mean', got list"),
        (lambda: monge.load(settings="layers=3"), "settings: expected a list of 'AXIS=VALUE' "
            "texts, or a mapping"),
        (lambda: monge.load(online="yes"), "online: expected True or False, got str 'yes'"),
        (lambda: monge.load(modle="x"), "unknown option 'modle'; did you mean model?"),
        (lambda: monge.score(HYPOTHESES, REFERENCES, metrcs=["a"]), "unknown option 'metrcs'"),
        (lambda: monge.compare({"a": ["x"]}, ["y"], "chrf", modl="x"), "unknown option 'modl'"),
        (lambda: monge.score(HYPOTHESES, REFERENCES, stats="x.json"), r"monge.load_stats\(FILE\)\), got str"),
        (lambda: monge.explain("a", "b", stats="x.json"), r"monge.load_stats\(FILE\)\), got str"),
        (lambda: monge.compare([HYPOTHESES], REFERENCES), "systems: expected {name: hypotheses} "
            "or a data frame, got list"),
        (lambda: monge.evaluate("wmt17"), "expected a Task, .* got 'wmt17'"),
    ],
)  # fmt: skip
def test_wrong_types_are_named_at_the_call(call, said):
    with pytest.raises(monge.MongeError, match=said):
        call()


@pytest.mark.parametrize(("arguments", "verb"), [(["twmd"], ["show", "twmd"]), ([], ["metrics"])])
def test_show_prints_what_the_command_prints(capsys, arguments, verb):
    from monge.cli.app import run

    monge.show(*arguments)
    printed = capsys.readouterr().out
    assert run(verb) == 0
    assert capsys.readouterr().out == printed
    assert "transport" in printed or "twmd" in printed


def test_a_model_directory_may_be_a_path():
    assert monge.load("bertscore", model=Path("all-MiniLM-L6-v2")).name == "bertscore"


def test_options_are_those_that_are_checked():
    from monge.api import options

    assert set(options._TAKES) == {"metric", *api.Options.__annotations__}


FRAME = [
    {"system": name, "id": k, "hypothesis": text, "reference": "a cat sat", "human": k}
    for name, texts in (("a", ["a cat sat", "a cat", "x"]), ("b", ["the cat", "y", "a sat"]))
    for k, text in enumerate(texts)
]


def frames():
    """The same table in every form that is taken."""
    yield "list", FRAME
    for library, make in (
        ("pandas", lambda m: m.DataFrame(FRAME)),
        ("polars", lambda m: m.DataFrame(FRAME)),
        ("pyarrow", lambda m: m.Table.from_pylist(FRAME)),
    ):
        try:
            yield library, make(__import__(library))
        except ImportError:
            continue


@pytest.mark.parametrize(("library", "frame"), list(frames()))
def test_frames_are_compared_and_judged_as_tables_are(library, frame, tmp_path):
    table = tmp_path / "t.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in FRAME))
    by_mapping = monge.compare(
        {name: [row["hypothesis"] for row in FRAME if row["system"] == name] for name in "ab"},
        ["a cat sat"] * 3,
        ["chrf"],
    )
    assert monge.compare(frame, metrics="chrf").to_dict() == by_mapping.to_dict()
    judged = monge.evaluate(monge.Task("table", frame), metric="chrf").to_dict()
    from_file = monge.evaluate(monge.Task("table", table), ["chrf"]).to_dict()
    assert judged["results"] == from_file["results"]


def test_faults_of_frames_are_named():
    with pytest.raises(monge.MongeError, match="data frame, row 2, field 'hypothesis'"):
        monge.compare([FRAME[0], {**FRAME[1], "hypothesis": None}], metrics="chrf")
    with pytest.raises(monge.MongeError, match=r"no column .*hypothesis"):
        monge.compare([{"system": "a", "text": "x"}], metrics="chrf")
    with pytest.raises(monge.MongeError, match="references and sources are columns"):
        monge.compare(FRAME, ["x"], metrics="chrf")
    with pytest.raises(monge.MongeError, match="expected a directory, got list"):
        monge.evaluate(monge.Task("wmt17", FRAME), "chrf")


def test_every_call_takes_metric_metrics_and_the_options_of_load(tiny_bert, capsys):
    seen = []
    options = {"model": str(tiny_bert), "layers": 1, "progress": seen.append}
    systems = {"a": HYPOTHESES, "b": REFERENCES[::-1]}
    one = monge.score(HYPOTHESES, REFERENCES, metric="twmd", ci=True, **options)
    assert one.interval is not None and one.interval[0] <= one.score <= one.interval[1]
    several = monge.score(HYPOTHESES, REFERENCES, metrics=["twmd"], **options)
    assert isinstance(several, dict) and several["twmd"].score == one.score
    assert sum(seen) == 2 * len(HYPOTHESES)
    for names in ({"metric": "twmd"}, {"metrics": "twmd"}, {"metrics": ["twmd"]}):
        compared = monge.compare(systems, REFERENCES, **names, **options)
        assert compared.standings[0].systems[0].score == pytest.approx(one.score)
        assert "|layers:1|" in compared.standings[0].signature
        task = monge.Task("table", FRAME)
        assert monge.evaluate(task, **names, **options).to_dict()["results"]
        assert monge.probe(references=["It has 12 rooms."], kinds=["number"], **names, **options)
    monge.score(HYPOTHESES, REFERENCES, metric="chrf", progress=True)
    assert f"monge: {len(HYPOTHESES)} of {len(HYPOTHESES)} segments" in capsys.readouterr().err


def test_plots_and_saved_explanations(tiny_bert, tmp_path):
    pytest.importorskip("matplotlib", reason="install the extra plots")
    results = monge.score(HYPOTHESES, REFERENCES, metrics=["chrf", "ter"], ci=True)
    assert len(results.plot()) == 2
    axes = results["chrf"].plot()
    assert axes.get_xlabel() == "chrf (higher is better)"
    assert results["ter"].plot(axes) is axes and axes.get_xlabel() == "ter (lower is better)"
    explanation = monge.explain(HYPOTHESES[0], REFERENCES[0], model=str(tiny_bert))
    ticks = [label.get_text() for label in explanation.plot().get_yticklabels()]
    assert ticks == list(explanation.hypothesis.units)
    starts = {
        "html": b"<!doctype",
        "svg": b"<svg",
        "json": b"{",
        "png": b"\x89PNG",
        "md": b"",
        "tex": b"%",
    }
    for ending, start in starts.items():
        written = explanation.save(tmp_path / f"e.{ending}").read_bytes()
        assert written.lower().startswith(start.lower()) and len(written) > 200
    with pytest.raises(monge.MongeError, match=r"ends in \.html"):
        explanation.save(tmp_path / "e.docx")
