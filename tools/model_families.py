"""Small models with random weights of many families, for the table of docs/models.md and for tests.

`build(name, directory)` writes a model and a small tokenizer; `measure(directory, model)` compares
what monge reads from it with what transformers computes for each text alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS = "[UNK] [CLS] [SEP] [PAD] [MASK] the cat sat on mat dog ran to house a of quick brown fox"
TEXTS = (
    "the cat sat on the mat",
    "a",
    "the quick brown fox ran to the house of the dog " * 5,
    "the dog sat",
)
_SIZES = {
    "vocab_size": 24,
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
_DECODER = {**_SIZES, "num_key_value_heads": 2, "max_position_embeddings": 32768}
_T5 = {"vocab_size": 24, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 4, "num_heads": 4}
_MODERN_PIECES = {"pad_token_id": 3, "cls_token_id": 1, "sep_token_id": 2}
_MODERN = {**_SIZES, **_MODERN_PIECES, "bos_token_id": 1, "eos_token_id": 2}
_DEBERTA = {
    **_SIZES,
    "relative_attention": True,
    "position_buckets": 16,
    "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "type_vocab_size": 0,
    "position_biased_input": False,
    "pad_token_id": 3,
}


@dataclass(frozen=True)
class Example:
    """A family of models by the names that transformers gives its class and configuration."""

    title: str
    model: str
    config: str
    settings: Mapping[str, Any]


EXAMPLES = {
    "bert": Example("BERT, ELECTRA, DistilBERT, MPNet", "BertModel", "BertConfig", _SIZES),
    "roberta": Example(
        "RoBERTa, CamemBERT",
        "RobertaModel",
        "RobertaConfig",
        {**_SIZES, "max_position_embeddings": 514},
    ),
    "xlm-roberta": Example(
        "XLM-R, multilingual-e5, bge-m3",
        "XLMRobertaModel",
        "XLMRobertaConfig",
        {**_SIZES, "max_position_embeddings": 8194, "pad_token_id": 3},
    ),
    "xlm-roberta-xl": Example(
        "XLM-R XL and XXL",
        "XLMRobertaXLModel",
        "XLMRobertaXLConfig",
        {**_SIZES, "max_position_embeddings": 514, "pad_token_id": 3},
    ),
    "modernbert": Example(
        "ModernBERT, ModernBERT-embed, gte-modernbert",
        "ModernBertModel",
        "ModernBertConfig",
        {**_MODERN, "local_attention": 8},
    ),
    "deberta-v2": Example("DeBERTa-v3, mDeBERTa", "DebertaV2Model", "DebertaV2Config", _DEBERTA),
    "albert": Example("ALBERT", "AlbertModel", "AlbertConfig", {**_SIZES, "embedding_size": 16}),
    "t5": Example("T5, sentence-T5: the encoder", "T5Model", "T5Config", _T5),
    "t5-encoder": Example("T5, its encoder saved alone", "T5EncoderModel", "T5Config", _T5),
    "mt5": Example("mT5: the encoder", "MT5ForConditionalGeneration", "MT5Config", _T5),
    "qwen2": Example("Qwen2, gte-Qwen2", "Qwen2Model", "Qwen2Config", _DECODER),
    "qwen3": Example(
        "Qwen3, Qwen3-Embedding", "Qwen3ForCausalLM", "Qwen3Config", {**_DECODER, "head_dim": 8}
    ),
    "llama": Example("Llama", "LlamaForCausalLM", "LlamaConfig", _DECODER),
}


def build(name: str, directory: Path, **changes: Any) -> Any:
    """Write the model of an example with its tokenizer to a directory, and return the model."""
    import torch
    import transformers

    example = EXAMPLES[name]
    torch.manual_seed(5)
    config = getattr(transformers, example.config)(**{**example.settings, **changes})
    model = getattr(transformers, example.model)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # norms start as ones: a wrong one would not show
            parameter += 0.1 * torch.randn_like(parameter)
    with _quiet():
        model.save_pretrained(directory)
    save_tokenizer(directory)
    return model


def save_tokenizer(directory: Path) -> None:
    """Write a WordPiece tokenizer of a few words, which frames texts by [CLS] and [SEP]."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = {word: k for k, word in enumerate(WORDS.split())}
    backend = Tokenizer(models.WordPiece(pieces, unk_token=WORDS.split()[0]))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        **{
            name: f"[{name[:3].upper()}]"
            for name in ("unk_token", "cls_token", "sep_token", "pad_token")
        },
    )
    tokenizer.save_pretrained(directory)


def measure(directory: Path, model: Any) -> dict[str, Any]:
    """Return how monge opens a directory, and its largest difference from transformers.

    The difference is that of any number of any layer, texts as a batch in monge and alone in
    transformers.
    """
    import torch

    from monge.encoders.transformer import open_encoder

    encoder = open_encoder(str(directory), device="cpu")
    ids = [tokens.ids for tokens in encoder.tokenise(TEXTS)]
    layers = range(encoder.depth + 1)
    is_both = hasattr(model, "encoder") and hasattr(model, "decoder")
    body = model.get_encoder() if model.config.is_encoder_decoder or is_both else model.base_model
    with torch.inference_mode():
        alone = [body(torch.tensor([text]), output_hidden_states=True) for text in ids]
    largest = 0.0
    for layer, states in zip(layers, encoder.hidden(ids, layers), strict=True):
        expected = torch.cat([output.hidden_states[layer][0] for output in alone])
        largest = max(largest, float((states - expected).abs().max()))
    return {
        "packed": encoder._packed is not None,
        "longest": encoder.longest,
        "difference": largest,
    }


def _quiet() -> Any:
    """Return a context without the progress bar of transformers."""
    from contextlib import contextmanager

    from transformers.utils import logging

    @contextmanager
    def hide_bar() -> Any:
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.enable_progress_bar()

    return hide_bar()
