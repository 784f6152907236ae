"""What cuts texts into pieces, whoever made it: transformers, or monge itself from the files of a model.

transformers does not simply take `tokenizer.json`: for the classes of `_RULES` it builds normaliser, splitter and
frame anew from `tokenizer_config.json`. So the file is taken as it is only where it says the very same; everything
else is left to transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from monge.encode.digests import read_json
from monge.encode.pieces import UNSEEN

UNBOUNDED = 1 << 20  # tokenizers without a limit declare something like 1e30
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_BERT_PIECES = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_ROBERTA_PIECES = dict(zip(_NAMED, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True))


@dataclass(frozen=True)
class Cutter:
    """A tokenizer: its backend, the pieces that no text may become, the most pieces it declares, and its pad id."""

    backend: Tokenizer
    specials: Collection[str]
    longest: int
    pad: int = 0


def cutter_of(tokenizer: Any) -> Cutter:
    """The cutter of a fast tokenizer of transformers."""
    declared, pad = min(int(tokenizer.model_max_length), UNBOUNDED), tokenizer.pad_token_id
    return Cutter(tokenizer.backend_tokenizer, tokenizer.all_special_tokens, declared, 0 if pad is None else pad)


def last_id(backend: Tokenizer) -> int:
    """Return the largest id that a piece has; a damaged vocabulary has larger ones than pieces."""
    return max(backend.get_vocab(with_added_tokens=True).values(), default=-1)


def _as_it_is(_: Tokenizer, __: Mapping[str, Any], ___: Mapping[str, str]) -> bool:
    return True


def _bert(backend: Tokenizer, config: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """WordPiece behind BERT's normaliser and splitter, set as the configuration sets them."""
    model = backend.model
    wanted = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=config.get("tokenize_chinese_chars", True),
        strip_accents=config.get("strip_accents"),
        lowercase=config.get("do_lower_case", True),
    )
    return (
        isinstance(model, models.WordPiece)
        and (model.unk_token, model.continuing_subword_prefix) == (named["unk_token"], "##")
        and model.max_input_chars_per_word == 100
        and _same(backend.normalizer, wanted)
        and _same(backend.pre_tokenizer, pre_tokenizers.BertPreTokenizer())
        and _framed(backend, named["cls_token"], named["sep_token"])
    )


def _roberta(backend: Tokenizer, config: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """Byte-level BPE without a normaliser."""
    model, space = backend.model, config.get("add_prefix_space", False)
    sep, cls = ((named[name], backend.token_to_id(named[name]) or 0) for name in ("sep_token", "cls_token"))
    return (
        isinstance(model, models.BPE)
        and not any((model.dropout, model.unk_token, model.continuing_subword_prefix, model.end_of_word_suffix))
        and not any((model.fuse_unk, model.byte_fallback, model.ignore_merges))
        and backend.normalizer is None
        and _same(backend.pre_tokenizer, pre_tokenizers.ByteLevel(add_prefix_space=space))
        and _same(
            backend.post_processor, processors.RobertaProcessing(sep, cls, config.get("trim_offsets", True), space)
        )
    )


def _xlm_roberta(backend: Tokenizer, config: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """SentencePiece's unigrams behind its own normaliser, split at white space."""
    scheme = "always" if config.get("add_prefix_space", True) else "never"
    mark = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme=scheme)
    return (
        isinstance(backend.model, models.Unigram)
        and backend.encode(UNSEEN, add_special_tokens=False).ids[-1:] == [3]  # the unknown piece, not its bytes
        and (backend.normalizer is None or isinstance(backend.normalizer, normalizers.Precompiled))
        and _same(backend.pre_tokenizer, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), mark]))
        and _framed(backend, named["bos_token"], named["eos_token"])
    )


