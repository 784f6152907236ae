"""`monge.compat.torchmetrics`: update, compute, reset, forward, plot; the same number from one process and from two."""

from __future__ import annotations

import copy
import pickle
import warnings
from functools import partial

import numpy as np
import pytest
import torch
import torch.multiprocessing
from torchmetrics import Metric, MetricCollection

import monge
from monge.compat.torchmetrics import BERTScore, TextScore

LAYER = 4
IDF = "bertscore[weights=idf]"
SHARES = {0: [slice(0, 1), slice(4, 8)], 1: [slice(1, 4)]}
"""What each of two processes gets of the eight pairs."""


def fed(metric: Metric, pairs, slices) -> Metric:
    for one in slices:
        metric.update(pairs[0][one], pairs[1][one])
    return metric


def summed(metric: TextScore) -> float:
    values, whole = metric.gathered()
    return float(values.sum()) if whole is None else whole


@pytest.mark.parametrize("name", ["twmd", IDF, "bleu"])
def test_it_is_the_score_of_monge(pairs, name):
    metric = fed(TextScore(name), pairs, [slice(0, 3), slice(3, 8)])
    expected = monge.score(*pairs, metric=name)
    assert metric.compute().item() == pytest.approx(expected.score, abs=1e-5)
    assert metric.signature == str(expected.signature)
    metric.reset()
    with pytest.raises(ValueError, match="nothing to score"), pytest.warns(UserWarning, match="before"):
        metric.compute()


def test_forward_gives_the_batch_and_keeps_the_whole(pairs):
    metric = TextScore("twmd")
    batches = [metric(pairs[0][one], pairs[1][one]) for one in (slice(0, 2), slice(2, 8))]
    scores = monge.score(*pairs, metric="twmd").segments
    assert [float(one) for one in batches] == pytest.approx([scores[:2].mean(), scores[2:].mean()], abs=1e-5)
    assert metric.compute().item() == pytest.approx(scores.mean(), abs=1e-5)


def test_it_can_be_collected_copied_pickled_and_plotted(pairs):
    both = MetricCollection({"twmd": TextScore("twmd"), "chrf": TextScore("chrf"), "emd": TextScore("emd")})
    both.update(*pairs)
    found = both.compute()
    assert not both["emd"].higher_is_better
    for again in (copy.deepcopy(both["twmd"]), pickle.loads(pickle.dumps(both["twmd"]))):
        assert again.compute() == found["twmd"]
        again.update(*pairs)
        assert again.compute().item() == pytest.approx(found["twmd"].item(), abs=1e-6)
    figure, _ = both["twmd"].plot()
    assert figure.axes


def test_v1_each_prediction_meets_its_own_reference(pairs, embedded, peer_bert_score, quietly):
    """Pairs of several lengths in one call: torchmetrics 1.9.0 mixes them up, bert-score and we do not."""
    from torchmetrics.text.bert import BERTScore as Theirs

    hypotheses = [text[: 20 + 25 * ((5 * k) % 8)] for k, text in enumerate(pairs[0])]
    references = pairs[1]
    settings = {"model_name_or_path": embedded, "num_layers": LAYER, "device": "cpu"}
    mine, theirs = BERTScore(**settings), Theirs(**settings)
    for metric in (mine, theirs):
        metric.update(hypotheses, references)
    right = peer_bert_score.score(hypotheses, references, embedded, LAYER, device="cpu")[2]
    assert (mine.compute()["f1"] - right).abs().max() <= 2e-6
    assert (theirs.compute()["f1"] - right).abs().max() > 0.05  # 0.0 would be right


def test_bertscore_takes_the_peers_parameters(pairs, embedded):
    import inspect

    from torchmetrics.text.bert import BERTScore as Theirs

    mine, theirs = (list(inspect.signature(one).parameters) for one in (BERTScore, Theirs))
    assert [name for name in mine if name != "online"] == theirs
    metric = BERTScore(embedded, all_layers=True, idf=True, return_hash=True, max_length=20)
    metric.update(pairs[0], [[one, one] for one in pairs[1]])
    found = metric.compute()
    assert found["f1"].shape == (7, 8)
    assert "|length:20|" in found["hash"]
    for refused in ({"model": torch.nn.Identity()}, {"baseline_url": "b.csv"}):
        with pytest.raises(ValueError, match=next(iter(refused))):
            BERTScore(embedded, **refused)
    with pytest.raises(ValueError, match="8 hypotheses but 7 references"):
        metric.update(pairs[0], pairs[1][1:])


def _process(rank: int, pairs, folder: str) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    try:
        for name in ("twmd", IDF, "bleu"):
            metric = fed(TextScore(name), pairs, SHARES[rank])
            total = metric.compute().item()
            metric.sync()
            torch.save((total, summed(metric), metric.gathered()[0].shape), f"{folder}/{name}-{rank}")
            metric.unsync()
        warnings.simplefilter("ignore")  # torchmetrics warns the process that has nothing
        empty = fed(TextScore("twmd"), pairs, SHARES[0] if rank == 0 else [])
        torch.save(empty.compute().item(), f"{folder}/empty-{rank}")
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_two_processes_with_uneven_shares_give_the_number_of_one(pairs, tmp_path):
    fed(TextScore("twmd"), pairs, [slice(0, 1)])  # the model is loaded before the processes part
    share = partial(_process, pairs=pairs, folder=str(tmp_path))
    torch.multiprocessing.start_processes(share, nprocs=2, start_method="fork")
    for name in ("twmd", IDF, "bleu"):
        one = fed(TextScore(name), pairs, [*SHARES[0], *SHARES[1]])
        for rank in (0, 1):
            total, sums, shape = torch.load(tmp_path / f"{name}-{rank}")
            assert shape == (8, 1)
            assert total == one.compute().item()
            assert abs(sums - summed(one)) <= 1e-9
    part = fed(TextScore("twmd"), pairs, SHARES[0]).compute().item()
    assert [torch.load(tmp_path / f"empty-{rank}") for rank in (0, 1)] == [part, part]
    assert np.isfinite(part)
