"""`monge.compat.evaluate`: modules that evaluate.load and evaluate.combine take, each call with its
own statistics.
"""

from __future__ import annotations

import doctest
import importlib
import inspect

import numpy as np
import pytest

import monge
from monge.errors import UnknownName

pytestmark = pytest.mark.usefixtures("quietly")


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    """The library, its files in a directory of the test, never online."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HF_MODULES_CACHE", "HF_EVALUATE_CACHE"):
            patch.setenv(name, str(tmp_path_factory.mktemp("huggingface")))
        patch.setenv("HF_EVALUATE_OFFLINE", "1")
        import evaluate

        yield evaluate


@pytest.fixture(scope="module")
def directory(evaluate):
    from monge.compat.evaluate import directory

    return directory


def test_any_metric_by_its_name(evaluate, directory, pairs, tmp_path):
    module = evaluate.load(directory(), "chrf", cache_dir=str(tmp_path))
    found = module.compute(predictions=pairs[0], references=[[one] for one in pairs[1]])
    assert found == monge.load("chrf").compute(predictions=pairs[0], references=pairs[1])
    module = evaluate.load(directory(), cache_dir=str(tmp_path), keep_in_memory=True)
    for k in (0, 4):
        module.add_batch(predictions=pairs[0][k : k + 4], references=pairs[1][k : k + 4])
    expected = monge.score(*pairs, metric="monge", layers=3)
    found = module.compute(layers=3)
    assert found["score"] == pytest.approx(expected.score, abs=1e-6)
    assert found["signature"] == str(expected.signature)
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'layer'"
    ):  # as of evaluate's own modules
        module.compute(predictions=pairs[0], references=pairs[1], layer=3)
    with pytest.raises(ValueError, match="layers=99"):
        module.compute(predictions=pairs[0], references=pairs[1], layers=99)
    with pytest.raises(UnknownName, match="did you mean bertscore"):
        directory("bert-score")


def test_combined_with_others(evaluate, directory, pairs, tmp_path):
    modules = {
        name: evaluate.load(directory(), name, cache_dir=str(tmp_path / name))
        for name in ("twmd", "chrf")
    }
    found = evaluate.combine(modules).compute(predictions=pairs[0], references=pairs[1])
    for name in modules:
        assert found[f"{name}_score"] == pytest.approx(
            monge.score(*pairs, metric=name).score, abs=1e-6
        )


def test_each_call_fits_its_own_idf(
    evaluate, directory, pairs, embedded, peer_bert_score, tmp_path
):
    """evaluate's own module keeps a scorer by bert-score's hash, which does not tell the idf
    corpus.

    That module is fetched from the hub, so what it does stands here: the second corpus with the
    first one's scorer.
    """
    first, second = ([side[part] for side in pairs] for part in (slice(0, 4), slice(4, 8)))
    asked = {"model_type": embedded, "num_layers": 4, "idf": True, "device": "cpu"}
    module = evaluate.load(directory("bertscore"), cache_dir=str(tmp_path))
    before, after = (
        module.compute(predictions=h, references=r, **asked) for h, r in (first, second)
    )
    fresh, kept = (
        peer_bert_score.BERTScorer(embedded, 4, idf=True, idf_sents=texts, device="cpu")
        for texts in (second[1], first[1])
    )
    right, wrong = (one.score(*second)[2].numpy() for one in (fresh, kept))
    assert fresh.hash == kept.hash
    assert np.abs(after["f1"] - right).max() <= 2e-6
    assert np.abs(wrong - right).max() > 1e-3  # what the peer answers to the second call
    assert before["hashcode"] != after["hashcode"]
    assert set(after) == {"precision", "recall", "f1", "hashcode"}


def test_beside_evaluates_own_module(evaluate, directory, checkout, pairs, embedded, tmp_path):
    """The module itself, from a checkout: its second call is weighed by the texts of its first,
    ours is not.
    """
    theirs = str(checkout("evaluate") / "metrics" / "bertscore")
    asked = {"model_type": embedded, "num_layers": 4, "idf": True, "device": "cpu"}
    first, second = ([side[part] for side in pairs] for part in (slice(0, 4), slice(4, 8)))
    found = {}
    for name, path in (("theirs", theirs), ("ours", directory("bertscore")), ("fresh", theirs)):
        module = evaluate.load(path, cache_dir=str(tmp_path / name))
        calls = [second] if name == "fresh" else [first, second]
        found[name] = [module.compute(predictions=h, references=r, **asked) for h, r in calls]
    right = np.array(found["fresh"][0]["f1"])
    assert np.abs(np.array(found["theirs"][1]["f1"]) - right).max() > 1e-3  # 0 would be right
    assert found["theirs"][0]["hashcode"] == found["theirs"][1]["hashcode"]
    assert np.abs(np.array(found["ours"][1]["f1"]) - right).max() <= 2e-6
    assert set(found["ours"][0]) == set(found["theirs"][0])
    assert np.abs(np.array(found["ours"][0]["f1"]) - found["theirs"][0]["f1"]).max() <= 2e-6


def test_bertscore_errors_are_value_errors(evaluate, directory, pairs, embedded, tmp_path):
    module = evaluate.load(directory("bertscore"), cache_dir=str(tmp_path))
    for said, asked in {
        "Either lang or model_type": {},
        "idf from 1 text": {"model_type": embedded, "idf": True},
        "give num_layers": {"model_type": embedded, "all_layers": True},
    }.items():
        with pytest.raises(ValueError, match=said):
            module.compute(predictions=pairs[0][:1], references=pairs[1][:1], **asked)
    with pytest.raises(TypeError, match="unexpected keyword argument 'modeltype'"):
        module.compute(predictions=pairs[0], references=pairs[1], modeltype=embedded)


@pytest.mark.parametrize("name", ["bertscore", "monge_score"])
def test_a_module_says_what_it_takes_and_its_example_runs(name, evaluate, directory):
    """What evaluate checks of its own modules: parameters by name, a described input, an example
    that is true.
    """
    path = evaluate.loading.evaluation_module_factory(
        directory(name), module_type="metric"
    ).module_path
    module = importlib.import_module(path)
    found = doctest.testmod(module, raise_on_error=True)
    assert (found.failed, found.attempted > 4) == (0, True)
    kind = evaluate.loading.import_main_class(path)
    parameters = inspect.signature(kind._compute).parameters.values()
    assert all(one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters)
    info = evaluate.load(directory(name)).info
    assert all(
        (
            info.description,
            info.citation,
            info.homepage,
            info.inputs_description,
            info.reference_urls,
        )
    )
    assert [set(one) for one in info.features] == [{"predictions", "references"}] * 2
    assert evaluate.load(directory(name)).module_type == "metric"


def test_bertscore_has_the_parameters_of_evaluates(directory):
    from monge.compat.evaluate import BERTScore

    documented = (
        "predictions references lang model_type num_layers verbose idf device batch_size nthreads "
        "all_layers "
        "rescale_with_baseline baseline_path use_fast_tokenizer"
    )
    mine = list(inspect.signature(BERTScore._compute).parameters)
    assert mine == ["self", *documented.split(), "online"]


def test_pairs_may_come_one_by_one(evaluate, directory, pairs, tmp_path):
    module = evaluate.load(directory(), "chrf", cache_dir=str(tmp_path))
    for hypothesis, reference in zip(*pairs, strict=True):
        module.add(predictions=hypothesis, references=reference)
    assert module.compute()["score"] == monge.score(*pairs, metric="chrf").score
    again = module.compute(predictions=pairs[0][:3], references=pairs[1][:3])
    assert again["score"] == monge.score(pairs[0][:3], pairs[1][:3], metric="chrf").score
    both = evaluate.combine(
        [evaluate.load(directory(), one, cache_dir=str(tmp_path / one)) for one in ("chrf", "ter")]
    )
    for hypothesis, reference in zip(*pairs, strict=True):
        both.add(prediction=hypothesis, reference=reference)
    assert set(both.compute()) >= {"monge_score_0_score", "monge_score_1_score"}


def test_what_cannot_be_taken_is_a_value_error(evaluate, directory, pairs, embedded, tmp_path):
    """Of evaluate itself where it looks first: lengths, types."""
    asked = {"model_type": embedded, "num_layers": 4}
    for name, given in (("bertscore", asked), ("monge_score", {})):
        module = evaluate.load(directory(name), cache_dir=str(tmp_path / name))
        for h, r in (([None, *pairs[0][1:]], pairs[1]), (pairs[0], pairs[1][1:])):
            with pytest.raises(ValueError):
                module.compute(predictions=h, references=r, **given)
    module = evaluate.load(directory("bertscore"), cache_dir=str(tmp_path / "again"))
    with pytest.raises(OSError, match="no-such-model"):
        module.compute(
            predictions=pairs[0], references=pairs[1], model_type="no-such-model", num_layers=4
        )
    with pytest.raises(ValueError, match="no-such-metric"):
        evaluate.load(directory(), "no-such-metric").compute(
            predictions=pairs[0], references=pairs[1]
        )