_Rule = tuple[Mapping[str, str], Callable[[Tokenizer, Mapping[str, Any], Mapping[str, str]], bool]]
_RULES: Mapping[str, _Rule] = {
    "TokenizersBackend": ({}, _as_it_is),
    "PreTrainedTokenizer": ({}, _as_it_is),
    "BertTokenizer": (_BERT_PIECES, _bert),
    "DistilBertTokenizer": (_BERT_PIECES, _bert),
    "ElectraTokenizer": (_BERT_PIECES, _bert),
    "MPNetTokenizer": ({**_ROBERTA_PIECES, "unk_token": "[UNK]"}, _bert),
    "RobertaTokenizer": (_ROBERTA_PIECES, _roberta),
    "XLMRobertaTokenizer": (_ROBERTA_PIECES, _xlm_roberta),
}
"""By the class a tokenizer names, without `Fast`: the special pieces it has by default, and whether it is the file."""
_CLASSES = {
    "bert": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "mpnet": "MPNetTokenizer",
    "roberta": "RobertaTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
}
"""By `model_type`: the class of a tokenizer that names none."""
_ELSEWHERE = ("added_tokens.json", "adapter_config.json")
_OTHER = ("auto_map", "add_bos_token", "add_eos_token", "model_specific_special_tokens", "split_special_tokens")
"""Files and settings that change a tokenizer behind its file."""


def cutter_in(directory: Path, config: Mapping[str, Any]) -> Cutter | None:
    """The cutter of a model's directory, from `tokenizer.json`; None where transformers would make another of it."""
    if not (directory / "tokenizer.json").is_file() or any((directory / name).exists() for name in _ELSEWHERE):
        return None
    said = _settings(directory / "tokenizer_config.json")
    pieces = {} if "added_tokens_decoder" in said else _settings(directory / "special_tokens_map.json")
    kind = said.get("tokenizer_class") or config.get("tokenizer_class") or _CLASSES.get(str(config.get("model_type")))
    if any(name in said for name in _OTHER) or str(kind).removesuffix("Fast") not in _RULES:
        return None
    defaults, agrees = _RULES[str(kind).removesuffix("Fast")]
    try:
        backend = Tokenizer.from_file(str(directory / "tokenizer.json"))
    except Exception:  # noqa: BLE001 - tokenizers raises nothing narrower; transformers will say what is wrong
        return None
    backend.no_truncation()
    backend.no_padding()
    merged = {**defaults, **said, **pieces}
    named = {name: _content(merged[name]) for name in _NAMED if merged.get(name) is not None}
    extra = [merged[name] for name in ("additional_special_tokens", "extra_special_tokens") if merged.get(name)]
    if not all(isinstance(one, list) for one in extra) or set(defaults) - set(named):
        return None
    specials = {*named.values(), *(_content(piece) for one in extra for piece in one)}
    declared = said.get("model_max_length", said.get("max_len"))
    limit = UNBOUNDED if declared is None else declared
    if not isinstance(limit, int | float) or backend.post_processor is None:
        return None
    if not _added_alike(backend, said, specials) or not agrees(backend, said, named):
        return None
    return Cutter(backend, sorted(specials), min(int(limit), UNBOUNDED))


def _settings(path: Path) -> dict[str, Any]:
    found = read_json(path) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


def _content(piece: Any) -> str:
    return str(piece["content"]) if isinstance(piece, dict) and "content" in piece else str(piece)


def _added_alike(backend: Tokenizer, said: Mapping[str, Any], specials: set[str]) -> bool:
    """Whether the pieces added to the vocabulary are those that the settings name, special where they say so."""
    there = backend.get_added_tokens_decoder()
    size = backend.get_vocab_size(with_added_tokens=False)
    if not specials <= {one.content for one in there.values() if one.special} or any(id_ >= size for id_ in there):
        return False
    listed = said.get("added_tokens_decoder")
    if listed is None:
        return True
    names = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
    own = {str(id_): {name: getattr(one, name) for name in names} for id_, one in there.items()}
    return bool(own == {id_: {name: one.get(name) for name in names} for id_, one in listed.items()})


def _same(one: Any, other: Any) -> bool:
    """Whether two components of a tokenizer are written down alike."""
    return one is not None and type(one) is type(other) and one.__getstate__() == other.__getstate__()


def _framed(backend: Tokenizer, before: str, after: str) -> bool:
    """Whether every text stands between these two pieces."""
    found = backend.encode("")
    return found.ids == [backend.token_to_id(before), backend.token_to_id(after)] and all(found.special_tokens_mask)
