"""Word boundaries: how each family of tokenizers marks a piece that continues a word."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from tokenizers.models import Unigram, WordPiece

UNSEEN, _LACKING = "\ufdd0", "\ufdd1"  # noncharacters: no text has them
# scripts written without spaces: every piece is a word of its own
_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),  # Han
    (0x20000, 0x3134F),
)


def tokenizer_family(backend: Any) -> str:
    """Return `wordpiece`, `bytes` (byte-level BPE) or `spaces` (SentencePiece and all others) for a
    tokenizer.
    """
    if isinstance(backend.model, WordPiece):
        return "wordpiece"
    steps = [
        {} if backend.pre_tokenizer is None else json.loads(backend.pre_tokenizer.__getstate__())
    ]
    steps += steps[0].get("pretokenizers", [])
    return "bytes" if any(step.get("type") == "ByteLevel" for step in steps) else "spaces"


def hide_specials(backend: Any, specials: Collection[str]) -> None:
    """Keep texts that spell a special piece (`<s>`) from becoming it, where the model itself would
    match it.

    SentencePiece never matches its control symbols; a unigram model converted from it does, so
    there they get names that no text has. Their ids, and what frames every text, stay.
    """
    if not specials or not isinstance(backend.model, Unigram):
        return
    model = json.loads(backend.model.__getstate__())
    hidden = {piece for piece in specials if backend.token_to_id(piece) != model["unk_id"]}
    vocabulary = [
        (UNSEEN + piece if piece in hidden else piece, score) for piece, score in model["vocab"]
    ]
    backend.model = Unigram(vocabulary, model["unk_id"], model.get("byte_fallback", False))


def unknown_id(backend: Any) -> int | None:
    """Return the id of the unknown piece ([UNK]); None where every text can be spelt."""
    pieces = backend.model.tokenize(_LACKING)
    # a byte-level model spells it, or leaves it out
    return int(pieces[0].id) if len(pieces) == 1 else None


def continues_word(
    kind: str, piece: str, text: str, span: tuple[int, int], before: tuple[int, int] | None
) -> bool:
    """Return whether a piece continues the word of the one before (`before` is its span, None after
    a special).

    WordPiece says so with `##`. Elsewhere a piece continues when nothing but word characters of a
    script with spaces stand on both sides of the joint, or when both pieces share a character.
    """
    if before is None:
        return False
    if kind == "wordpiece":
        return piece.startswith("##")
    start, end = span
    if start < before[1]:
        return True  # bytes of one character
    if start > before[1] or start == end or start == 0:
        return False
    return _is_word_character(text[start - 1]) and _is_word_character(text[start])


@lru_cache(maxsize=1 << 14)
def _is_word_character(character: str) -> bool:
    if unicodedata.category(character)[0] not in "LMN":
        return False
    point = ord(character)
    return not any(low <= point <= high for low, high in _SPACELESS)
