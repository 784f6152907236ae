"""transformers' Trainer: `compute_metrics` for generated text, decoding included.

Seq2SeqTrainer(…, args=Seq2SeqTrainingArguments(predict_with_generate=True, …),
               compute_metrics=compute_metrics(tokenizer, ["twmd", "chrf"]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from monge.api import DEFAULT_METRIC, Options, load, score_segments, segments_of
from monge.compat.peers import PeerValueError, raising

IGNORED = -100
"""The label that a loss passes over: it stands where a text has ended."""


def compute_metrics(
    tokenizer: Any, metric: str | Sequence[str] = DEFAULT_METRIC, **options: Unpack[Options]
) -> Callable[[Any], dict[str, float]]:
    """What a Trainer calls with predictions and labels: their texts, scored by one metric or several, loaded here.

    Args:
        tokenizer: What decodes: a tokenizer, or a processor with `batch_decode`.
        metric: A name, or several: one encoding pass for all.
        options: model, layers, precision, device, lang, settings, online, cache: as `monge.load` takes them.

    Returns:
        A function of an EvalPrediction that gives a score a metric, by name.
    """
    names = list(dict.fromkeys([metric] if isinstance(metric, str) else metric))
    with raising(PeerValueError):  # before hours of training
        loaded = [load(name, **options) for name in names]

    def computed(prediction: Any) -> dict[str, float]:
        texts = [_decoded(tokenizer, one) for one in (prediction.predictions, prediction.label_ids)]
        with raising(PeerValueError):
            results = score_segments(loaded, segments_of(*texts), cache=options.get("cache"))
        return {name: one.score for name, one in zip(names, results, strict=True)}

    return computed


def _decoded(tokenizer: Any, given: Any) -> list[str]:
    """The texts of ids [n, length]; of a tuple, the first are meant."""
    ids = np.asarray(given[0] if isinstance(given, tuple) else given)
    if ids.ndim != 2 or not np.issubdtype(ids.dtype, np.integer):
        raise PeerValueError(
            f"expected ids [n, length], got {ids.dtype} {list(ids.shape)}: logits are no text; set "
            "predict_with_generate=True (Seq2SeqTrainingArguments)"
        )
    end = tokenizer.pad_token_id if getattr(tokenizer, "pad_token_id", None) is not None else 0
    texts = tokenizer.batch_decode(np.where(ids == IGNORED, end, ids), skip_special_tokens=True)
    return [text.strip() for text in texts]
