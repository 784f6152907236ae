"""`compute_metrics` for the Trainer of transformers: decode generated text and score it.

Seq2SeqTrainer(…, args=Seq2SeqTrainingArguments(predict_with_generate=True, …),
               compute_metrics=compute_metrics(tokenizer, ["twmd", "chrf"]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from monge.api import DEFAULT_METRIC, Options, load, score_segments, segments_of
from monge.compat.peers import PeerValueError, raise_as

IGNORED = -100
"""The label that a loss ignores: padding after the end of a text."""


def compute_metrics(
    tokenizer: Any, metric: str | Sequence[str] = DEFAULT_METRIC, **options: Unpack[Options]
) -> Callable[[Any], dict[str, float]]:
    """Load metrics; return the function that a Trainer calls with predictions and labels.

    Args:
        tokenizer: A tokenizer, or a processor with `batch_decode`.
        metric: A name, or several: one encoding pass for all.
        options: Those of `monge.load`.

    Returns:
        A function of an EvalPrediction that returns one score per metric, by name.
    """
    names = list(dict.fromkeys([metric] if isinstance(metric, str) else metric))
    with raise_as(PeerValueError):  # before hours of training
        loaded = [load(name, **options) for name in names]

    def compute(prediction: Any) -> dict[str, float]:
        texts = [_decode(tokenizer, ids) for ids in (prediction.predictions, prediction.label_ids)]
        with raise_as(PeerValueError):
            results = score_segments(loaded, segments_of(*texts), cache=options.get("cache"))
        return {name: result.score for name, result in zip(names, results, strict=True)}

    return compute


def _decode(tokenizer: Any, token_ids: Any) -> list[str]:
    """Decode ids [n, length], or the first element of a tuple, to texts."""
    ids = np.asarray(token_ids[0] if isinstance(token_ids, tuple) else token_ids)
    if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
        raise PeerValueError(
            f"expected ids [n, length], got {ids.dtype} {list(ids.shape)}: logits are no text; set "
            "predict_with_generate=True (Seq2SeqTrainingArguments)"
        )
    end = tokenizer.pad_token_id if getattr(tokenizer, "pad_token_id", None) is not None else 0
    texts = tokenizer.batch_decode(np.where(ids == IGNORED, end, ids), skip_special_tokens=True)
    return [text.strip() for text in texts]
