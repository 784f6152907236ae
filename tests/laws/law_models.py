"""Tiny random models with real tokenizers, written to a directory as a user would have them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)
from transformers.utils import logging

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 5,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 80,
    "initializer_range": 0.2,
}
LONGEST = 64


def corpus() -> list[str]:
    return (files("monge") / "example" / "reference.txt").read_text("utf-8").split("\n")[:-1]


def wordpiece(pad: int) -> PreTrainedTokenizerFast:
    """A BERT tokenizer whose padding id is not 0."""
    special = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    special.insert(pad, "[PAD]")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    ids = {name: tokenizer.token_to_id(name) for name in special}
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        pad_token="[PAD]",
        model_max_length=LONGEST,
    )


def byte_pairs() -> PreTrainedTokenizerFast:
    """A RoBERTa tokenizer: byte-level pairs, spaces belong to the word that follows."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = dict(
        zip(
            ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True
        )
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=LONGEST,
        **names,
    )


def _saved(model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, directory: Path) -> Path:
    for parameter in (
        model.parameters()
    ):  # LayerNorms and biases start as ones and zeros: a wrong one would not show
        parameter.data += 0.05 * torch.randn_like(parameter)
    logging.disable_progress_bar()
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def bert_pad_3(directory: Path) -> Path:
    torch.manual_seed(5)
    tokenizer = wordpiece(pad=3)
    assert tokenizer.pad_token_id == 3
    config = BertConfig(**SIZES, vocab_size=len(tokenizer), pad_token_id=3)
    return _saved(BertModel(config, add_pooling_layer=False), tokenizer, directory)


def roberta(directory: Path) -> Path:
    torch.manual_seed(6)
    tokenizer = byte_pairs()
    config = RobertaConfig(
        **SIZES, vocab_size=len(tokenizer), pad_token_id=1, bos_token_id=0, eos_token_id=2
    )
    return _saved(RobertaModel(config, add_pooling_layer=False), tokenizer, directory)


def albert_pad_2(directory: Path) -> Path:
    """A family without a packed form: it runs padded."""
    torch.manual_seed(7)
    tokenizer = wordpiece(pad=2)
    config = AlbertConfig(**SIZES, vocab_size=len(tokenizer), embedding_size=16, pad_token_id=2)
    return _saved(AlbertModel(config, add_pooling_layer=False), tokenizer, directory)


def alike(directory: Path) -> Path:
    """A BERT whose positions and blocks do next to nothing: a word has one vector wherever it
    stands.
    """
    torch.manual_seed(8)
    tokenizer = wordpiece(pad=3)
    config = BertConfig(
        **{**SIZES, "initializer_range": 1e-4}, vocab_size=len(tokenizer), pad_token_id=3
    )
    model = BertModel(config, add_pooling_layer=False)
    torch.nn.init.normal_(model.embeddings.word_embeddings.weight)
    logging.disable_progress_bar()
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


TINY = {"bert-pad-3": bert_pad_3, "roberta": roberta, "albert-padded": albert_pad_2, "alike": alike}
