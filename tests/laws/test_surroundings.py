"""Scores do not depend on what a caller has set around us, and leave it as it was."""

import multiprocessing
import pickle
from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import pytest
import torch

import monge

HYPOTHESES = ["the cat sat on the mat .", "a dog ran to the house", "The cat didn't run"]
REFERENCES = ["the cat slept on a mat", "the dog ran home .", "the newest cat ran"]


@contextmanager
def set_and_restored(set_value, value, before):
    set_value(value)
    try:
        yield
    finally:
        set_value(before)


def surroundings():
    yield "autocast", lambda: torch.autocast("cpu", dtype=torch.bfloat16)
    yield "grad", torch.enable_grad
    yield "inference", torch.inference_mode
    yield "float64", lambda: set_and_restored(torch.set_default_dtype, torch.float64, torch.float32)
    yield (
        "bfloat16",
        lambda: set_and_restored(torch.set_default_dtype, torch.bfloat16, torch.float32),
    )
    yield (
        "medium",
        lambda: set_and_restored(torch.set_float32_matmul_precision, "medium", "highest"),
    )
    yield "deterministic", lambda: set_and_restored(torch.use_deterministic_algorithms, True, False)


@pytest.mark.parametrize(
    "name", ["twmd", "moverscore", "baryscore", "bertscore[weights=idf]", "twmd[centre=corpus]"]
)
@pytest.mark.parametrize("around", dict(surroundings()))
def test_scores_and_state_are_the_same(name, around, tiny_bert, tmp_path):
    metric = monge.load(name, model=str(tiny_bert), device="cpu")
    expected = metric.score(HYPOTHESES, REFERENCES)
    explained = (
        monge.load("twmd", model=str(tiny_bert), device="cpu")
        .explain(HYPOTHESES[0], REFERENCES[0])
        .score
    )
    with dict(surroundings())[around]():
        before = state()
        loaded = monge.load(name, model=str(tiny_bert), device="cpu", cache=tmp_path)
        result = loaded.score(HYPOTHESES, REFERENCES)
        again = (
            monge.load("twmd", model=str(tiny_bert), device="cpu")
            .explain(HYPOTHESES[0], REFERENCES[0])
            .score
        )
        assert state() == before
    assert (
        np.array_equal(result.segments, expected.segments)
        and result.signature == expected.signature
    )
    assert again == explained
    from_cache = monge.load(name, model=str(tiny_bert), device="cpu", cache=tmp_path).score(
        HYPOTHESES, REFERENCES
    )
    assert np.array_equal(from_cache.segments, expected.segments)


def state():
    return (
        torch.is_autocast_enabled("cpu"),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_float32_matmul_precision(),
        torch.are_deterministic_algorithms_enabled(),
    )


def _score(metric):
    return metric.score(HYPOTHESES, REFERENCES).segments.tolist()


@pytest.fixture(params=["twmd", "chrf", "sentsim"])
def metric(request, tiny_bert):
    return monge.load(request.param, model=str(tiny_bert), device="cpu")


def test_a_metric_can_be_pickled_and_copied(metric):
    expected = _score(metric)
    for copied in (pickle.loads(pickle.dumps(metric)), deepcopy(metric)):
        assert _score(copied) == expected
        assert copied.spec == metric.spec and copied.name == metric.name


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_metric_scores_in_a_pool(metric, method):
    """A loaded model hung without a word in a forked process: threads of OpenMP do not survive a
    fork.
    """
    expected = _score(metric)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(_score, (metric,)).get(timeout=120) == expected


_loaded = {}


def _score_inherited(_):
    return _score(_loaded["metric"])


def test_a_metric_that_a_forked_process_inherits_scores(metric):
    expected = _score(metric)
    _loaded["metric"] = metric
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_score_inherited, range(2)).get(timeout=120) == [expected] * 2
