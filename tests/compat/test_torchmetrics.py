"""`monge.compat.torchmetrics`: update, compute, reset, forward, plot; the same number from one
process and from two.
"""

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
from monge.compat.torchmetrics import BERTScore, TextScore, bert_score

LAYER = 4
IDF = "bertscore[weights=idf]"
SHARES = {0: [slice(0, 1), slice(4, 8)], 1: [slice(1, 4)]}
"""What each of two processes gets of the eight pairs."""


def fed(metric: Metric, pairs, slices) -> Metric:
    for one in slices:
        metric.update(pairs[0][one], pairs[1][one])
    return metric


def summed(metric: TextScore) -> float:
    values, whole = metric.gather_scores()
    return float(values.sum()) if whole is None else whole


@pytest.mark.parametrize("name", ["twmd", IDF, "bleu"])
def test_it_is_the_score_of_monge(pairs, name):
    metric = fed(TextScore(name), pairs, [slice(0, 3), slice(3, 8)])
    expected = monge.score(*pairs, metric=name)
    assert metric.compute().item() == pytest.approx(expected.score, abs=1e-5)
    assert metric.signature == str(expected.signature)
    metric.reset()
    with (
        pytest.raises(ValueError, match="nothing to score"),
        pytest.warns(UserWarning, match="before"),
    ):
        metric.compute()


def test_forward_gives_the_batch_and_keeps_the_whole(pairs):
    metric = TextScore("twmd")
    batches = [metric(pairs[0][one], pairs[1][one]) for one in (slice(0, 2), slice(2, 8))]
    scores = monge.score(*pairs, metric="twmd").segments
    assert [float(one) for one in batches] == pytest.approx(
        [scores[:2].mean(), scores[2:].mean()], abs=1e-5
    )
    assert metric.compute().item() == pytest.approx(scores.mean(), abs=1e-5)


def test_it_can_be_collected_copied_pickled_and_plotted(pairs):
    both = MetricCollection(
        {"twmd": TextScore("twmd"), "chrf": TextScore("chrf"), "emd": TextScore("emd")}
    )
    both.update(*pairs)
    found = both.compute()
    assert not both["emd"].higher_is_better
    for again in (copy.deepcopy(both["twmd"]), pickle.loads(pickle.dumps(both["twmd"]))):
        assert again.compute() == found["twmd"]
        again.update(*pairs)
        assert again.compute().item() == pytest.approx(found["twmd"].item(), abs=1e-6)
    figure, _ = both["twmd"].plot()
    assert figure.axes


def made(kind, embedded, **settings):
    """A metric of either class; BERTScore with idf, which scores nothing before compute."""
    if kind is TextScore:
        return TextScore("chrf", metric_settings=settings)
    return BERTScore(embedded, num_layers=LAYER, idf=True, **settings)


def values(found):
    """What compute gave, as numbers."""
    return found["f1"].tolist() if isinstance(found, dict) else [found.item()]


@pytest.mark.parametrize("kind", [TextScore, BERTScore])
def test_it_keeps_the_contract_of_a_metric(kind, pairs, embedded):
    """What torchmetrics asks of every metric: constants, clones, hashes, states, types, batches
    beside the whole.
    """
    metric = made(kind, embedded)
    for name in ("is_differentiable", "higher_is_better"):
        with pytest.raises(RuntimeError, match=f"change const `{name}`"):
            setattr(metric, name, True)
    clone = metric.clone()
    assert (type(clone), clone is metric, isinstance(hash(metric), int)) == (kind, False, True)
    assert metric.state_dict() == {}
    batches = [(pairs[0][one], pairs[1][one]) for one in (slice(0, 3), slice(3, 8))]
    for batch in batches:
        alone = made(kind, embedded)
        alone.update(*batch)
        assert values(metric(*batch)) == values(alone.compute())
    whole = made(kind, embedded)
    whole.update(*pairs)
    assert values(metric.compute()) == values(whole.compute())
    assert values(clone.to("cpu")(*pairs)) == values(whole.compute())  # it had seen nothing before
    metric.persistent(True)
    again = made(kind, embedded)
    again.persistent(True)
    again.load_state_dict(metric.state_dict())
    again._update_count = 1  # load_state_dict does not say that there were updates
    assert values(again.compute()) == values(whole.compute())
    metric.set_dtype(torch.float16)
    found = metric.compute() if kind is TextScore else metric.compute()["f1"]
    assert found.dtype == torch.float16
    assert found.flatten().tolist() == pytest.approx(values(whole.compute()), rel=1e-3)
    metric.reset()
    metric.update(*batches[0])
    assert values(metric.compute()) == pytest.approx(
        values(made(kind, embedded)(*batches[0])), rel=1e-3
    )


