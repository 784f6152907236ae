"""Evaluators for training loops and harnesses: sentence-transformers, transformers' Trainer,
lm-evaluation-harness.
"""

from __future__ import annotations

import sys
import types
from types import SimpleNamespace

import numpy as np
import pytest

import monge

pytestmark = pytest.mark.usefixtures("quietly")


def test_an_evaluator_of_sentence_transformers(pairs, embedded):
    from sentence_transformers import SentenceTransformer

    from monge.compat.sentence_transformers import MetricEvaluator

    human = np.random.default_rng(3).normal(size=8)
    model = SentenceTransformer(embedded, device="cpu")
    found = MetricEvaluator(*pairs, human, metric="emd", name="wmt")(model)
    scores = monge.score(*pairs, metric="emd", model=embedded).segments
    expected = -np.corrcoef(human, scores)[0, 1]  # a distance: the sign is turned
    assert found["wmt_emd_pearson"] == pytest.approx(expected, abs=1e-5)
    assert set(found) == {"wmt_emd_pearson", "wmt_emd_spearman"}
    model[0].auto_model.embeddings.word_embeddings.weight.data.mul_(
        3
    )  # what training does: other weights
    assert abs(MetricEvaluator(*pairs, human, metric="emd")(model)["emd_pearson"] - expected) > 1e-4
    with pytest.raises(ValueError, match="8 hypotheses, 8 references, 7 human scores"):
        MetricEvaluator(*pairs, human[1:])
    for wrong, said in (
        ((pairs[0], pairs[1], [None, *human[1:]]), "human score 0 is no number: None"),
        (([None, *pairs[0][1:]], pairs[1], human), "None"),
    ):
        with pytest.raises(ValueError, match=said):
            MetricEvaluator(*wrong)
    with pytest.raises(ValueError, match="did you mean twmd"):
        MetricEvaluator(*pairs, human, metric="twdm")


def test_compute_metrics_of_a_trainer(pairs, embedded):
    from transformers import AutoTokenizer

    from monge.compat.trainer import compute_metrics

    tokenizer = AutoTokenizer.from_pretrained(embedded)
    ids = [tokenizer(side, padding=True)["input_ids"] for side in pairs]
    labels = np.array(
        [[one if one != tokenizer.pad_token_id else -100 for one in row] for row in ids[1]]
    )
    prediction = SimpleNamespace(predictions=(np.array(ids[0]), None), label_ids=labels)
    texts = [tokenizer.batch_decode(side, skip_special_tokens=True) for side in ids]
    found = compute_metrics(tokenizer, ["chrf", "ter"])(prediction)
    assert found == {name: monge.score(*texts, metric=name).score for name in ("chrf", "ter")}
    logits = SimpleNamespace(predictions=np.zeros((2, 3, 5), dtype=np.float32), label_ids=labels)
    with pytest.raises(ValueError, match="predict_with_generate=True"):
        compute_metrics(tokenizer)(logits)
    with pytest.raises(ValueError, match="did you mean twmd"):
        compute_metrics(tokenizer, ["chrf", "twdm"])


def test_a_real_trainer_decodes_and_scores(pairs, embedded, tmp_path):
    """A step of training and an evaluation of a tiny model: the Trainer generates, we decode and
    score.
    """
    import torch
    from transformers import (
        AutoTokenizer,
        BartConfig,
        BartForConditionalGeneration,
        DataCollatorForSeq2Seq,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
    )

    from monge.compat.trainer import compute_metrics

    torch.manual_seed(5)
    tokenizer = AutoTokenizer.from_pretrained(embedded)
    ends = {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "decoder_start_token_id": tokenizer.cls_token_id,
    }
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 1) | dict.fromkeys(
        ("encoder_ffn_dim", "decoder_ffn_dim", "d_model"), 16
    )
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = BartConfig(
        vocab_size=len(tokenizer), max_position_embeddings=128, **sizes, **heads, **ends
    )
    model = BartForConditionalGeneration(config)
    rows = [
        {"input_ids": tokenizer(h)["input_ids"], "labels": tokenizer(r)["input_ids"]}
        for h, r in zip(*pairs, strict=True)
    ]
    seen = []

    def computed(prediction):
        seen.append(prediction)
        return compute_metrics(tokenizer, ["chrf", "ter"])(prediction)

    trainer = Seq2SeqTrainer(
        model,
        Seq2SeqTrainingArguments(
            str(tmp_path), max_steps=1, per_device_train_batch_size=4, per_device_eval_batch_size=3, report_to=[],
            predict_with_generate=True, generation_max_length=12, use_cpu=True, save_strategy="no",
        ),
        train_dataset=rows,
        eval_dataset=rows,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        compute_metrics=computed,
    )  # fmt: skip
    trainer.train()
    found = trainer.evaluate()
    (prediction,) = seen
    assert prediction.predictions.shape[0] == len(rows)
    assert (prediction.label_ids == -100).any()  # texts of several lengths
    texts = tokenizer.batch_decode(
        np.where(prediction.predictions < 0, tokenizer.pad_token_id, prediction.predictions),
        skip_special_tokens=True,
    )
    wanted = [tokenizer.decode(row["labels"], skip_special_tokens=True) for row in rows]
    for name in ("chrf", "ter"):
        assert (
            found[f"eval_{name}"]
            == monge.score([one.strip() for one in texts], wanted, metric=name).score
        )


def test_a_metric_of_lm_evaluation_harness(pairs, monkeypatch):
    """By the decorators that the harness documents, whose registries stand here where it is not
    installed.
    """
    metrics, aggregations = {}, {}
    try:
        from lm_eval.api import registry
    except ImportError:
        registry = types.ModuleType("lm_eval.api.registry")
        for name in ("lm_eval", "lm_eval.api"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, "lm_eval.api.registry", registry)
    monkeypatch.setattr(
        registry,
        "register_aggregation",
        lambda name: lambda one: aggregations.setdefault(name, one),
        raising=False,
    )
    monkeypatch.setattr(
        registry,
        "register_metric",
        lambda **said: lambda one: metrics.setdefault(said["metric"], (one, said)),
        raising=False,
    )
    from monge.compat.lm_eval import register

    assert register("ter") == "monge_ter"
    keep, said = metrics["monge_ter"]
    assert (said["higher_is_better"], said["output_type"]) == (False, "generate_until")
    items = [keep(references=[r], predictions=[h]) for h, r in zip(*pairs, strict=True)]
    assert aggregations[said["aggregation"]](items) == monge.score(*pairs, metric="ter").score
    assert keep(references=[["a", "b"]], predictions=["c"]) == (("a", "b"), "c")
