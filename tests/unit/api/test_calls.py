"""Python as people expect it: several metrics in one call, results that show themselves, wrong
types named.
"""

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
    assert repr(several).count("\n") == 2
    alone = monge.score(HYPOTHESES[:1], REFERENCES[:1], metric="ter")
    assert repr(alone).endswith("lower is better, 1 segment>")


def test_results_become_data_frames(several):
    one = several["bertscore"].to_frame()
    assert list(one.columns) == ["id", "score", "reference", "flags", "precision", "recall", "f1"]
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
        (lambda: monge.score(HYPOTHESES, REFERENCES, metrics=["a"]), "unknown option 'metrics'; "
            "did you mean metric"),
        (lambda: monge.score(HYPOTHESES, REFERENCES, stats="x.json"), r"monge.load_stats\(FILE\)\), got str"),
        (lambda: monge.explain("a", "b", stats="x.json"), r"monge.load_stats\(FILE\)\), got str"),
        (lambda: monge.compare([HYPOTHESES], REFERENCES), "systems: expected {name: hypotheses}, "
            "got list"),
        (lambda: monge.compare({"a": ["x"]}, ["y"], "chrf"), r"metrics: expected a list of "
            r"names.*\['chrf'\]"),
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