def test_the_function_is_the_class_used_once(pairs, embedded):
    several = [[one, "another"] for one in pairs[1]]
    for references in (pairs[1], several, [pairs[1][0], *several[1:]]):
        metric = BERTScore(embedded, num_layers=LAYER)
        metric.update(pairs[0], references)
        once, found = bert_score(pairs[0], references, embedded, num_layers=LAYER), metric.compute()
        assert {part: one.tolist() for part, one in once.items()} == {
            part: one.tolist() for part, one in found.items()
        }
    single = bert_score(pairs[0][0], pairs[1][0], embedded, num_layers=LAYER)
    assert single["f1"].shape == (1,)


def test_what_cannot_be_taken_is_a_value_error(pairs, embedded):
    for preds, target, said in (
        ([None, *pairs[0][1:]], pairs[1], "Invalid input provided. Prediction 0"),
        (pairs[0], [None, *pairs[1][1:]], r"references\[0\]: expected a text"),
        (pairs[0], pairs[1][1:], "8 hypotheses but 7 references"),
        ([], [], "nothing to score"),
    ):
        for metric in (made(TextScore, embedded), made(BERTScore, embedded)):
            with pytest.raises(ValueError, match=said):
                metric.update(preds, target)
    for preds, target in ((3, pairs[1]), (pairs[0], None)):
        with pytest.raises(TypeError, match="expected a text or a list of texts"):
            made(TextScore, embedded).update(preds, target)
    with pytest.raises(OSError, match="no-such-model"):
        BERTScore("no-such-model", num_layers=LAYER)
    with pytest.raises(ValueError, match="did you mean"):
        TextScore("twdm")
    with pytest.raises(ValueError, match="99"):
        BERTScore(embedded, num_layers=99)


def test_each_prediction_meets_its_own_reference(pairs, embedded, peer_bert_score, quietly):
    """Pairs of several lengths in one call: torchmetrics 1.9.0 mixes them up, bert-score and we do
    not.
    """
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


def _process(rank: int, pairs, embedded: str, folder: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2
    )
    try:
        for name in ("twmd", IDF, "bleu"):
            metric = fed(TextScore(name), pairs, SHARES[rank])
            total = metric.compute().item()
            metric.sync()
            torch.save(
                (total, summed(metric), metric.gather_scores()[0].shape), f"{folder}/{name}-{rank}"
            )
            metric.unsync()
        each_step = TextScore("chrf", metric_settings={"dist_sync_on_step": True})
        torch.save(
            each_step(*(side[SHARES[rank][0]] for side in pairs)).item(), f"{folder}/step-{rank}"
        )
        f1 = fed(BERTScore(embedded, num_layers=LAYER, idf=True), pairs, SHARES[rank]).compute()[
            "f1"
        ]
        torch.save(f1, f"{folder}/f1-{rank}")
        warnings.simplefilter("ignore")  # torchmetrics warns the process that has nothing
        empty = fed(TextScore("twmd"), pairs, SHARES[0] if rank == 0 else [])
        torch.save(empty.compute().item(), f"{folder}/empty-{rank}")
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_two_processes_with_uneven_shares_give_the_number_of_one(pairs, embedded, tmp_path):
    fed(TextScore("twmd"), pairs, [slice(0, 1)])  # the model is loaded before the processes part
    share = partial(_process, pairs=pairs, embedded=embedded, folder=str(tmp_path))
    torch.multiprocessing.start_processes(share, nprocs=2, start_method="fork")
    for name in ("twmd", IDF, "bleu"):
        one = fed(TextScore(name), pairs, [*SHARES[0], *SHARES[1]])
        for rank in (0, 1):
            total, sums, shape = torch.load(tmp_path / f"{name}-{rank}")
            assert shape == (8, 1)
            assert total == one.compute().item()
            assert abs(sums - summed(one)) <= 1e-9
    both = TextScore("chrf")(
        *(side[0:4] for side in pairs)
    ).item()  # the first share of each: 0, and 1 to 3
    assert [torch.load(tmp_path / f"step-{rank}") for rank in (0, 1)] == [both, both]
    alone = fed(
        BERTScore(embedded, num_layers=LAYER, idf=True), pairs, [*SHARES[0], *SHARES[1]]
    ).compute()["f1"]
    assert all((torch.load(tmp_path / f"f1-{rank}") - alone).abs().max() <= 1e-9 for rank in (0, 1))
    part = fed(TextScore("twmd"), pairs, SHARES[0]).compute().item()
    assert [torch.load(tmp_path / f"empty-{rank}") for rank in (0, 1)] == [part, part]
    assert np.isfinite(part)
