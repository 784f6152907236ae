"""Tokenizers that cut texts into pieces, made by transformers or by monge itself from the files of
a model.

transformers does not simply take `tokenizer.json`: for the classes of `_RULES` it builds
normaliser, splitter and frame anew from `tokenizer_config.json`. So the file is used directly only
where it agrees with these; everything else is left to transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from monge.encoders.digests import read_json
from monge.encoders.pieces import UNSEEN

UNBOUNDED = 1 << 20  # tokenizers without a limit declare something like 1e30
_SPECIAL_TOKENS = (
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
)
_BERT_PIECES = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_ROBERTA_PIECES = dict(
    zip(_SPECIAL_TOKENS, ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"), strict=True)
)


@dataclass(frozen=True)
class Cutter:
    """A tokenizer: its backend, the pieces that no text may become, the most pieces it declares,
    and its pad id.
    """

    backend: Tokenizer
    specials: Collection[str]
    longest: int
    pad: int = 0


def cutter_from_transformers(tokenizer: Any) -> Cutter:
    """Return the cutter of a fast tokenizer of transformers."""
    declared, pad = min(int(tokenizer.model_max_length), UNBOUNDED), tokenizer.pad_token_id
    return Cutter(
        tokenizer.backend_tokenizer,
        tokenizer.all_special_tokens,
        declared,
        0 if pad is None else pad,
    )


def last_id(backend: Tokenizer) -> int:
    """Return the largest id that a piece has; a damaged vocabulary has larger ones than pieces."""
    return max(backend.get_vocab(with_added_tokens=True).values(), default=-1)


def _accept(_: Tokenizer, __: Mapping[str, Any], ___: Mapping[str, str]) -> bool:
    return True


def _is_bert(
    backend: Tokenizer, config: Mapping[str, Any], special_tokens: Mapping[str, str]
) -> bool:
    """Return whether this is WordPiece with BERT's normaliser and splitter, set as the
    configuration says.
    """
    model = backend.model
    expected = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=config.get("tokenize_chinese_chars", True),
        strip_accents=config.get("strip_accents"),
        lowercase=config.get("do_lower_case", True),
    )
    return (
        isinstance(model, models.WordPiece)
        and (model.unk_token, model.continuing_subword_prefix)
        == (special_tokens["unk_token"], "##")
        and model.max_input_chars_per_word == 100
        and _are_equal(backend.normalizer, expected)
        and _are_equal(backend.pre_tokenizer, pre_tokenizers.BertPreTokenizer())
        and _is_framed(backend, special_tokens["cls_token"], special_tokens["sep_token"])
    )


def _is_roberta(
    backend: Tokenizer, config: Mapping[str, Any], special_tokens: Mapping[str, str]
) -> bool:
    """Return whether this is byte-level BPE without a normaliser."""
    model, space = backend.model, config.get("add_prefix_space", False)
    sep, cls = (
        (special_tokens[name], backend.token_to_id(special_tokens[name]) or 0)
        for name in ("sep_token", "cls_token")
    )
    return (
        isinstance(model, models.BPE)
        and not any(
            (
                model.dropout,
                model.unk_token,
                model.continuing_subword_prefix,
                model.end_of_word_suffix,
            )
        )
        and not any((model.fuse_unk, model.byte_fallback, model.ignore_merges))
        and backend.normalizer is None
        and _are_equal(backend.pre_tokenizer, pre_tokenizers.ByteLevel(add_prefix_space=space))
        and _are_equal(
            backend.post_processor,
            processors.RobertaProcessing(sep, cls, config.get("trim_offsets", True), space),
        )
    )


def _is_xlm_roberta(
    backend: Tokenizer, config: Mapping[str, Any], special_tokens: Mapping[str, str]
) -> bool:
    """Return whether this is a SentencePiece unigram model with its own normaliser, split at white
    space.
    """
    scheme = "always" if config.get("add_prefix_space", True) else "never"
    mark = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme=scheme)
    return (
        isinstance(backend.model, models.Unigram)
        and backend.encode(UNSEEN, add_special_tokens=False).ids[-1:]
        == [3]  # the unknown piece, not its bytes
        and (backend.normalizer is None or isinstance(backend.normalizer, normalizers.Precompiled))
        and _are_equal(
            backend.pre_tokenizer, pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), mark])
        )
        and _is_framed(backend, special_tokens["bos_token"], special_tokens["eos_token"])
    )


_Check = Callable[[Tokenizer, Mapping[str, Any], Mapping[str, str]], bool]
_Rule = tuple[Mapping[str, str], _Check]
_RULES: Mapping[str, _Rule] = {
    "TokenizersBackend": ({}, _accept),
    "PreTrainedTokenizer": ({}, _accept),
    "BertTokenizer": (_BERT_PIECES, _is_bert),
    "DistilBertTokenizer": (_BERT_PIECES, _is_bert),
    "ElectraTokenizer": (_BERT_PIECES, _is_bert),
    "MPNetTokenizer": ({**_ROBERTA_PIECES, "unk_token": "[UNK]"}, _is_bert),
    "RobertaTokenizer": (_ROBERTA_PIECES, _is_roberta),
    "XLMRobertaTokenizer": (_ROBERTA_PIECES, _is_xlm_roberta),
}
"""By the class a tokenizer names, without `Fast`: its default special tokens, and a check of the
file.
"""
_CLASSES = {
    "bert": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "mpnet": "MPNetTokenizer",
    "roberta": "RobertaTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
}
"""By `model_type`: the class of a tokenizer that names none."""
_OTHER_FILES = ("added_tokens.json", "adapter_config.json")
_OTHER_SETTINGS = (
    "auto_map",
    "add_bos_token",
    "add_eos_token",
    "model_specific_special_tokens",
    "split_special_tokens",
)
"""Files and settings that change a tokenizer behind its file."""


def cutter_from_files(directory: Path, config: Mapping[str, Any]) -> Cutter | None:
    """Return the cutter in `tokenizer.json`; None where transformers would change it."""
    if not (directory / "tokenizer.json").is_file() or any(
        (directory / name).exists() for name in _OTHER_FILES
    ):
        return None
    settings = _read_settings(directory / "tokenizer_config.json")
    kind = (
        settings.get("tokenizer_class")
        or config.get("tokenizer_class")
        or _CLASSES.get(str(config.get("model_type")))
    )
    rule = _RULES.get(str(kind).removesuffix("Fast"))
    if rule is None or any(name in settings for name in _OTHER_SETTINGS):
        return None
    try:
        backend = Tokenizer.from_file(str(directory / "tokenizer.json"))
    # tokenizers raises nothing narrower; transformers will say what is wrong
    except Exception:  # noqa: BLE001
        return None
    backend.no_truncation()
    backend.no_padding()
    in_settings = "added_tokens_decoder" in settings
    pieces = {} if in_settings else _read_settings(directory / "special_tokens_map.json")
    return _make_cutter(backend, settings, pieces, *rule)


def _make_cutter(
    backend: Tokenizer,
    settings: Mapping[str, Any],
    pieces: Mapping[str, Any],
    defaults: Mapping[str, str],
    agrees: _Check,
) -> Cutter | None:
    """Return the cutter with its special pieces and limit; None where they are unusual."""
    merged = {**defaults, **settings, **pieces}
    special_tokens = {
        name: _token_text(merged[name]) for name in _SPECIAL_TOKENS if merged.get(name) is not None
    }
    extra = [
        merged[name]
        for name in ("additional_special_tokens", "extra_special_tokens")
        if merged.get(name)
    ]
    if not all(isinstance(tokens, list) for tokens in extra) or set(defaults) - set(special_tokens):
        return None
    specials = {
        *special_tokens.values(),
        *(_token_text(piece) for tokens in extra for piece in tokens),
    }
    declared = settings.get("model_max_length", settings.get("max_len"))
    limit = UNBOUNDED if declared is None else declared
    if not isinstance(limit, int | float) or backend.post_processor is None:
        return None
    if not _added_tokens_agree(backend, settings, specials) or not agrees(
        backend, settings, special_tokens
    ):
        return None
    return Cutter(backend, sorted(specials), min(int(limit), UNBOUNDED))


def _read_settings(path: Path) -> dict[str, Any]:
    settings = read_json(path) if path.is_file() else {}
    return settings if isinstance(settings, dict) else {}


def _token_text(piece: Any) -> str:
    return str(piece["content"]) if isinstance(piece, dict) and "content" in piece else str(piece)


def _added_tokens_agree(
    backend: Tokenizer, settings: Mapping[str, Any], specials: set[str]
) -> bool:
    """Return whether the tokens added to the vocabulary are those that the settings name, equally
    special.
    """
    added = backend.get_added_tokens_decoder()
    size = backend.get_vocab_size(with_added_tokens=False)
    if not specials <= {token.content for token in added.values() if token.special} or any(
        id_ >= size for id_ in added
    ):
        return False
    declared = settings.get("added_tokens_decoder")
    if declared is None:
        return True
    names = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
    own = {str(id_): {name: getattr(token, name) for name in names} for id_, token in added.items()}
    return bool(
        own == {id_: {name: token.get(name) for name in names} for id_, token in declared.items()}
    )


def _are_equal(first: Any, second: Any) -> bool:
    """Return whether two components of a tokenizer have the same serialised form."""
    return (
        first is not None
        and type(first) is type(second)
        and first.__getstate__() == second.__getstate__()
    )


def _is_framed(backend: Tokenizer, before: str, after: str) -> bool:
    """Return whether every text stands between these two pieces."""
    encoding = backend.encode("")
    return encoding.ids == [backend.token_to_id(before), backend.token_to_id(after)] and all(
        encoding.special_tokens_mask
    )
