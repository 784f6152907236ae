"""`monge.compat.evaluate`: modules that evaluate.load and evaluate.combine take, each call with its own statistics."""

from __future__ import annotations

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
    expected = monge.score(*pairs, metric="twmd", layers=3)
    found = module.compute(layers=3)
    assert found["score"] == pytest.approx(expected.score, abs=1e-6)
    assert found["signature"] == str(expected.signature)
    with pytest.raises(TypeError, match="unexpected keyword argument 'layer'"):  # as of evaluate's own modules
        module.compute(predictions=pairs[0], references=pairs[1], layer=3)
    with pytest.raises(ValueError, match="layers=99"):
        module.compute(predictions=pairs[0], references=pairs[1], layers=99)
    with pytest.raises(UnknownName, match="did you mean bertscore"):
        directory("bert-score")


def test_combined_with_others(evaluate, directory, pairs, tmp_path):
    modules = {name: evaluate.load(directory(), name, cache_dir=str(tmp_path / name)) for name in ("twmd", "chrf")}
    found = evaluate.combine(modules).compute(predictions=pairs[0], references=pairs[1])
    for name in modules:
        assert found[f"{name}_score"] == pytest.approx(monge.score(*pairs, metric=name).score, abs=1e-6)


def test_v2_each_call_fits_its_own_idf(evaluate, directory, pairs, embedded, peer_bert_score, tmp_path):
    """evaluate's own module keeps a scorer by bert-score's hash, which does not tell the idf corpus.

    That module is fetched from the hub, so what it does stands here: the second corpus with the first one's scorer.
    """
    first, second = ([side[part] for side in pairs] for part in (slice(0, 4), slice(4, 8)))
    asked = {"model_type": embedded, "num_layers": 4, "idf": True, "device": "cpu"}
    module = evaluate.load(directory("bertscore"), cache_dir=str(tmp_path))
    before, after = (module.compute(predictions=h, references=r, **asked) for h, r in (first, second))
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


def test_v2_beside_evaluates_own_module(evaluate, directory, checkout, pairs, embedded, tmp_path):
    """The module itself, from a checkout: its second call is weighed by the texts of its first, ours is not."""
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
