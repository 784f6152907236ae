"""Static word vectors: one vector per word, whatever its neighbours.

How a text is cut into words (`word_spans`):

* a word is a run of letters, digits and combining marks;
* an apostrophe or a hyphen between two of these stays inside (don't, mother-in-law), and so does a
  point or a comma between two digits (3.14, 1,000);
* a Han character is a piece of its own; so is every other character that is not white space.

Vectors may know less than that: where the whole word is out of vocabulary, an English clitic is cut
off as in the Penn treebank (do n't, cat 's) if both parts are known, and else the word falls into
its runs and its inner marks if any run is known. A word is looked up as it stands, then
lower-cased, then both in NFC with a straight apostrophe and without soft hyphens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from monge.encoders.model_files import check_content
from monge.encoders.vectorarrays import Arrays, open_arrays, word_hash
from monge.errors import DataError, InvalidSetting, ModelError
from monge.types import Tokens

Unknown = Literal["drop", "zero", "error"]
REMEMBERED = 1 << 18  # words whose ids are remembered
Span = tuple[int, int]


class _Shapes(dict[int, str]):
    """The class of a character: w letter or mark, d digit, c Han, s space, a apostrophe, h hyphen,
    p point, o other.
    """

    marks = (
        dict.fromkeys(map(ord, "'’"), "a")
        | dict.fromkeys(map(ord, "-‐‑"), "h")
        | dict.fromkeys(map(ord, ".,"), "p")
    )

    def __missing__(self, code: int) -> str:
        self[code] = shape = self.marks.get(code) or self._of(chr(code))
        return shape

    @staticmethod
    def _of(character: str) -> str:
        if character.isspace():
            return "s"
        if unicodedata.name(character, "").startswith("CJK "):
            return "c" if character.isalnum() else "o"
        kind = unicodedata.category(character)
        # soft hyphen and joiners are inside words, other invisible marks are nothing
        if kind == "Cf":
            return "w" if character in "\u00ad\u200c\u200d" else "s"
        return "d" if kind == "Nd" else "w" if kind[0] in "LMN" else "o"


_SHAPES = _Shapes()
_WORD = re.compile(r"[wd]+(?:(?:[ah](?=[wd])|(?<=d)p(?=d))[wd]+)*|[^s]")
_RUN = re.compile(r"[wd]+|[^s]")
_CLITIC = re.compile(r".(?=n['’]t$)|.(?=['’](?:s|m|d|re|ve|ll)$)", re.IGNORECASE)


def word_spans(text: str) -> list[Span]:
    """Return the spans of the words and marks of a text, by the rule above, without a
    vocabulary.
    """
    return [match.span() for match in _WORD.finditer(text.translate(_SHAPES))]


def _find_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = [
        file
        for file in sorted(path.iterdir())
        if file.suffix in (".txt", ".vec", ".bin", ".gz") and file.is_file()
    ]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise ModelError(
            f"{path}: needs exactly one vector file (.txt, .vec, .bin, .gz), found {names}"
        )
    return files[0]


class StaticVectors:
    """The vectors of a file; words that are empty or not UTF-8 have none, of a repeated word the
    first counts.
    """

    def __init__(self, path: Path, stored: Arrays, unknown: Unknown = "drop") -> None:
        """`open` finds the arrays."""
        self.path, self._stored, self.policy = path, stored, unknown
        self.dimension, self.digest = stored.facts.dimension, stored.facts.digest
        self._ids: dict[str, int] = {}

    @classmethod
    def open(
        cls, path: str | Path, *, unknown: Unknown = "drop", cache: str | Path | None = None
    ) -> Self:
        """Open word2vec (binary or text), GloVe or fastText `.vec` vectors.

        Args:
            path: the published file, or a directory with just one.
            unknown: what `tokenise` does with a word that has no vector: leave it out, give it a
                zero vector, or stop.
            cache: a directory that keeps the vectors in a form that opens at once; without it
                nothing is written.
        """
        if unknown not in get_args(Unknown):
            raise InvalidSetting(
                f"unknown={unknown!r}: words without a vector can be {', '.join(get_args(Unknown))}"
            )
        path = _find_file(Path(path))
        if path.is_file():
            check_content(path, "word vectors")
        return cls(path, open_arrays(path, None if cache is None else Path(cache)), unknown)

    def __len__(self) -> int:
        """Number of vectors."""
        return self._stored.facts.words

    def vector(self, ids: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors [n, d] of ids; -1 has the zero vector."""
        rows = np.asarray(ids, dtype=np.int64)
        if rows.size and (rows.min() < -1 or rows.max() >= len(self)):
            raise InvalidSetting(
                f"ids must be within -1 .. {len(self) - 1}, got {rows.min()} .. {rows.max()}"
            )
        vectors = np.array(self._stored.vectors[rows], dtype=np.float32).reshape(
            len(rows), self.dimension
        )
        vectors[rows < 0] = 0
        return vectors

    def lookup(self, words: Iterable[str]) -> list[int]:
        """Return the id of each word, as it stands, lower-cased or normalised; -1 where it has no
        vector.
        """
        return [self._id(word) for word in words]

    def tokenise(self, text: str) -> Tokens:
        """Make one piece per word, without special pieces; count words without a vector and apply
        the policy.
        """
        spans = [
            span for start, end in word_spans(text) for span in self._split_word(text, start, end)
        ]
        ids = self.lookup(text[slice(*span)] for span in spans)
        unknown = [span for span, index in zip(spans, ids, strict=True) if index < 0]
        if unknown and self.policy == "error":
            start, end = unknown[0]
            raise DataError(
                f"no vector for {text[start:end]!r} (character {start + 1}) in {self.path}"
            )
        kept_words = [
            pair for pair in zip(spans, ids, strict=True) if pair[1] >= 0 or self.policy == "zero"
        ]
        no = (False,) * len(kept_words)
        return Tokens(
            text,
            ids=tuple(index for _, index in kept_words),
            pieces=tuple(text[slice(*span)] for span, _ in kept_words),
            spans=tuple(span for span, _ in kept_words),
            special=no,
            continues=no,
            words=len(spans),
            unknown=len(unknown),
        )

    def _split_word(self, text: str, start: int, end: int) -> list[Span]:
        word = text[start:end]
        if end - start == 1 or self._id(word) >= 0:
            return [(start, end)]
        clitic = _CLITIC.search(word)
        if clitic and self._id(word[: clitic.end()]) >= 0 and self._id(word[clitic.end() :]) >= 0:
            return [(start, start + clitic.end()), (start + clitic.end(), end)]
        runs = [
            (start + a, start + b)
            for a, b in (run.span() for run in _RUN.finditer(word.translate(_SHAPES)))
        ]
        return (
            runs if any(b - a > 1 and self._id(text[a:b]) >= 0 for a, b in runs) else [(start, end)]
        )

    def _id(self, word: str) -> int:
        index = self._ids.get(word)  # once: another thread may forget all words at any moment
        if index is None:
            plain = unicodedata.normalize("NFC", word).replace("’", "'").replace("\u00ad", "")
            forms = dict.fromkeys((word, word.lower(), plain, plain.lower()))
            index = next((i for i in map(self._find, forms) if i >= 0), -1)
            if len(self._ids) >= REMEMBERED:
                self._ids.clear()
            self._ids[word] = index
        return index

    def _find(self, word: str) -> int:
        name = word.encode("utf-8", "surrogatepass")
        target_hash = np.uint64(word_hash(name))
        at = int(np.searchsorted(self._stored.hashes, target_hash))
        while at < len(self) and self._stored.hashes[at] == target_hash:
            index = int(self._stored.order[at])
            if self._bytes(index) == name:
                return index
            at += 1
        return -1

    def _bytes(self, index: int) -> bytes:
        start, end = self._stored.starts[index : index + 2]
        return self._stored.words[start:end].tobytes()
